//! What every fuzz target does.

use hingenet_hostile::Entrance;
use rustix::time::{ClockId, clock_gettime};
use std::sync::Once;
use std::time::Duration;

/// Processor time that an input may take. The clock of the wall, which libFuzzer reads, also counts while others work.
const MOST: Duration = Duration::from_secs(1);

/// Lets the bytes in at an entrance; a panic is a finding. A target names its entrance alone, so that the counters of code which
/// it never reaches are left out of its program: libFuzzer goes through all of them after every input.
pub fn admit(entrance: &Entrance, bytes: &[u8]) {
    static READY: Once = Once::new();
    READY.call_once(hingenet_hostile::prepare);
    let start = processor_time();
    entrance.admit(bytes);
    let taken = processor_time() - start;
    assert!(taken <= MOST, "{}: {taken:?} of processor time", entrance.name);
}

/// What this thread has taken so far; an entrance works in no other.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
