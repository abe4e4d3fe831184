//! What the compactions in an agent's own sessions lost: shares over all uses with intervals over
//! sessions, for a terminal, a page and programs.

mod advice;
mod cost;
mod document;
mod first_lines;
mod losses_screen;
mod moment;
mod parts;
mod pooled;
mod sentences_left;
mod typical;

use std::collections::{BTreeMap, BTreeSet};

use compactometer_formats::added_text::AddedText;
use compactometer_formats::losses::{
    CompactionLosses, Count, HookFailure, LEDGER_SIZES, SentenceSeen, SessionLosses, UseSeen,
};
use compactometer_formats::prices::PriceTable;
use compactometer_formats::record::{Held, UseKind};
use compactometer_formats::scenario::Unmeasured;
use serde::{Serialize, Serializer};

pub use cost::Cost;
pub use moment::{NeededValues, moment_lines};
pub use parts::{LossesPart, PartBy};
pub use pooled::FEWEST_SESSIONS;
pub use sentences_left::{LeftOfSentence, SaidShares};
pub use typical::{Typical, TypicalPair};

use pooled::{PooledGroup, pooled, within_one};

/// What compactions lost.
#[derive(Clone, Debug, Serialize)]
pub struct Losses {
    /// The number of sessions, including those without a compaction.
    pub sessions: usize,
    /// The number of projects.
    pub projects: usize,
    /// The programs, as importers name them.
    pub programs: Vec<String>,
    /// Tokens of the texts that are added for comparison.
    pub budget: u32,
    /// The hooks that were tried, in order.
    pub hooks: Vec<Hook>,
    /// The compactions that are measured, by session and in order.
    pub compactions: Vec<CompactionLosses>,
    /// The number of compactions that are not measured, by reason.
    pub unmeasured: BTreeMap<Unmeasured, usize>,
    /// Results of tools that programs took out of contexts beside compactions.
    pub cleared_results: usize,
    /// Values in these results that calls needed before the next compaction, and how many of them
    /// were held elsewhere.
    pub cleared_values: Count,
    /// Messages behind compactions that sessions left behind when they went on from before them.
    pub left_behind: usize,
    /// Later uses of values that were last said before a compaction.
    pub uses: UsesByKind,
    /// What is left of what persons said.
    pub said: SaidShares,
    /// Exact values said before a compaction that later calls used, and how many of them each
    /// compaction left.
    pub used_values: Count,
    /// The same for exact values that no later call used.
    pub unused_values: Count,
    /// What compactions cost beside values.
    pub typical: Typical,
    /// The same for parts of the sessions, if they were asked for.
    pub parts: Vec<LossesPart>,
    /// What turns and compactions cost; absent if no usage is recorded.
    pub cost: Option<Cost>,
    /// The models of these compactions without a known price.
    pub unpriced: BTreeSet<String>,
    /// What a full ledger adds to the cost of a turn in US dollars, if a cached prefix holds it;
    /// absent if no price of a model is known.
    pub ledger_cost: Option<f64>,
    /// Each use.
    pub each_use: Vec<UseSeen>,
    /// Each sentence of a person after each compaction.
    pub each_sentence: Vec<SentenceSeen>,
}

/// What a hook did after the compactions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Hook {
    /// Its command.
    pub command: String,
    /// The number of compactions after which it was run.
    pub runs: usize,
    /// The tokens that it added to a request: the mean over these compactions.
    pub tokens: f64,
    /// Milliseconds that it took: the median.
    pub took_ms: u64,
    /// The number of failures by kind. A failed hook added nothing.
    pub failures: BTreeMap<HookFailure, usize>,
    /// Of the words of an attacker in results of tools of a made-up session, those that it passes on;
    /// absent if it failed there.
    pub attackers_words: Option<Count>,
}

impl Hook {
    fn new(command: &str, number: usize, compactions: &[CompactionLosses]) -> Self {
        let runs = compactions
            .iter()
            .filter_map(|one| one.hooks.get(number))
            .collect::<Vec<_>>();
        let mut took = runs.iter().map(|run| run.took_ms).collect::<Vec<_>>();
        took.sort_unstable();
        let mut failures = BTreeMap::new();
        runs.iter()
            .filter_map(|run| run.failure)
            .for_each(|kind| *failures.entry(kind).or_insert(0) += 1);
        Hook {
            command: command.to_owned(),
            runs: runs.len(),
            tokens: runs.iter().map(|run| f64::from(run.tokens)).sum::<f64>()
                / runs.len().max(1) as f64,
            took_ms: took.get(took.len() / 2).copied().unwrap_or_default(),
            failures,
            attackers_words: None,
        }
    }
}

/// The uses of each kind.
#[derive(Clone, Debug, Serialize)]
pub struct UsesByKind {
    /// Of values that say where or what to act on.
    pub address: UseShares,
    /// Of values in texts that the agent writes.
    pub authored: UseShares,
    /// Of values that any project may have.
    pub generic: UseShares,
}

