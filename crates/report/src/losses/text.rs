//! What compactions lost, on one screen of a terminal.

use std::fmt::Write as _;

use compactometer_formats::losses::{CompactionLosses, UseSeen};
use compactometer_formats::record::UseKind;
use compactometer_formats::scenario::{Speaker, ValueKind};
use compactometer_text::code::code;

use super::{FEWEST_SESSIONS, Losses, Shares};

/// The number of examples that a terminal shows.
const SHOWN: usize = 3;
/// The most letters of an example's value.
const LETTERS: usize = 60;

impl Losses {
    /// The losses in at most 40 lines. `width` is that of the terminal.
    pub fn text(&self, width: usize) -> String {
        let mut lines = vec![self.heading()];
        lines.extend(self.not_measured());
        lines.push(String::new());
        if self.compactions.is_empty() {
            return wrapped(&lines, width);
        }
        lines.extend(self.addresses());
        lines.extend(self.other_kinds());
        lines.push(String::new());
        lines.extend(self.costs());
        let advice = self.advice();
        if !advice.is_empty() {
            lines.push(String::new());
            lines.push("What to do".to_owned());
            lines.extend(advice.into_iter().map(|line| format!("  {line}")));
        }
        lines.push(String::new());
        lines.push("What this does not say".to_owned());
        lines.extend(self.limits().into_iter().map(|line| format!("  {line}")));
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

    /// What is not measured, and why.
    pub(super) fn not_measured(&self) -> Vec<String> {
        let line = |(reason, number): (&compactometer_formats::scenario::Unmeasured, &usize)| {
            format!("{} left out: {}", counted(*number, "compaction"), reason.why())
        };
        self.unmeasured.iter().map(line).collect()
    }

    fn addresses(&self) -> Vec<String> {
        let shares = &self.uses.address;
        if shares.uses == 0 {
            return vec!["No later call took an address that was last said before a compaction.".to_owned()];
        }
        let mut lines = vec![format!(
            "Later calls took {} that were last said before a compaction: what to read, run, edit or look for.",
            counted(shares.uses, "address").replace("addresss", "addresses")
        )];
        lines.extend(self.share_lines(shares).into_iter().map(|(name, value)| format!("  {name:<44}{value}")));
        let lost = self.out_of_sight(UseKind::Address);
        if !lost.is_empty() {
            lines.push(format!("Out of sight when they were needed: {} ({})", lost.len(), kinds(&lost)));
            lines.extend(telling(&lost).into_iter().map(|seen| format!("  {}", example(seen))));
        }
        lines
    }

    /// The shares of addresses that were in sight, each with what it is of.
    pub(super) fn share_lines(&self, shares: &Shares) -> Vec<(String, String)> {
        let interval = |name: &str| {
            let found = shares.intervals.get(name);
            found.map_or(String::new(), |(low, high)| format!(" ({} to {})", bare(*low), bare(*high)))
        };
        let share =
            |name: &str, value: Option<f64>| format!("{}{}", value.map_or("-".to_owned(), percent), interval(name));
        let mut lines = vec![("in sight, as the log shows".to_owned(), share("held_in_log", shares.held_in_log))];
        let most = match shares.held_at_most {
            Some(_) => share("held_at_most", shares.held_at_most),
            None => "unknown: what the program puts back is not known".to_owned(),
        };
        lines.push(("at most, with what the program puts back".to_owned(), most));
        let range = shares
            .with_random_range
            .map_or(String::new(), |(low, high)| format!(", draws from {} to {}", bare(low), bare(high)));
        let budget = thousands(self.budget.into());
        lines.push((
            format!("with {budget} tokens of random values"),
            share("with_random", shares.with_random) + &range,
        ));
        let newest = share("with_newest_text", shares.with_newest_text);
        lines.push((format!("with {budget} tokens of the newest text"), newest));
        lines
    }

    fn other_kinds(&self) -> Vec<String> {
        let uses = &self.uses;
        let pair = |shares: &Shares| match (shares.held_in_log, shares.held_at_most) {
            (Some(log), Some(most)) => format!("{} in the log, at most {}", percent(log), percent(most)),
            (Some(log), None) => format!("{} in the log", percent(log)),
            _ => "none".to_owned(),
        };
        let mut lines = vec![format!(
            "Named otherwise, and in sight: {} of these addresses (a path relative to the working directory)",
            uses.address.named_otherwise
        )];
        lines.push(format!("In text that the agent wrote: {} uses, held {}", uses.authored.uses, pair(&uses.authored)));
        lines.push(format!("Generic, such as timeouts and /dev/null: {} uses, not counted above", uses.generic.uses));
        lines.push(format!(
            "Of all exact values said before, each compaction left {} of those that were used later and {} of the others",
            self.used_values.share().map_or("-".to_owned(), percent),
            self.unused_values.share().map_or("-".to_owned(), percent)
        ));
        lines
    }

    /// What compactions cost beside values.
    pub(super) fn costs(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let again = self.per_compaction(|costs| costs.read_again.tokens);
        let before = self.per_compaction(|costs| costs.read_again_before.tokens);
        lines.push(format!(
            "Read again in the 50 calls after a compaction: {} tokens each; in the 50 calls before: {}",
            thousands(again as u64),
            thousands(before as u64)
        ));
        let waited = |of: fn(&CompactionLosses) -> Option<i64>| {
            let mut all = self.compactions.iter().filter_map(of).collect::<Vec<_>>();
            all.sort_unstable();
            (!all.is_empty()).then(|| all[all.len() / 2] as f64 / 1_000.0)
        };
        let automatic = |compaction: &CompactionLosses| compaction.trigger.as_deref() != Some("manual");
        let to_it = waited(|one| one.costs.waited_before_ms.filter(|_| one.trigger.as_deref() != Some("manual")));
        let to_reply = waited(|one| one.costs.waited_after_ms.filter(|_| one.trigger.as_deref() != Some("manual")));
        if let (Some(to_it), Some(to_reply)) = (to_it, to_reply) {
            let number = self.compactions.iter().filter(|one| automatic(one)).count();
            lines.push(format!(
                "Waited: {to_it:.0} s for the summary and {to_reply:.0} s for the next reply (medians of {number} automatic ones)"
            ));
        }
        let requests = self.compactions.iter().filter_map(|one| one.costs.request_tokens).collect::<Vec<_>>();
        if !requests.is_empty() {
            let mean = |of: fn(&(u64, u64)) -> u64| requests.iter().map(of).sum::<u64>() / requests.len() as u64;
            lines.push(format!(
                "A request had {} tokens before and {} after, as reported (ten each, {})",
                thousands(mean(|one| one.0)),
                thousands(mean(|one| one.1)),
                counted(requests.len(), "compaction")
            ));
        }
        let said = self.compactions.iter().map(|one| one.costs.said_again.len()).sum::<usize>();
        let wrong = self.compactions.iter().map(|one| one.costs.wrong_values.len()).sum::<usize>();
        lines.push(format!(
            "Users said {} again that were lost; {} failed on a path that was never said, though one like it was",
            counted(said, "value"),
            counted(wrong, "call")
        ));
        lines
    }

    /// What cannot be said.
    pub(super) fn limits(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let sessions = self.compactions.iter().map(|one| &one.session).collect::<std::collections::BTreeSet<_>>().len();
        if sessions < FEWEST_SESSIONS {
            lines.push(
                format!("{} show something and prove nothing.", counted(sessions, "session with compactions"))
                    .replace("session with compactionss", "sessions with compactions"),
            );
        }
        let mut unlogged = self.compactions.iter().filter_map(|one| one.unlogged_tokens).collect::<Vec<_>>();
        unlogged.sort_unstable();
        if !unlogged.is_empty() {
            lines.push(format!(
                "No record holds some {} tokens of the first request after a compaction (median of {} where they are known).",
                thousands(u64::from(unlogged[unlogged.len() / 2])),
                unlogged.len()
            ));
        }
        lines.push(
            "A call that was made is no proof that its value was lost: the agent rebuilt it, or found it again."
                .to_owned(),
        );
        lines
    }
}

/// The uses with the longest way from what said the value, one for each value.
fn telling<'u>(lost: &[&'u UseSeen]) -> Vec<&'u UseSeen> {
    let mut by_value = std::collections::BTreeMap::<&str, Vec<&'u UseSeen>>::new();
    lost.iter().for_each(|seen| by_value.entry(seen.value.as_str()).or_default().push(seen));
    let mut values = by_value.into_values().collect::<Vec<_>>();
    // Values that many calls needed come first, and of those, values that nobody can guess.
    values.sort_by_key(|uses| {
        std::cmp::Reverse((uses.len(), uses[0].value_kind != ValueKind::Number, uses[0].value.len()))
    });
    values.into_iter().take(SHOWN).map(|uses| uses[0]).collect()
}

