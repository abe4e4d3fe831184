//! A run against a baseline, from files in to verdicts out.

use std::fs;
use std::path::Path;

use crate::common::{
    answer, call, chance, compaction, facts, manifest, point, prices, question, record, settings,
    turn,
};
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_engine::model::Served;
use compactometer_formats::answer::Grade;
use compactometer_formats::baseline::{Baseline, BaselineError};
use compactometer_formats::fate::Fate;
use compactometer_formats::record::{CallRow, Family, Record, Stages, Unusable};
use compactometer_formats::scenario::ValueKind;
use compactometer_report::RunFiles;
use compactometer_report::gate::{
    GateOptions, GateReport, GateVerdict, Mismatch, baseline_of, gate, html, junit, markdown,
    reached, self_test, terminal, whole,
};

pub(crate) const KIND: ValueKind = ValueKind::Nonce;

/// A run of `units` conversations of 20 facts: `held` says how many of them each conversation holds
/// at its end.
pub(crate) fn run(names: &[&str], units: usize, held: impl Fn(usize) -> usize) -> RunFiles {
    let cases = names
        .iter()
        .flat_map(|name| (0..units).map(move |at| (name, at)));
    let records: Vec<Record> = cases.map(|(name, at)| talk(name, at, held(at))).collect();
    RunFiles {
        manifest: manifest(names, records.len(), units),
        records,
    }
}

pub(crate) fn talk(name: &str, at: usize, held: usize) -> Record {
    let mut made = record(
        name,
        Family::Reference,
        &format!("s{at:02}"),
        &format!("g{at:02}"),
    );
    made.facts = facts(20, KIND);
    let mut seen = point(1, &("c".repeat(held) + &"u".repeat(20 - held)));
    seen.chance = vec![chance(KIND, 0, 5)];
    made.observations = vec![seen];
    made.turns = vec![turn(3_000, 0, 100)];
    made.compactions = vec![compaction(Stages::default(), 3_000, Vec::new())];
    made
}

/// Between 9 and 11 of 20.
pub(crate) fn about_ten(at: usize) -> usize {
    9 + at % 3
}

pub(crate) fn options() -> GateOptions {
    GateOptions {
        margin: 0.05,
        strategies: Vec::new(),
        exact: false,
    }
}

pub(crate) fn gated(run: &RunFiles, baseline: &Baseline) -> GateReport {
    gate(run, baseline, &prices(), &options()).unwrap()
}

pub(crate) fn base(run: &RunFiles) -> Baseline {
    let text = baseline_of(run, &prices()).unwrap().to_text().unwrap();
    Baseline::parse(&text).unwrap()
}

#[test]
fn a_run_passes_on_itself() {
    let mut run = run(&["chained"], 12, about_ten);
    // Scores with more digits than a baseline keeps.
    run.records
        .iter_mut()
        .for_each(|record| record.facts[0].weight = 0.7);
    let report = gated(&run, &base(&run));
    assert_eq!(report.verdict, GateVerdict::Pass, "{}", whole(&report, 200));
    let metric = &report.strategies[0].metrics[0];
    assert_eq!(
        (metric.metric.as_str(), metric.units),
        ("context_recall_corrected", 12)
    );
    assert_eq!(
        (metric.difference, metric.low, metric.high),
        (Some(0.0), Some(0.0), Some(0.0))
    );
    assert!(report.strategies[0].newly_lost.is_empty());
}

#[test]
fn a_loss_beyond_the_margin_is_a_regression_with_its_facts() {
    let report = gated(
        &run(&["chained"], 12, |at| about_ten(at) - 3 - at % 2),
        &base(&run(&["chained"], 12, about_ten)),
    );
    assert_eq!(
        report.verdict,
        GateVerdict::Regression,
        "{}",
        whole(&report, 200)
    );
    let found = &report.strategies[0];
    // 3 or 4 of each: 42 in 12 conversations.
    assert_eq!((found.newly_lost.len(), found.newly_kept.len()), (42, 0));
    let first = &found.newly_lost[0];
    assert_eq!(
        (
            first.scenario.as_str(),
            first.fact.as_str(),
            first.before,
            first.after
        ),
        ("s00", "f6", Fate::Carried, Fate::Unwritten)
    );
    let text = whole(&report, 200);
    assert_eq!(
        text.matches("held in a summary -> left out").count(),
        42,
        "{text}"
    );
    // The short form: verdict first, that a mock's pass or loss is not a model's, and some of what
    // was lost.
    let short = terminal(&report, 80);
    assert!(
        short.starts_with("verdict: REGRESSION\n") && short.lines().count() < 30,
        "{short}"
    );
    assert!(
        short.contains("! mechanism, not model: `mock:strong` wrote the summaries"),
        "{short}"
    );
    assert!(
        short.contains(
            "newly lost, 42 (newly kept, 0); the first 10:\n  s00 f6: held in a summary -> left out\n"
        ),
        "{short}"
    );
    assert_eq!(
        markdown(&report).matches("held in a summary -&gt;").count()
            + markdown(&report).matches("held in a summary ->").count(),
        42
    );
}

