//! What every fuzz target does.

use hingenet_hostile::Entrance;
use rustix::time::{ClockId, clock_gettime};
use std::sync::OnceLock;
use std::time::Duration;

/// Processor time that an input may take. The clock of the wall, which libFuzzer reads, also counts while others work.
const MOST: Duration = Duration::from_secs(1);

/// Lets the bytes in at the entrance of this name; a panic is a finding.
pub fn admit(name: &str, bytes: &[u8]) {
    static ENTRANCE: OnceLock<&Entrance> = OnceLock::new();
    let entrance = ENTRANCE.get_or_init(|| hingenet_hostile::entrance(name));
    let start = processor_time();
    entrance.admit(bytes);
    let taken = processor_time() - start;
    assert!(taken <= MOST, "{name}: {taken:?} of processor time");
}

/// What this thread has taken so far; an entrance works in no other.
fn processor_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), now.tv_nsec.unsigned_abs() as u32)
}
