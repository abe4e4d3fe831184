//! Summaries that hold values and say nothing about them.

use super::half;
use super::summarizers::{Cheat, Form};
use crate::honesty::stage::{Staged, mock, named, run};

/// The most that a text without knowledge may have of the headline.
const NOTHING: f64 = 0.03;

fn attacked(form: Form) -> Staged {
    let suite = half();
    let cheat = Cheat::new(&suite, form);
    run(suite, named(&["handoff"]), &cheat, None)
}

#[track_caller]
fn assert_worthless(form: Form) {
    let staged = attacked(form);
    let headline = staged.value("handoff", "bound_recall_corrected");
    let values = staged.value("handoff", "context_recall_corrected");
    println!("{form:?}: CR* {values:.3}, BR* {headline:.3}");
    assert!(values > 0.01, "{form:?} holds values: {values}");
    assert!(headline.abs() <= NOTHING, "{form:?}: BR* {headline}");
}

#[test]
fn a_list_of_values_is_worth_nothing() {
    assert_worthless(Form::Values);
}

#[test]
fn values_with_random_subjects_are_worth_nothing() {
    assert_worthless(Form::RandomSubjects);
}

#[test]
fn all_subjects_before_all_values_are_worth_nothing() {
    assert_worthless(Form::SubjectsThenValues);
}

#[test]
fn every_subject_with_every_value_is_worth_nothing() {
    assert_worthless(Form::EverySubjectWithEveryValue);
}

#[test]
fn values_shuffled_within_their_kind_are_worth_nothing() {
    // One order may hit more subjects than another, so only the mean of several says what guesses
    // earn.
    let headlines = (0..4).map(|order| {
        attacked(Form::ShuffledWithinKind(order)).value("handoff", "bound_recall_corrected")
    });
    let headlines = headlines.collect::<Vec<_>>();
    let mean = headlines.iter().sum::<f64>() / headlines.len() as f64;
    assert!(mean.abs() <= NOTHING, "BR* {mean} of {headlines:?}");
}

#[test]
fn values_swapped_between_sentences_cost_most_of_the_headline() {
    let staged = attacked(Form::SwappedBetweenSentences);
    let (headline, values) = (
        staged.value("handoff", "bound_recall_corrected"),
        staged.value("handoff", "context_recall_corrected"),
    );
    println!("swapped: CR* {values:.3}, BR* {headline:.3}");
    assert!(
        values > 0.15 && headline < 0.4 * values,
        "CR* {values}, BR* {headline}"
    );
}

#[test]
fn honest_summaries_and_the_controls_keep_what_they_hold() {
    let strategies = ["summarize", "handoff", "chained", "progressive"];
    let entrants = strategies
        .iter()
        .copied()
        .chain(["full", "null", "value-list", "oracle"])
        .collect::<Vec<_>>();
    let staged = run(half(), named(&entrants), &*mock("mock:strong"), None);
    for strategy in strategies {
        let (bound, held) = (
            staged.value(strategy, "bound_recall"),
            staged.value(strategy, "context_recall"),
        );
        println!("{strategy}: CR {held:.3}, BR {bound:.3}");
        assert!(bound >= 0.97 * held, "{strategy}: BR {bound} of CR {held}");
    }
    assert!(staged.value("full", "bound_recall") >= 0.99);
    assert!(
        staged.value("oracle", "bound_recall") >= 0.99 * staged.value("oracle", "context_recall")
    );
    // The pending message, which nobody may drop, can repeat a value.
    assert!(staged.value("null", "bound_recall") <= 0.02);
    let listed = staged.value("value-list", "bound_recall_corrected");
    assert!(listed.abs() <= NOTHING, "{listed}");
}