#[test]
fn a_loss_within_the_margin_passes_and_says_worse() {
    // One fact of 20 less in every fourth conversation: -.0125 on average.
    let report = gated(
        &run(&["chained"], 40, |at| {
            about_ten(at) - usize::from(at % 4 == 0)
        }),
        &base(&run(&["chained"], 40, about_ten)),
    );
    assert_eq!(
        report.verdict,
        GateVerdict::PassWorse,
        "{}",
        whole(&report, 200)
    );
}

#[test]
fn a_loss_of_the_margin_itself_is_open_and_says_what_it_takes() {
    let report = gated(
        &run(&["chained"], 12, |at| about_ten(at) + at % 2 * 4 - 3),
        &base(&run(&["chained"], 12, about_ten)),
    );
    let metric = &report.strategies[0].metrics[0];
    assert_eq!(
        report.verdict,
        GateVerdict::Inconclusive,
        "{}",
        whole(&report, 200)
    );
    assert!(metric.units_needed.unwrap() > 12, "{metric:?}");
    let next = report.strategies[0].next.as_ref().unwrap();
    assert!(
        next.contains("free with the mock") && next.contains("compactometer generate"),
        "{next}"
    );
}

/// As [`run`] by a model of which nothing is made up: `right` says how many of 20 questions each
/// conversation answers.
fn answered(units: usize, right: impl Fn(usize) -> usize) -> RunFiles {
    let mut found = run(&["full", "null", "chained"], units, about_ten);
    found.manifest.summarizer = "openai:some".to_owned();
    for record in &mut found.records {
        let at = record
            .case
            .scenario
            .trim_start_matches('s')
            .parse()
            .unwrap();
        let (family, right) = match record.case.strategy.as_str() {
            "full" => (Family::Control, 20),
            "null" => (Family::Control, 0),
            _ => (Family::Reference, right(at)),
        };
        record.case.family = family;
        for probe in 0..20 {
            let grade = if (probe as usize) < right {
                Grade::Right
            } else {
                Grade::Missing
            };
            record.probes.push(question(probe));
            record.answers.push(answer(probe, grade));
        }
    }
    found
}

#[test]
fn answers_say_what_it_takes_as_contexts_do() {
    let report = gated(
        &answered(12, |at| about_ten(at) + at % 2 * 4 - 3),
        &base(&answered(12, about_ten)),
    );
    let [contexts, answers] = &report.strategies[0].metrics[..] else {
        panic!("{}", whole(&report, 200))
    };
    assert_eq!(
        (contexts.verdict, answers.verdict),
        (GateVerdict::Pass, GateVerdict::Inconclusive),
        "{}",
        whole(&report, 200)
    );
    let needed = answers.units_needed.unwrap();
    let next = report.strategies[0].next.as_ref().unwrap();
    let expected = format!(
        "with {needed} independent conversations, a loss of two margins of answers right is found with probability .80; there are 12"
    );
    assert!(needed > 12 && next.contains(&expected), "{next}");
}

#[test]
fn more_units_are_no_advice_where_they_do_not_help() {
    let mut none = run(&["chained"], 12, about_ten);
    none.records
        .iter_mut()
        .for_each(|record| record.compactions.clear());
    let report = gated(&none, &base(&run(&["chained"], 12, about_ten)));
    let found = &report.strategies[0];
    assert_eq!(
        (found.verdict, found.metrics[0].units_needed),
        (GateVerdict::Inconclusive, None)
    );
    assert!(
        found.next.as_ref().unwrap().contains("see its reason"),
        "{found:?}"
    );
}

