//! `cargo bench -p compactometer-benches [-- FILTER]` prints the time of every path of the registry, in under ten minutes on two
//! cores. The longest paths are timed once and without criterion, which needs a dozen runs of each.
//!
//! Absent on purpose: verdicts. Times on a shared machine are too noisy, and so are criterion's "changes"; the gate counts
//! instructions (`scripts/perf-gate`).

use std::hint::black_box;
use std::time::{Duration, Instant};

use compactometer_benches::paths::{Measured, Path, Work, all};
use criterion::{Criterion, SamplingMode};

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .nresamples(2_000)
        .without_plots()
        .configure_from_args();
    let filter = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for path in all() {
        match path.measured {
            Measured::Time if path.name.contains(&filter) => time_once(&path),
            Measured::Time => {}
            Measured::Instructions | Measured::Times => time(&mut criterion, &path),
        }
    }
    criterion.final_summary();
}

fn time_once(path: &Path) {
    let (mut work, expected) = ready(path);
    let begun = Instant::now();
    assert_eq!(black_box(work()), expected, "{} did something else while it was timed", path.name);
    println!("paths/{} time, of one run: {:.2?}", path.name, begun.elapsed());
}

/// The work is prepared once, and only if the filter selects the path.
fn time(criterion: &mut Criterion, path: &Path) {
    let mut group = criterion.benchmark_group("paths");
    group.sampling_mode(SamplingMode::Flat);
    let mut prepared = None;
    group.bench_function(&path.name, |bencher| {
        let (work, expected) = prepared.get_or_insert_with(|| {
            let (mut work, outcome) = ready(path);
            assert_eq!(work(), outcome, "{} did something else the second time", path.name);
            (work, outcome)
        });
        let mut done = true;
        bencher.iter(|| done &= black_box(work()) == *expected);
        assert!(done, "{} did something else while it was timed", path.name);
    });
    group.finish();
}

/// A path's work at its size, run once, with its result.
fn ready(path: &Path) -> (Work, u64) {
    let mut work = path.prepare(path.size).unwrap_or_else(|error| panic!("{}: {error}", path.name));
    let outcome = work();
    assert!(outcome > 0, "{} did nothing", path.name);
    (work, outcome)
}
