//! What answers to probes are compared with: right and forbidden answers, and the facts that a
//! question is about.

use compactometer_formats::answer::ProbeRow;
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};
use compactometer_text::matcher::{self, Matcher, Sought};

/// What answers to a scenario's probes are compared with.
#[derive(Default)]
pub(crate) struct AnswerKeys {
    pub(crate) probes: Vec<AnswerKey>,
    /// Finds right and forbidden answers in the probes' own words.
    pub(crate) answers: Matcher,
    /// Finds denials of facts that are affirmed.
    pub(crate) denials: Matcher,
    /// For each item of `answers`, its probe and whether it is forbidden.
    pub(crate) owners: Vec<(u32, bool)>,
    /// For each foil, the fact that it belongs to.
    pub(crate) foil_of: Vec<u32>,
}

/// What answers to one probe are compared with; facts as indices.
pub(crate) struct AnswerKey {
    pub(crate) row: ProbeRow,
    /// Facts that the asked ones replaced, directly or through others.
    pub(crate) replaced: Vec<u32>,
    /// Facts whose values are of the asked ones' kind; all facts if none is asked for.
    pub(crate) like: Vec<u32>,
    /// Facts whose values the question itself states.
    pub(crate) in_question: Vec<u32>,
}

impl AnswerKeys {
    pub(crate) fn new(scenario: &Scenario, facts: &Matcher) -> Self {
        let (mut owners, mut answers) = (Vec::new(), Vec::new());
        for (number, probe) in scenario.probes.iter().enumerate() {
            let sought = asked(scenario, probe).next().map(|(_, fact)| fact.sought());
            let kind = sought.map_or(ValueKind::Free, |sought| sought.kind);
            // The bare value also answers a question about what must not be, but a denied value
            // answers no other question.
            let right = sought
                .map(|sought| sought.said)
                .filter(|said| *said == matcher::Said::Affirmed);
            let gold = probe
                .gold
                .iter()
                .map(|gold| (gold, right.unwrap_or(matcher::Said::Either)));
            let forbidden = probe
                .forbidden
                .iter()
                .map(|text| (text, matcher::Said::Affirmed));
            for (is_forbidden, (text, said)) in gold
                .map(|gold| (false, gold))
                .chain(forbidden.map(|text| (true, text)))
            {
                owners.push((number as u32, is_forbidden));
                answers.push((Sought { kind, said }, [text.as_str()]));
            }
        }
        let foils = scenario.facts.iter().enumerate();
        AnswerKeys {
            probes: scenario
                .probes
                .iter()
                .map(|probe| AnswerKey::new(scenario, probe, facts))
                .collect(),
            answers: Matcher::new(answers),
            denials: Matcher::new(scenario.facts.iter().map(denied)),
            owners,
            foil_of: foils
                .flat_map(|(fact, row)| row.foil_values.iter().map(move |_| fact as u32))
                .collect(),
        }
    }
}

impl AnswerKeys {
    /// Whether the text holds the right answer of that probe in its own words.
    pub(crate) fn holds_gold(&self, probe: usize, text: &str) -> bool {
        self.answers
            .find(text)
            .any(|item| self.owners[item] == (probe as u32, false))
    }
}

impl AnswerKey {
    fn new(scenario: &Scenario, probe: &Probe, facts: &Matcher) -> Self {
        let asked: Vec<(u32, &Fact)> = asked(scenario, probe).collect();
        let all = scenario.facts.iter().enumerate();
        AnswerKey {
            replaced: asked
                .iter()
                .flat_map(|(_, fact)| replaced_by(scenario, fact))
                .collect(),
            like: all
                .filter(|(_, fact)| is_like(&asked, fact))
                .map(|(index, _)| index as u32)
                .collect(),
            in_question: facts
                .find(&probe.question)
                .map(|fact| fact as u32)
                .collect(),
            row: ProbeRow {
                id: probe.id.clone(),
                facts: if probe.order.is_empty() {
                    in_order(&asked)
                } else {
                    asked_facts(&asked, &probe.fact_ids)
                },
                ordered: !probe.order.is_empty(),
                memory: probe.memory,
                abstain_expected: probe.abstain_expected,
                updated: asked.iter().any(|(_, fact)| fact.supersedes.is_some()),
            },
        }
    }
}

/// Whether a fact has the kind of one that is asked for.
fn is_like(asked: &[(u32, &Fact)], fact: &Fact) -> bool {
    let mut kinds = asked.iter().map(|(_, one)| one.value_kind);
    asked.is_empty() || kinds.any(|kind| kind == fact.value_kind)
}

fn in_order(asked: &[(u32, &Fact)]) -> Vec<u32> {
    asked.iter().map(|(index, _)| *index).collect()
}

/// The facts in the order of a probe that asks for their order.
fn asked_facts(asked: &[(u32, &Fact)], ids: &[String]) -> Vec<u32> {
    ids.iter()
        .filter_map(|id| asked.iter().find(|(_, fact)| fact.id == *id))
        .map(|(index, _)| *index)
        .collect()
}

fn asked<'s>(scenario: &'s Scenario, probe: &'s Probe) -> impl Iterator<Item = (u32, &'s Fact)> {
    let facts = scenario
        .facts
        .iter()
        .enumerate()
        .map(|(index, fact)| (index as u32, fact));
    facts.filter(|(_, fact)| probe.fact_ids.contains(&fact.id))
}

/// The forms of an affirmed fact, to find its denials.
fn denied(fact: &Fact) -> (Sought, Vec<&str>) {
    let is_so = fact.sought().said == matcher::Said::Affirmed;
    let forms = if is_so {
        fact.forms().collect()
    } else {
        Vec::new()
    };
    (
        Sought {
            kind: fact.value_kind,
            said: matcher::Said::Denied,
        },
        forms,
    )
}

/// The facts that this one replaced, directly or through others.
fn replaced_by(scenario: &Scenario, fact: &Fact) -> Vec<u32> {
    let find = |id: &String| scenario.facts.iter().position(|other| other.id == *id);
    let mut found: Vec<u32> = Vec::new();
    let mut next = fact.supersedes.as_ref().and_then(find);
    while let Some(index) = next.filter(|index| !found.contains(&(*index as u32))) {
        found.push(index as u32);
        next = scenario.facts[index].supersedes.as_ref().and_then(find);
    }
    found
}
