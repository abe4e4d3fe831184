//! The importers on real conversations, which are not part of the repository. The tests are skipped if the files are missing,
//! unless `COMPACTOMETER_REQUIRE_SHARED` is set.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use compactometer_engine::message::Role;
use compactometer_formats::suite::Suite;
use compactometer_suites::import::{Imported, Options, by_name, import};

const FACTS: Options = Options { auto_facts: true, concat: None, keep_secrets: false, strict: false };
const TAU: &str = "data/tau-bench/gpt-4o-airline-even-tasks.json";

fn shared(name: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let folder = std::env::var_os("COMPACTOMETER_SHARED").map_or_else(beside, PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("COMPACTOMETER_REQUIRE_SHARED").is_none(), "`{name}` is required but missing");
    println!("skipped: `{name}` is missing; set `COMPACTOMETER_SHARED` to the folder that contains it");
    None
}

fn imported(format: &str, files: &[PathBuf], options: &Options) -> Imported {
    let start = std::time::Instant::now();
    let importer = by_name(format).expect("a known format");
    let imported = import(importer, files, "shared", options).expect("imports");
    println!("{format} in {:?}:\n  {}", start.elapsed(), imported.report.lines().join("\n  "));
    let mut bytes = Vec::new();
    imported.suite.write(&mut bytes).expect("writes to memory");
    assert_eq!(Suite::from_reader(bytes.as_slice(), Path::new("suite")).expect("valid"), imported.suite);
    imported
}

#[test]
fn tau_bench_is_read_without_repairs() {
    let Some(file) = shared(TAU) else { return };
    let imported = imported("tau-bench", &[file], &FACTS);
    let report = &imported.report;
    assert_eq!((report.groups, report.scenarios, report.repeated_call_ids), (25, 100, 38));
    assert!(report.repairs.is_empty() && report.secrets.is_empty(), "{:?} {:?}", report.repairs, report.secrets);
    let facts = report.facts.expect("asked for");
    assert!(facts.uses > 500 && facts.used < facts.facts, "{facts:?}");
}

#[test]
fn joined_tau_bench_has_long_range_uses() {
    let Some(file) = shared(TAU) else { return };
    let imported = imported("tau-bench", std::slice::from_ref(&file), &Options { concat: Some(4), ..FACTS });
    assert_eq!((imported.report.groups, imported.report.scenarios), (6, 24));
    assert!(imported.report.leftovers.iter().any(|left| left.starts_with("group `task-48` left over")));
}

#[test]
fn claude_code_sessions_are_read_with_their_side_conversations() {
    let names = ["1af7fc5e-8455-4414-9ccd-011d40f70b2a", "fe5e1c67-53e7-4862-81ae-d0e013e3270b"];
    let files = names.map(|name| shared(&format!("data/claude-code/{name}.jsonl")));
    let Some(files) = files.into_iter().collect::<Option<Vec<_>>>() else { return };
    let imported = imported("claude-code", &files, &FACTS);
    let scenarios = &imported.suite.scenarios;
    assert_eq!((imported.report.groups, scenarios.len()), (2, 7));
    assert!(imported.report.repairs.is_empty(), "{:?}", imported.report.repairs);
    let messages = || scenarios.iter().flat_map(|scenario| &scenario.messages);
    let calls = messages().flat_map(|message| message.call_ids()).count();
    assert_eq!(calls, 12 + 167);
    let answered = messages().filter(|message| message.role == Role::Tool).flat_map(|message| message.answered_ids());
    assert_eq!(answered.count(), calls);
    let read = messages().filter_map(|message| message.usage.as_deref()).map(|usage| usage.cache_read).sum::<u64>();
    let all = messages().filter_map(|message| message.usage.as_deref()).map(|usage| usage.total_input()).sum::<u64>();
    println!("cache reads: {:.3} of the input", read as f64 / all as f64);
    assert!(read * 10 > all * 9, "most of the recorded input came from the cache: {read} of {all}");
    let groups = scenarios.iter().map(|scenario| &scenario.group_id).collect::<BTreeSet<_>>();
    assert_eq!(groups.len(), 2);
}

#[test]
fn files_of_other_formats_are_refused() {
    let others = [
        "swe-agent/function_calling_simple.traj",
        "swe-smith/pandas-dev__pandas.95280573.pr_53856.traj",
        "openhands/multi_swe_bench_example_output.jsonl",
        "locomo/locomo-first5.json",
    ];
    for file in others.iter().filter_map(|name| shared(&format!("data/{name}"))) {
        for format in ["claude-code", "tau-bench"] {
            let importer = by_name(format).expect("a known format");
            let error = import(importer, std::slice::from_ref(&file), "shared", &FACTS).expect_err("another format");
            let message = error.to_string();
            assert!(message.contains("line 1: expected") && message.contains("; formats are"), "{message}");
        }
    }
}