/// Shares of uses, each over all uses.
#[derive(Clone, Debug, Default, Serialize)]
pub struct UseShares {
    /// The number of uses.
    pub uses: usize,
    /// How many of them found another name of the same file and not the value.
    pub named_otherwise: usize,
    /// The share whose value the log shows in what the compaction left, as it was said or by
    /// another name.
    pub held_in_log: Option<f64>,
    /// The share at most, with what the program is known to put back; absent if that is not known.
    pub held_at_most: Option<f64>,
    /// `held_at_most`, or else `held_in_log`, with each text added: the mean of its draws. As JSON,
    /// `with_` and the text's key.
    #[serde(flatten, serialize_with = "by_key")]
    pub with_added: BTreeMap<AddedText, Option<f64>>,
    /// The least and the most of the draws of random values.
    pub with_random_range: Option<(f64, f64)>,
    /// The same share with a ledger of each size in tokens.
    pub with_ledger_of: BTreeMap<u32, f64>,
    /// `held_at_most`, or else `held_in_log`, with what each hook added, in the order of the hooks.
    pub with_hooks: Vec<Option<f64>>,
    /// The 95 % intervals of these shares, absent where there are fewer than six sessions.
    pub hook_intervals: Vec<Option<(f64, f64)>>,
    /// The share with a ledger, from which the share with random values is subtracted.
    pub ledger_over_random: Option<f64>,
    /// 95 % intervals of these shares over projects, or over sessions where there are fewer than six
    /// projects, by name; absent where there are fewer than six sessions.
    pub intervals: BTreeMap<String, (f64, f64)>,
}

impl Losses {
    /// Counts what the compactions of these sessions lost.
    pub fn new(
        sessions: Vec<SessionLosses>,
        budget: u32,
        hooks: &[String],
        by: &[PartBy],
        prices: &PriceTable,
    ) -> Self {
        let distinct = |of: fn(&SessionLosses) -> Vec<String>| {
            sessions.iter().flat_map(of).collect::<BTreeSet<_>>()
        };
        let groups = distinct(|session| vec![session.group.clone()]);
        let projects = distinct(|session| session.projects.clone());
        let programs = distinct(|session| vec![session.program.clone()]);
        let mut unmeasured = BTreeMap::new();
        for left_out in sessions.iter().flat_map(|session| &session.unmeasured) {
            *unmeasured.entry(left_out.reason).or_insert(0) += 1;
        }
        let uses = UsesByKind::new(&PooledGroup::all(each_use(&sessions)));
        let parts = by
            .iter()
            .flat_map(|by| LossesPart::all(*by, &sessions))
            .collect();
        let compactions = sessions
            .iter()
            .flat_map(|session| &session.compactions)
            .collect::<Vec<_>>();
        let typical = Typical::new(&compactions);
        let mut losses = Losses {
            sessions: groups.len(),
            projects: projects.len(),
            programs: programs.into_iter().collect(),
            budget,
            hooks: Vec::new(),
            compactions: Vec::new(),
            unmeasured,
            cleared_results: sessions.iter().map(|session| session.cleared_results).sum(),
            cleared_values: sessions
                .iter()
                .map(|session| session.cleared_values)
                .fold(Count::default(), Count::plus),
            left_behind: sessions.iter().map(|session| session.left_behind).sum(),
            uses,
            said: SaidShares::new(&sessions),
            used_values: Count::default(),
            unused_values: Count::default(),
            typical,
            parts,
            cost: None,
            unpriced: BTreeSet::new(),
            ledger_cost: None,
            each_use: Vec::new(),
            each_sentence: Vec::new(),
        };
        for session in sessions {
            losses.each_use.extend(session.uses);
            losses.each_sentence.extend(session.said);
            losses.compactions.extend(session.compactions);
        }
        let hooks = hooks
            .iter()
            .enumerate()
            .map(|(number, command)| Hook::new(command, number, &losses.compactions));
        losses.hooks = hooks.collect();
        losses.cost = Cost::new(&losses.compactions, prices);
        let mut models = losses
            .compactions
            .iter()
            .rev()
            .filter_map(|one| one.costs.model.as_deref());
        let row = models.find_map(|model| prices.row_of_log(model));
        losses.ledger_cost = row.map(|row| f64::from(budget) * row.cache_read / 1e6);
        losses.unpriced = unpriced(&losses.compactions, prices);
        for compaction in &losses.compactions {
            losses.used_values = losses.used_values.plus(compaction.used_values);
            losses.unused_values = losses.unused_values.plus(compaction.unused_values);
        }
        losses
    }

    /// The uses of addresses that found nothing, even with what the program may have put back.
    fn needed_not_held(&self) -> Vec<&UseSeen> {
        let of_addresses = self
            .each_use
            .iter()
            .filter(|seen| seen.kind == UseKind::Address);
        of_addresses
            .filter(|seen| !seen.is_held_at_most())
            .collect()
    }
}