/// Chance finds numbers nearly always in the run and hardly ever in the baseline: what is left is
/// another set of facts.
#[test]
fn a_run_that_leaves_out_other_facts_cannot_pass() {
    let of_two_kinds = |hits: u32| {
        let mut made = run(&["chained"], 12, about_ten);
        for record in &mut made.records {
            record.facts[10..]
                .iter_mut()
                .for_each(|fact| fact.value_kind = ValueKind::Number);
            record.observations[0]
                .chance
                .push(chance(ValueKind::Number, hits, 10));
        }
        made
    };
    let report = gated(&of_two_kinds(9), &base(&of_two_kinds(1)));
    assert_eq!(
        report.verdict,
        GateVerdict::Inconclusive,
        "{}",
        whole(&report, 200)
    );
    let reason = report.strategies[0].metrics[0].reason.as_ref().unwrap();
    assert!(reason.contains("number at round 1"), "{reason}");
    assert_eq!(
        gated(&of_two_kinds(9), &base(&of_two_kinds(9))).verdict,
        GateVerdict::Pass
    );
}

#[test]
fn too_few_units_never_decide() {
    for (names, units, lost) in [
        (&["chained"][..], 4, 8),
        (&["chained"], 1, 8),
        (&["chained"], 4, 1),
        (&["chained", "summarize"], 5, 8),
    ] {
        let report = gated(
            &run(names, units, |at| about_ten(at) - lost),
            &base(&run(names, units, about_ten)),
        );
        assert_eq!(
            report.verdict,
            GateVerdict::Inconclusive,
            "{names:?} {units} {lost}: {}",
            whole(&report, 200)
        );
        assert!(
            whole(&report, 200).contains("conversations are too few to decide"),
            "{}",
            whole(&report, 200)
        );
    }
}

/// Few units and a level at which nothing can be lost decide nothing, but the same records do.
#[test]
fn identical_records_pass_whatever_their_number_and_level() {
    for (units, held) in [(1, 8), (3, 0), (12, 0), (12, 1)] {
        let same = run(&["chained"], units, |_| held);
        let report = gated(&same, &base(&same));
        assert_eq!(
            report.verdict,
            GateVerdict::Pass,
            "{units} {held}: {}",
            whole(&report, 200)
        );
        assert!(
            whole(&report, 200).contains("byte for byte"),
            "{}",
            whole(&report, 200)
        );
    }
    // What never compacted is no evidence, even of itself.
    let mut idle = run(&["chained"], 12, about_ten);
    for record in &mut idle.records {
        record.compactions.clear();
        record
            .observations
            .iter_mut()
            .for_each(|seen| seen.round = 0);
    }
    assert_eq!(
        gated(&idle, &base(&idle)).verdict,
        GateVerdict::Inconclusive
    );
}

#[test]
fn recall_under_two_margins_cannot_be_gated() {
    let report = gated(
        &run(&["chained"], 12, |_| 0),
        &base(&run(&["chained"], 12, |at| 1 + at % 2)),
    );
    assert_eq!(report.verdict, GateVerdict::Inconclusive);
    assert!(
        whole(&report, 200).contains("under two margins"),
        "{}",
        whole(&report, 200)
    );
}

#[test]
fn no_facts_and_no_scores_never_pass() {
    let mut without = run(&["chained"], 12, about_ten);
    for record in &mut without.records {
        record.facts.clear();
        record.observations.clear();
    }
    let full = run(&["chained"], 12, about_ten);
    for (new, old) in [(&without, &without), (&without, &full), (&full, &without)] {
        let report = gated(new, &base(old));
        assert_eq!(
            report.verdict,
            GateVerdict::Inconclusive,
            "{}",
            whole(&report, 200)
        );
        assert!(
            whole(&report, 200).contains("has no value"),
            "{}",
            whole(&report, 200)
        );
    }
    let mut some = run(&["chained"], 12, about_ten);
    some.records[0].observations.clear();
    let report = gated(&some, &base(&full));
    assert_eq!(
        report.verdict,
        GateVerdict::Inconclusive,
        "{}",
        whole(&report, 200)
    );
    assert!(whole(&report, 200).contains("1 conversations of the baseline have no score"));
}

