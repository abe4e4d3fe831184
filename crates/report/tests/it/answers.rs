//! Records with answers in, numbers out, each worked out by hand.

use crate::common::{call, chance, facts, manifest, point, prices, question, record};
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::Finish;
use compactometer_formats::answer::{AnswerRow, Grade, ProbeRow, Signs};
use compactometer_formats::record::{CallRow, Family, ObservationKind, Record};
use compactometer_formats::scenario::ValueKind;
use compactometer_formats::summary::{Group, MetricValue, Summary};
use compactometer_report::{Screen, summarize, table};

const KIND: ValueKind = ValueKind::Nonce;

fn group_of(records: &[Record]) -> Group {
    summary_of(records).groups.remove(0)
}

fn summary_of(records: &[Record]) -> Summary {
    let mut names: Vec<&str> = records
        .iter()
        .map(|record| record.case.strategy.as_str())
        .collect();
    names.dedup();
    summarize(&manifest(&names, records.len(), 6), records, &prices())
}

fn metric(group: &Group, strategy: &str, id: &str) -> MetricValue {
    group
        .strategies
        .iter()
        .find(|found| found.name == strategy)
        .unwrap()
        .metrics[id]
        .clone()
}

fn near(found: &MetricValue, expected: f64) {
    let value = found.value.unwrap_or_else(|| panic!("{found:?}"));
    assert!((value - expected).abs() < 1e-9, "{value} is not {expected}");
}

/// One conversation, alone in its group: a probe for each letter, `+` right, `w` wrong value, `s`
/// stale, `a` abstained, `m` missing, `f` failed; the context holds the fact where `fates` says so.
fn talk(strategy: &str, at: usize, fates: &str, grades: &str) -> Record {
    let family = if ["full", "null"].contains(&strategy) {
        Family::Control
    } else {
        Family::Reference
    };
    let mut made = record(strategy, family, &format!("s{at}"), &format!("g{at}"));
    made.facts = facts(fates.len(), KIND);
    made.observations = vec![point(1, fates)];
    for (probe, letter) in grades.chars().enumerate() {
        made.probes
            .push(probe_of(&format!("p{probe}"), probe as u32));
        let present = made.observations[0].fates.0[probe].is_present();
        made.answers.push(answer(probe as u32, present, letter));
    }
    made
}

fn probe_of(id: &str, fact: u32) -> ProbeRow {
    ProbeRow {
        id: id.into(),
        ..question(fact)
    }
}

fn answer(probe: u32, present: bool, letter: char) -> AnswerRow {
    let place = "+wsamf".find(letter).unwrap();
    AnswerRow {
        present,
        ..crate::common::answer(probe, Grade::ALL[place])
    }
}

#[test]
fn questions_that_were_not_due_or_not_answered_are_counted() {
    let mut records = (0..6)
        .map(|at| talk("summarize", at, "vv", "+f"))
        .collect::<Vec<_>>();
    for record in &mut records {
        record.probes.push(probe_of("never due", 0));
        record
            .answers
            .iter_mut()
            .for_each(|row| row.call = Some(call(10, 2)));
    }
    records[0].answers[1].call = None;
    let warnings = group_of(&records).warnings.join("\n");
    let said = "questions: 18 in the suite, 12 due, since what they ask for is distant enough; not asked, since a provider would refuse \
                the request: summarize 1; asked and not answered: summarize 5";
    assert!(warnings.contains(said), "{warnings}");
}

/// Each question without facts is one of its own, and none of them tells how well a context that
/// holds facts is used.
#[test]
fn questions_without_facts_are_averaged_over_questions() {
    let mut records = (0..6)
        .map(|at| talk("summarize", at, "v", ""))
        .collect::<Vec<_>>();
    for record in &mut records {
        for (probe, letter) in "+mm".chars().enumerate() {
            record.probes.push(ProbeRow {
                facts: Vec::new(),
                ..probe_of(&format!("p{probe}"), 0)
            });
            record.answers.push(answer(probe as u32, false, letter));
        }
    }
    let group = group_of(&records);
    near(&metric(&group, "summarize", "answer_recall"), 1.0 / 3.0);
    assert_eq!(
        metric(&group, "summarize", "answered_given_absent").value,
        None
    );
}

