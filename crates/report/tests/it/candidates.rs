//! A changed strategy against its baseline: judged, named, and not let through by what only looks
//! better.

use compactometer_engine::event::{FailReason, Outcome};
use compactometer_formats::baseline::Baseline;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{Held, Misbound, Needed, Record, UseKind};
use compactometer_report::RunFiles;
use compactometer_report::gate::{
    Damage, GateReport, GateVerdict, Mismatch, baseline_of, gate, junit, markdown, self_test,
    terminal, whole,
};

use crate::common::prices;
use crate::gate::{about_ten, base, gated, options, run};

fn report_text(report: &GateReport) -> String {
    whole(report, 200)
}

/// A run of one strategy after a change of its settings.
fn candidate(held: impl Fn(usize) -> usize, change: impl Fn(&mut RunFiles)) -> RunFiles {
    let mut new = run(&["prod"], 12, held);
    change(&mut new);
    new
}

fn set(run: &mut RunFiles, parameter: &str, value: &str) {
    let settings = run.manifest.settings.get_mut("prod").unwrap();
    settings
        .parameters
        .insert(parameter.to_owned(), value.to_owned());
}

fn set_retained(run: &mut RunFiles, retained: u32) {
    run.manifest.retained = retained;
    run.records
        .iter_mut()
        .for_each(|record| record.case.budget.retained = Some(retained));
}

