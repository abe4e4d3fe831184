//! What compactions lost, on one screen of a terminal.

use compactometer_formats::added_text::{AddedText, AddedTextRow};
use compactometer_formats::losses::{CompactionLosses, Count, UseSeen};
use compactometer_formats::scenario::ValueKind;
use compactometer_text::code::code;

use super::typical::{TypicalPair, median};
use super::{FEWEST_SESSIONS, Hook, Losses, UseShares, share_key};

/// The number of examples that a terminal shows.
const SHOWN: usize = 3;
/// The most letters of an example's value.
const LETTERS: usize = 34;

impl Losses {
    /// The losses in at most 40 lines, without tables of parts. `width` is that of the terminal.
    pub fn text(&self, width: usize) -> String {
        let mut lines = vec![self.heading()];
        lines.extend(self.first_lines());
        lines.push(String::new());
        if self.compactions.is_empty() {
            return wrapped(&lines, width);
        }
        lines.extend(self.addresses());
        lines.extend(self.other_kinds());
        let said = self.said_lines();
        if !said.is_empty() {
            lines.push(String::new());
            lines.extend(said);
        }
        let costs = self.costs();
        if !costs.is_empty() {
            lines.push(String::new());
            lines.extend(costs);
        }
        lines.extend(self.part_lines());
        lines.extend(titled("What to do", self.advice()));
        lines.extend(titled("What this does not say", self.limits()));
        wrapped(&lines, width)
    }

    /// What there is, in one line.
    pub(super) fn heading(&self) -> String {
        format!(
            "{} in {} of {} ({})",
            counted(self.compactions.len(), "compaction"),
            counted(self.sessions, "session"),
            counted(self.projects, "project"),
            self.programs.join(", ")
        )
    }

    fn addresses(&self) -> Vec<String> {
        let shares = &self.uses.address;
        if shares.uses == 0 {
            return self.no_addresses();
        }
        let mut lines = vec![format!(
            "Later calls needed {} last said before a compaction, such as paths and ids. The context held",
            counted(shares.uses, "value")
        )];
        let shares = self.share_lines(shares);
        let width = shares
            .iter()
            .map(|line| line.name.chars().count())
            .max()
            .unwrap_or_default()
            + 2;
        lines.extend(
            shares
                .into_iter()
                .map(|ShareLine { name, text, .. }| format!("  {name:<width$}{text}")),
        );
        lines.extend(self.beside_shares());
        lines.extend(self.examples());
        lines
    }

    /// That no value was needed, and what was left of the requests that were open.
    fn no_addresses(&self) -> Vec<String> {
        let open = self.open_request();
        let but = match open {
            Some(_) => ", outside of the requests that were open",
            None => "",
        };
        let none =
            format!("No later call needed a value that was last said before a compaction{but}.");
        [none].into_iter().chain(open).collect()
    }

    /// What was left of the requests that were open.
    fn open_request(&self) -> Option<String> {
        let open = self.compactions.iter().map(|one| one.open_request);
        let open = open.fold(Count::default(), Count::plus);
        (open.of > 0).then(|| {
            format!(
                "Of the requests that were open: {} of {} in what was left",
                open.found,
                counted(open.of, "needed value")
            )
        })
    }

    /// The number of needed values that were not held, and the most telling ones.
    fn examples(&self) -> Vec<String> {
        let lost = self.needed_not_held();
        if lost.is_empty() {
            return Vec::new();
        }
        let (number, kinds) = (lost.len(), kinds(&lost));
        let shown = telling(&lost);
        let shown = shown.into_iter().map(|seen| format!("  {}", example(seen)));
        std::iter::once(format!(
            "Not held when they were needed: {number} ({kinds})"
        ))
        .chain(shown)
        .collect()
    }

