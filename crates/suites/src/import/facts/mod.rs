//! Finds exact values as facts, and the calls that use them (needed-at-use, see
//! `docs/measurement/recall.md`).
//!
//! A call uses a value if one of its arguments has the value and an earlier message mentions it.
//! Absent on purpose: decisions, preferences and other facts that are not exact values, and
//! questions about values.

mod candidates;
mod generic;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Fact, Scenario, Speaker};
use compactometer_formats::suite::Suite;
use compactometer_text::exact::Exact;

use super::error::ImportError;
use super::foils;
use super::repair::counted;
use crate::each::each;
use crate::walk::Walk;
use candidates::{Candidates, FactCandidate};
use generic::FoundValue;

/// The largest number of unused values that become facts of a scenario.
pub(super) const INCIDENTAL: usize = 200;

/// Counts of the facts found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactCounts {
    /// All facts.
    pub facts: usize,
    /// Facts that a call uses.
    pub used: usize,
    /// Uses, counting each pair of a value and a calling message once.
    pub uses: usize,
    /// Facts whose value also occurs in another project.
    pub generic: usize,
    /// Facts that the system prompt states first.
    pub system: usize,
    /// Unused values that are not facts, because their conversations have as many as they may.
    pub left_out: usize,
    /// Projects, or groups where no project is known. With only one, generic values cannot be
    /// identified.
    pub projects: usize,
    /// Whether projects are known.
    pub known_projects: bool,
}

impl FactCounts {
    /// The counts as text.
    pub(super) fn lines(&self) -> Vec<String> {
        let FactCounts {
            facts,
            used,
            generic,
            system,
            ..
        } = self;
        let projects = counted(
            self.projects,
            if self.known_projects {
                "project"
            } else {
                "session"
            },
        );
        let mut lines = vec![format!(
            "{}: {used} used by calls, in {}; {generic} generic, {system} from system prompts",
            counted(*facts, "exact value"),
            counted(self.uses, "use")
        )];
        lines.push(match self.projects {
            0 | 1 => format!("{projects}: no value can be told to be generic"),
            _ => format!("generic values are those in more than one of {projects}"),
        });
        if self.left_out > 0 {
            let values = counted(self.left_out, "unused exact value");
            lines.push(format!(
                "{values} left out: a conversation has at most {INCIDENTAL} that no call uses"
            ));
        }
        lines
    }

    /// Notes for readers of results.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec!["exact values only; decisions and preferences unmeasured".to_owned()];
        notes.extend(self.lines());
        notes
    }
}

/// Finds the exact values of every conversation of a suite and says what was found. Facts that are
/// there already stay.
///
/// # Errors
/// [`ImportError`] if it finds none that is not a fact already.
pub fn auto_facts(suite: &mut Suite) -> Result<Vec<String>, ImportError> {
    let count = |suite: &Suite| {
        suite
            .scenarios
            .iter()
            .map(|scenario| scenario.facts.len())
            .sum::<usize>()
    };
    let before = count(suite);
    let counts = find(&mut suite.scenarios, INCIDENTAL, Foils::Made);
    if count(suite) == before {
        let name = &suite.header.name;
        return Err(ImportError::Other(format!(
            "`{name}` has no exact value that is not a fact already"
        )));
    }
    suite.header.notes.extend(counts.notes());
    Ok(counts.lines())
}

/// Finds every exact value of every conversation of a suite, also those that no call uses. They get
/// no foils, so no replay can measure them.
pub fn all_facts(suite: &mut Suite) -> FactCounts {
    find(&mut suite.scenarios, usize::MAX / 2, Foils::LeftOut)
}

/// Whether facts get foils, which take longer to find than the facts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Foils {
    Made,
    LeftOut,
}

/// Finds the facts of every scenario and adds them to those that it has. `unused` is the most
/// values of each that no call uses.
pub(super) fn find(scenarios: &mut [Scenario], unused: usize, foils: Foils) -> FactCounts {
    let mut finder = Finder::new(unused, foils);
    let looked = each(scenarios, |_, scenario| finder.look(scenario));
    for (looked, scenario) in looked.into_iter().zip(&mut *scenarios) {
        finder.add(looked, scenario);
    }
    let Ok(found) = finder.compare(&mut &*scenarios);
    scenarios
        .iter_mut()
        .enumerate()
        .for_each(|(number, scenario)| found.mark(number, scenario));
    found.counts
}

/// Finds the facts of one conversation after the other.
pub(super) struct Finder {
    unused: usize,
    foils: Foils,
    counts: FactCounts,
    projects: BTreeSet<String>,
    /// The values that became facts, in lower case, and how many facts have each.
    values: BTreeMap<String, (FoundValue, usize)>,
    /// For each conversation, the number of facts that it had before.
    before: Vec<usize>,
}

impl Finder {
    pub(super) fn new(unused: usize, foils: Foils) -> Self {
        let (counts, projects) = (FactCounts::default(), BTreeSet::new());
        Finder {
            unused,
            foils,
            counts,
            projects,
            values: BTreeMap::new(),
            before: Vec::new(),
        }
    }

    /// The facts of a conversation, none of them generic yet.
    pub(super) fn look(&self, scenario: &Scenario) -> Looked {
        let (found, left_out) = candidates::find(scenario, self.unused);
        let foils = match self.foils {
            Foils::Made => foils_of(scenario, &found),
            Foils::LeftOut => vec![Vec::new(); found.len()],
        };
        Looked {
            facts: facts(scenario, found, foils),
            left_out,
        }
    }