#[test]
fn answers_are_averaged_by_fact_then_unit_and_failures_are_misses() {
    let mut first = talk("summarize", 0, "vvud", "+wsf");
    first.facts[0].weight = 2.0;
    // A second probe of fact 0, answered wrongly: its fact is half right.
    first.probes.push(probe_of("again", 0));
    first.answers.push(answer(4, true, 'm'));
    first.probes[2].updated = true;
    let group = group_of(&[first, talk("summarize", 1, "vvvv", "+++a")]);
    let value = |id: &str| metric(&group, "summarize", id);
    near(&value("answer_recall"), (2.0 * 0.5 / 5.0 + 0.75) / 2.0);
    // The failed call is none of the answers that could have been wrong.
    near(&value("wrong_value_rate"), (1.0 / 4.0 + 0.0) / 2.0);
    // Facts 0 and 1 are held: (2 * .5) / 3; the others are not answered; all of the second unit's
    // are held.
    near(&value("answered_given_present"), (1.0 / 3.0 + 0.75) / 2.0);
    near(&value("answered_given_absent"), 0.0);
    near(&value("false_abstention"), (0.0 + 0.25) / 2.0);
    near(&value("staleness"), 1.0);
    near(&value("failed_probes"), (0.2 + 0.0) / 2.0);
    assert_eq!(
        value("abstention").reason.as_deref(),
        Some("no question asks for what the conversation never says")
    );
    let failed = "questions without an answer, counted as misses of recall and in no rate of wrong answers: summarize 1";
    assert!(group.warnings.contains(&failed.to_owned()));
}

/// Half of the answers that came are wrong, whatever failed beside them.
#[test]
fn what_never_came_or_was_cut_lowers_no_rate_of_wrong_answers() {
    let lower = [
        "wrong_value_rate",
        "false_abstention",
        "contradiction",
        "staleness",
    ];
    let of = |grades: &str, cut: Option<usize>| {
        let mut made = talk("summarize", 0, &"v".repeat(grades.len()), grades);
        for (at, row) in made
            .answers
            .iter_mut()
            .enumerate()
            .filter(|(_, row)| row.grade != Grade::Failed)
        {
            row.signs = Some(Signs {
                contradicts: at == 0,
                invents: false,
            });
            let finish = if cut == Some(at) {
                Finish::Length
            } else {
                Finish::Stop
            };
            row.call = Some(CallRow {
                purpose: Purpose::Probe,
                finish: Some(finish),
                ..call(2_000, 96)
            });
        }
        made.probes
            .iter_mut()
            .for_each(|probe| probe.updated = true);
        group_of(&[made])
    };
    let rates = |group: &Group| lower.map(|id| metric(group, "summarize", id).value.unwrap());
    assert_eq!(rates(&of("wa", None)), [0.5, 0.5, 0.5, 0.0]);
    assert_eq!(rates(&of("waffff", None)), [0.5, 0.5, 0.5, 0.0]);
    assert_eq!(
        rates(&of("wamf", Some(2))),
        [0.5, 0.5, 0.5, 0.0],
        "cut before it stated anything"
    );
    assert_eq!(
        rates(&of("wammf", Some(0))),
        [0.25, 0.25, 0.25, 0.0],
        "wrong before it was cut"
    );
    let group = of("wamf", Some(2));
    near(&metric(&group, "summarize", "failed_probes"), 0.25);
    near(&metric(&group, "summarize", "cut_answers"), 1.0 / 3.0);
    near(&metric(&group, "summarize", "answer_recall"), 0.0);
    assert!(group.warnings.contains(
        &"answers cut at the most tokens of a reply, or withheld: summarize 1".to_owned()
    ));
    let silent = of("ff", None);
    for id in lower {
        let reason = metric(&silent, "summarize", id).reason;
        assert_eq!(
            reason.as_deref(),
            Some("every call failed or was cut before it stated anything"),
            "{id}"
        );
    }
    near(&metric(&silent, "summarize", "failed_probes"), 1.0);
}

