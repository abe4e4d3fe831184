//! Records with a judge's verdicts in, its agreement out, each number worked out by hand.

use crate::common::{answer, call, facts, manifest, point, prices, question, record};
use compactometer_engine::meter::Purpose;
use compactometer_formats::answer::{AnswerRow, AnswerVerdict, Grade, Judgement};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{CallRow, Family, Record};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::{Judged, MetricValue, Summary};
use compactometer_report::{Screen, summarize, table};

/// One conversation, alone in its group. An answer for each pair: the grade (`+` right, `w` wrong
/// value, `s` stale, `m` missing) and the verdict (`a` accepted, `r` rejected, `u` unreadable).
fn talk(at: usize, pairs: &str) -> Record {
    let mut made = record(
        "summarize",
        Family::Reference,
        &format!("s{at}"),
        &format!("g{at}"),
    );
    let pairs = pairs.split_whitespace().collect::<Vec<_>>();
    made.facts = facts(pairs.len(), ValueKind::Nonce);
    made.observations = vec![point(1, &"v".repeat(pairs.len()))];
    for (probe, pair) in pairs.iter().enumerate() {
        made.probes.push(question(probe as u32));
        let grades = [
            Grade::Right,
            Grade::WrongValue,
            Grade::Stale,
            Grade::Missing,
        ];
        let verdicts = [
            AnswerVerdict::Accepted,
            AnswerVerdict::Rejected,
            AnswerVerdict::Unreadable,
        ];
        let place = |letters: &str, at: usize| letters.find(&pair[at..=at]).unwrap();
        made.answers.push(AnswerRow {
            judged: Some(Judgement {
                verdict: verdicts[place("aru", 1)],
                call: CallRow {
                    purpose: Purpose::Judge,
                    ..call(1_000, 50)
                },
            }),
            ..answer(probe as u32, grades[place("+wsm", 0)])
        });
    }
    made
}

fn summary(judge: Option<&str>, records: &[Record]) -> Summary {
    let made = manifest(&["summarize"], records.len(), records.len());
    summarize(
        &Manifest {
            judge: judge.map(str::to_owned),
            ..made
        },
        records,
        &prices(),
    )
}

fn judged(records: &[Record]) -> Judged {
    summary(Some("priced"), records)
        .groups
        .remove(0)
        .judged
        .unwrap()
}

fn near(found: &MetricValue, expected: f64) {
    let value = found.value.unwrap_or_else(|| panic!("{found:?}"));
    assert!((value - expected).abs() < 1e-8, "{value} is not {expected}");
}

#[test]
fn agreement_kappa_and_false_accepts_are_those_of_the_table() {
    // Right: 4 accepted, 1 rejected. Wrong: 2 accepted (a foil and a miss), 3 rejected.
    let found = judged(&[talk(0, "+a +a wa wr sr"), talk(1, "+a +a +r ma mr")]);
    assert_eq!((found.judgements, found.unreadable), (10, 0));
    near(&found.agreement, 0.7);
    // By chance: .5 * .6 + .5 * .4 = .5.
    near(&found.kappa, (0.7 - 0.5) / 0.5);
    near(&found.false_accepts["all"], 0.4);
    near(&found.false_accepts["wrong_value"], 0.5);
    near(&found.false_accepts["stale"], 0.0);
    near(&found.false_accepts["missing"], 0.5);
    near(&found.false_rejects, 0.2);
    assert_eq!(
        (found.false_accepts["all"].n, found.false_rejects.n),
        (5, 5)
    );
    // Wilson for 2 of 5, statsmodels 0.15.0: (0.11762, 0.76928).
    let (low, high) = (
        found.false_accepts["all"].low.unwrap(),
        found.false_accepts["all"].high.unwrap(),
    );
    assert!(
        (low - 0.117_62).abs() < 1e-5 && (high - 0.769_28).abs() < 1e-5,
        "{low} {high}"
    );
    assert_eq!(found.agreement.low, None, "two units have no interval");
}

#[test]
fn what_is_no_verdict_agrees_with_nothing_and_is_listed() {
    let records = [talk(0, "+a +u wu wr")];
    let found = judged(&records);
    assert_eq!(found.unreadable, 2);
    near(&found.agreement, 0.5);
    // By chance: .5 * .25 + .5 * .25.
    near(&found.kappa, (0.5 - 0.25) / 0.75);
    near(&found.false_accepts["all"], 0.0);
    let warnings = summary(Some("priced"), &records).groups.remove(0).warnings;
    assert!(warnings.contains(
        &"judgements without a verdict, counted as disagreement: summarize 2".to_owned()
    ));
}

#[test]
fn intervals_are_over_units() {
    let mixed = (0..6)
        .map(|at| talk(at, if at % 2 == 0 { "+a wr" } else { "+r wa" }))
        .collect::<Vec<_>>();
    let found = judged(&mixed);
    near(&found.agreement, 0.5);
    near(&found.kappa, 0.0);
    let (low, high) = (found.kappa.low.unwrap(), found.kappa.high.unwrap());
    assert!(
        low < -0.5 && high > 0.5 && found.kappa.n == 6,
        "{low} {high}"
    );
    let sure = judged(&(0..6).map(|at| talk(at, "+a wr")).collect::<Vec<_>>());
    assert_eq!(
        (sure.kappa.value, sure.kappa.low, sure.kappa.high),
        (Some(1.0), None, None),
        "units that are alike"
    );
}

#[test]
fn what_cannot_be_told_is_null_with_a_reason() {
    let alike = judged(&[talk(0, "+a +a")]);
    assert_eq!(
        alike.kappa.reason.as_deref(),
        Some("grades and verdicts are all alike")
    );
    assert_eq!(
        alike.false_accepts["all"].reason.as_deref(),
        Some("no answer is wrong")
    );
    let none = judged(&[talk(0, "")]);
    assert_eq!(none.agreement.reason.as_deref(), Some("nothing was judged"));
}

#[test]
fn a_judges_calls_are_counted_and_priced_apart() {
    let records = [talk(0, "+a wr")];
    let found = judged(&records);
    assert_eq!(
        (found.calls, found.tokens_in, found.tokens_out),
        (2, 2_000, 100)
    );
    assert_eq!(found.cost_usd, Some((2_000.0 * 4.0 + 100.0 * 20.0) / 1e6));
    let strategy = &summary(Some("priced"), &records)
        .groups
        .remove(0)
        .strategies[0]
        .metrics;
    assert_eq!(strategy["cost_usd_probes"].value, Some(0.0));
    assert_eq!(
        summary(Some("new"), &records)
            .groups
            .remove(0)
            .judged
            .unwrap()
            .cost_usd,
        None
    );
}

#[test]
fn a_judge_of_its_own_answers_and_a_mock_are_warned_about_and_no_judge_says_nothing() {
    let records = [talk(0, "+a wa")];
    let warnings = summary(Some("mock:strong"), &records)
        .groups
        .remove(0)
        .warnings
        .join("\n");
    assert!(
        warnings.contains("judges its own answers")
            && warnings.contains("is a mock: it compares words"),
        "{warnings}"
    );
    let other = summary(Some("priced"), &records);
    assert!(!other.groups[0].warnings.join("\n").contains("judge"));
    assert!(
        table(&other, &Screen::WHOLE).contains("- judge: Cohen's kappa: "),
        "{}",
        table(&other, &Screen::WHOLE)
    );
    let none = summary(None, &records);
    assert_eq!(none.groups[0].judged, None);
    assert!(
        !table(&none, &Screen::WHOLE).contains("judge")
            && !serde_json::to_string(&none).unwrap().contains("judge")
    );
}