/// A use in one line.
pub(super) fn example(seen: &UseSeen) -> String {
    let letters = seen.value.chars().count();
    let value = match letters > LETTERS {
        true => format!("…{}", seen.value.chars().skip(letters - LETTERS).collect::<String>()),
        false => seen.value.clone(),
    };
    let by =
        if seen.argument.is_empty() { code(&seen.tool) } else { code(&format!("{}.{}", seen.tool, seen.argument)) };
    format!(
        "{}, said by {} in message {}, for {by} in message {}",
        code(&value),
        speaker_name(seen.said_by),
        seen.said_at,
        seen.used_at
    )
}

/// How many uses there are of each kind of value.
fn kinds(uses: &[&UseSeen]) -> String {
    let of = |kind: fn(ValueKind) -> bool| uses.iter().filter(|seen| kind(seen.value_kind)).count();
    let paths = of(|kind| kind == ValueKind::Path);
    let numbers = of(|kind| kind == ValueKind::Number);
    let all = [(paths, "path"), (numbers, "number"), (uses.len() - paths - numbers, "name or id")];
    let named = all.iter().filter(|(number, _)| *number > 0).map(|(number, name)| match (*number, *name) {
        (1, name) => format!("1 {name}"),
        (number, "name or id") => format!("{number} names and ids"),
        (number, name) => format!("{number} {name}s"),
    });
    named.collect::<Vec<_>>().join(", ")
}

