#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hingenet_fuzz::admit(&hingenet_hostile::Entrance::ARFF, bytes));
