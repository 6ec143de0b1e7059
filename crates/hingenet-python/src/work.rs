//! Long work beside the interpreter: on a thread of its own, without the interpreter lock, watched for
//! Ctrl-C and for progress.

use crate::error::{HingenetError, to_python};
use hingenet::{Control, Result};
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How often signals and progress are looked at.
const LOOK: Duration = Duration::from_millis(50);

/// Stage, steps done and steps in all, as last reported.
type Latest = Arc<Mutex<Option<(String, usize, usize)>>>;

/// Runs `work` on `threads` threads. Ctrl-C (or an exception in `progress`) stops it; `progress` is called
/// on the calling thread with (stage, done, total) when there is news.
pub fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> Result<T> + Send,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let latest = Latest::default();
    let mut control = Control::new(stop.clone());
    if let Some(bytes) = hingenet_data::memory::allowance() {
        control = control.within_memory(bytes);
    }
    if progress.is_some() {
        let latest = latest.clone();
        control = control.on_progress(move |p| {
            *latest.lock().unwrap_or_else(PoisonError::into_inner) = Some((p.stage.into(), p.done, p.total));
        });
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|e| HingenetError::new_err(format!("threads cannot be started: {e}")))?;
    let finished = (Mutex::new(false), Condvar::new());
    std::thread::scope(|scope| {
        let (pool, finished) = (&pool, &finished);
        let worker = scope.spawn(move || {
            let _end = Announce(finished);
            pool.install(|| work(&control))
        });
        let mut watched = Ok(());
        while !py.detach(|| wait(finished)) && watched.is_ok() {
            watched = py.check_signals().and_then(|()| report(progress, &latest));
        }
        if watched.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        let result = py.detach(|| worker.join());
        watched?;
        result.map_err(|_| HingenetError::new_err("internal error in the engine"))?.map_err(to_python)
    })
}

/// Sets the flag when dropped, also when the work panics.
struct Announce<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for Announce<'_> {
    fn drop(&mut self) {
        *self.0.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.1.notify_all();
    }
}

/// Waits for the end of the work, but not longer than [`LOOK`]; whether the end has come.
fn wait((flag, changed): &(Mutex<bool>, Condvar)) -> bool {
    let finished = flag.lock().unwrap_or_else(PoisonError::into_inner);
    let outcome = changed.wait_timeout_while(finished, LOOK, |finished| !*finished);
    *outcome.unwrap_or_else(PoisonError::into_inner).0
}

fn report(progress: Option<&Bound<'_, PyAny>>, latest: &Latest) -> PyResult<()> {
    let news = latest.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(progress), Some(news)) = (progress, news) {
        progress.call1(news)?;
    }
    Ok(())
}