#[test]
fn contradictions_and_hallucinations_have_denominators_of_their_own() {
    let signed = |grades: &str, signs: &[(bool, bool)]| {
        let mut made = talk("summarize", 0, &"v".repeat(grades.len()), grades);
        for (row, (contradicts, invents)) in made.answers.iter_mut().zip(signs) {
            row.signs = Some(Signs {
                contradicts: *contradicts,
                invents: *invents,
            });
        }
        made
    };
    // Right; stale beside the right one; wrong by a foil; not known; made up and in no list of
    // wrong values; failed.
    let mut made = signed(
        "+swamf",
        &[
            (false, false),
            (true, false),
            (false, true),
            (false, false),
            (false, true),
        ],
    );
    let group = group_of(&[made.clone()]);
    near(&metric(&group, "summarize", "contradiction"), 1.0 / 5.0);
    near(&metric(&group, "summarize", "hallucination"), 2.0 / 4.0);
    near(&metric(&group, "summarize", "wrong_value_rate"), 1.0 / 5.0);
    // Made up where nothing answers: no answer to a question about values, and yet made up.
    made.probes.push(ProbeRow {
        facts: Vec::new(),
        abstain_expected: true,
        ..probe_of("n", 0)
    });
    made.answers.push(AnswerRow {
        signs: Some(Signs {
            contradicts: false,
            invents: true,
        }),
        ..answer(6, true, 'm')
    });
    let group = group_of(&[made]);
    near(&metric(&group, "summarize", "hallucination"), 3.0 / 5.0);
    near(&metric(&group, "summarize", "contradiction"), 1.0 / 5.0);
    let clean = group_of(&[signed("+++", &[(false, false); 3])]);
    near(&metric(&clean, "summarize", "contradiction"), 0.0);
    near(&metric(&clean, "summarize", "hallucination"), 0.0);
    // Records of before it was looked for say nothing, and not that nothing was found.
    let old = group_of(&[talk("summarize", 0, "vv", "+w")]);
    for id in ["contradiction", "hallucination"] {
        assert!(
            metric(&old, "summarize", id)
                .reason
                .unwrap()
                .contains("too old to hold it"),
            "{id}"
        );
    }
}

#[test]
fn questions_without_an_answer_in_the_conversation_stay_out_of_answer_recall() {
    let mut made = talk("summarize", 0, "vv", "+m");
    for (probe, letter) in [(2, 'a'), (3, 'w'), (4, 'm')] {
        made.probes.push(ProbeRow {
            facts: Vec::new(),
            abstain_expected: true,
            ..probe_of(&format!("n{probe}"), 0)
        });
        made.answers.push(answer(probe, true, letter));
    }
    let group = group_of(&[made]);
    near(&metric(&group, "summarize", "answer_recall"), 0.5);
    near(&metric(&group, "summarize", "wrong_value_rate"), 0.0);
    near(&metric(&group, "summarize", "answered_given_present"), 0.5);
    near(&metric(&group, "summarize", "abstention"), 1.0 / 3.0);
}

#[test]
fn orders_are_averaged_by_unit_and_answers_without_one_count_nothing() {
    let made = |at: usize, orders: &[&[u32]]| {
        let mut made = talk("summarize", at, "vvv", "+m");
        for (number, order) in orders.iter().enumerate() {
            let probe = made.probes.len() as u32;
            made.probes.push(ProbeRow {
                facts: vec![2, 0, 1],
                ordered: true,
                ..probe_of(&format!("o{number}"), 0)
            });
            let letter = if order.is_empty() { 'f' } else { 'm' };
            made.answers.push(AnswerRow {
                order: order.to_vec(),
                ..answer(probe, true, letter)
            });
        }
        made
    };
    let group = group_of(&[
        made(0, &[&[0, 1, 2], &[2, 1, 0]]),
        made(1, &[&[0, 2, 1], &[]]),
        made(2, &[&[0, 2]]),
    ]);
    // One pair of three is named, rightly.
    near(
        &metric(&group, "summarize", "order"),
        (0.0 + (1.0 / 3.0 + 0.0) / 2.0 + 1.0 / 3.0_f64.sqrt()) / 3.0,
    );
    near(&metric(&group, "summarize", "answer_recall"), 0.5);
    near(&metric(&group, "summarize", "answered_given_present"), 0.5);
    near(
        &metric(&group, "summarize", "failed_probes"),
        (0.0 + 1.0 / 4.0 + 0.0) / 3.0,
    );
    let without = metric(
        &group_of(&[talk("summarize", 0, "vv", "+m")]),
        "summarize",
        "order",
    );
    assert_eq!(
        without.reason.as_deref(),
        Some("no question asks for the order of facts in the headline set")
    );
}