/// Each change that people make, and how the report names it.
#[test]
fn a_changed_setting_is_judged_and_named() {
    let old = base(&run(&["prod"], 12, about_ten));
    type Change = (fn(&mut RunFiles), &'static str);
    let changes: [Change; 5] = [
        (
            |run| drop(run.manifest.prompts.insert("prod".into(), "4e8".into())),
            "prompt from 9409 to 4e8",
        ),
        (|run| set(run, "tail", "2"), "tail from 10 to 2"),
        (|run| set(run, "lines", "7"), "lines from none to 7"),
        (
            |run| set_retained(run, 1_800),
            "retained budget from 3600 to 1800",
        ),
        (
            |run| run.manifest.settings.get_mut("prod").unwrap().base = "handoff".into(),
            "strategy from prod to handoff",
        ),
    ];
    for (change, named) in changes {
        for (lost, verdict) in [(0, GateVerdict::Pass), (4, GateVerdict::Regression)] {
            let report = gated(&candidate(|at| about_ten(at) - lost, change), &old);
            assert_eq!(report.verdict, verdict, "{}", report_text(&report));
            let json = serde_json::to_string(&report.strategies[0].changed).unwrap();
            assert_eq!(report.strategies[0].changed.len(), 1, "{json}");
            let line = format!("candidate: {named}");
            assert!(
                report_text(&report).contains(&line),
                "{}",
                report_text(&report)
            );
            assert!(
                markdown(&report).contains(&line) && junit(&report, true).unwrap().contains(&line)
            );
            let short = terminal(&report, 200);
            assert!(short.contains(&line), "{short}");
        }
    }
    assert!(!report_text(&gated(&candidate(about_ten, |_| ()), &old)).contains("candidate"));
}

/// `-s prod=chained:tail=2` against the baseline of `prod=chained`: a row is known by its name.
#[test]
fn a_row_is_found_by_its_name_whatever_it_runs() {
    let old = base(&run(&["other", "prod"], 12, about_ten));
    let mut new = run(&["prod", "other"], 12, about_ten);
    new.manifest.strategies.reverse();
    set(&mut new, "tail", "2");
    let report = gated(&new, &old);
    let changed: Vec<_> = report
        .strategies
        .iter()
        .map(|one| (one.strategy.as_str(), one.changed.len()))
        .collect();
    assert_eq!(
        changed,
        [("other", 0), ("prod", 1)],
        "{}",
        report_text(&report)
    );
}

#[test]
fn files_from_before_settings_and_matchers_were_kept_are_read_and_judged() {
    let mut old = base(&run(&["prod"], 12, about_ten));
    old.run.matcher.clear();
    for strategy in &mut old.strategies {
        (strategy.head.settings, strategy.head.budget) = (None, None);
        strategy
            .units
            .iter_mut()
            .for_each(|unit| unit.scores.retain(|metric, _| metric.contains("recall")));
    }
    let old = Baseline::parse(&old.to_text().unwrap()).unwrap();
    let report = gated(&candidate(about_ten, |run| set_retained(run, 1_800)), &old);
    assert_eq!(
        report.verdict,
        GateVerdict::Pass,
        "{}",
        report_text(&report)
    );
    assert!(
        report_text(&report).contains("retained budget from 3600 to 1800"),
        "{}",
        report_text(&report)
    );
    assert!(
        report_text(&report).contains("the baseline does not record how its matcher finds values"),
        "{}",
        report_text(&report)
    );
}

/// Half of the compactions fail and keep everything, so the contexts hold more.
#[test]
fn a_candidate_that_fails_more_regresses_however_much_it_holds() {
    let old = base(&run(&["prod"], 12, about_ten));
    let failing = |run: &mut RunFiles| {
        for record in &mut run.records {
            let mut failed = record.compactions[0].clone();
            failed.event.outcome = Outcome::Failed(FailReason::Call("timeout".to_owned()));
            record.compactions.push(failed);
        }
    };
    let report = gated(&candidate(|_| 18, failing), &old);
    assert_eq!(
        report.verdict,
        GateVerdict::Regression,
        "{}",
        report_text(&report)
    );
    let found = report.strategies[0]
        .metrics
        .iter()
        .find(|metric| metric.metric == "failed_share")
        .unwrap();
    assert_eq!(
        (found.verdict, found.baseline, found.run),
        (GateVerdict::Regression, Some(0.0), Some(0.5))
    );
    assert!(
        report_text(&report).contains("12 of 24 compactions failed"),
        "{}",
        report_text(&report)
    );
    let same = candidate(about_ten, failing);
    assert_eq!(
        gated(&same, &base(&same)).verdict,
        GateVerdict::Pass,
        "it failed as often before"
    );
}

#[test]
fn a_candidate_that_goes_over_the_window_more_regresses() {
    let old = base(&run(&["prod"], 12, about_ten));
    let over = |turns: usize| {
        candidate(
            |_| 18,
            move |run| {
                run.records[..turns]
                    .iter_mut()
                    .for_each(|record| record.turns[0].over_window = true)
            },
        )
    };
    let verdicts = [1, 4, 5, 12].map(|turns| gated(&over(turns), &old).verdict);
    // Of 2^-4, 2^-5 and 2^-12 only the last is rare among two guards.
    assert_eq!(
        verdicts,
        [
            GateVerdict::Inconclusive,
            GateVerdict::Inconclusive,
            GateVerdict::Inconclusive,
            GateVerdict::Regression
        ]
    );
    assert!(report_text(&gated(&over(12), &old)).contains("12 turns were over the context window"));
}

#[test]
fn more_room_counts_only_where_the_run_was_allowed_more() {
    let old = base(&run(&["prod"], 12, about_ten));
    let larger = |retained: u32, tokens: u32| {
        candidate(about_ten, move |run| {
            set_retained(run, retained);
            run.records
                .iter_mut()
                .for_each(|record| record.compactions[0].event.tokens_retained = tokens);
        })
    };
    assert_eq!(
        gated(&larger(3_600, 3_600), &old).verdict,
        GateVerdict::Inconclusive,
        "20 % more in the same budget"
    );
    let allowed = gated(&larger(4_800, 3_900), &old);
    assert_eq!(
        allowed.verdict,
        GateVerdict::Pass,
        "{}",
        report_text(&allowed)
    );
    assert!(
        report_text(&allowed).contains("the difference is one of size too"),
        "{}",
        report_text(&allowed)
    );
    assert_eq!(
        gated(&larger(4_800, 4_700), &old).verdict,
        GateVerdict::Inconclusive,
        "57 % more in a third more"
    );
}

/// As [`run`], of facts with subjects: each context gives `bound` of the values that it holds to
/// their own.
fn with_subjects(held: impl Fn(usize) -> usize, bound: impl Fn(usize) -> usize) -> RunFiles {
    let mut made = run(&["prod"], 16, held);
    for (at, record) in made.records.iter_mut().enumerate() {
        record.version = 3;
        record
            .facts
            .iter_mut()
            .for_each(|fact| fact.has_subject = true);
        record.observations[0].bound = (0..bound(at) as u32).collect();
        record.observations[0].misbound = vec![Misbound(0, 1, 20.0)];
    }
    made
}

/// The contexts hold .125 more values than before, and give none of them to its subject.
#[test]
fn a_list_of_values_in_place_of_a_summary_regresses() {
    let old = base(&with_subjects(|_| 9, |at| 8 + at % 2));
    let report = gated(&with_subjects(|_| 12, |_| 0), &old);
    let verdict = |id: &str| {
        report.strategies[0]
            .metrics
            .iter()
            .find(|metric| metric.metric == id)
            .unwrap()
            .verdict
    };
    assert_eq!(
        verdict("context_recall_corrected"),
        GateVerdict::Pass,
        "{}",
        report_text(&report)
    );
    assert_eq!(
        verdict("bound_recall_corrected"),
        GateVerdict::Regression,
        "{}",
        report_text(&report)
    );
    assert_eq!(report.verdict, GateVerdict::Regression);
}

#[test]
fn a_pass_says_whether_the_two_are_equivalent() {
    let old = base(&run(&["prod"], 12, about_ten));
    // 0 to 2 of 20 more: far better than a loss of .05, and not within .05 of the baseline.
    for (more, expected) in [(0, true), (2, false)] {
        let report = gated(
            &run(&["prod"], 12, |at| about_ten(at) + at % 2 * more),
            &old,
        );
        let metric = &report.strategies[0].metrics[0];
        assert_eq!(
            (report.verdict, metric.equivalent),
            (GateVerdict::Pass, Some(expected)),
            "{}",
            report_text(&report)
        );
        assert_eq!(metric.p_equivalent.unwrap() <= 0.05, expected, "{metric:?}");
        let text = if expected {
            "equivalent within 5 points (p "
        } else {
            "not shown to be equivalent within 5 points (p "
        };
        assert!(
            report_text(&report).contains(text),
            "{}",
            report_text(&report)
        );
        assert!(junit(&report, true).unwrap().contains(text));
        assert!(markdown(&report).contains(text), "{}", markdown(&report));
    }
    let few = run(&["prod"], 4, about_ten);
    let undecided = gated(&few, &base(&few));
    assert_eq!(
        undecided.strategies[0].metrics[0].equivalent, None,
        "4 units decide nothing"
    );
}

#[test]
fn the_gate_prints_its_power_and_how_many_units_would_do() {
    // Conversations differ by up to 6 of 20 facts from the baseline's, and by 0 on average.
    let gated_with = |units: usize| {
        let new = run(&["prod"], units, |at| {
            about_ten(at) + [0, 6, 3, 0, 6, 3][at % 6] - 3
        });
        gated(&new, &base(&run(&["prod"], units, about_ten)))
    };
    let (few, many) = (gated_with(6), gated_with(60));
    let metric = |report: &GateReport| report.strategies[0].metrics[0].clone();
    let needed = metric(&few).units_needed.unwrap();
    assert!(
        metric(&few).power.unwrap() < 0.8 && needed > 6,
        "{}",
        report_text(&few)
    );
    assert!(
        report_text(&few).contains(&format!(
            "for a loss of 10 points, which takes {needed} conversations for 0.80"
        )),
        "{}",
        report_text(&few)
    );
    // A unit is a conversation here.
    let advice = few.strategies[0].next.as_deref().unwrap();
    assert!(
        advice.contains(&format!(" About {needed} conversations on each side")),
        "{advice}"
    );
    let better = run(&["prod"], 6, |at| {
        about_ten(at) + [3, 9, 6, 3, 9, 6][at % 6]
    });
    let better = gated(&better, &base(&run(&["prod"], 6, about_ten)));
    assert!(
        better.verdict == GateVerdict::Pass && metric(&better).units_needed.is_some(),
        "a pass with little power says how many would do: {}",
        report_text(&better)
    );
    assert!(
        metric(&many).power.unwrap() >= 0.8 && metric(&many).units_needed.is_none(),
        "{}",
        report_text(&many)
    );
    assert!(
        report_text(&many).contains("power 1.00 for a loss of 10 points")
            || report_text(&many).contains("power 0.9"),
        "{}",
        report_text(&many)
    );
}

/// Cases of another retained budget, as a sweep adds them.
fn swept(mut default: RunFiles, retained: u32, is_first: bool) -> RunFiles {
    let mut small = run(&["prod"], 12, |_| 2).records;
    for record in &mut small {
        record.case.budget.retained = Some(retained);
        record.key.push_str("/small");
    }
    let at = if is_first { 0 } else { default.records.len() };
    default.records.splice(at..at, small);
    default.manifest.sweep = vec![retained];
    default
}

#[test]
fn the_default_replay_is_judged_wherever_it_is() {
    let plain = run(&["prod"], 12, about_ten);
    let expected = serde_json::to_value(gated(&plain, &base(&plain)).strategies).unwrap();
    for is_first in [false, true] {
        let with_sweep = swept(run(&["prod"], 12, about_ten), 1_200, is_first);
        for (new, old) in [(&with_sweep, &plain), (&plain, &with_sweep)] {
            let report = gated(new, &base(old));
            assert_eq!(
                serde_json::to_value(&report.strategies).unwrap(),
                expected,
                "{}",
                report_text(&report)
            );
        }
    }
}

#[test]
fn a_run_without_its_default_replay_is_refused() {
    let plain = run(&["prod"], 12, about_ten);
    let refused = |new: &RunFiles| {
        gate(new, &base(&plain), &prices(), &options()).map(|report| report.verdict)
    };
    // Only the sweep's cases are left.
    let mut without = swept(run(&["prod"], 12, about_ten), 1_200, false);
    without
        .records
        .retain(|record| record.case.budget.retained == Some(1_200));
    assert_eq!(
        refused(&without),
        Err(Mismatch::NoDefault { what: "record" })
    );
    // They are not declared as a sweep.
    without.manifest.sweep.clear();
    assert!(matches!(refused(&without), Err(Mismatch::OtherSize { .. })));
    let mut none = run(&["prod"], 12, about_ten);
    none.manifest.protocols.clear();
    assert_eq!(refused(&none), Err(Mismatch::NoDefault { what: "group" }));
    let mut twice = run(&["prod"], 12, about_ten);
    let again: Vec<Record> = twice.records[..1].to_vec();
    twice.records.extend(again);
    assert!(matches!(refused(&twice), Err(Mismatch::Twice { .. })));
    assert!(
        baseline_of(&twice, &prices()).is_err(),
        "nor is it accepted"
    );
}

#[test]
fn the_matched_protocol_is_judged_where_there_are_two() {
    let plain = run(&["prod"], 12, about_ten);
    let mut both = run(&["prod"], 12, about_ten);
    let mut published = run(&["prod"], 12, |_| 0).records;
    for record in &mut published {
        (record.case.protocol, record.case.budget.retained) = (Protocol::Published, None);
    }
    both.records.splice(0..0, published);
    both.manifest.protocols = vec![Protocol::Published, Protocol::Matched];
    assert_eq!(gated(&both, &base(&plain)).verdict, GateVerdict::Pass);
    assert!(
        base(&both)
            .strategies
            .iter()
            .all(|one| one.head.protocol == Protocol::Matched)
    );
}

#[test]
fn the_self_test_plants_damage_that_the_gate_must_find() {
    let [first, second] = [0, 1].map(|seed| {
        let held = |at: usize| 8 + (at * 7 + seed * 5 + at * at * seed) % 5;
        let mut made = with_subjects(held, |at| held(at) - 1);
        made.manifest.seed = seed as u64;
        made
    });
    let found = self_test(&first, &second, &prices(), 0.05, 200).unwrap();
    let verdicts: Vec<_> = found
        .damages
        .iter()
        .map(|planted| (planted.damage, planted.verdict))
        .collect();
    let expected = [
        Damage::ValueList,
        Damage::FailedCompactions,
        Damage::OverWindow,
    ];
    assert_eq!(
        verdicts,
        expected.map(|damage| (damage, Some(GateVerdict::Regression)))
    );
    assert!(found.ok && found.damages.iter().all(|planted| !planted.is_missed()));
    let text = compactometer_report::gate::self_test_text(&found);
    assert!(
        text.contains("values without their subjects (prod): REGRESSION"),
        "{text}"
    );
}

#[test]
fn damage_that_takes_under_two_margins_is_not_judged() {
    let [first, second] = [0, 1].map(|seed| {
        let held = |at: usize| 8 + (at * 7 + seed * 5 + at * at * seed) % 5;
        let mut made = with_subjects(held, |at| usize::from((at + seed) % 3 == 0));
        made.manifest.seed = seed as u64;
        for (at, record) in made.records.iter_mut().enumerate() {
            let needed = |number: usize| Needed {
                fact: 0,
                kind: UseKind::Address,
                held: match number < 8 + (at * 7 + seed * 5) % 5 {
                    true => Held::AsSaid,
                    false => Held::OutOfSight,
                },
                floor: false,
                ceiling: None,
                random: 0,
                shaped: false,
            };
            record.observations[0].needed = (0..20).map(needed).collect();
        }
        made
    });
    let found = self_test(&first, &second, &prices(), 0.05, 200).unwrap();
    let list = &found.damages[0];
    assert_eq!((list.damage, list.verdict), (Damage::ValueList, None));
    let reason = list.reason.as_deref().unwrap();
    assert!(reason.contains("under the two margins"), "{reason}");
    assert!(!list.is_missed());
    let text = compactometer_report::gate::self_test_text(&found);
    let line = "values without their subjects (prod): not judged: it takes ";
    assert!(text.contains(line), "{text}");
}
