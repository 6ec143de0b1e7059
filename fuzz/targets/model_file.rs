#![no_main]

use hingenet_base::numeric::random::Random;
use hingenet_hostile::mutate::Parts;
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|bytes: &[u8]| hingenet_fuzz::admit(&hingenet_hostile::Entrance::MODEL_FILE, bytes));

// Half of the changes keep a file whose parts can be told apart: bytes changed at random are seldom JSON still.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let altered = Parts::of(&data[..size])
        .filter(|_| seed % 2 == 0)
        .map(|parts| parts.altered(&mut Random::new(seed.into())).seal());
    match altered {
        Some(file) if file.len() <= max_size => {
            data[..file.len()].copy_from_slice(&file);
            file.len()
        }
        _ => fuzzer_mutate(data, size, max_size),
    }
});