#[test]
fn what_did_not_compact_never_passes() {
    let full = run(&["chained"], 12, about_ten);
    let mut failed = run(&["chained"], 12, |_| 20);
    for record in &mut failed.records {
        record.compactions[0].event.outcome = Outcome::Failed(FailReason::Call("down".to_owned()));
    }
    let report = gated(&failed, &base(&full));
    assert_eq!(report.verdict, GateVerdict::Regression);
    assert!(
        whole(&report, 200).contains("all its 12 compactions failed"),
        "{}",
        whole(&report, 200)
    );

    let mut some = run(&["chained"], 12, about_ten);
    some.records[0].compactions[0].event.outcome =
        Outcome::Failed(FailReason::Call("down".to_owned()));
    let report = gated(&some, &base(&full));
    assert!(
        whole(&report, 200).contains("1 of 12 compactions failed"),
        "{}",
        whole(&report, 200)
    );
    assert_eq!(report.verdict, GateVerdict::Inconclusive);

    let mut idle = run(&["chained"], 12, |_| 20);
    idle.records
        .iter_mut()
        .for_each(|record| record.compactions.clear());
    let report = gated(&idle, &base(&full));
    assert!(
        whole(&report, 200).contains("it never triggered"),
        "{}",
        whole(&report, 200)
    );
    assert_eq!(report.verdict, GateVerdict::Inconclusive);

    let mut over = run(&["chained"], 12, about_ten);
    over.records[3].turns[0].over_window = true;
    let report = gated(&over, &base(&full));
    assert!(
        whole(&report, 200).contains("over the context window"),
        "{}",
        whole(&report, 200)
    );
    assert_eq!(report.verdict, GateVerdict::Inconclusive);
}

#[test]
fn the_worst_of_several_strategies_counts() {
    let names = ["chained", "summarize"];
    let old = run(&names, 12, about_ten);
    let mut new = run(&names, 12, about_ten);
    for record in new
        .records
        .iter_mut()
        .filter(|record| record.case.strategy == "summarize")
    {
        let mut seen = point(1, &"u".repeat(20));
        seen.chance = vec![chance(KIND, 0, 5)];
        record.observations = vec![seen];
    }
    let report = gated(&new, &base(&old));
    let verdicts: Vec<_> = report
        .strategies
        .iter()
        .map(|one| (one.strategy.as_str(), one.verdict))
        .collect();
    assert_eq!(
        verdicts,
        [
            ("chained", GateVerdict::Pass),
            ("summarize", GateVerdict::Regression)
        ]
    );
    assert_eq!(report.verdict, GateVerdict::Regression);
    let one = GateOptions {
        strategies: vec!["chained".to_owned()],
        ..options()
    };
    assert_eq!(
        gate(&new, &base(&old), &prices(), &one).unwrap().verdict,
        GateVerdict::Pass
    );
}

#[test]
fn hard_checks_fail_at_once_and_bytes_only_when_asked() {
    let old = run(&["chained"], 12, about_ten);
    let mut new = run(&["chained"], 12, about_ten);
    new.records[0].turns[0].output += 1;
    assert_eq!(gated(&new, &base(&old)).verdict, GateVerdict::Pass);
    let exact = GateOptions {
        exact: true,
        ..options()
    };
    assert_eq!(
        gate(&new, &base(&old), &prices(), &exact).unwrap().verdict,
        GateVerdict::Failed
    );
    assert_eq!(
        gate(&old, &base(&old), &prices(), &exact).unwrap().verdict,
        GateVerdict::Pass
    );
    // A fact that is present without a path fails the run, however well it does.
    new.records[0].observations[0].fates.0[0] = Fate::Unexplained;
    let report = gated(&new, &base(&old));
    assert_eq!(report.verdict, GateVerdict::Failed);
    assert!(
        whole(&report, 200).contains("hard check failed: no fact is present unexplained"),
        "{}",
        whole(&report, 200)
    );
}

fn served_as(model: &str) -> CallRow {
    let served = Served {
        model: Some(model.to_owned()),
        ..Served::default()
    };
    CallRow {
        served: Some(Box::new(served)),
        ..call(3_000, 100)
    }
}