    /// Adds what was found in the next conversation.
    pub(super) fn add(&mut self, Looked { facts, left_out }: Looked, scenario: &mut Scenario) {
        self.counts.left_out += left_out;
        self.counts.known_projects |= !scenario.projects.is_empty();
        self.projects.extend(scenario.projects().map(str::to_owned));
        self.before.push(scenario.facts.len());
        self.add_facts(facts, scenario);
        self.count(&scenario.facts);
    }

    fn count(&mut self, facts: &[Fact]) {
        for fact in facts {
            self.counts.facts += 1;
            self.counts.used += usize::from(!fact.used_at.is_empty());
            self.counts.uses += fact.used_at.len();
            self.counts.generic += usize::from(fact.generic);
            self.counts.system += usize::from(fact.stated_by == Speaker::System);
        }
    }

    /// Adds the facts whose value is not a fact of the scenario yet, numbered by ids that are free.
    fn add_facts(&mut self, facts: Vec<Fact>, scenario: &mut Scenario) {
        let known = scenario
            .facts
            .iter()
            .flat_map(Fact::forms)
            .map(str::to_lowercase)
            .collect::<BTreeSet<_>>();
        let taken = scenario
            .facts
            .iter()
            .map(|fact| fact.id.clone())
            .collect::<BTreeSet<_>>();
        let mut free = (1..)
            .map(|number| format!("v{number}"))
            .filter(|id| !taken.contains(id));
        let projects = Arc::<[String]>::from_iter(scenario.projects().map(str::to_owned));
        for fact in facts
            .into_iter()
            .filter(|fact| !known.contains(&fact.value.to_lowercase()))
        {
            let known = || FoundValue {
                exact: Exact {
                    value: fact.value.clone(),
                    kind: fact.value_kind,
                },
                projects: Arc::clone(&projects),
            };
            self.values
                .entry(fact.value.to_ascii_lowercase())
                .or_insert_with(|| (known(), 0))
                .1 += 1;
            scenario.facts.push(Fact {
                id: free.next().unwrap_or_default(),
                ..fact
            });
        }
    }

    /// Compares the values of all conversations that were added, which `conversations` shows.
    pub(super) fn compare<W: Walk>(self, conversations: &mut W) -> Result<FoundFacts, W::Error> {
        let mut counts = FactCounts {
            projects: self.projects.len(),
            ..self.counts
        };
        // With one project there is nothing to compare.
        let values = self.values.iter().filter(|_| counts.projects > 1);
        let generic = generic::find(
            values.map(|(key, (known, _))| (key.as_str(), known)),
            conversations,
        )?;
        counts.generic += generic
            .iter()
            .filter_map(|key| Some(self.values.get(key)?.1))
            .sum::<usize>();
        Ok(FoundFacts {
            counts,
            generic,
            before: self.before,
        })
    }
}

/// What a [`Finder`] found in one conversation.
pub(super) struct Looked {
    facts: Vec<Fact>,
    left_out: usize,
}

/// What a [`Finder`] found in all conversations together.
pub(super) struct FoundFacts {
    pub(super) counts: FactCounts,
    generic: HashSet<String>,
    before: Vec<usize>,
}

impl FoundFacts {
    /// Marks the generic ones of the facts that were added to a conversation, given by its number
    /// from 0. They have no foils.
    pub(super) fn mark(&self, number: usize, scenario: &mut Scenario) {
        let added = scenario.facts.iter_mut().skip(self.before[number]);
        for fact in added.filter(|fact| self.generic.contains(&fact.value.to_ascii_lowercase())) {
            fact.generic = true;
            fact.foil_values = Vec::new();
        }
    }
}

/// Foils of each candidate, in order.
fn foils_of(scenario: &Scenario, found: &Candidates) -> Vec<Vec<String>> {
    let values = found
        .values()
        .map(|candidate| (candidate.exact.kind, candidate.exact.value.as_str()));
    let texts = scenario
        .messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(part_text);
    foils::make(&values.collect::<Vec<_>>(), texts)
}

fn facts(scenario: &Scenario, found: Candidates, foils: Vec<Vec<String>>) -> Vec<Fact> {
    let speakers = scenario
        .messages
        .iter()
        .map(|message| (message.id, scenario.speaker(message)));
    let speakers = speakers.collect::<HashMap<_, _>>();
    let mut facts = Vec::new();
    for (candidate, foil_values) in found.into_values().zip(foils) {
        let FactCandidate {
            exact,
            evidence,
            used_at,
            subject,
            ..
        } = candidate;
        let Some(stated_by) = evidence
            .first()
            .and_then(|first| speakers.get(first).copied())
        else {
            continue;
        };
        let subject = subject.filter(|_| !used_at.is_empty());
        let subject = subject.unwrap_or_else(|| "exact value that no call uses".to_owned());
        // Facts get their ids when they are added, in order.
        let stated = Fact::stated("", subject, exact.value, exact.kind, evidence);
        facts.push(Fact {
            stated_by,
            foil_values,
            used_at,
            ..stated
        });
    }
    facts.sort_by(|one, other| {
        (one.evidence_message_ids.first(), &one.value)
            .cmp(&(other.evidence_message_ids.first(), &other.value))
    });
    facts
}
