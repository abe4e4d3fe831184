//! Runs the target named in `COMPACTOMETER_FUZZ_TARGET` under libFuzzer. Call it through
//! `scripts/fuzz`.
#![no_main]

use std::sync::LazyLock;

use compactometer_fuzz::{Target, by_name, mutate};
use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("COMPACTOMETER_FUZZ_TARGET").unwrap_or_default();
    by_name(&name)
        .unwrap_or_else(|| panic!("COMPACTOMETER_FUZZ_TARGET is `{name}`, which names no target"))
});

fuzz_target!(|data: &[u8]| {
    let _ = (TARGET.run)(data);
});

// libFuzzer makes half of the mutations, guided by comparisons in the program. The others know
// lines and JSON.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    if seed % 2 == 0 {
        return fuzzer_mutate(data, size, max_size);
    }
    let changed = mutate::mutated(&data[..size], &data[..size], seed.into());
    let size = changed.len().min(max_size);
    data[..size].copy_from_slice(&changed[..size]);
    size
});
