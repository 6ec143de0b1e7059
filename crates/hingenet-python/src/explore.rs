//! The page of a model for a notebook: a text that asks itself, or one that asks a server in this process.

use crate::error::HingenetError;
use crate::features::Features;
use crate::model::Model;
use crate::work;
use hingenet::explore::Explorer;
use hingenet::report::ModelReport;
use hingenet::table::Table;
use hingenet::{Error, Result};
use hingenet_serve::Server;
use hingenet_view::explorer::{Exploration, ROWS};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// The page that needs nothing else; `None` for a model that only a program can ask.
#[pyfunction]
#[pyo3(signature = (model, features=None, y=None))]
pub fn page(
    py: Python<'_>,
    model: &Model,
    features: Option<Features<'_>>,
    y: Option<PyReadonlyArray1<'_, i64>>,
) -> PyResult<Option<String>> {
    let rows = rows(model, features, y)?;
    work::run(py, 1, None, |_| html(model, rows.as_ref(), None))
}

/// A page that this process serves to this machine, until it is closed or the process ends.
#[pyclass(frozen, module = "hingenet._engine")]
pub struct PageServer {
    url: String,
    stop: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[pymethods]
impl PageServer {
    /// Starts to serve; questions are answered by `threads` threads.
    #[new]
    #[pyo3(signature = (model, features=None, y=None, threads=1))]
    fn new(
        py: Python<'_>,
        model: Py<Model>,
        features: Option<Features<'_>>,
        y: Option<PyReadonlyArray1<'_, i64>>,
        threads: usize,
    ) -> PyResult<Self> {
        let rows = rows(model.get(), features, y)?;
        let cannot = |e: std::io::Error| PyOSError::new_err(format!("the page cannot be served: {e}"));
        let server = Server::bind(0).map_err(cannot)?.framed();
        let page = work::run(py, 1, None, |_| html(model.get(), rows.as_ref(), Some(server.token())))?;
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .map_err(|e| HingenetError::new_err(format!("threads cannot be started: {e}")))?;
        let (url, stop) = (server.url(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let serve = move || -> Result<()> {
            let explorer = Explorer::new(&model.get().0)?;
            let answer = |question: &str| explorer.answer(question).map_err(|error| error.to_string());
            // a server that fails can be told to nobody: the page says that it has no answers
            let _ = server.run(page.unwrap_or_default(), answer, || stopped.load(Ordering::Relaxed));
            Ok(())
        };
        let thread = std::thread::spawn(move || drop(pool.install(serve)));
        Ok(PageServer { url, stop, thread: Mutex::new(Some(thread)) })
    }

    /// Where the page is.
    #[getter]
    fn url(&self) -> &str {
        &self.url
    }

    /// Ends the server; once it returns nothing listens any more.
    fn close(&self, py: Python<'_>) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // a thread that has failed has ended too
            let _ = py.detach(|| thread.join());
        }
    }
}

/// Rows to pick from, with their classes where they are known.
fn rows(
    model: &Model,
    features: Option<Features<'_>>,
    y: Option<PyReadonlyArray1<'_, i64>>,
) -> PyResult<Option<Table>> {
    features
        .map(|features| match &y {
            Some(y) => model.table_with_class(&features, y),
            None => model.table(&features),
        })
        .transpose()
}

/// The page of a model, which asks itself or, with a token, its server.
fn html(model: &Model, rows: Option<&Table>, token: Option<&str>) -> Result<Option<String>> {
    let explorer = Explorer::new(&model.0)?;
    let rows = rows.map(|table| explorer.rows(table, ROWS)).transpose()?;
    let exploration = match token {
        Some(token) => Some(Exploration::served(&explorer, rows, token)?),
        None => Exploration::offline(&explorer, rows)?,
    };
    let Some(exploration) = exploration else { return Ok(None) };
    let report = ModelReport::of(&model.0, &Table::default(), &[])?;
    hingenet_view::model_page(&report, Some(&exploration))
        .map(Some)
        .map_err(|problem| Error::data(problem, ""))
}
