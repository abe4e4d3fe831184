//! What an answer is worth: a deterministic reading of its text by the one matcher (MEASUREMENT section 3, answer recall).
//!
//! Absent on purpose: a judge. An answer that gives a value in other words than its accepted forms is missing.

use compactometer_engine::model::{ChatReply, Finish};
use compactometer_formats::answer::{Grade, ProbeRow, Signs};
use compactometer_formats::scenario::{Fact, Probe, Scenario, ValueKind};
use compactometer_text::matcher::{self, Matcher, Sought};

use crate::prepare::scenario::Loaded;
use crate::probes::{invented, order};

/// What was read of an answer.
pub(crate) struct Graded {
    pub(crate) grade: Grade,
    /// The order that it gives, where one was asked for.
    pub(crate) order: Vec<u32>,
    /// What else it does, where values were asked for.
    pub(crate) signs: Option<Signs>,
}

impl Graded {
    /// There is no answer.
    pub(crate) const FAILED: Graded = Graded { grade: Grade::Failed, order: Vec::new(), signs: None };
}

/// Reads the answer to that probe.
pub(crate) fn grade(loaded: &Loaded, probe: usize, reply: &ChatReply) -> Graded {
    let (answer, labels) = (reply.text.as_str(), &loaded.scenario.probes[probe].order);
    if labels.is_empty() {
        let said = Said::read(loaded, probe, answer);
        let signs = Signs {
            contradicts: said.denied || (said.asked && (said.replaced || said.forbidden)),
            invents: said.foil || invented::states(loaded, probe, &said.held, whole_words(reply)),
        };
        return Graded { grade: of_values(loaded, probe, &said, answer), order: Vec::new(), signs: Some(signs) };
    }
    let order = order::read(labels, answer);
    let grade = match () {
        () if (0..labels.len() as u32).eq(order.iter().copied()) => Grade::Right,
        () if order.is_empty() && abstains(answer) => Grade::Abstained,
        () => Grade::Missing,
    };
    Graded { grade, order, signs: None }
}

/// The answer without its last word where that may be half of one.
fn whole_words(reply: &ChatReply) -> &str {
    let is_cut = reply.finish == Finish::Length;
    if is_cut { reply.text.rsplit_once(char::is_whitespace).map_or("", |(head, _)| head) } else { &reply.text }
}

/// What an answer that should state values is worth. What was replaced, forbidden or never said spoils an answer that is right beside
/// it; another fact's value does not, since an answer may quote a whole sentence.
fn of_values(loaded: &Loaded, probe: usize, said: &Said, answer: &str) -> Grade {
    let key = &loaded.keys.probes[probe];
    let never_said = said.foil || (said.forbidden && !key.row.updated);
    if key.row.abstain_expected {
        return match () {
            () if said.foil || said.forbidden || said.another => Grade::WrongValue,
            () if abstains(answer) => Grade::Abstained,
            () => Grade::Missing,
        };
    }
    match () {
        () if said.replaced || (said.forbidden && key.row.updated) => Grade::Stale,
        () if never_said => Grade::WrongValue,
        () if said.asked => Grade::Right,
        () if said.another => Grade::WrongValue,
        () if abstains(answer) => Grade::Abstained,
        () => Grade::Missing,
    }
}

/// The one word that the prompt agrees on.
const UNKNOWN: &str = "unknown";

/// Other words for not knowing: models seldom keep to one.
const NOT_KNOWN: &[&str] = &[
    "don't know",
    "do not know",
    "not known",
    "doesn't say",
    "does not say",
    "not mentioned",
    "not stated",
    "not specified",
    "not provided",
    "no information",
    "cannot be determined",
    "can't be determined",
];

fn abstains(answer: &str) -> bool {
    let lower = answer.to_lowercase().replace('’', "'");
    lower.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == UNKNOWN)
        || NOT_KNOWN.iter().any(|phrase| lower.contains(phrase))
}

/// Which values an answer states.
struct Said {
    /// Every fact and decoy.
    held: Vec<u32>,
    /// Every fact that is asked for, or the right answer in the probe's own words.
    asked: bool,
    /// That a fact which is asked for, and is so, is not so.
    denied: bool,
    /// A value that the asked fact replaced.
    replaced: bool,
    /// An answer that the probe forbids.
    forbidden: bool,
    /// A value of the asked facts' form that the conversation never states.
    foil: bool,
    /// The value of another fact or decoy of the same kind, which the question does not name.
    another: bool,
}

impl Said {
    fn read(loaded: &Loaded, probe: usize, answer: &str) -> Self {
        let (keys, key) = (&loaded.keys, &loaded.keys.probes[probe]);
        let held = loaded.facts.find(answer).map(|fact| fact as u32).collect::<Vec<_>>();
        let own = keys.answers.find(answer).filter(|item| keys.owners[*item].0 as usize == probe);
        let (forbidden, gold): (Vec<_>, Vec<_>) = own.partition(|item| keys.owners[*item].1);
        let foils = || loaded.foils.find(answer).map(|foil| keys.foil_of[foil]);
        let is_asked = |fact: &u32| key.row.facts.contains(fact);
        let is_another = |fact: &u32| !is_asked(fact) && key.like.contains(fact) && !key.in_question.contains(fact);
        let asks = !key.row.facts.is_empty();
        Said {
            denied: keys.denials.find(answer).any(|fact| is_asked(&(fact as u32))),
            asked: !gold.is_empty() || (asks && key.row.facts.iter().all(|fact| held.contains(fact))),
            replaced: key.replaced.iter().any(|fact| held.contains(fact)),
            forbidden: !forbidden.is_empty(),
            foil: if asks { foils().any(|fact| is_asked(&fact)) } else { foils().next().is_some() },
            another: held.iter().any(is_another),
            held,
        }
    }
}

