//! `cargo bench [-- FILTER]` prints the time and throughput of every path of the registry, in under
//! six minutes on two cores, and writes criterion's pages to `target/criterion/report`.
//!
//! Absent on purpose: verdicts. Times on a shared machine are too noisy, and so are criterion's
//! "changes"; the gate counts instructions (`scripts/perf-gate`).

use std::hint::black_box;
use std::time::Duration;

use compactometer_benches::paths::{Path, Work, all};
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, SamplingMode, Throughput};
use plotters::style::{FontStyle, register_font};

/// What criterion's plots are labelled with. The workspace builds plotters without the fonts of the
/// machine.
const FONT: &[u8] = include_bytes!("../../crates/report/assets/DejaVuSans.ttf");

fn main() {
    assert!(
        register_font("sans-serif", FontStyle::Normal, FONT).is_ok(),
        "the shipped font can be read"
    );
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .nresamples(2_000)
        .configure_from_args();
    let mut group = criterion.benchmark_group("paths");
    group.sampling_mode(SamplingMode::Flat);
    let selected = all().iter().filter(|path| time(&mut group, path)).count();
    group.finish();
    // Criterion runs nothing if it lists, and says nothing if its filter selects nothing.
    if selected == 0 && !std::env::args().any(|argument| argument == "--list") {
        eprintln!(
            "no path was selected; `cargo bench -- --list` prints their names, and a filter is a regular expression"
        );
        std::process::exit(2);
    }
    criterion.final_summary();
}

/// Whether the filter selects the path. Its work is prepared once, and only then.
fn time(group: &mut BenchmarkGroup<WallTime>, path: &Path) -> bool {
    let size = path.size as u64;
    group.throughput(if path.is_text {
        Throughput::Bytes(size * 1_024)
    } else {
        Throughput::Elements(size)
    });
    let mut prepared = None;
    group.bench_function(&path.name, |bencher| {
        let (work, expected) = prepared.get_or_insert_with(|| {
            let (mut work, outcome) = ready(path);
            assert_eq!(
                work(),
                outcome,
                "{} did something else the second time",
                path.name
            );
            (work, outcome)
        });
        let mut done = true;
        bencher.iter(|| done &= black_box(work()) == *expected);
        assert!(done, "{} did something else while it was timed", path.name);
    });
    prepared.is_some()
}

/// A path's work at its size, run once, with its result.
fn ready(path: &Path) -> (Work, u64) {
    let mut work = path
        .prepare(path.size)
        .unwrap_or_else(|error| panic!("{}: {error}", path.name));
    let outcome = work();
    assert!(outcome > 0, "{} did nothing", path.name);
    (work, outcome)
}
