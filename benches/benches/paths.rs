//! `cargo bench -p compactometer-benches [-- FILTER]`: the time of every path of the registry, for people to read; under ten
//! minutes on two cores. The longest paths are run once, whatever number of samples criterion shows of it.
//!
//! Absent on purpose: verdicts. On a shared machine a time says little, and criterion's "changes" say nothing; the gate counts
//! instructions (`scripts/perf-gate`).

use std::hint::black_box;
use std::time::{Duration, Instant};

use compactometer_benches::paths::{Measured, Path, all};
use criterion::{Criterion, SamplingMode};

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .nresamples(2_000)
        .without_plots()
        .configure_from_args();
    for path in all() {
        time(&mut criterion, &path);
    }
    criterion.final_summary();
}

/// The work is made ready once, only where the filter lets the path through.
fn time(criterion: &mut Criterion, path: &Path) {
    let mut group = criterion.benchmark_group("paths");
    group.sampling_mode(SamplingMode::Flat);
    let mut ready = None;
    group.bench_function(&path.name, |bencher| {
        let (work, expected, took) = ready.get_or_insert_with(|| {
            let mut work = path.prepare(path.size).unwrap_or_else(|error| panic!("{}: {error}", path.name));
            let outcome = work();
            assert!(outcome > 0, "{} did nothing", path.name);
            let begun = Instant::now();
            assert_eq!(work(), outcome, "{} did something else the second time", path.name);
            (work, outcome, begun.elapsed())
        });
        if path.measured == Measured::Time {
            let taken = *took;
            return bencher.iter_custom(|rounds| taken * rounds as u32);
        }
        let mut done = true;
        bencher.iter(|| done &= black_box(work()) == *expected);
        assert!(done, "{} did something else while it was timed", path.name);
    });
    group.finish();
}
