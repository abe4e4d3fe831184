//! Finds exact values as facts, and the calls that use them (needed-at-use, see `docs/measurement/recall.md`).
//!
//! A call uses a value if one of its arguments has the value and an earlier message mentions it. Absent on purpose: decisions,
//! preferences and other facts that are not exact values, and questions about values.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use compactometer_engine::message::{Message, MessageId, Part};
use serde_json::Value;

use super::error::ImportError;
use super::foils;
use super::repair::counted;
use compactometer_engine::message::part_text;
use compactometer_formats::scenario::{Fact, Scenario, Speaker, ValueKind};
use compactometer_formats::suite::Suite;
use compactometer_text::exact::{self, Exact};
use compactometer_text::matcher::Matcher;

/// The largest number of unused values that become facts of a scenario.
pub(super) const INCIDENTAL: usize = 200;
/// The fewest characters of an unused value.
const INCIDENTAL_LENGTH: usize = 6;

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
    /// Projects, or groups where no project is known. With only one, generic values cannot be identified.
    pub projects: usize,
    /// Whether projects are known.
    pub known_projects: bool,
}

impl FactCounts {
    /// The counts as text.
    pub(super) fn lines(&self) -> Vec<String> {
        let FactCounts { facts, used, generic, system, .. } = self;
        let projects = counted(self.projects, if self.known_projects { "project" } else { "group" });
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
            lines.push(format!("{values} left out: a conversation has at most {INCIDENTAL} that no call uses"));
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

/// Finds the exact values of every conversation of a suite and says what was found. Facts that are there already stay.
///
/// # Errors
/// [`ImportError`] if it finds none that is not a fact already.
pub fn auto_facts(suite: &mut Suite) -> Result<Vec<String>, ImportError> {
    let count = |suite: &Suite| suite.scenarios.iter().map(|scenario| scenario.facts.len()).sum::<usize>();
    let before = count(suite);
    let counts = find(&mut suite.scenarios, INCIDENTAL, Foils::Made);
    if count(suite) == before {
        let name = &suite.header.name;
        return Err(ImportError::Other(format!("`{name}` has no exact value that is not a fact already")));
    }
    suite.header.notes.extend(counts.notes());
    Ok(counts.lines())
}

/// Finds every exact value of every conversation of a suite, also those that no call uses. They get no foils, so no replay can
/// measure them.
pub fn all_facts(suite: &mut Suite) -> FactCounts {
    find(&mut suite.scenarios, usize::MAX / 2, Foils::LeftOut)
}

/// Whether facts get foils, which take longer to find than the facts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Foils {
    Made,
    LeftOut,
}

/// Finds the facts of every scenario and adds them to those that it has. `unused` is the most values of each that no call uses.
pub(super) fn find(scenarios: &mut [Scenario], unused: usize, wanted: Foils) -> FactCounts {
    let projects = scenarios.iter().flat_map(Scenario::projects).collect::<BTreeSet<_>>().len();
    let known_projects = scenarios.iter().any(|scenario| !scenario.projects.is_empty());
    let mut counts = FactCounts { projects, known_projects, ..FactCounts::default() };
    let mut candidates =
        scenarios.iter().map(|scenario| candidates(scenario, unused, &mut counts.left_out)).collect::<Vec<_>>();
    let mentions = Mentions::find(scenarios, &candidates);
    for (scenario, found) in candidates.iter_mut().enumerate() {
        counts.left_out += settle_uses(found, &mentions.by_scenario[scenario], unused);
    }
    let foils = match wanted {
        Foils::Made => foils_of(scenarios, &candidates, &mentions),
        Foils::LeftOut => HashMap::new(),
    };
    for (at, found) in candidates.into_iter().enumerate() {
        let facts = facts(&scenarios[at].messages, found, &mentions, at, &foils);
        add(&mut scenarios[at], facts);
        for fact in &scenarios[at].facts {
            counts.facts += 1;
            counts.used += usize::from(!fact.used_at.is_empty());
            counts.uses += fact.used_at.len();
            counts.generic += usize::from(fact.generic);
            counts.system += usize::from(fact.stated_by == Speaker::System);
        }
    }
    counts
}

/// Adds the facts whose value is not a fact of the scenario yet, numbered by ids that are free.
fn add(scenario: &mut Scenario, facts: Vec<Fact>) {
    let known = scenario.facts.iter().flat_map(Fact::forms).map(str::to_lowercase).collect::<BTreeSet<_>>();
    let taken = scenario.facts.iter().map(|fact| fact.id.clone()).collect::<BTreeSet<_>>();
    let mut free = (1..).map(|number| format!("v{number}")).filter(|id| !taken.contains(id));
    for fact in facts.into_iter().filter(|fact| !known.contains(&fact.value.to_lowercase())) {
        scenario.facts.push(Fact { id: free.next().unwrap_or_default(), ..fact });
    }
}

/// Values that may become facts, keyed in lower case because the matcher ignores case.
type Candidates = BTreeMap<String, Candidate>;

struct Candidate {
    exact: Exact,
    /// Whether a text or a result contains it.
    in_text: bool,
    used_at: Vec<MessageId>,
    /// The argument and tool of its first use.
    subject: Option<String>,
}

/// The values of all arguments, and enough other values to fill the quota. Adds the number of values that are left out.
fn candidates(scenario: &Scenario, unused: usize, left_out: &mut usize) -> Candidates {
    let mut found = Candidates::new();
    for message in &scenario.messages {
        for part in &message.parts {
            match part {
                Part::Text { text } | Part::ToolResult { text, .. } => {
                    for exact in exact::within(text) {
                        note(&mut found, exact).in_text = true;
                    }
                }
                Part::ToolCall { name, arguments, .. } => note_uses(&mut found, message, name, arguments),
                Part::Thinking { .. } | Part::Media { .. } => {}
            }
        }
    }
    drop_keys(&mut found, &scenario.messages);
    let used = found.values().filter(|candidate| !candidate.used_at.is_empty()).count();
    *left_out += keep_unused(&mut found, unused + used);
    found
}

/// Drops names that are keys of objects anywhere in the conversation. The matcher would find them in each of the objects.
fn drop_keys(found: &mut Candidates, messages: &[Message]) {
    let texts = messages.iter().flat_map(|message| &message.parts).filter_map(part_text);
    for key in texts.flat_map(exact::keys) {
        found.remove(&key.to_ascii_lowercase());
    }
}

fn note(found: &mut Candidates, exact: Exact) -> &mut Candidate {
    let key = exact.value.to_ascii_lowercase();
    found.entry(key).or_insert(Candidate { exact, in_text: false, used_at: Vec::new(), subject: None })
}

fn note_uses(found: &mut Candidates, message: &Message, tool: &str, arguments: &str) {
    let Ok(value) = serde_json::from_str::<Value>(arguments) else { return };
    let mut leaves = Vec::new();
    collect_leaves("", &value, &mut leaves);
    for (name, text) in leaves {
        for exact in exact::of_argument(&text) {
            let candidate = note(found, exact);
            if candidate.used_at.last() != Some(&message.id) {
                candidate.used_at.push(message.id);
            }
            candidate.subject.get_or_insert_with(|| format!("argument `{name}` of `{tool}`"));
        }
    }
}

/// String and number leaves, each with the name of its field.
fn collect_leaves<'v>(name: &'v str, value: &'v Value, leaves: &mut Vec<(&'v str, String)>) {
    match value {
        Value::String(text) => leaves.push((name, text.clone())),
        Value::Number(number) => leaves.push((name, number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| collect_leaves(name, item, leaves)),
        Value::Object(fields) => fields.iter().for_each(|(name, field)| collect_leaves(name, field, leaves)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// Keeps at most `quota` unused values: those that are long enough and occur in a text, chosen by hash order. Returns how many of
/// these are over the quota.
fn keep_unused(found: &mut Candidates, quota: usize) -> usize {
    let mut unused = found
        .iter()
        .filter(|(key, candidate)| {
            candidate.used_at.is_empty() && candidate.in_text && key.chars().count() >= INCIDENTAL_LENGTH
        })
        .map(|(key, _)| (*blake3::hash(key.as_bytes()).as_bytes(), key.clone()))
        .collect::<Vec<_>>();
    unused.sort();
    let over = unused.len().saturating_sub(quota);
    unused.truncate(quota);
    let kept = unused.into_iter().map(|(_, key)| key).collect::<BTreeSet<_>>();
    found.retain(|key, candidate| !candidate.used_at.is_empty() || kept.contains(key));
    over
}

/// The messages that mention each candidate, in all scenarios.
struct Mentions {
    by_scenario: Vec<HashMap<String, Vec<MessageId>>>,
    /// Values that no project has for itself: there is none to which all conversations with the value belong.
    generic: BTreeSet<String>,
}

impl Mentions {
    fn find(scenarios: &[Scenario], candidates: &[Candidates]) -> Self {
        let values = candidates
            .iter()
            .flatten()
            .map(|(key, candidate)| (key.as_str(), &candidate.exact))
            .collect::<BTreeMap<_, _>>();
        let keys = values.keys().copied().collect::<Vec<_>>();
        let matcher = Matcher::new(values.values().map(|exact| (exact.kind, [exact.value.as_str()])));
        let mut projects_of: Vec<Option<BTreeSet<&str>>> = vec![None; keys.len()];
        let mut mentions = Mentions { by_scenario: Vec::new(), generic: BTreeSet::new() };
        for (scenario, own) in scenarios.iter().zip(candidates) {
            let mut found: HashMap<String, Vec<MessageId>> = HashMap::new();
            for message in &scenario.messages {
                let texts = message.parts.iter().filter_map(part_text);
                for item in texts.flat_map(|text| matcher.find(text)).collect::<BTreeSet<_>>() {
                    let common = projects_of[item].get_or_insert_with(|| scenario.projects().collect());
                    common.retain(|project| scenario.projects().any(|own| own == *project));
                    if common.is_empty() {
                        mentions.generic.insert(keys[item].to_owned());
                    }
                    if own.contains_key(keys[item]) {
                        found.entry(keys[item].to_owned()).or_default().push(message.id);
                    }
                }
            }
            mentions.by_scenario.push(found);
        }
        mentions
    }
}

/// Keeps the uses of values that were mentioned before, drops candidates that the log never mentions, and fills the quota
/// of unused values. Returns how many are over the quota.
fn settle_uses(found: &mut Candidates, mentions: &HashMap<String, Vec<MessageId>>, unused: usize) -> usize {
    found.retain(|key, candidate| {
        let Some(first) = mentions.get(key).and_then(|messages| messages.first()) else { return false };
        candidate.used_at.retain(|message| message > first);
        true
    });
    keep_unused(found, unused)
}

/// Foils by the value in lower case. Generic values have none.
fn foils_of(scenarios: &[Scenario], candidates: &[Candidates], mentions: &Mentions) -> HashMap<String, Vec<String>> {
    let values = candidates
        .iter()
        .flatten()
        .filter(|(key, _)| !mentions.generic.contains(*key))
        .map(|(key, candidate)| (key.as_str(), (candidate.exact.kind, candidate.exact.value.as_str())))
        .collect::<BTreeMap<_, _>>();
    let texts = scenarios.iter().flat_map(|scenario| &scenario.messages).flat_map(|message| &message.parts);
    let foils = foils::make(&values.values().copied().collect::<Vec<(ValueKind, &str)>>(), texts.filter_map(part_text));
    values.keys().map(|key| (*key).to_owned()).zip(foils).collect()
}

fn facts(
    messages: &[Message],
    found: Candidates,
    mentions: &Mentions,
    scenario: usize,
    foils: &HashMap<String, Vec<String>>,
) -> Vec<Fact> {
    let speakers = messages.iter().map(|message| (message.id, Speaker::from(message.role))).collect::<HashMap<_, _>>();
    let mut facts = Vec::new();
    for (key, candidate) in found {
        let evidence = mentions.by_scenario[scenario].get(&key).cloned().unwrap_or_default();
        let Some(stated_by) = evidence.first().and_then(|first| speakers.get(first).copied()) else { continue };
        let used = !candidate.used_at.is_empty();
        let subject = candidate.subject.filter(|_| used).unwrap_or_else(|| "exact value that no call uses".to_owned());
        facts.push(Fact {
            stated_by,
            foil_values: foils.get(&key).cloned().unwrap_or_default(),
            used_at: candidate.used_at,
            generic: mentions.generic.contains(&key),
            // Facts get their ids when they are added, in order.
            ..Fact::stated("", subject, candidate.exact.value, candidate.exact.kind, evidence)
        });
    }
    facts.sort_by(|one, other| {
        (one.evidence_message_ids.first(), &one.value).cmp(&(other.evidence_message_ids.first(), &other.value))
    });
    facts
}
