//! Writes a condensed text in the requested shape: takes ranked statements until the room is used.

pub(crate) mod chat;
pub(crate) mod exact_values;
mod json;
pub(crate) mod put_in_order;
pub(crate) mod recollect;
pub(crate) mod relative;
pub(crate) mod salience;
mod sections;
pub(crate) mod shorten;
pub(crate) mod touched_files;

use std::collections::HashSet;

use compactometer_engine::model::Finish;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use foldhash::fast::FixedState;

use crate::profile::Profile;
use crate::reading::cache::token_counts::CachedCounter;
use crate::reading::pieces::{MaterialTurn, Voice};
use crate::reading::statements::Statement;
use crate::reading::{AnswerPart, AnswerShape, PartForm};
use crate::writing::exact_values::BYTES_PER_TOKEN;
use crate::writing::relative::FileNames;
use crate::writing::shorten::shorten;

/// The input of a writer.
pub(crate) struct WritingSource<'s, 'm> {
    pub(crate) profile: &'s Profile,
    pub(crate) turns: &'s [MaterialTurn<'m>],
    pub(crate) statements: &'s [Statement<'m>],
    /// Indices of statements, best first.
    pub(crate) ranked: &'s [usize],
    /// How files are named.
    pub(crate) names: FileNames<'s>,
    /// The counter for the text written.
    pub(crate) counts: &'s CachedCounter,
}

/// The most tokens of an answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReplyLimits {
    /// What the request allows.
    pub(crate) asked: Option<u32>,
    /// What the profile writes by itself, whatever is asked.
    pub(crate) own: Option<u32>,
}

/// The answer in the requested shape. `fill` is the share of the room that is used.
pub(crate) fn write(
    source: &WritingSource<'_, '_>,
    shape: &AnswerShape,
    limits: ReplyLimits,
    fill: f64,
) -> String {
    // The share applies to the room that is given, not to a length that the profile chose.
    let own = limits.own.map(|tokens| (f64::from(tokens) / fill) as u32);
    let default_tokens = own.unwrap_or(source.profile.default_tokens.value);
    let most = limits.asked.into_iter().chain(own).min();
    let plans = plan(&shape.parts, most, default_tokens);
    let mut answer = String::new();
    for (part, most) in shape.parts.iter().zip(plans) {
        if !answer.is_empty() {
            answer.push_str("\n\n");
        }
        let share = |whole: u32| (f64::from(whole) * fill) as u32;
        let mut room = Room {
            tokens: share(most),
            words: part.words.map_or(u32::MAX, share),
        };
        if let Some(tag) = &part.tag {
            answer.push_str(tag);
            answer.push('\n');
            room.tokens = room
                .tokens
                .saturating_sub(source.counts.count_text(tag) + 3);
        }
        answer.push_str(&match &part.form {
            PartForm::Prose => prose(source, answer.is_empty(), &mut room),
            PartForm::Bullets(last) => bullets(source, last.as_deref(), &mut room),
            PartForm::Sections(sections) => sections::write(source, sections, &mut room),
            PartForm::Json(node) => json::write(source, node, shape.omit_empty, room),
        });
    }
    match &shape.envelope {
        Some(name) => format!("<{name}>\n{answer}\n</{name}>"),
        None => answer,
    }
}

/// The share of the material that a reply may have, by the bytes of a token.
pub(crate) fn share(
    turns: &[MaterialTurn<'_>],
    shape: &AnswerShape,
    limits: ReplyLimits,
    profile: &Profile,
) -> f64 {
    let most = limits.asked.into_iter().chain(limits.own).min();
    let own = limits.own.unwrap_or(profile.default_tokens.value);
    let room = plan(&shape.parts, most, own).iter().sum::<u32>();
    let bytes = turns.iter().map(|turn| turn.text.len()).sum::<usize>();
    f64::from(room.max(1)) * BYTES_PER_TOKEN / bytes.max(1) as f64
}

/// The room left for text, in both units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) tokens: u32,
    pub(crate) words: u32,
}