    /// The shares of needed values that were held, each with what it is of.
    pub(super) fn share_lines(&self, shares: &UseShares) -> Vec<ShareLine> {
        let line = |name: String, key: &str, share: Option<f64>| {
            let interval = shares
                .intervals
                .get(key)
                .copied()
                .map_or(String::new(), bracketed);
            ShareLine {
                name,
                share,
                text: share.map_or("-".to_owned(), percent) + &interval,
            }
        };
        let mut most = line(
            "at most, with what the program puts back".to_owned(),
            "held_at_most",
            shares.held_at_most,
        );
        if shares.held_at_most.is_none() {
            most.text = "unknown: what the program puts back is not known".to_owned();
        }
        let budget = thousands(self.budget.into());
        let with = |AddedTextRow { text, name, .. }| {
            let mut line = line(
                format!("with {budget} tokens of {name}"),
                &share_key(text),
                shares.with(text),
            );
            line.text += &shares.beside(text);
            line
        };
        let in_log = line(
            "as the log shows".to_owned(),
            "held_in_log",
            shares.held_in_log,
        );
        let mut lines = vec![in_log, most];
        lines.extend(AddedText::ROWS.map(with));
        let hooks = self
            .hooks
            .iter()
            .zip(shares.with_hooks.iter().zip(&shares.hook_intervals));
        lines.extend(hooks.map(|(hook, (share, ends))| hook_line(hook, *share, *ends)));
        lines
    }

    /// What ledgers of other sizes would have held, and what was left of the open requests.
    pub(super) fn beside_shares(&self) -> Vec<String> {
        let lines = [self.ledger_sizes(), self.open_request()];
        lines.into_iter().flatten().collect()
    }

    fn ledger_sizes(&self) -> Option<String> {
        let shares = &self.uses.address.with_ledger_of;
        let of_size = |(size, share): (&u32, &f64)| {
            format!("{} with {}", percent(*share), thousands((*size).into()))
        };
        let sizes = shares.iter().map(of_size).collect::<Vec<_>>().join(", ");
        (!sizes.is_empty()).then(|| format!("A ledger by its tokens: {sizes}"))
    }

    fn other_kinds(&self) -> Vec<String> {
        let uses = &self.uses;
        let mut lines = Vec::new();
        if uses.address.named_otherwise > 0 {
            lines.push(format!(
                "By another name, such as a relative path: {} of those held",
                uses.address.named_otherwise
            ));
        }
        if uses.authored.uses > 0 {
            lines.push(format!(
                "In text that the agent wrote: {}{}",
                counted(uses.authored.uses, "value"),
                held_of(&uses.authored)
            ));
        }
        if uses.generic.uses > 0 {
            lines.push(format!(
                "Generic, such as timeouts and /dev/null: {}, not counted above",
                counted(uses.generic.uses, "value")
            ));
        }
        let kept = |share: Option<f64>| share.map(percent);
        match (
            kept(self.used_values.share()),
            kept(self.unused_values.share()),
        ) {
            (Some(used), Some(others)) => lines.push(format!(
                "Exact values kept: {used} of those that calls used later, {others} of the others"
            )),
            (Some(all), None) | (None, Some(all)) => {
                lines.push(format!("Exact values kept: {all}"));
            }
            (None, None) => {}
        }
        lines
    }

    /// What compactions cost beside values.
    pub(super) fn costs(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let read =
            [self.typical.read_again, self.typical.read_again_before].map(|read| read as u64);
        if read != [0, 0] {
            lines.push(format!(
                "Read again per compaction: {} tokens in 50 calls after, {} in 50 before",
                thousands(read[0]),
                thousands(read[1])
            ));
        }
        let waited = self.typical.waited_ms;
        if let Some(TypicalPair { of, first, second }) = waited.filter(|pair| pair.first >= 500) {
            lines.push(format!(
                "Waited: {:.0} s for the summary, {:.0} s for the next reply (medians of {of})",
                first as f64 / 1e3,
                second as f64 / 1e3
            ));
        }
        if let Some(TypicalPair { of, first, second }) = self.typical.request_tokens {
            lines.push(format!(
                "A request: {} tokens before, {} after (reported; medians of {of})",
                thousands(first),
                thousands(second)
            ));
        }
        if let Some(cost) = &self.cost {
            let paid = cost
                .paid_after_turns
                .map_or("not paid for".to_owned(), |turns| {
                    format!("paid for after {}", counted(turns.ceil() as usize, "turn"))
                });
            lines.push(format!(
                "A turn: {} before, {} after; a compaction: {}{}, {paid} (prices of {})",
                dollars(cost.turn_before),
                dollars(cost.turn_after),
                dollars(cost.compaction),
                if cost.is_assumed { " (assumed)" } else { "" },
                cost.prices_of
            ));
        }
        let said_again = self
            .compactions
            .iter()
            .map(|one| one.costs.said_again.len())
            .sum::<usize>();
        let wrong = self
            .compactions
            .iter()
            .map(|one| one.costs.wrong_values.len())
            .sum::<usize>();
        let said = format!("Users said {} again", counted(said_again, "lost value"));
        let wrong_calls = format!(
            "{} failed on a path that nobody had said",
            counted(wrong, "call")
        );
        match (said_again, wrong) {
            (0, 0) => {}
            (_, 0) => lines.push(said),
            (0, _) => lines.push(wrong_calls),
            _ => lines.push(format!("{said}; {wrong_calls}")),
        }
        let altered = self
            .compactions
            .iter()
            .flat_map(|one| &one.costs.altered_values);
        lines.extend(altered.take(SHOWN).map(|altered| {
            format!(
                "The summary wrote {} for {}, and the call in message {} failed on it",
                code(&altered.value),
                code(&altered.said),
                altered.used_at
            )
        }));
        lines
    }

