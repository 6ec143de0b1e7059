//! How a caller watches, stops and bounds long work: every long loop calls [`Control::check`] and
//! [`Control::progress`], and whatever needs memory that grows with the product of two sizes asks [`Control::reserve`]
//! before it takes it. The library itself prints nothing and knows no signals.

use crate::error::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a long computation tells its caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress<'a> {
    /// What is being done, for people.
    pub stage: &'a str,
    /// Steps done.
    pub done: usize,
    /// Steps in all; 0 when unknown.
    pub total: usize,
}

type Listener = dyn Fn(Progress<'_>) + Send + Sync;
type Warner = dyn Fn(&str) + Send + Sync;

/// Handle by which a computation can be stopped and reports its progress and its warnings.
/// `Control::default()` never stops, reports to nobody, and takes the memory that the system gives.
#[derive(Clone, Default)]
pub struct Control {
    stop: Option<Arc<AtomicBool>>,
    listener: Option<Arc<Listener>>,
    warner: Option<Arc<Warner>>,
    teller: Option<Arc<Warner>>,
    limit: Option<Limit>,
    /// Bytes that one step may take.
    memory: Option<u64>,
    /// Reservations that are still granted, where tests count them.
    granted: Option<Arc<AtomicUsize>>,
}

/// When searching ends, and when everything should.
#[derive(Debug, Clone, Copy)]
struct Limit {
    search: Instant,
    all: Instant,
    /// The time allowed, where work that is not done by then fails.
    fails: Option<Duration>,
}

/// Share of the time that a search may take; the rest is for the fit of what it chose.
const SEARCH_SHARE: f64 = 0.6;

impl Control {
    /// A control that stops the work once `stop` is true.
    pub fn new(stop: Arc<AtomicBool>) -> Self {
        Control { stop: Some(stop), ..Self::default() }
    }

    /// Calls `listener` at every reported step.
    pub fn on_progress(mut self, listener: impl Fn(Progress<'_>) + Send + Sync + 'static) -> Self {
        self.listener = Some(Arc::new(listener));
        self
    }

    /// Calls `warner` with every warning (a stated rule was applied instead of an error).
    pub fn on_warning(mut self, warner: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.warner = Some(Arc::new(warner));
        self
    }

    /// Calls `teller` with results that are there before all is done.
    pub fn on_news(mut self, teller: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.teller = Some(Arc::new(teller));
        self
    }

    /// The same, whose warnings are also kept in a list.
    pub fn keeping_warnings(&self, kept: &Arc<Mutex<Vec<String>>>) -> Self {
        let (outer, kept) = (self.clone(), kept.clone());
        self.clone().on_warning(move |message| {
            outer.warn(message);
            if let Ok(mut list) = kept.lock() {
                list.push(message.to_string());
            }
        })
    }

    /// Asks for a result within so much time from now: searches then choose among what they have tried, and solvers
    /// stop at the point they have reached. Results then depend on the speed of the machine.
    pub fn within(mut self, time: Duration) -> Self {
        let now = Instant::now();
        let limit = |all| Limit { search: now + time.mul_f64(SEARCH_SHARE), all, fails: None };
        self.limit = now.checked_add(time).map(limit);
        self
    }

    /// Bounds the time from now: work that is not done by then fails, because it has nothing to show before its end.
    pub fn at_most(mut self, time: Duration) -> Self {
        let all = Instant::now().checked_add(time);
        self.limit = all.map(|all| Limit { search: all, all, fails: Some(time) });
        self
    }

    /// Bounds the memory (bytes) of every step that [`Self::reserve`] is asked for.
    pub fn within_memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// Grants so many reservations and no more, like a system whose memory comes to its end meanwhile: for tests of
    /// what is left behind.
    #[doc(hidden)]
    pub fn granting(mut self, reservations: usize) -> Self {
        self.granted = Some(Arc::new(AtomicUsize::new(reservations)));
        self
    }

    /// The bound of [`Self::within_memory`], if there is one.
    pub fn memory(&self) -> Option<u64> {
        self.memory
    }

    /// Asks for the memory of a step before it is taken: an error beyond the bound, and where the system has not that much
    /// to give. `what` needs it; `hint` says how to need less.
    pub fn reserve(&self, bytes: f64, what: impl std::fmt::Display, hint: &str) -> Result<()> {
        let refused =
            |limit: Option<u64>| Error::Memory { what: what.to_string(), bytes, limit, hint: hint.into() };
        let take = |granted: &Arc<AtomicUsize>| {
            granted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok()
        };
        match self.memory {
            Some(limit) if bytes > limit as f64 => Err(refused(Some(limit))),
            _ if !self.granted.as_ref().is_none_or(take) => Err(refused(None)),
            // what is tried is given back at once: it was never touched, so it cost nothing
            _ => Vec::<u8>::new().try_reserve_exact(bytes as usize).map_err(|_| refused(None)),
        }
    }

    /// Whether a search must choose among what it has tried.
    pub fn search_is_over(&self) -> bool {
        self.limit.is_some_and(|limit| Instant::now() >= limit.search)
    }

    /// Whether a solver must be content with the point it has reached.
    pub fn time_is_up(&self) -> bool {
        self.limit.is_some_and(|limit| Instant::now() >= limit.all)
    }

    /// The same stop flag and warnings, without progress: for work nested inside a step.
    pub fn quiet(&self) -> Self {
        Control { listener: None, ..self.clone() }
    }

    /// An error once the caller asked to stop, or once the time of [`Self::at_most`] is over.
    pub fn check(&self) -> Result<()> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(Error::Interrupted);
        }
        match self.limit {
            Some(Limit { all, fails: Some(time), .. }) if Instant::now() >= all => {
                Err(Error::Time { seconds: time.as_secs_f64() })
            }
            _ => Ok(()),
        }
    }

    /// Reports a step, then checks whether to stop.
    pub fn progress(&self, stage: &str, done: usize, total: usize) -> Result<()> {
        if let Some(listener) = &self.listener {
            listener(Progress { stage, done, total });
        }
        self.check()
    }

    /// So many steps of a stage, which may be done side by side.
    pub fn steps<'a>(&'a self, stage: &'a str, total: usize) -> Result<Steps<'a>> {
        self.progress(stage, 0, total)?;
        Ok(Steps { control: self, stage, total, done: AtomicUsize::new(0) })
    }

    /// Tells a result that is there before all is done.
    pub fn tell(&self, news: &str) {
        if let Some(teller) = &self.teller {
            teller(news);
        }
    }

    /// Reports that a stated rule was applied to unusual input.
    pub fn warn(&self, message: &str) {
        if let Some(warner) = &self.warner {
            warner(message);
        }
    }
}

