//! How much memory the programs allow themselves: a share of what the machine, or the container around them, has.

use std::path::Path;

/// Share of the memory of the machine.
const SHARE: f64 = 0.75;
/// Where the system tells a container its bound, in bytes (versions 2 and 1 of control groups).
const BOUNDS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Three quarters of the memory of the machine, in bytes; `None` where the system does not tell.
pub fn allowance() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?.trim();
        line.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
    });
    let bounds = BOUNDS.iter().filter_map(|path| read(path)?.trim().parse().ok());
    machine.into_iter().chain(bounds).min().map(|bytes| (SHARE * bytes as f64) as u64)
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(target_os = "linux")]
    fn the_machine_tells_its_memory() {
        let bytes = super::allowance().unwrap();
        assert!((1 << 24..1 << 48).contains(&bytes), "{bytes}");
    }
}