    /// What cannot be said.
    pub(super) fn limits(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let sessions = self
            .compactions
            .iter()
            .map(|one| &one.session)
            .collect::<std::collections::BTreeSet<_>>()
            .len();
        if sessions < FEWEST_SESSIONS {
            lines.push(match sessions {
                1 => "One session with a compaction shows something and proves nothing.".to_owned(),
                _ => format!(
                    "{sessions} sessions with compactions show something and prove nothing."
                ),
            });
        }
        let unlogged = self
            .compactions
            .iter()
            .filter_map(|one| one.unlogged_tokens.map(u64::from))
            .collect();
        if let Some(tokens) = median(unlogged) {
            lines.push(format!(
                "Some {} tokens of the request after a compaction are not in the log.",
                thousands(tokens)
            ));
        }
        if !self.unpriced.is_empty() {
            let models = self
                .unpriced
                .iter()
                .map(|model| code(model))
                .collect::<Vec<_>>();
            lines.push(format!(
                "Nothing is said about costs of {}, whose prices are not known here.",
                models.join(", ")
            ));
        }
        if !self.uses.address.intervals.is_empty() {
            let over = match self.projects >= FEWEST_SESSIONS {
                true => {
                    "over projects, or over sessions where fewer than six projects have such values"
                }
                false => "over sessions",
            };
            lines.push(format!("Numbers in brackets are 95 % intervals {over}."));
        }
        lines.push(
            "What was not held is not lost: the agent rebuilt the value or found it.".to_owned(),
        );
        lines
    }
}

impl UseShares {
    /// What is said behind the share with a text added.
    fn beside(&self, text: AddedText) -> String {
        let range = self.with_random_range.filter(|(low, high)| low < high);
        let has_interval = self.intervals.contains_key("ledger_over_random");
        let over = self.ledger_over_random.filter(|_| has_interval);
        match (text, range, over) {
            (AddedText::RandomValues, Some((low, high)), _) => {
                format!("; draws {} to {}", bare(low), bare(high))
            }
            (AddedText::Ledger, _, Some(over)) => format!("; {:+.0} over random", 100.0 * over),
            _ => String::new(),
        }
    }
}

/// US dollars to a tenth of a cent, or to two digits that count where they are less.
fn dollars(value: f64) -> String {
    match value {
        value if value >= 0.001 => format!("${value:.3}"),
        value => format!("${value:.5}"),
    }
}

/// Lines under a title; without any, nothing.
fn titled(title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    let lines = lines.into_iter().map(|line| format!("  {line}"));
    [String::new(), title.to_owned()]
        .into_iter()
        .chain(lines)
        .collect()
}

/// The shares held, behind a count.
fn held_of(shares: &UseShares) -> String {
    match (shares.held_in_log, shares.held_at_most) {
        (Some(log), Some(most)) => format!(", {} held, at most {}", percent(log), percent(most)),
        (Some(log), None) => format!(", {} held", percent(log)),
        _ => String::new(),
    }
}

