//! What fuzzing started from and what it found, once more: every file of `fuzz/seeds` goes in where it belongs.

use hingenet_hostile::{Entrance, prepare, processor_time};
use std::path::Path;
use std::time::Duration;

/// One test, since memory is counted for the whole process.
#[test]
fn every_input_kept_is_answered_in_time_and_within_its_memory() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    prepare();
    for entrance in Entrance::ALL {
        let name = entrance.name;
        let inputs: Vec<_> = seeds.join(name).read_dir().unwrap().map(|e| e.unwrap().path()).collect();
        assert!(!inputs.is_empty(), "{name}");
        for input in inputs {
            println!("{}", input.display()); // shown if it fails
            let (bytes, start) = (std::fs::read(&input).unwrap(), processor_time());
            entrance.admit(&bytes);
            let taken = processor_time() - start;
            assert!(taken < Duration::from_secs(1), "{} took {taken:?}", input.display());
        }
    }
}