impl UsesByKind {
    fn new(sessions: &[PooledGroup<'_, &UseSeen>]) -> Self {
        let kind = |kind| UseShares::new(sessions, kind);
        UsesByKind {
            address: kind(UseKind::Address),
            authored: kind(UseKind::Authored),
            generic: kind(UseKind::Generic),
        }
    }
}

/// The name of the share with a text added.
fn share_key(text: AddedText) -> String {
    format!("with_{}", text.row().key)
}

fn by_key<S: Serializer>(
    shares: &BTreeMap<AddedText, Option<f64>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(shares.iter().map(|(text, share)| (share_key(*text), share)))
}

/// The models whose usage is recorded and whose prices are not known.
fn unpriced(compactions: &[CompactionLosses], prices: &PriceTable) -> BTreeSet<String> {
    let with_usage = compactions
        .iter()
        .filter(|one| one.costs.request_usage.is_some());
    let models = with_usage.filter_map(|one| one.costs.model.as_deref());
    models
        .filter(|model| prices.row_of_log(model).is_none())
        .map(str::to_owned)
        .collect()
}

/// Each use with its session.
fn each_use(sessions: &[SessionLosses]) -> impl Iterator<Item = (&SessionLosses, &UseSeen)> {
    sessions
        .iter()
        .flat_map(|session| session.uses.iter().map(move |seen| (session, seen)))
}

/// The share of uses whose value is held with ledgers of each size in tokens.
fn with_ledger_of(
    sessions: &[PooledGroup<'_, &UseSeen>],
    is_held: impl Fn(&UseSeen) -> bool,
) -> BTreeMap<u32, f64> {
    let uses = || sessions.iter().flat_map(|session| &session.items);
    let number = uses().count();
    let of_size = |(place, size): (usize, u32)| {
        let held = uses().filter(|seen| seen.in_ledger_of[place] || is_held(seen));
        (size, held.count() as f64 / number as f64)
    };
    let sizes = LEDGER_SIZES.into_iter().enumerate();
    sizes.filter(|_| number > 0).map(of_size).collect()
}

impl UseShares {
    fn new(sessions: &[PooledGroup<'_, &UseSeen>], kind: UseKind) -> Self {
        let sessions = sessions
            .iter()
            .map(|session| session.map(|seen| Some(*seen).filter(|seen| seen.kind == kind)));
        let sessions = sessions.collect::<Vec<_>>();
        let all = || sessions.iter().flat_map(|session| &session.items).copied();
        let is_known = all().all(|seen| seen.at_most.is_some());
        let is_held = |seen: &UseSeen| {
            if is_known {
                seen.is_held_at_most()
            } else {
                seen.is_held()
            }
        };
        let with = |seen: &UseSeen, text: AddedText| match is_held(seen) {
            true => 1.0,
            false => seen.in_added.share(text),
        };
        let mut shares = UseShares {
            uses: all().count(),
            named_otherwise: all()
                .filter(|seen| seen.held == Held::NamedOtherwise)
                .count(),
            ..UseShares::default()
        };
        let one = |is_so: bool| f64::from(u8::from(is_so));
        shares.held_in_log = shares.share("held_in_log", &sessions, |seen| one(seen.is_held()));
        if is_known {
            shares.held_at_most =
                shares.share("held_at_most", &sessions, |seen| one(is_held(seen)));
        }
        for row in AddedText::ROWS {
            let share = shares.share(&share_key(row.text), &sessions, |seen| with(seen, row.text));
            shares.with_added.insert(row.text, share);
        }
        let hooks = all().next().map_or(0, |seen| seen.in_hooks.len());
        let with_hook = |hook: usize| {
            let (share, ends) = pooled(&sessions, |seen| {
                one(seen.in_hooks.get(hook) == Some(&true) || is_held(seen))
            });
            (share, ends.map(within_one))
        };
        (shares.with_hooks, shares.hook_intervals) = (0..hooks).map(with_hook).unzip();
        shares.with_ledger_of = with_ledger_of(&sessions, is_held);
        let over = pooled(&sessions, |seen| {
            with(seen, AddedText::Ledger) - with(seen, AddedText::RandomValues)
        });
        shares.ledger_over_random = over.0;
        shares
            .intervals
            .extend(over.1.map(|ends| ("ledger_over_random".to_owned(), ends)));
        let draw = |number: usize| {
            let held = all().filter(|seen| {
                is_held(seen) || seen.in_added.is_in(AddedText::RandomValues, number)
            });
            held.count() as f64 / all().count() as f64
        };
        let draws = 0..AddedText::RandomValues.row().draws;
        let draws = draws.map(draw).collect::<Vec<_>>();
        let ends = (
            draws.iter().copied().min_by(f64::total_cmp),
            draws.iter().copied().max_by(f64::total_cmp),
        );
        shares.with_random_range = ends.0.zip(ends.1).filter(|_| shares.uses > 0);
        shares
    }

    /// The share with a text added.
    pub fn with(&self, text: AddedText) -> Option<f64> {
        self.with_added.get(&text).copied().flatten()
    }

    /// A share of all uses, with its interval.
    fn share(
        &mut self,
        name: &str,
        sessions: &[PooledGroup<'_, &UseSeen>],
        of: impl Fn(&UseSeen) -> f64,
    ) -> Option<f64> {
        let (share, ends) = pooled(sessions, |seen| of(seen));
        self.intervals
            .extend(ends.map(|ends| (name.to_owned(), within_one(ends))));
        share
    }
}