/// Six conversations of a strategy that answers half, with these controls.
fn with_controls(full: &str, null: &str) -> Vec<Record> {
    let of = |strategy: &'static str, grades: &str| {
        let fates = if strategy == "null" { "uuuu" } else { "vvvv" };
        (0..6)
            .map(|at| talk(strategy, at, fates, grades))
            .collect::<Vec<_>>()
    };
    [of("summarize", "++mm"), of("full", full), of("null", null)].concat()
}

#[test]
fn correction_takes_the_controls_as_the_ends_of_the_scale() {
    let group = group_of(&with_controls("++++", "+mmm"));
    near(
        &metric(&group, "summarize", "answer_recall_corrected"),
        (0.5 - 0.25) / (1.0 - 0.25),
    );
    near(&metric(&group, "full", "answer_recall_corrected"), 1.0);
    near(&metric(&group, "null", "answer_recall_corrected"), 0.0);
    // One of the two right answers is one that `null` gives too.
    near(&metric(&group, "summarize", "closed_book"), 0.5);
    assert!(
        !group
            .warnings
            .iter()
            .any(|warning| warning.contains("reader too weak"))
    );
    // Better than the full context, and worse than none: neither is clipped.
    near(
        &metric(
            &group_of(&with_controls("+mmm", "mmmm")),
            "summarize",
            "answer_recall_corrected",
        ),
        2.0,
    );
    let mut worse = with_controls("++++", "+mmm");
    worse
        .iter_mut()
        .take(6)
        .flat_map(|record| &mut record.answers)
        .for_each(|row| row.grade = Grade::Missing);
    near(
        &metric(&group_of(&worse), "summarize", "answer_recall_corrected"),
        -1.0 / 3.0,
    );
}

/// Whether the screen's table has a column of right answers.
fn shows_answers(records: &[Record]) -> bool {
    let screen = Screen {
        width: 160,
        all_rows: true,
        all_notes: false,
    };
    let text = table(&summary_of(records), &screen);
    let lines = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    lines
        .into_iter()
        .any(|words| words.contains(&"kept") && words.contains(&"right"))
}

#[test]
fn a_reader_that_cannot_tell_the_full_context_from_none_ranks_nothing() {
    let mut records = with_controls("+mmm", "mmmm");
    // In half of the conversations the full context does not help either: .125 over `null` on
    // average.
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "full" && record.case.group.as_str() < "g3")
    {
        record.answers[0].grade = Grade::Missing;
    }
    let group = group_of(&records);
    let found = metric(&group, "summarize", "answer_recall_corrected");
    assert!(
        found.value.is_none()
            && found
                .reason
                .as_deref()
                .unwrap()
                .starts_with("reader too weak: `full` answers 0.1")
    );
    assert!(
        group
            .warnings
            .iter()
            .any(|warning| warning.starts_with("answer recall is unranked: reader too weak"))
    );
    near(&metric(&group, "summarize", "answer_recall"), 0.5);
    assert_eq!(
        (
            shows_answers(&with_controls("++++", "+mmm")),
            shows_answers(&records)
        ),
        (true, false)
    );
    records.retain(|record| record.case.strategy != "null");
    let alone = metric(&group_of(&records), "summarize", "answer_recall_corrected");
    assert_eq!(alone.reason.as_deref(), Some("`null` was not run"));
}

#[test]
fn prompted_answers_stand_in_for_those_without_what_was_retrieved() {
    let mut made = talk("handoff", 0, "ssvv", "aa+a");
    let reason = metric(
        &group_of(&[made.clone()]),
        "handoff",
        "prompted_answer_recall",
    )
    .reason;
    assert_eq!(
        reason.as_deref(),
        Some("nothing was retrieved for a question")
    );
    made.answers.push(AnswerRow {
        prompted: true,
        ..answer(0, true, '+')
    });
    made.answers.push(AnswerRow {
        prompted: true,
        ..answer(2, true, 'm')
    });
    let group = group_of(&[made]);
    near(&metric(&group, "handoff", "answer_recall"), 0.25);
    near(&metric(&group, "handoff", "prompted_answer_recall"), 0.25);
    near(&metric(&group, "handoff", "answered_given_present"), 0.5);
}

