//! How much memory the programs allow themselves: a share of what the machine, or the container around them, has.

use std::path::Path;

/// Share of the memory of the machine.
const SHARE: f64 = 0.75;
/// Where the system tells a container its bound, in bytes (versions 2 and 1 of control groups).
const BOUNDS: [&str; 2] = ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"];

/// Three quarters of the memory of the machine, in bytes, or of the address space that is left to this process
/// (`ulimit -v`); `None` where the system does not tell.
pub fn allowance() -> Option<u64> {
    let machine = read("/proc/meminfo").and_then(|text| kilobytes(&text, "MemTotal:"));
    let bounds = BOUNDS.iter().filter_map(|path| read(path)?.trim().parse().ok());
    let least = machine.into_iter().chain(bounds).chain(address_space()).min();
    least.map(|bytes| (SHARE * bytes as f64) as u64)
}

/// Bytes of addresses that this process may still take; `None` if they are not bounded.
fn address_space() -> Option<u64> {
    let limit = address_limit(&read("/proc/self/limits")?)?;
    let taken = kilobytes(&read("/proc/self/status")?, "VmSize:").unwrap_or(0);
    Some(limit.saturating_sub(taken))
}

/// The soft limit among those that the system lists.
fn address_limit(limits: &str) -> Option<u64> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A number of bytes that the system tells in kilobytes.
fn kilobytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?.trim();
    line.strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn the_machine_tells_its_memory() {
        let bytes = allowance().unwrap();
        assert!((1 << 24..1 << 48).contains(&bytes), "{bytes}");
        assert!(kilobytes(&read("/proc/self/status").unwrap(), "VmSize:").unwrap() > 1 << 20);
    }

    #[test]
    fn the_address_space_is_bounded_by_its_soft_limit() {
        let limits = |soft: &str| {
            format!(
                "Limit                     Soft Limit           Hard Limit           Units     \n\
                 Max resident set          unlimited            unlimited            bytes     \n\
                 Max address space         {soft:<20} unlimited            bytes     \n"
            )
        };
        assert_eq!(address_limit(&limits("2147483648")), Some(1 << 31));
        assert_eq!(address_limit(&limits("unlimited")), None);
    }
}