/// Steps of one stage: each says when it is done.
pub struct Steps<'a> {
    control: &'a Control,
    stage: &'a str,
    total: usize,
    done: AtomicUsize,
}

impl Steps<'_> {
    /// Reports one step more, then checks whether to stop.
    pub fn done(&self) -> Result<()> {
        self.control.progress(self.stage, 1 + self.done.fetch_add(1, Ordering::Relaxed), self.total)
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("stop", &self.stop).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_that_are_done_side_by_side_are_counted() {
        use rayon::prelude::*;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = heard.clone();
        let control = Control::default().on_progress(move |p| {
            listener.lock().unwrap().push((p.stage.to_string(), p.done, p.total));
        });
        let steps = control.steps("pairs", 5).unwrap();
        (0..5).into_par_iter().try_for_each(|_| steps.done()).unwrap();
        let mut heard = heard.lock().unwrap().clone();
        heard.sort();
        assert_eq!(heard, (0..=5).map(|done| ("pairs".to_string(), done, 5)).collect::<Vec<_>>());
    }

    #[test]
    fn memory_beyond_the_bound_or_the_system_is_refused() {
        let control = Control::default().within_memory(1000);
        assert!(control.reserve(1000.0, "a table", "").is_ok());
        let error = control.reserve(1001.0, "a table", "give fewer rows").unwrap_err();
        assert!(matches!(&error, Error::Memory { limit: Some(1000), .. }), "{error}");
        assert_eq!(error.to_string(), "a table needs 1.0 kB of memory, more than the 1.0 kB allowed");
        assert_eq!(error.hint(), Some("give fewer rows"));
        let twice = Control::default().granting(2);
        let granted = [1.0; 3].map(|bytes| twice.quiet().reserve(bytes, "a table", "").is_ok());
        assert_eq!(granted, [true, true, false]);
        let all = Control::default().reserve(1e300, "everything", "").unwrap_err();
        assert!(all.to_string().contains("more than the system has"), "{all}");
    }
}