#[test]
fn asking_costs_apart_from_everything_else() {
    let mut made = talk("summarize", 0, "vv", "+m");
    let silent = metric(&group_of(&[made.clone()]), "summarize", "cost_usd");
    made.answers[0].call = Some(CallRow {
        purpose: Purpose::Probe,
        ..call(2_000, 100)
    });
    let group = group_of(&[made]);
    // 2,000 * 4 + 100 * 20, for a million.
    near(&metric(&group, "summarize", "cost_usd_probes"), 0.01);
    assert_eq!(metric(&group, "summarize", "cost_usd"), silent);
    near(&metric(&group, "summarize", "cost_usd_compaction"), 0.0);
}

#[test]
fn luck_is_told_by_value_kind_beside_raw_recall() {
    let mut made = talk("summarize", 0, "vu", "");
    made.facts[1].value_kind = ValueKind::Number;
    made.observations[0].chance = vec![chance(KIND, 1, 10), chance(ValueKind::Number, 8, 10)];
    let mut right_after = made.observations[0].clone();
    right_after.kind = ObservationKind::Compaction;
    right_after.chance = vec![chance(KIND, 10, 10)];
    made.observations.push(right_after);
    let group = group_of(&[made.clone()]);
    near(&metric(&group, "summarize", "keyword_luck"), 0.45);
    // A longer conversation with more looks weighs no more: .45 and .05, not 13 of 100.
    let mut long = talk("summarize", 1, "vu", "");
    long.observations[0].chance = vec![chance(KIND, 2, 40)];
    long.observations
        .extend(vec![long.observations[0].clone(); 1]);
    near(
        &metric(&group_of(&[made, long]), "summarize", "keyword_luck"),
        0.25,
    );
    let kinds = &group.strategies[0].by_kind;
    near(&kinds["nonce"]["context_recall"], 1.0);
    near(&kinds["nonce"]["keyword_luck"], 0.1);
    near(&kinds["number"]["context_recall"], 0.0);
    near(&kinds["number"]["keyword_luck"], 0.8);
}

/// A conversation whose facts have these fates after each compaction.
fn lasting(at: usize, rounds: &[&str]) -> Record {
    let mut made = talk("summarize", at, rounds[0], "");
    made.observations = rounds
        .iter()
        .enumerate()
        .map(|(round, letters)| point(round as u32 + 1, letters))
        .collect();
    made.observations
        .iter_mut()
        .for_each(|seen| seen.kind = ObservationKind::Compaction);
    made
}

#[test]
fn survival_drift_and_cliff() {
    // Of four facts whose originals leave at once, three are held; one more goes in each later
    // round.
    let rounds = ["cccu", "ccuu", "cuuu", "cuuu"];
    let group = group_of(&[lasting(0, &rounds), lasting(1, &rounds)]);
    near(&metric(&group, "summarize", "survival_first_round"), 0.75);
    near(&metric(&group, "summarize", "drift"), 0.75 - 0.25);
    near(&metric(&group, "summarize", "cliff"), 3.0);
    let short = group_of(&[lasting(0, &rounds[..2])]);
    assert_eq!(
        metric(&short, "summarize", "drift").reason.as_deref(),
        Some("no fact is followed for 4 rounds")
    );
    let reason = metric(&short, "summarize", "cliff").reason.unwrap();
    assert_eq!(
        reason,
        "none: survival does not fall below half of the first round's in 2 rounds"
    );
    let mut old = lasting(0, &rounds);
    old.facts[0].mentions.clear();
    let reason = metric(&group_of(&[old]), "summarize", "drift").reason;
    assert_eq!(
        reason.as_deref(),
        Some("the records are too old to hold mentions")
    );
    let lost = group_of(&[lasting(0, &["uuuu"])]);
    assert_eq!(
        metric(&lost, "summarize", "drift").reason.as_deref(),
        Some("nothing survives the first round")
    );
}