/// One name for two models: the report says so, and so does a gate.
#[test]
fn a_run_tells_as_what_it_was_served() {
    let mut new = run(&["chained"], 12, about_ten);
    let told = |run: &RunFiles| {
        let warnings = compactometer_report::summarize(&run.manifest, &run.records, &prices())
            .groups
            .remove(0)
            .warnings;
        warnings
            .into_iter()
            .find(|warning| warning.contains("was served as"))
    };
    assert_eq!(told(&new), None);
    for (at, model) in ["some-0711", "some-0812"].iter().enumerate() {
        new.records[at].compactions[0].calls = vec![served_as(model)];
    }
    assert!(
        told(&new)
            .unwrap()
            .contains("2 models, so this is a mixture: `some-0711`, `some-0812`")
    );
    assert_eq!(
        gated(&new, &base(&new)).verdict,
        GateVerdict::Pass,
        "the same mixture"
    );
}

#[test]
fn runs_that_cannot_be_compared_name_both_values() {
    let old = base(&run(&["chained"], 12, about_ten));
    let changed = |change: fn(&mut RunFiles)| {
        let mut new = run(&["chained"], 12, about_ten);
        change(&mut new);
        gate(&new, &old, &prices(), &options())
            .map(|report| report.verdict)
            .unwrap_err()
            .to_string()
    };
    for (message, both) in [
        (
            changed(|run| run.manifest.suite_hash = "07e4".into()),
            "`07e4` against `5u17e`",
        ),
        (
            changed(|run| run.manifest.suite = "other".into()),
            "`other` against `tiny`",
        ),
        (
            changed(|run| run.manifest.summarizer = "mock:weak".into()),
            "`mock:weak` against `mock:strong`",
        ),
        (
            changed(|run| run.manifest.program = "0.2.0".into()),
            "`0.2.0` against `0.1.0`",
        ),
        (
            changed(|run| run.records[3].compactions[0].calls = vec![served_as("some-0711")]),
            "`some-0711` against ``",
        ),
        (
            changed(|run| run.manifest.window = 6_000),
            "`6000` against `12000`",
        ),
        (
            changed(|run| run.manifest.trigger = 6_000),
            "the trigger: `6000` against `9600`",
        ),
        (
            changed(|run| run.manifest.matcher = "07e4".into()),
            "the matcher's results: `07e4` against `3a7c`",
        ),
        (
            changed(|run| run.records[0].version = 2),
            "the version of records: `2` against `5`",
        ),
        (
            changed(|run| {
                run.records
                    .iter_mut()
                    .for_each(|record| record.case.budget.trigger = 6_000)
            }),
            "the trigger of chained: `6000` against `9600`",
        ),
    ] {
        assert!(
            message.contains(both) && message.contains("--update"),
            "{message}"
        );
    }
    let mut other_seed = run(&["chained"], 12, about_ten);
    other_seed.manifest.seed = 9;
    let report = gate(&other_seed, &old, &prices(), &options()).unwrap();
    assert!(
        report
            .notes
            .iter()
            .any(|note| note == "seed 9, the baseline's 1"),
        "{:?}",
        report.notes
    );
}

/// Read from a folder, a run is its replay at the run's size and the strategies' own splits.
#[test]
fn a_run_with_sweeps_is_gated_as_one_without() {
    let plain = run(&["chained"], 12, about_ten);
    let mut swept = run(&["chained"], 12, about_ten);
    let mut further = |change: fn(&mut Record), name: &str| {
        let mut records = run(&["chained"], 12, |_| 2).records;
        records.iter_mut().for_each(change);
        records.iter_mut().for_each(|record| record.key += name);
        swept.records.extend(records);
    };
    further(|record| record.case.budget.retained = Some(1_200), "-small");
    further(|record| record.case.split = Some(0.25), "-split");
    (swept.manifest.sweep, swept.manifest.splits) = (vec![1_200], vec![0.25]);
    (swept.manifest.cases, swept.manifest.swept_cases) = (36, Some(24));
    let dir = tempfile::tempdir().unwrap();
    save(dir.path(), &swept);
    let read = RunFiles::read(dir.path()).unwrap();
    assert_eq!(read.records, plain.records);
    assert_eq!(base(&read), base(&plain));
}