/// What answers to a scenario's probes are held against.
pub(crate) struct Keys {
    pub(crate) probes: Vec<Key>,
    /// Finds right and forbidden answers in the probes' own words.
    answers: Matcher,
    /// Finds facts that are so where they are denied.
    denials: Matcher,
    /// For each item of `answers` its probe, and whether it is forbidden.
    owners: Vec<(u32, bool)>,
    /// For each foil the fact whose it is.
    foil_of: Vec<u32>,
}

/// What answers to one probe are held against; facts as indices.
pub(crate) struct Key {
    pub(crate) row: ProbeRow,
    /// Those that the asked ones replaced, however long ago.
    replaced: Vec<u32>,
    /// Those whose values are of the asked ones' kind; all where none is asked for.
    like: Vec<u32>,
    /// Those whose values the question itself states.
    in_question: Vec<u32>,
}

impl Keys {
    pub(crate) fn new(scenario: &Scenario, facts: &Matcher) -> Self {
        let (mut owners, mut answers) = (Vec::new(), Vec::new());
        for (number, probe) in scenario.probes.iter().enumerate() {
            let sought = asked(scenario, probe).next().map(|(_, fact)| fact.sought());
            let kind = sought.map_or(ValueKind::Free, |sought| sought.kind);
            // The bare value answers also what must not be; what is said not to be so answers nothing else.
            let right = sought.map(|sought| sought.said).filter(|said| *said == matcher::Said::Affirmed);
            let gold = probe.gold.iter().map(|gold| (gold, right.unwrap_or(matcher::Said::Either)));
            let forbidden = probe.forbidden.iter().map(|text| (text, matcher::Said::Affirmed));
            for (is_forbidden, (text, said)) in gold.map(|gold| (false, gold)).chain(forbidden.map(|text| (true, text)))
            {
                owners.push((number as u32, is_forbidden));
                answers.push((Sought { kind, said }, [text.as_str()]));
            }
        }
        let foils = scenario.facts.iter().enumerate();
        Keys {
            probes: scenario.probes.iter().map(|probe| Key::new(scenario, probe, facts)).collect(),
            answers: Matcher::new(answers),
            denials: Matcher::new(scenario.facts.iter().map(denied)),
            owners,
            foil_of: foils.flat_map(|(fact, row)| row.foil_values.iter().map(move |_| fact as u32)).collect(),
        }
    }
}

impl Key {
    fn new(scenario: &Scenario, probe: &Probe, facts: &Matcher) -> Self {
        let asked: Vec<(u32, &Fact)> = asked(scenario, probe).collect();
        let is_like = |fact: &Fact| asked.is_empty() || asked.iter().any(|(_, one)| one.value_kind == fact.value_kind);
        let all = scenario.facts.iter().enumerate();
        Key {
            replaced: asked.iter().flat_map(|(_, fact)| replaced_by(scenario, fact)).collect(),
            like: all.filter(|(_, fact)| is_like(fact)).map(|(index, _)| index as u32).collect(),
            in_question: facts.find(&probe.question).map(|fact| fact as u32).collect(),
            row: ProbeRow {
                id: probe.id.clone(),
                facts: if probe.order.is_empty() { in_order(&asked) } else { listed(&asked, &probe.fact_ids) },
                ordered: !probe.order.is_empty(),
                abstain_expected: probe.abstain_expected,
                updated: asked.iter().any(|(_, fact)| fact.supersedes.is_some()),
            },
        }
    }
}

fn in_order(asked: &[(u32, &Fact)]) -> Vec<u32> {
    asked.iter().map(|(index, _)| *index).collect()
}

/// The facts as a probe lists them that asks for their order.
fn listed(asked: &[(u32, &Fact)], ids: &[String]) -> Vec<u32> {
    ids.iter().filter_map(|id| asked.iter().find(|(_, fact)| fact.id == *id)).map(|(index, _)| *index).collect()
}

fn asked<'s>(scenario: &'s Scenario, probe: &'s Probe) -> impl Iterator<Item = (u32, &'s Fact)> {
    let facts = scenario.facts.iter().enumerate().map(|(index, fact)| (index as u32, fact));
    facts.filter(|(_, fact)| probe.fact_ids.contains(&fact.id))
}

/// The forms of a fact that is so, to be found where they are denied.
fn denied(fact: &Fact) -> (Sought, Vec<&str>) {
    let is_so = fact.sought().said == matcher::Said::Affirmed;
    let forms = if is_so { fact.forms().collect() } else { Vec::new() };
    (Sought { kind: fact.value_kind, said: matcher::Said::Denied }, forms)
}

/// The facts that this one replaced, and those that these did.
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
