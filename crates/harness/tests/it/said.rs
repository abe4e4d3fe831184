//! What a user said goes in, in known words; the record says how much of it each context says.

use compactometer_engine::message::{MessageId, Role};
use compactometer_engine::model::ChatModel;
use compactometer_formats::record::{ObservationKind, SaidCount};
use compactometer_formats::scenario::{
    RecordedCompaction, SaidSentence, Scenario, SentenceKind, Wording,
};
use compactometer_testing::model::writes;
use compactometer_testing::scenario::Builder;

use crate::common::run;

const RULE: &str = "Never push to the shared branch without review.";
const AGAIN: &str = "A colleague looks at it before anything is shared.";
const PREFERENCE: &str = "I prefer tables over long paragraphs.";
const TAKEN_BACK: &str = "Scratch that about tables and paragraphs.";

fn sentence(wordings: &[(MessageId, &str)], valid_to: Option<MessageId>) -> SaidSentence {
    let wording = |(said_in, text): &(MessageId, &str)| Wording {
        said_in: *said_in,
        text: (*text).to_owned(),
    };
    SaidSentence {
        kind: SentenceKind::Rule,
        wordings: wordings.iter().map(wording).collect(),
        valid_to,
    }
}

fn scenario() -> Scenario {
    let mut builder = Builder::new("s", "g");
    builder.say(Role::System, "You are an agent.");
    let rule = builder.say(Role::User, &format!("Hello TKT-41997. {RULE}"));
    builder.say(Role::Assistant, "I will not.");
    let again = builder.say(Role::User, AGAIN);
    builder.say(Role::Assistant, "It does.");
    let preference = builder.say(Role::User, PREFERENCE);
    builder.say(Role::Assistant, "Tables it is.");
    let taken_back = builder.say(Role::User, TAKEN_BACK);
    builder.say(Role::Assistant, "As you like.");
    builder.chatter(6_000);
    builder.fact("TKT-41997", &[rule]);
    let mut scenario = builder.build();
    let rules = &[(rule, RULE), (again, AGAIN)];
    scenario.said = vec![
        sentence(rules, None),
        sentence(&[(preference, PREFERENCE)], Some(taken_back)),
        sentence(&[(taken_back, TAKEN_BACK)], None),
    ];
    scenario
}

/// The counts at each observation point.
fn counts(scenario: Scenario, strategy: &str, model: &dyn ChatModel) -> Vec<Vec<SaidCount>> {
    let made = run(vec![scenario], strategy, model);
    let (points, others): (Vec<_>, Vec<_>) = made
        .record
        .observations
        .into_iter()
        .partition(|seen| seen.kind == ObservationKind::Point);
    assert!(others.iter().all(|seen| seen.said.is_empty()));
    points.into_iter().map(|seen| seen.said).collect()
}

fn total(counts: &[SaidCount]) -> (u32, u32) {
    let sum = |of: fn(&SaidCount) -> u32| counts.iter().map(of).sum::<u32>();
    (sum(|count| count.held), sum(|count| count.all))
}

#[test]
fn a_context_says_a_sentence_in_any_of_its_wordings() {
    let keeps = writes(|_, _| {
        Ok("- The user wants a colleague to look at things before anything is shared.".to_owned())
    });
    let forgets = writes(|_, _| Ok("Nothing much happened.".to_owned()));
    let held = |strategy: &str, model: &dyn ChatModel| {
        let points = counts(scenario(), strategy, model);
        let last = points.last().expect("there is a point");
        assert_eq!(last.len(), 5);
        total(last)
    };
    assert_eq!(
        held("full", &forgets),
        (2, 2),
        "the preference was taken back"
    );
    assert_eq!(held("summarize", &forgets), (0, 2));
    assert_eq!(held("summarize", &keeps), (1, 2));
    assert_eq!(held("null", &forgets), (0, 2));
}

#[test]
fn sentences_are_counted_by_the_compactions_since() {
    let forgets = writes(|_, _| Ok("Nothing much happened.".to_owned()));
    let points = counts(scenario(), "summarize", &forgets);
    let places = points.iter().map(|counts| {
        let has = counts.iter().position(|count| count.all > 0);
        has.expect("something was said")
    });
    let places = places.collect::<Vec<_>>();
    assert!(places.is_sorted() && places[0] > 0, "{places:?}");
    assert!(places.last() > places.first(), "{places:?}");
    let uncompacted = counts(scenario(), "full", &forgets);
    assert!(uncompacted.iter().all(|counts| counts[0].all == 2));
}

#[test]
fn without_a_list_what_persons_wrote_counts_in_a_recording() {
    let forgets = writes(|_, _| Ok("Nothing much happened.".to_owned()));
    let without = |compactions: Vec<RecordedCompaction>| Scenario {
        said: Vec::new(),
        compactions,
        ..scenario()
    };
    let made = RecordedCompaction {
        after: MessageId(60),
        at_ms: None,
        trigger: None,
        reported_tokens: None,
        usage: None,
        took_ms: None,
        version: None,
        compactor: None,
        line: None,
        context: Vec::new(),
    };
    let recorded = counts(without(vec![made]), "full", &forgets);
    assert!(recorded.last().is_some_and(|counts| total(counts).1 > 3));
    let other = counts(without(Vec::new()), "full", &forgets);
    assert!(other.iter().all(Vec::is_empty));
}
