//! Whether any simple cue distinguishes a fact from its decoy better than chance.

use std::cmp::Ordering;

use compactometer_engine::message::MessageId;
use compactometer_engine::message::part_text;
use compactometer_formats::property::Property;
use compactometer_formats::scenario::{Fact, Scenario};

use super::PropertyMeasure;

/// The largest distance from chance that is ignored (see `docs/measurement/facts.md`), and the
/// fewest pairs that can show a larger one.
const MARGIN: f64 = 0.02;
const MIN_PAIRS: usize = 20;
/// Square of the two-sided 1 % point of the normal distribution: a level of .05 with Bonferroni's
/// correction for five cues.
const CRITICAL: f64 = 2.576 * 2.576;

/// Cues by which a reader could pick the fact of a pair.
const CUES: [&str; 5] = [
    "stated first",
    "stated more often",
    "used more often",
    "longer value",
    "longer subject",
];

/// How often the best of five cues picks the fact of a pair. Chance gives .5.
#[derive(Default)]
pub(super) struct Tally {
    pairs: usize,
    /// Pairs whose two sides differ in form.
    mismatched: usize,
    /// Facts without a decoy, in scenarios that have decoys.
    without_decoy: usize,
    /// For each cue, how often it picks the fact, neither, or the decoy.
    wins: [[usize; 3]; CUES.len()],
}

impl PropertyMeasure for Tally {
    fn add(&mut self, scenario: &Scenario) {
        let decoys = || {
            scenario
                .facts
                .iter()
                .filter_map(|decoy| Some((decoy, decoy.decoy_of.as_deref()?)))
        };
        if decoys().next().is_none() {
            return;
        }
        for fact in scenario.facts.iter().filter(|fact| fact.decoy_of.is_none()) {
            let mut own = decoys()
                .filter(|(_, of)| *of == fact.id)
                .map(|(decoy, _)| decoy)
                .peekable();
            self.without_decoy += usize::from(own.peek().is_none());
            own.for_each(|decoy| self.add_pair(scenario, fact, decoy));
        }
    }

    fn measure(&self) -> Property {
        let (id, name) = (
            "decoy_balance",
            "how often the best cue picks the fact and not its decoy (a coin: .5)",
        );
        if self.pairs == 0 {
            return Property::untold(id, name, "no decoys");
        }
        let shares = self
            .wins
            .map(|[fact, tie, _]| (fact as f64 + tie as f64 / 2.0) / self.pairs as f64);
        let distance = |cue: &usize| (shares[*cue] - 0.5).abs();
        let best = (0..CUES.len()).max_by(|one, other| {
            distance(one)
                .total_cmp(&distance(other))
                .then(other.cmp(one))
        });
        let best = best.unwrap_or_default();
        let cues: Vec<String> = CUES
            .iter()
            .zip(shares)
            .map(|(cue, share)| format!("{cue} {share:.3}"))
            .collect();
        let mut detail = format!(
            "{} pairs; the fact is {}; {} pairs differ in category, role, kind, polarity or end; {} facts have no decoy",
            self.pairs,
            cues.join(", "),
            self.mismatched,
            self.without_decoy
        );
        let even =
            (0..CUES.len()).all(|cue| distance(&cue) <= MARGIN || !is_significant(self.wins[cue]));
        let balanced = even && self.mismatched == 0;
        let passed = if balanced && self.pairs < MIN_PAIRS {
            None
        } else {
            Some(balanced)
        };
        if passed.is_none() {
            detail += &format!("; no verdict below {MIN_PAIRS} pairs");
        }
        Property::judged(id, name, shares[best], None, passed, detail)
    }
}