/// One compaction in a line.
pub(super) fn line_of(compaction: &CompactionLosses) -> String {
    let CompactionLosses { session, after, trigger, compactor, reported_tokens, tokens_before, tokens_after, .. } =
        compaction;
    let trigger = trigger.as_deref().map_or(String::new(), |trigger| format!(", {}", code(trigger)));
    let by = compactor.as_deref().map_or(String::new(), |name| format!(", written by {}", code(name)));
    let reported = reported_tokens.map_or(String::new(), |tokens| format!(" (the program reported {tokens})"));
    format!("{} after message {after}{trigger}{by}: {tokens_before} -> {tokens_after} tokens{reported}", code(session))
}

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// A share in per cent without the sign.
fn bare(share: f64) -> String {
    format!("{:.0}", 100.0 * share)
}

/// A number in groups of three digits.
pub(super) fn thousands(number: u64) -> String {
    crate::metrics::grouped(number as f64)
}

/// Who said something, in words.
pub(super) fn speaker_name(speaker: Speaker) -> &'static str {
    match speaker {
        Speaker::Assistant => "the agent",
        Speaker::User => "the user",
        Speaker::Tool => "tools",
        Speaker::System => "the system prompt",
    }
}

pub(super) fn counted(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Lines broken at blanks, with further lines of a line indented as it is.
fn wrapped(lines: &[String], width: usize) -> String {
    let mut text = String::new();
    for line in lines {
        let indent = line.len() - line.trim_start().len();
        let mut used = 0;
        for word in line.split_inclusive(' ') {
            let letters = word.trim_end().chars().count();
            if used + letters > width.max(40) && used > indent {
                let kept = text.trim_end_matches(' ').len();
                text.truncate(kept);
                let _ = write!(text, "\n{:1$}", "", indent + 2);
                used = indent + 2;
            }
            text.push_str(word);
            used += word.chars().count();
        }
        text.push('\n');
    }
    text
}
