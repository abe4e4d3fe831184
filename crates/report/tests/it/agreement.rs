//! Runs with known orders in; tau, its interval, the ceiling and the claim out.

use crate::common::{chance, compaction, facts, manifest, point, prices, record};
use compactometer_engine::event::{FailReason, Outcome};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{Family, Record, Stages};
use compactometer_formats::scenario::ValueKind;
use compactometer_report::RunFiles;
use compactometer_report::agreement::{Agreement, AgreementError, TauClaim, agreement};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// One conversation of a strategy whose context holds so many of ten facts.
fn talk(name: &str, at: usize, held: usize) -> Record {
    let mut made = record(
        name,
        Family::Reference,
        &format!("s{at}"),
        &format!("g{at}"),
    );
    made.facts = facts(10, ValueKind::Nonce);
    let mut seen = point(1, &("v".repeat(held) + &"u".repeat(10 - held)));
    seen.chance = vec![chance(ValueKind::Nonce, 0, 100)];
    seen.log_tokens = 5_000 + at as u32;
    made.observations = vec![seen];
    made.compactions = vec![compaction(Stages::default(), 3_000, Vec::new())];
    made
}

/// A run of that model and seed in which the strategies hold so many facts, the same in each of so
/// many units.
fn run(model: &str, seed: u64, units: usize, held: [usize; 5]) -> RunFiles {
    let records = |at| {
        NAMES
            .iter()
            .zip(held)
            .map(move |(name, held)| talk(name, at, held))
    };
    let records: Vec<_> = (0..units).flat_map(records).collect();
    let made = manifest(&NAMES, records.len(), units);
    RunFiles {
        manifest: Manifest {
            summarizer: model.to_owned(),
            seed,
            ..made
        },
        records,
    }
}

const MOCK: &str = "mock:strong";
const MODEL: &str = "openai-compatible:small";
const ORDER: [usize; 5] = [1, 3, 5, 7, 9];
const REVERSED: [usize; 5] = [9, 7, 5, 3, 1];

fn compared(mock: &RunFiles, model: &RunFiles, again: Option<&RunFiles>) -> Agreement {
    agreement(mock, model, again, &prices()).unwrap()
}

#[test]
fn tau_is_that_of_the_strategies_means() {
    for (held, tau) in [
        (ORDER, 1.0),
        (REVERSED, -1.0),
        // Two neighbours swapped: 9 of 10 pairs agree.
        ([3, 1, 5, 7, 9], 0.8),
        // Two tied: 9 of sqrt(10 * 9).
        ([3, 3, 5, 7, 9], 9.0 / 90_f64.sqrt()),
    ] {
        let found = compared(&run(MOCK, 1, 6, ORDER), &run(MODEL, 1, 6, held), None);
        let context = &found.metrics[0];
        assert_eq!(context.metric, "context_recall_corrected");
        assert!(
            (context.tau.value.unwrap() - tau).abs() < 1e-8,
            "{held:?}: {:?}",
            context.tau
        );
        // Units are alike, so that drawing them changes nothing.
        assert!((context.tau.low.unwrap() - tau).abs() < 1e-8 && context.tau.n == 6);
        assert_eq!(context.values[0], (0.1, held[0] as f64 / 10.0));
        let answers = &found.metrics[1];
        assert_eq!(
            (answers.tau.value, answers.tau.reason.is_some()),
            (None, true),
            "nobody answered"
        );
    }
}

#[test]
fn the_claim_names_the_model_the_conversations_and_their_length_and_nothing_else() {
    let mock = run(MOCK, 1, 6, ORDER);
    let does = compared(&mock, &run(MODEL, 1, 6, ORDER), None);
    assert_eq!(does.claim, TauClaim::Reproduces);
    assert_eq!(
        does.words,
        "the mock `mock:strong` does reproduce `openai-compatible:small` on 6 conversations of at most 5,005 tokens"
    );
    let model = run(MODEL, 1, 6, REVERSED);
    let does_not = compared(&mock, &model, Some(&run(MODEL, 2, 6, REVERSED)));
    assert_eq!(does_not.claim, TauClaim::DoesNotReproduce);
    assert!(
        does_not
            .words
            .contains("does not reproduce `openai-compatible:small` on 6 conversations")
    );
    let text = compared(&mock, &model, None).terminal(400);
    assert!(
        text.contains("ceiling: no ceiling recorded")
            && text.contains("nothing about other models, especially larger ones"),
        "{text}"
    );
}