impl Tally {
    fn add_pair(&mut self, scenario: &Scenario, fact: &Fact, decoy: &Fact) {
        self.pairs += 1;
        self.mismatched += usize::from(form(fact) != form(decoy));
        let more = |of: fn(&Fact) -> usize| of(fact).cmp(&of(decoy));
        let orders = [
            place(scenario, decoy).cmp(&place(scenario, fact)),
            more(|fact| fact.evidence_message_ids.len()),
            more(|fact| fact.used_at.len()),
            more(|fact| fact.value.len()),
            more(|fact| fact.subject.len()),
        ];
        for (wins, order) in self.wins.iter_mut().zip(orders) {
            wins[match order {
                Ordering::Greater => 0,
                Ordering::Equal => 1,
                Ordering::Less => 2,
            }] += 1;
        }
    }
}

fn form(fact: &Fact) -> impl PartialEq {
    (
        fact.category,
        fact.stated_by,
        fact.value_kind,
        fact.polarity,
        fact.valid_to.is_some(),
        fact.supersedes.is_some(),
    )
}

/// Where the value first appears: the message, and the position in its text.
fn place(scenario: &Scenario, fact: &Fact) -> (Option<MessageId>, Option<usize>) {
    let first = fact.evidence_message_ids.iter().min().copied();
    let message = scenario
        .messages
        .iter()
        .find(|message| Some(message.id) == first);
    let texts: Option<Vec<&str>> =
        message.map(|message| message.parts.iter().filter_map(part_text).collect());
    (
        first,
        texts.and_then(|texts| texts.concat().find(&fact.value)),
    )
}

/// A sign test by the normal approximation, without ties.
fn is_significant([fact, _, decoy]: [usize; 3]) -> bool {
    let decided = fact + decoy;
    decided >= MIN_PAIRS && (fact.abs_diff(decoy) as f64).powi(2) > CRITICAL * decided as f64
}

#[cfg(test)]
mod tests {
    use compactometer_formats::property::Property;
    use compactometer_formats::scenario::{Category, Fact};
    use compactometer_formats::suite::Suite;

    use super::Tally;
    use crate::properties::tests::{fact, measured, suite};

    fn measure(suite: &Suite) -> Property {
        measured::<Tally>(suite)
    }

    /// Forty pairs; `fact_first` of them state the fact first.
    fn pairs(fact_first: usize) -> Suite {
        let texts: Vec<String> = (0..40)
            .map(|pair| format!("one{pair} and two{pair}"))
            .collect();
        let groups: Vec<(&str, &str)> = texts.iter().map(|text| ("a", text.as_str())).collect();
        let mut suite = suite(&groups);
        for (pair, scenario) in suite.scenarios.iter_mut().enumerate() {
            let [first, second] = [format!("one{pair}"), format!("two{pair}")];
            let (value, other) = if pair < fact_first {
                (first, second)
            } else {
                (second, first)
            };
            scenario.facts = vec![
                fact("f", &value),
                Fact {
                    decoy_of: Some("f".to_owned()),
                    ..fact("d", &other)
                },
            ];
        }
        suite
    }

    #[test]
    fn a_cue_that_distinguishes_facts_from_decoys_fails() {
        let even = measure(&pairs(20));
        assert_eq!(
            (even.value, even.passed),
            (Some(0.5), Some(true)),
            "{}",
            even.detail
        );
        // Twelve of forty are within two and a half standard deviations of chance; ten are not.
        assert_eq!(measure(&pairs(12)).passed, Some(true));
        let decided = measure(&pairs(10));
        assert_eq!(
            (decided.value, decided.passed),
            (Some(0.25), Some(false)),
            "{}",
            decided.detail
        );
    }

    #[test]
    fn pairs_of_two_forms_fail_and_few_pairs_give_no_verdict() {
        let mut mismatched = pairs(20);
        mismatched.scenarios[3].facts[1].category = Category::Goal;
        assert_eq!(measure(&mismatched).passed, Some(false));
        let mut few = pairs(5);
        few.scenarios.truncate(10);
        assert_eq!(measure(&few).passed, None);
        assert!(
            measure(&few).line().contains("no verdict below"),
            "{}",
            measure(&few).line()
        );
        few.scenarios
            .iter_mut()
            .for_each(|scenario| scenario.facts.truncate(1));
        assert_eq!(measure(&few).value, None);
    }
}