/// The share with what a hook added, with its size, time and failures.
fn hook_line(hook: &Hook, share: Option<f64>, ends: Option<(f64, f64)>) -> ShareLine {
    let failures = hook
        .failures
        .iter()
        .map(|(kind, number)| format!("; {number} of {} {}", hook.runs, kind.why()));
    let text = format!(
        "{}{}; {} tokens in {} ms{}{}",
        share.map_or("-".to_owned(), percent),
        ends.map_or(String::new(), bracketed),
        thousands(hook.tokens.round() as u64),
        thousands(hook.took_ms),
        hook.attackers_words.map_or(String::new(), |words| format!(
            "; {} of {} words of an attacker",
            words.found, words.of
        )),
        failures.collect::<String>()
    );
    ShareLine {
        name: format!("with hook {}", code(&shortened(&hook.command))),
        share,
        text,
    }
}

/// The end of a command that is long, since many begin with one path.
fn shortened(command: &str) -> String {
    let letters = command.chars().count();
    match letters > LETTERS {
        true => format!(
            "…{}",
            command.chars().skip(letters - LETTERS).collect::<String>()
        ),
        false => command.to_owned(),
    }
}

/// A share, what it is of, and how it is written.
pub(super) struct ShareLine {
    pub(super) name: String,
    pub(super) share: Option<f64>,
    pub(super) text: String,
}

/// The uses of the values that most calls needed, one for each value.
fn telling<'u>(lost: &[&'u UseSeen]) -> Vec<&'u UseSeen> {
    let mut by_value = std::collections::BTreeMap::<&str, Vec<&'u UseSeen>>::new();
    lost.iter()
        .for_each(|seen| by_value.entry(seen.value.as_str()).or_default().push(seen));
    let mut values = by_value.into_values().collect::<Vec<_>>();
    // Of values that as many calls needed, a long one is the hardest to guess.
    values.sort_by_key(|uses| {
        std::cmp::Reverse((
            uses.len(),
            uses[0].value_kind != ValueKind::Number,
            uses[0].value.len(),
        ))
    });
    values.into_iter().take(SHOWN).map(|uses| uses[0]).collect()
}

/// A use in one line.
pub(super) fn example(seen: &UseSeen) -> String {
    let letters = seen.value.chars().count();
    let value = match letters > LETTERS {
        true => format!(
            "…{}",
            seen.value
                .chars()
                .skip(letters - LETTERS)
                .collect::<String>()
        ),
        false => seen.value.clone(),
    };
    let by = code(&seen.by());
    format!("{}, for {by} in message {}", code(&value), seen.used_at)
}

/// How many uses there are of each kind of value.
fn kinds(uses: &[&UseSeen]) -> String {
    let of = |kind: fn(ValueKind) -> bool| uses.iter().filter(|seen| kind(seen.value_kind)).count();
    let paths = of(|kind| kind == ValueKind::Path);
    let numbers = of(|kind| kind == ValueKind::Number);
    let all = [
        (paths, "path"),
        (numbers, "number"),
        (uses.len() - paths - numbers, "name or id"),
    ];
    let named = all
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, name)| match (*number, *name) {
            (1, name) => format!("1 {name}"),
            (number, "name or id") => format!("{number} names and ids"),
            (number, name) => format!("{number} {name}s"),
        });
    named.collect::<Vec<_>>().join(", ")
}

/// One compaction in a line.
pub(super) fn line_of(compaction: &CompactionLosses) -> String {
    let CompactionLosses {
        session,
        after,
        trigger,
        compactor,
        reported_tokens,
        tokens_before,
        tokens_after,
        ..
    } = compaction;
    let trigger = trigger
        .as_deref()
        .map_or(String::new(), |trigger| format!(", {}", code(trigger)));
    let by = compactor
        .as_deref()
        .map_or(String::new(), |name| format!(", written by {}", code(name)));
    let reported = reported_tokens.map_or(String::new(), |tokens| {
        format!(" (the program reported {tokens})")
    });
    format!(
        "{} after message {after}{trigger}{by}: {tokens_before} -> {tokens_after} tokens{reported}",
        code(session)
    )
}

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// An interval of a share, behind it.
pub(super) fn bracketed((low, high): (f64, f64)) -> String {
    format!(" ({} to {})", bare(low), bare(high))
}

/// A share in per cent without the sign.
fn bare(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// A number in groups of three digits.
pub(super) fn thousands(number: u64) -> String {
    crate::numbers::grouped(number as f64)
}

pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn wrapped(lines: &[String], width: usize) -> String {
    let lines = lines
        .iter()
        .flat_map(|line| compactometer_text::wrapping::wrapped(line, width));
    lines.map(|line| line + "\n").collect()
}