#[test]
fn under_five_units_or_four_strategies_no_claim_is_supported() {
    let found = compared(&run(MOCK, 1, 4, ORDER), &run(MODEL, 1, 4, ORDER), None);
    assert_eq!(
        (found.claim, found.metrics[0].tau.value),
        (TauClaim::NotSupported, Some(1.0))
    );
    assert!(
        found.words.starts_with(
            "no claim is supported: 4 independent conversations are under 5, on 4 conversations"
        ),
        "{}",
        found.words
    );
    let without = |mut files: RunFiles| {
        files
            .records
            .retain(|record| ["a", "b", "c"].contains(&&*record.case.strategy));
        files
    };
    let found = compared(
        &without(run(MOCK, 1, 6, ORDER)),
        &without(run(MODEL, 1, 6, ORDER)),
        None,
    );
    assert!(
        found.claim == TauClaim::NotSupported && found.words.contains("3 strategies are under 4"),
        "{}",
        found.words
    );
}

#[test]
fn units_that_disagree_widen_the_interval_until_nothing_can_be_claimed() {
    let mut model = run(MODEL, 1, 6, ORDER);
    // In two of six units the order is the other way round.
    for record in model
        .records
        .iter_mut()
        .filter(|record| ["g0", "g1"].contains(&&*record.case.group))
    {
        let place = NAMES
            .iter()
            .position(|name| **name == record.case.strategy)
            .unwrap();
        *record = talk(
            NAMES[place],
            record.case.group[1..].parse().unwrap(),
            REVERSED[place],
        );
    }
    let found = compared(&run(MOCK, 1, 6, ORDER), &model, None);
    let tau = &found.metrics[0].tau;
    assert_eq!(tau.value, Some(1.0));
    assert!(
        tau.low.unwrap() < 0.0 && found.claim == TauClaim::NotSupported,
        "{tau:?}"
    );
    assert!(
        found.words.contains("the intervals leave open"),
        "{}",
        found.words
    );
}

#[test]
fn a_model_that_does_not_reproduce_itself_supports_no_claim_against_the_mock() {
    let (mock, model) = (run(MOCK, 1, 6, ORDER), run(MODEL, 1, 6, REVERSED));
    let steady = compared(&mock, &model, Some(&run(MODEL, 2, 6, REVERSED)));
    assert_eq!(
        (steady.claim, steady.metrics[0].ceiling.value),
        (TauClaim::DoesNotReproduce, Some(1.0))
    );
    let unsteady = compared(&mock, &model, Some(&run(MODEL, 2, 6, ORDER)));
    assert_eq!(
        (unsteady.claim, unsteady.metrics[0].ceiling.value),
        (TauClaim::NotSupported, Some(-1.0))
    );
    assert!(
        unsteady
            .words
            .contains("the model is not known to reproduce itself"),
        "{}",
        unsteady.words
    );
    assert_eq!(
        compared(&mock, &model, None).claim,
        TauClaim::NotSupported,
        "nor is one without a ceiling"
    );
}

#[test]
fn strategies_that_never_compacted_and_controls_take_no_part() {
    let [mut mock, model] =
        [(MOCK, ORDER), (MODEL, ORDER)].map(|(name, held)| run(name, 1, 6, held));
    for record in &mut mock.records {
        match &*record.case.strategy {
            "a" => record.compactions.clear(),
            "b" => record.case.family = Family::Control,
            _ => {}
        }
    }
    assert_eq!(compared(&mock, &model, None).strategies, ["c", "d", "e"]);
}