#[test]
fn strategies_of_one_side_and_unknown_ones_are_refused() {
    let one = run(&["chained"], 12, about_ten);
    let two = run(&["chained", "summarize"], 12, about_ten);
    let refused = |new: &RunFiles, old: &RunFiles, names: &[&str]| {
        let options = GateOptions {
            strategies: names.iter().map(|name| (*name).to_owned()).collect(),
            ..options()
        };
        gate(new, &base(old), &prices(), &options).map(|report| report.verdict)
    };
    assert!(matches!(
        refused(&one, &two, &[]),
        Err(Mismatch::OneSided {
            side: "baseline",
            ..
        })
    ));
    assert!(matches!(
        refused(&two, &one, &[]),
        Err(Mismatch::OneSided { side: "run", .. })
    ));
    assert_eq!(refused(&two, &one, &["chained"]), Ok(GateVerdict::Pass));
    assert!(
        matches!(refused(&one, &one, &["chaned"]), Err(Mismatch::Unknown(message)) if message.contains("did you mean `chained`"))
    );
    let mut controls = run(&["chained"], 12, about_ten);
    controls
        .records
        .iter_mut()
        .for_each(|record| record.case.family = Family::Control);
    let nothing = Baseline {
        strategies: Vec::new(),
        ..base(&one)
    };
    assert_eq!(
        gate(&controls, &nothing, &prices(), &options()).map(|report| report.verdict),
        Err(Mismatch::NothingTested)
    );
}

#[test]
fn scores_that_no_record_gives_are_refused() {
    let new = run(&["chained"], 12, about_ten);
    for bad in [f64::NAN, 1.5, -5.0] {
        let mut old = base(&new);
        old.strategies[0].units[3]
            .scores
            .insert("context_recall_corrected".to_owned(), bad);
        assert!(
            matches!(
                gate(&new, &old, &prices(), &options()),
                Err(Mismatch::Score { .. })
            ),
            "{bad}"
        );
    }
    let text = baseline_of(&new, &prices()).unwrap().to_text().unwrap();
    let edited = text.replacen("0.45", "0.05", 1);
    assert_ne!(edited, text);
    assert_eq!(Baseline::parse(&edited), Err(BaselineError::Checksum));
}

fn save(dir: &Path, run: &RunFiles) {
    let lines: String = run
        .records
        .iter()
        .map(|record| record.to_line().unwrap() + "\n")
        .collect();
    fs::write(dir.join("records.jsonl"), lines).unwrap();
    fs::write(
        dir.join("manifest.json"),
        serde_json::to_string(&run.manifest).unwrap(),
    )
    .unwrap();
}

#[test]
fn torn_edited_and_foreign_records_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let whole = run(&["chained"], 6, about_ten);
    save(dir.path(), &whole);
    assert_eq!(
        RunFiles::read(dir.path())
            .map(|run| run.records.len())
            .unwrap(),
        6
    );
    let path = dir.path().join("records.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap();
    let without_last: String = text
        .lines()
        .take(5)
        .map(|line| format!("{line}\n"))
        .collect();
    for (broken, expected) in [
        (text[..text.len() - 40].to_owned(), "line 6"),
        (
            text.replacen("cccccc", "cccccu", 1),
            "the checksum does not match",
        ),
        (
            without_last,
            "records of 5 replays and the manifest lists 6",
        ),
        (format!("{text}{first}\n"), "is here twice"),
        (String::new(), "records of 0 replays"),
        (text.clone() + "\n", "line 7"),
    ] {
        fs::write(&path, broken).unwrap();
        let message = RunFiles::read(dir.path())
            .map(|run| run.records.len())
            .unwrap_err()
            .to_string();
        assert!(message.contains(expected), "{expected}: {message}");
    }
    let mut bytes = text.clone().into_bytes();
    let third = text.match_indices('\n').nth(1).unwrap().0 + 20;
    bytes[third] = 0xff;
    fs::write(&path, bytes).unwrap();
    let message = RunFiles::read(dir.path())
        .map(|run| run.records.len())
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("records.jsonl`, line 3: invalid UTF-8"),
        "{message}"
    );
    fs::remove_file(&path).unwrap();
    assert!(RunFiles::read(dir.path()).is_err());
    fs::write(dir.path().join("manifest.json"), "{").unwrap();
    assert!(
        RunFiles::read(dir.path())
            .map(|run| run.records.len())
            .unwrap_err()
            .to_string()
            .contains("not a manifest")
    );
}

