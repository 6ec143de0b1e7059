//! What every fuzz target does.

use hingenet_hostile::Entrance;
use std::sync::OnceLock;

/// Lets the bytes in at the entrance of this name; a panic is a finding.
pub fn admit(name: &str, bytes: &[u8]) {
    static ENTRANCE: OnceLock<&Entrance> = OnceLock::new();
    ENTRANCE.get_or_init(|| hingenet_hostile::entrance(name)).admit(bytes);
}