impl Room {
    /// Takes the room for a line, if there is enough.
    pub(crate) fn take(&mut self, line: &str, counts: &CachedCounter) -> bool {
        let words = line.split_whitespace().count() as u32;
        // One more token for the blank or line break before it.
        let tokens = counts.count_text(line) + 1;
        let fits = tokens <= self.tokens && words <= self.words;
        if fits {
            self.tokens -= tokens;
            self.words -= words;
        }
        fits
    }
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> u32 {
    Encoding::O200k.count_text(text)
}

/// The tokens for each part: what the prompt allows, and for parts without a limit what those leave
/// of the request's. If even the allowed ones exceed it together, they are scaled down.
fn plan(parts: &[AnswerPart], most: Option<u32>, default_tokens: u32) -> Vec<u32> {
    let allowed = |part: &AnswerPart| {
        // English prose has four tokens for three words. Exact values need more, so the second
        // bound is three tokens per word.
        let by_words = |words: u32| {
            if parts.len() > 1 {
                words.saturating_mul(4) / 3
            } else {
                words.saturating_mul(3)
            }
        };
        part.tokens.or(part.words.map(by_words))
    };
    let allowed = parts.iter().map(allowed).collect::<Vec<_>>();
    let most = u64::from(most.unwrap_or(u32::MAX));
    let total: u64 = allowed
        .iter()
        .flatten()
        .map(|tokens| u64::from(*tokens))
        .sum();
    let without = allowed.iter().filter(|tokens| tokens.is_none()).count() as u64;
    let left = most
        .saturating_sub(total)
        .checked_div(without)
        .unwrap_or(0)
        .min(u64::from(default_tokens));
    let scaled = |tokens| u64::from(tokens) * most.min(total) / total.max(1);
    allowed
        .iter()
        .map(|tokens| tokens.map_or(left, scaled) as u32)
        .collect()
}

/// After this many consecutive statements that do not fit, the others are assumed not to fit
/// either.
const MISSES: usize = 12;

/// The best statements that fit, best first. `line` returns the text for a statement, or `None` if
/// it has no place.
pub(crate) fn choose<T>(
    source: &WritingSource<'_, '_>,
    room: &mut Room,
    mut line: impl FnMut(&Statement<'_>, &str) -> Option<(T, String)>,
) -> Vec<ChosenStatement<T>> {
    let mut chosen: Vec<ChosenStatement<T>> = Vec::new();
    let mut written = HashSet::with_hasher(FixedState::default());
    let mut misses = 0;
    for &index in source.ranked {
        if misses == MISSES {
            break;
        }
        let statement = &source.statements[index];
        let most_words = source.profile.most_words.value;
        let text = statement
            .piece
            .short(most_words, || shorten(statement.text, most_words));
        let text = source.names.with_relative_paths(text);
        if text.is_empty() || written.contains(&text) {
            continue;
        }
        let Some((place, line)) = line(statement, &text) else {
            continue;
        };
        if room.take(&line, source.counts) {
            written.insert(text);
            chosen.push(ChosenStatement { index, place, line });
            misses = 0;
        } else {
            misses += 1;
        }
    }
    chosen
}

/// A statement that was chosen.
pub(crate) struct ChosenStatement<T> {
    /// Its index.
    pub(crate) index: usize,
    /// The place where it is written.
    pub(crate) place: T,
    /// The text that is written.
    pub(crate) line: String,
}

/// How a reply begins whose first sentence is the user's. Without it, a user's greeting would look
/// like an answer to them.
const REPORTED: &str = "The user said: ";

/// What heads a list of files where the prompt offers no place for them.
const FILES: &str = "Files:";

fn prose(source: &WritingSource<'_, '_>, begins: bool, room: &mut Room) -> String {
    let mut reserve = |text: &str| {
        room.tokens = room
            .tokens
            .saturating_sub(source.counts.count_text(text) + 1);
    };
    if begins {
        reserve(REPORTED);
    }
    if source.statements.iter().any(|one| one.touch.is_some()) {
        reserve(FILES);
    }
    let by_user = |statement: &Statement<'_>| statement.piece.speaker == Voice::User;
    let mut chosen = choose(source, room, |statement, text| {
        Some(match statement.touch {
            Some(_) => (false, format!("- {text}")),
            None => (by_user(statement), sentence(text)),
        })
    });
    // The items of files come last.
    chosen.sort_by_key(|chosen| chosen.index);
    let is_sentence =
        |chosen: &ChosenStatement<bool>| source.statements[chosen.index].touch.is_none();
    let (sentences, files) = chosen.split_at(chosen.partition_point(is_sentence));
    let joined = |lines: &[ChosenStatement<bool>], mark: &str| {
        let lines = lines.iter().map(|chosen| chosen.line.as_str());
        lines.collect::<Vec<_>>().join(mark)
    };
    let mut paragraphs = sentences
        .chunks(6)
        .map(|chunk| joined(chunk, " "))
        .collect::<Vec<_>>();
    if !files.is_empty() {
        paragraphs.push(format!("{FILES}\n{}", joined(files, "\n")));
    }
    let text = paragraphs.join("\n\n");
    if begins && sentences.first().is_some_and(|first| first.place) {
        [REPORTED, &text].concat()
    } else {
        text
    }
}

pub(crate) fn sentence(text: &str) -> String {
    let is_open =
        text.ends_with(|letter: char| letter.is_alphanumeric() || ")\"'`%".contains(letter));
    [text, if is_open { "." } else { "" }].concat()
}

/// List items; those with exact values come last, under the heading for them if there is one.
fn bullets(source: &WritingSource<'_, '_>, heading: Option<&str>, room: &mut Room) -> String {
    room.tokens = room
        .tokens
        .saturating_sub(heading.map_or(0, |heading| source.counts.count_text(heading) + 1));
    let has_value = |statement: &Statement<'_>| statement.terms().any(|term| term.is_value());
    let is_last = |statement: &Statement<'_>| heading.is_some() && has_value(statement);
    let mut lines = choose(source, room, |statement, text| {
        Some((is_last(statement), format!("- {text}")))
    });
    lines.sort_by_key(|chosen| (chosen.place, chosen.index));
    let first = lines.partition_point(|chosen| !chosen.place);
    let (first, last) = lines.split_at(first);
    let joined = |lines: &[ChosenStatement<bool>]| {
        lines
            .iter()
            .map(|chosen| chosen.line.as_str())
            .collect::<Vec<_>>()
            .join("\n")
    };
    match heading.filter(|_| !last.is_empty()) {
        Some(heading) if first.is_empty() => format!("{heading}\n{}", joined(last)),
        Some(heading) => format!("{}\n\n{heading}\n{}", joined(first), joined(last)),
        None => joined(&lines),
    }
}

/// The text, cut at the limit if there is one, with its tokens and how it ended.
pub(crate) fn within(
    text: String,
    most: Option<u32>,
    counter: &dyn TokenCounter,
) -> (String, u32, Finish) {
    let tokens = counter.count_text(&text);
    let Some(most) = most.filter(|most| tokens > *most) else {
        return (text, tokens, Finish::Stop);
    };
    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    // Removing a character may add a token, so the end is checked and moved if necessary.
    let mut end = ends
        .partition_point(|&end| counter.count_text(&text[..end]) <= most)
        .saturating_sub(1);
    while end > 0 && counter.count_text(&text[..ends[end]]) > most {
        end -= 1;
    }
    let cut = text[..ends.get(end).copied().unwrap_or(0)].to_owned();
    let tokens = counter.count_text(&cut);
    (cut, tokens, Finish::Length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a prompt that leaves out one limit would seem to write a better other part.
    #[test]
    fn a_part_with_a_limit_is_not_cut_for_one_without() {
        let part = |words, tokens| AnswerPart {
            tag: None,
            form: PartForm::Prose,
            words,
            tokens,
        };
        assert_eq!(
            plan(&[part(Some(300), None), part(None, None)], Some(800), 3_600),
            [400, 400]
        );
        assert_eq!(
            plan(
                &[part(Some(300), None), part(None, Some(400))],
                Some(800),
                3_600
            ),
            [400, 400]
        );
        assert_eq!(
            plan(
                &[part(Some(300), None), part(None, Some(1_200))],
                Some(800),
                3_600
            ),
            [200, 600]
        );
        assert_eq!(
            plan(&[part(None, None), part(None, None)], Some(800), 3_600),
            [400, 400]
        );
        assert_eq!(plan(&[part(None, None)], None, 3_600), [3_600]);
    }
}