#[test]
fn runs_that_cannot_be_compared_are_refused_with_what_to_do() {
    let (mock, model) = (run(MOCK, 1, 6, ORDER), run(MODEL, 1, 6, ORDER));
    let refused = |one: &RunFiles, other: &RunFiles, again| {
        agreement(one, other, again, &prices()).unwrap_err()
    };
    assert_eq!(
        refused(&model, &model, None),
        AgreementError::NoMock(MODEL.to_owned())
    );
    assert_eq!(
        refused(&mock, &mock, None),
        AgreementError::NoModel(MOCK.to_owned())
    );
    let told = refused(&mock, &model, Some(&model)).to_string();
    assert!(
        told.contains("another seed") && told.contains("seed 1"),
        "{told}"
    );
    let mut other = run(MODEL, 1, 6, ORDER);
    other.manifest.suite_hash = "other".to_owned();
    assert_eq!(
        refused(&mock, &other, None),
        AgreementError::Differs("suite")
    );
    let mut other = run(MODEL, 1, 6, ORDER);
    other
        .manifest
        .prompts
        .insert("a".to_owned(), "new".to_owned());
    let mut mock = run(MOCK, 1, 6, ORDER);
    mock.manifest
        .prompts
        .insert("a".to_owned(), "old".to_owned());
    assert_eq!(
        refused(&mock, &other, None),
        AgreementError::Differs("prompts")
    );
}

#[test]
fn summaries_are_compared_if_one_model_answers_in_every_run() {
    let (mock, mut model, mut again) = (
        run(MOCK, 1, 6, ORDER),
        run(MODEL, 1, 6, ORDER),
        run(MODEL, 2, 6, ORDER),
    );
    model.manifest.target = Some(MOCK.to_owned());
    again.manifest.target = Some(MOCK.to_owned());
    let found = compared(&mock, &model, Some(&again));
    assert_eq!(
        (found.claim, found.answered_by.as_deref()),
        (TauClaim::Reproduces, Some(MOCK))
    );
    assert!(
        found
            .words
            .ends_with(&format!("with `{MOCK}` answering in every run")),
        "{}",
        found.words
    );
    assert_eq!(
        compared(&mock, &run(MODEL, 1, 6, ORDER), None).answered_by,
        None
    );
    again.manifest.target = None;
    let refused = agreement(&mock, &model, Some(&again), &prices()).unwrap_err();
    assert!(
        matches!(refused, AgreementError::TwoModels { .. }),
        "{refused}"
    );
}

/// Without `e`, the orders have nothing in common. It is on top on both sides because it fails on
/// both, so that everything stays.
#[test]
fn what_fails_on_both_sides_makes_no_agreement() {
    let sides = [(MOCK, [3, 5, 1, 7, 10]), (MODEL, [5, 3, 7, 1, 10])];
    let [mut mock, mut model] = sides.map(|(name, held)| run(name, 1, 6, held));
    let apart = compared(&mock, &model, None);
    assert_eq!(apart.left_out, []);
    assert!(
        apart.metrics[0].tau.value.unwrap() > -0.21,
        "{:?}",
        apart.metrics[0].tau
    );
    for record in mock
        .records
        .iter_mut()
        .chain(&mut model.records)
        .filter(|record| record.case.strategy == "e")
    {
        let mut failed = compaction(Stages::default(), 0, Vec::new());
        failed.event.outcome = Outcome::Failed(FailReason::Call("down".to_owned()));
        record.compactions.push(failed);
    }
    let found = compared(&mock, &model, None);
    assert_eq!(found.strategies, ["a", "b", "c", "d"]);
    let told: Vec<_> = found
        .left_out
        .iter()
        .map(|left| (&*left.strategy, &*left.summarizer))
        .collect();
    assert_eq!(told, [("e", MOCK), ("e", MODEL)]);
    assert!(
        (found.metrics[0].tau.value.unwrap() + 1.0).abs() < 1e-8,
        "{:?}",
        found.metrics[0].tau
    );
    let text = found.terminal(200);
    assert!(
        text.contains(
            "left out: e: under mock:strong, 50.0 % of the compactions that were due failed"
        ),
        "{text}"
    );
    // Two runs of the model are told apart by their seeds.
    let mut again = run(MODEL, 2, 6, [3, 5, 1, 7, 10]);
    again.records.clone_from(&model.records);
    let told = compared(&mock, &model, Some(&again)).left_out;
    let told: Vec<_> = told.iter().map(|left| left.summarizer.clone()).collect();
    assert_eq!(
        told,
        [
            MOCK.to_owned(),
            format!("{MODEL} with seed 1"),
            format!("{MODEL} with seed 2")
        ]
    );
}
