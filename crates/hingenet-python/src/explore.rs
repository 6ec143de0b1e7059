//! The page of a model for a notebook: a text that asks itself, or one that asks a server in this process.

use crate::error::HingenetError;
use crate::features::Features;
use crate::model::Model;
use crate::work;
use hingenet::explore::Explorer;
use hingenet::model::NodeFacts;
use hingenet::report::ModelReport;
use hingenet::table::Table;
use hingenet::{Error, Result};
use hingenet_gaussian::study::ContrastParams;
use hingenet_serve::Server;
use hingenet_view::explorer::{Exploration, ROWS};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// What the page of a model shows.
#[pyclass(frozen, module = "hingenet._engine")]
pub struct ExplorerPage {
    model: Py<Model>,
    report: ModelReport,
    rows: Option<Table>,
    /// Coordinates of the features; empty without.
    places: Vec<NodeFacts>,
}

#[pymethods]
impl ExplorerPage {
    /// Prepares it; the networks of the classes of a Gaussian model are compared on rows with their classes.
    #[new]
    #[pyo3(signature = (model, features=None, y=None, coordinates=Vec::new(), shuffles=0, threads=1, progress=None))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        model: Py<Model>,
        features: Option<Features<'_>>,
        y: Option<PyReadonlyArray1<'_, i64>>,
        coordinates: Vec<(f64, f64, Option<f64>)>,
        shuffles: usize,
        threads: usize,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let rows = rows(model.get(), features, y)?;
        let fitted = &model.get().0;
        let report = work::run(py, threads, progress, |control| {
            let mut report = ModelReport::of(fitted, &Table::default(), &[])?;
            if let (Some(networks), Some(rows), 1..) = (&mut report.class_networks, &rows, shuffles) {
                let params = ContrastParams { shuffles, ..ContrastParams::default() };
                networks.judge(fitted, rows, params, control)?;
            }
            Ok(report)
        })?;
        let place = |(x, y, z): (f64, f64, Option<f64>)| NodeFacts {
            place: Some((x, y)),
            height: z,
            ..NodeFacts::default()
        };
        Ok(ExplorerPage { model, report, rows, places: coordinates.into_iter().map(place).collect() })
    }

    /// The page that needs nothing else; `None` for a model that only a program can ask.
    fn text(&self, py: Python<'_>) -> PyResult<Option<String>> {
        work::run(py, 1, None, |_| self.html(None))
    }

    /// The page served to this machine; questions are answered by `threads` threads.
    #[pyo3(signature = (threads=1))]
    fn serve(&self, py: Python<'_>, threads: usize) -> PyResult<PageServer> {
        let cannot = |e: std::io::Error| PyOSError::new_err(format!("the page cannot be served: {e}"));
        let server = Server::bind(0).map_err(cannot)?.framed();
        let page = work::run(py, 1, None, |_| self.html(Some(server.token())))?;
        PageServer::start(self.model.clone_ref(py), page.unwrap_or_default(), server, threads)
    }
}

impl ExplorerPage {
    /// The page, which asks itself or, with a token, its server.
    fn html(&self, token: Option<&str>) -> Result<Option<String>> {
        let explorer = Explorer::new(&self.model.get().0)?;
        let rows = self.rows.as_ref().map(|table| explorer.rows(table, ROWS)).transpose()?;
        let exploration = match token {
            Some(token) => Some(Exploration::served(&explorer, rows, token)?),
            None => Exploration::offline(&explorer, rows)?,
        };
        let Some(exploration) = exploration else { return Ok(None) };
        let exploration =
            exploration.at(&self.places).comparing(&explorer, self.report.class_networks.as_ref());
        hingenet_view::model_page(&self.report, Some(&exploration))
            .map(Some)
            .map_err(|problem| Error::data(problem, ""))
    }
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

impl PageServer {
    fn start(model: Py<Model>, page: String, server: Server, threads: usize) -> PyResult<Self> {
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
            let _ = server.run(page, answer, || stopped.load(Ordering::Relaxed));
            Ok(())
        };
        let thread = std::thread::spawn(move || drop(pool.install(serve)));
        Ok(PageServer { url, stop, thread: Mutex::new(Some(thread)) })
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
