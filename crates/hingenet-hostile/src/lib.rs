//! What must hold for bytes from strangers, whatever they are. The fuzz targets (`fuzz/`) look for bytes that break it, and
//! the tests replay what they found: both let bytes in at the same [`Entrance`]s. No program contains this crate.

pub mod answers;
mod entrances;
pub mod mutate;

pub use entrances::Entrance;

use peak_alloc::PeakAlloc;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Memory that any input may take, and how much more for each of its bytes.
const BASE: usize = 64 << 20;
const PER_BYTE: usize = 20;

impl Entrance {
    /// Lets bytes in; panics where they break what must hold, or take more memory than their size allows.
    pub fn admit(&self, bytes: &[u8]) {
        let taken = peak(|| (self.open)(bytes));
        let allowed = BASE + PER_BYTE * bytes.len();
        assert!(taken <= allowed, "{}: {taken} bytes of memory for an input of {}", self.name, bytes.len());
    }
}

/// Bytes of memory that some work takes at its peak, with what else the process does meanwhile.
pub fn peak(work: impl FnOnce()) -> usize {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    work();
    MEMORY.peak_usage() - before
}

/// Processor time that this process has taken, threads that have ended among it, so that what others do on the machine is not
/// counted; where the system does not tell it as Linux does, the time that has passed.
pub fn processor_time() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let start = *START;
    processor_time_of_linux().unwrap_or_else(|| start.elapsed())
}

/// Of the program and of the system on its behalf: fields 14 and 15 of `stat`, of which the second is a name in brackets.
fn processor_time_of_linux() -> Option<Duration> {
    /// Hundredths of a second, on every processor.
    const TICK: Duration = Duration::from_millis(10);
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u32>().ok();
    Some(TICK * (ticks()? + ticks()?))
}

/// Makes the process ready for any [`Entrance`]: all work stays in this thread, so that time and memory are those of the
/// input at hand, and what decoders of Parquet and Arrow panic about is kept quiet, since it is caught and becomes an error.
pub fn prepare() {
    // a pool that was built before stays
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !hingenet_data::table::read::is_decoding() {
            usual(panic);
        }
    }));
}