#[test]
fn junit_counts_and_escapes() {
    let old = run(&["chained"], 12, about_ten);
    let mut new = run(&["chained"], 12, |at| about_ten(at) - 4);
    let mut baseline = base(&old);
    for (at, record) in new.records.iter_mut().enumerate() {
        record.case.scenario = format!("<s&{at}>\u{1}");
        baseline.scenarios[at].scenario = record.case.scenario.clone();
        let unit = &mut baseline.strategies[0].units[at];
        unit.fates = unit
            .fates
            .values()
            .map(|fates| (record.case.scenario.clone(), fates.clone()))
            .collect();
    }
    let xml = junit(&gated(&new, &baseline), true).unwrap();
    assert!(
        xml.contains(r#"failures="1" errors="0" skipped="0""#),
        "{xml}"
    );
    assert!(
        xml.contains("&lt;s&amp;0&gt;?") && !xml.contains("<s&"),
        "{xml}"
    );
    assert!(xml.contains(r#"<failure message="REGRESSION">"#), "{xml}");
    let passed = junit(&gated(&new, &base(&new)), true).unwrap();
    assert!(passed.contains("<system-out>"), "{passed}");

    let few = run(&["chained"], 3, about_ten);
    let report = gated(&few, &base(&run(&["chained"], 3, |at| about_ten(at) - 1)));
    assert!(
        junit(&report, true)
            .unwrap()
            .contains(r#"failures="0" errors="1" skipped="0""#)
    );
    assert!(
        junit(&report, false)
            .unwrap()
            .contains(r#"failures="0" errors="0" skipped="1""#)
    );
}

#[test]
fn hostile_names_end_neither_their_code_nor_their_cell() {
    let hostile = |held: &dyn Fn(usize) -> usize| {
        let mut run = run(&["chained"], 12, held);
        let name = "a`|<b>*x*|`\n\u{1b}[2J".to_owned();
        run.manifest.suite = "s`|<img>\u{c}".to_owned();
        run.manifest.strategies[0] = name.clone();
        run.manifest.prompts = [(name.clone(), "9409".to_owned())].into();
        run.manifest.settings = [(name.clone(), settings("chained"))].into();
        for record in &mut run.records {
            record.case.strategy = name.clone();
            record.facts.iter_mut().for_each(|fact| fact.id += "`|<i>");
        }
        run
    };
    let report = gated(
        &hostile(&|at| about_ten(at) - 4),
        &base(&hostile(&about_ten)),
    );
    let text = markdown(&report);
    // Text between backticks without a backslash before them is shown as it is.
    let spoken: String = text.replace(r"\`", "").split('`').step_by(2).collect();
    assert!(
        !spoken.contains("<b>") && !text.contains("<img>") && !text.contains('\u{1b}'),
        "{text}"
    );
    assert!(
        text.contains("<summary>a<code>|&lt;b&gt;*x*|</code> \u{fffd}[2J: "),
        "{text}"
    );
    assert!(text.contains("- `s00` ``f"), "{text}");
    let widths = text
        .lines()
        .filter(|line| line.starts_with('|'))
        .map(|line| {
            let escaped = line.matches(r"\|").count();
            line.matches('|').count() - escaped
        });
    assert!(
        widths.clone().count() > 2 && widths.clone().all(|bars| bars == 13),
        "{text}"
    );
    let page = html(&report).unwrap();
    assert!(
        !page.contains("<b>") && !page.contains("<img>") && page.contains(" (matched)</t"),
        "{page}"
    );
    let xml = junit(&report, true).unwrap();
    let may_stand = |letter: char| !letter.is_control() || letter == '\n' || letter == '\t';
    assert!(xml.chars().all(may_stand) && xml.contains("?[2J"), "{xml}");
}

#[test]
fn facts_that_left_unread_are_a_regression() {
    let judged = |letters: &str, unusable: Option<Unusable>| {
        let mut run = run(&["chained", "null"], 6, about_ten);
        for record in &mut run.records {
            let mut seen = point(1, letters);
            seen.unusable = unusable;
            record.observations = vec![seen];
            if record.case.strategy == "null" {
                record.case.family = Family::Control;
            }
        }
        reached(&run, &prices(), &[]).unwrap()
    };
    // Verbatim, carried, left out, lost later, no longer valid: read, or never left.
    let read = judged("vvvvvvvvvvccccuuueex", None);
    assert_eq!(read.verdict, GateVerdict::Pass);
    let [chained] = &read.strategies[..] else {
        panic!("controls are not judged: {read:?}");
    };
    assert_eq!((chained.left, chained.unread.len()), (54, 0));
    // One fact of each conversation was never read.
    let unread = judged("vvvvvvvvvvccccuuueed", None);
    assert_eq!(unread.verdict, GateVerdict::Regression);
    assert_eq!(unread.strategies[0].unread.len(), 6);
    let (text, page) = (unread.text(80), unread.html().unwrap());
    assert!(
        text.contains("6 of 60 facts that left were never read") && text.contains("  s00 f19\n"),
        "{text}"
    );
    assert!(page.contains("<li>s00 f19</li>"), "{page}");
    // Who lets nothing leave, or whose requests are unknown, has shown nothing.
    for letters in ["vvvvvvvvvvvvvvvvvvvv", "vvvvvvvvvvcccccccccl"] {
        assert_eq!(judged(letters, None).verdict, GateVerdict::Inconclusive);
    }
    // A context that cannot be used holds nothing, whatever was read.
    let over = judged("vvvvvvvvvvvvvvvvvvvv", Some(Unusable::CompactionFailed));
    assert_eq!(over.verdict, GateVerdict::Regression);
    assert!(over.text(200).contains("6 conversations end without"));
    // Nor has a run shown anything whose numbers cannot be trusted.
    let bug = judged("?vvvvvvvvvccccuuueex", None);
    assert_eq!(bug.verdict, GateVerdict::Failed);
    assert!(
        bug.text(200).contains("FAILED hard check: ")
            && bug.markdown().contains("- FAILED hard check: "),
        "{}",
        bug.text(200)
    );
}

#[test]
fn baselines_hold_no_text_and_stay_small() {
    let text = baseline_of(&run(&["chained"], 12, about_ten), &prices())
        .unwrap()
        .to_text()
        .unwrap();
    insta::assert_snapshot!(
        "a_baseline",
        text.lines()
            .filter(|line| !line.contains("\"s0") || line.contains("\"s00\""))
            .collect::<Vec<_>>()
            .join("\n")
    );
}

/// Two seeds that keep facts by chance: the only source of noise here is that of the two runs.
fn seeded(seed: u64, units: usize) -> RunFiles {
    let held = |at: usize| 8 + (at * 7 + seed as usize * 5 + at * at * seed as usize) % 5;
    let mut made = run(&["chained"], units, held);
    made.manifest.seed = seed;
    made
}

#[test]
fn the_self_test_measures_what_it_promises() {
    let found = self_test(&seeded(1, 16), &seeded(2, 16), &prices(), 0.05, 400).unwrap();
    assert!(found.ok, "{found:?}");
    assert!(
        found.detection_rate >= 0.8 && found.detection_rate < 1.0,
        "{found:?}"
    );
    let one = &found.strategies[0];
    assert_eq!(one.pairs + one.identical, 16);
    assert!(one.units_needed >= 5);
    // With 4 times the spread of the margin in view, a tenth of the margin cannot be found with so
    // few units.
    assert!(
        self_test(&seeded(1, 16), &seeded(2, 16), &prices(), 0.01, 100)
            .unwrap()
            .units_needed
            > one.units_needed
    );
}

#[test]
fn identical_pairs_do_not_count() {
    let mut second = seeded(1, 16);
    second.manifest.seed = 2;
    let message = self_test(&seeded(1, 16), &second, &prices(), 0.05, 100)
        .unwrap_err()
        .to_string();
    assert!(
        message.contains("0 conversations differ between the runs and 16 are identical"),
        "{message}"
    );
    let message = self_test(&seeded(1, 16), &seeded(1, 16), &prices(), 0.05, 100)
        .unwrap_err()
        .to_string();
    assert!(message.contains("have the seed `1`"), "{message}");
    let mut other = seeded(2, 16);
    other.manifest.window = 6_000;
    let message = self_test(&seeded(1, 16), &other, &prices(), 0.05, 100)
        .unwrap_err()
        .to_string();
    assert!(message.contains("`window` is 12000 and 6000"), "{message}");
}
