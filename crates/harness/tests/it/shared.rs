//! Real conversations, which stay outside the repository. Skipped where they are absent, unless
//! `COMPACTOMETER_REQUIRE_SHARED` is set.

use std::path::{Path, PathBuf};

use compactometer_engine::tokens::Encoding;
use compactometer_harness::plan::points;
use compactometer_harness::prepare::PreparedScenario;
use compactometer_suites::import::{Options, by_name, import};

fn tau_bench() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("COMPACTOMETER_SHARED").map_or_else(beside, PathBuf::from);
    let path = folder.join("data/tau-bench/gpt-4o-airline-even-tasks.json");
    if path.exists() {
        return Some(path);
    }
    assert!(
        std::env::var_os("COMPACTOMETER_REQUIRE_SHARED").is_none(),
        "shared data is required and absent"
    );
    println!(
        "skipped: shared data is absent; set COMPACTOMETER_SHARED to the folder that holds it"
    );
    None
}

/// Needed-at-use events at a distance of 2,400 tokens, and uses left out as echoes; generic values
/// count in neither.
fn uses(file: &Path, concat: Option<usize>) -> (usize, u32) {
    let options = Options {
        auto_facts: true,
        concat,
        ..Options::default()
    };
    let imported = import(
        by_name("tau-bench").unwrap(),
        &[file.to_owned()],
        "tau",
        &options,
    )
    .unwrap();
    let scenarios = imported
        .suite
        .scenarios
        .into_iter()
        .map(|scenario| PreparedScenario::new(scenario, &[], &Encoding::O200k));
    let points = scenarios.flat_map(|prepared| {
        let ranked = |fact: &&u32| !prepared.scenario.facts[**fact as usize].generic;
        let counted = points(&prepared, 2_400)
            .into_iter()
            .map(|point| (point.used.iter().filter(ranked).count(), point.echoed));
        counted.collect::<Vec<_>>()
    });
    points.fold((0, 0), |(used, echoed), (more, echoes)| {
        (used + more, echoed + echoes)
    })
}

#[test]
fn joining_tau_bench_makes_long_range_uses() {
    let Some(file) = tau_bench() else { return };
    let (joined, echoed) = uses(&file, Some(4));
    let (alone, _) = uses(&file, None);
    println!("joined by 4: {joined} events, {echoed} echoes; alone: {alone} events");
    assert!(
        joined > 100 && joined > 2 * alone,
        "{joined} joined, {alone} alone"
    );
}
