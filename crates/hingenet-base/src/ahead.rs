//! Pieces that are made by one thread while another takes them.

use crate::error::{Error, Result};
use rayon::Yield;
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

/// Pieces that wait: one is made while one is taken.
const WAITING: usize = 1;

/// How long a thread that has nothing to do sleeps: next to nothing of what a piece takes.
const PAUSE: Duration = Duration::from_micros(200);

/// Hands what `make` makes to `take`, piece by piece in the same order, while the next piece is made. The first error ends both.
///
/// Both may work on all threads of the pool. So this thread, if it is one of them, works for the pool while it waits for
/// a piece: in a pool of one thread nobody else would.
pub fn make_ahead<T: Send>(
    make: impl FnOnce(&mut dyn FnMut(T) -> Result<()>) -> Result<()> + Send,
    take: &mut dyn FnMut(T) -> Result<()>,
) -> Result<()> {
    let (sender, pieces) = sync_channel(WAITING);
    std::thread::scope(|scope| {
        // nobody receives any more after an error there, which is the one to tell
        let maker =
            scope.spawn(move || make(&mut |piece| sender.send(piece).map_err(|_| Error::Interrupted)));
        let taken = std::iter::from_fn(|| next(&pieces)).try_for_each(take);
        drop(pieces);
        while !maker.is_finished() {
            work_or_sleep();
        }
        let made = maker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        taken.and(made)
    })
}

/// The next piece, or `None` after the last one.
fn next<T>(pieces: &Receiver<T>) -> Option<T> {
    loop {
        match pieces.recv_timeout(Duration::ZERO) {
            Ok(piece) => return Some(piece),
            Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => work_or_sleep(),
        }
    }
}

fn work_or_sleep() {
    if rayon::yield_now() != Some(Yield::Executed) {
        std::thread::sleep(PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::make_ahead;
    use crate::error::Error;
    use rayon::prelude::*;

    /// Both sides work on all threads of pools of any size, inside and outside of the pool; an error of either side ends both.
    #[test]
    fn pieces_come_in_order_and_nobody_waits_for_ever() {
        let sum = |n: u64| (0..n).into_par_iter().sum::<u64>();
        let run = |stop: u64, fail: u64| {
            let mut seen = Vec::new();
            let made = make_ahead(
                |hand| {
                    (0..20).try_for_each(|k| {
                        if k == fail {
                            Err(Error::data("torn", "mend"))
                        } else {
                            hand(sum(1000 + k) - sum(1000))
                        }
                    })
                },
                &mut |piece: u64| {
                    seen.push(piece + sum(10) - 45);
                    if seen.len() as u64 == stop { Err(Error::data("full", "empty")) } else { Ok(()) }
                },
            );
            (seen, made.map_err(|e| e.to_string()))
        };
        let all: Vec<u64> = (0..20).map(|k| (0..k).map(|i| 1000 + i).sum()).collect();
        let check = || {
            assert_eq!(run(99, 99), (all.clone(), Ok(())));
            let (seen, full) = run(3, 99);
            assert!(seen == all[..3] && full.unwrap_err().contains("full"));
            let (seen, torn) = run(99, 5);
            assert!(seen == all[..5] && torn.unwrap_err().contains("torn"));
        };
        for threads in [1, 2, 5] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(check);
        }
        check();
    }
}
