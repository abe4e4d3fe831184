//! What compactions lost, as a document: every value with the message that stated it and the call
//! that used it.

use std::collections::BTreeMap;

use compactometer_formats::losses::{CompactionLosses, SentenceSeen, UseSeen};
use compactometer_formats::record::{Held, UseKind};
use compactometer_text::code::code;

use super::Losses;
use super::losses_screen::{ShareLine, counted, line_of, percent};
use crate::document::{Block, Document, Fold, Inline, Table, TableRow};
use crate::phrases::speaker_name;

/// A list with more values than this is folded.
const MOST_OPEN: usize = 20;

/// A list of uses.
struct UseList {
    title: &'static str,
    note: &'static str,
    has: fn(&UseSeen) -> bool,
}

const USE_LISTS: [UseList; 6] = [
    UseList {
        title: "Not held when they were needed",
        note: "Values that said where or what to act on, and that the compaction left out. The call was made all the same: the agent \
         rebuilt the value, or found it again.",
        has: |seen| seen.kind == UseKind::Address && !seen.is_held_at_most(),
    },
    UseList {
        title: "Perhaps put back by the program",
        note: "The log does not show these values after the compaction, but the program may have read their files again.",
        has: |seen| seen.kind == UseKind::Address && !seen.is_held() && seen.is_held_at_most(),
    },
    UseList {
        title: "Held by another name",
        note: "Paths that the compaction left relative to a working directory or to the user's home.",
        has: |seen| seen.held == Held::NamedOtherwise,
    },
    UseList {
        title: "In text that the agent wrote",
        note: "Values in new files, new text of edits, messages and plans.",
        has: |seen| seen.kind == UseKind::Authored && seen.held == Held::OutOfSight,
    },
    UseList {
        title: "Generic values",
        note: "Bare numbers, paths of the operating system, masked text, names that a language brings, and values of more than one \
         project. They are not counted.",
        has: |seen| seen.kind == UseKind::Generic && seen.held == Held::OutOfSight,
    },
    UseList {
        title: "Held as they were said",
        note: "Values of every kind that the compaction left and a later call took.",
        has: |seen| seen.held == Held::AsSaid,
    },
];

const NEEDED: &str = "Values in the arguments of a call that were last said before a compaction and say where or what to act on: a \
    path, a pattern, a command, an id, the text that an edit replaces. A value was held if the compaction left it, as it was said or, \
    for a path, relative to a working directory. Intervals are at 95 %, over projects, or over sessions where there are fewer than six \
    projects.";

const SAID: &str = "Sentences of a person, after the first, second and third compaction since they were last said. A sentence is left \
    if a line of what the compaction left has at least half of its content words, or three in a row.";

impl Losses {
    /// The losses as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// Where the template of pages does not render.
    pub fn html(&self) -> Result<String, minijinja::Error> {
        self.document().html()
    }

    /// The losses as Markdown, with every value.
    pub fn markdown(&self) -> String {
        self.document().markdown(2)
    }

    fn document(&self) -> Document {
        let mut document = Document::new("What your agent's compactions lost");
        let first = std::iter::once(self.heading()).chain(self.first_lines());
        let first = first.map(|line| line + ".").collect::<Vec<_>>();
        document.add(Block::Paragraph(first.join(" ").into()));
        document.section("Values that later calls needed", self.needed());
        document.section("What you said", self.said_blocks());
        let ended = |line: String| line + ".";
        document.section(
            "What it cost beside values",
            Block::list(self.costs().into_iter().map(ended)),
        );
        document.section("What to do", Block::list(self.advice()));
        document.section("What this does not say", Block::list(self.limits()));
        for list in USE_LISTS {
            self.add_uses(list, &mut document);
        }
        document.section("Messages that said these values first", self.messages());
        let compactions = self.compactions.iter().map(|one| self.compaction(one));
        document.section("Each compaction", compactions.collect());
        document
    }

    fn needed(&self) -> Vec<Block> {
        let shares = &self.uses.address;
        let mut blocks = vec![Block::Note(NEEDED.into())];
        if shares.uses == 0 {
            let none = "No later call needed a value that was last said before a compaction.";
            blocks.push(Block::Paragraph(none.into()));
        } else {
            let mut table = Table::of_text(["", ""]);
            for ShareLine { name, share, text } in self.share_lines(shares) {
                table.add(TableRow::new([name, text]).with_share(share.unwrap_or_default()));
            }
            blocks.push(Block::Table(table));
        }
        let beside = self.beside_shares().into_iter();
        blocks.extend(beside.map(|line| Block::Note((line + ".").into())));
        blocks
    }

    fn said_blocks(&self) -> Vec<Block> {
        let rows = self.said_rows();
        if rows.is_empty() {
            return Vec::new();
        }
        let line = |(after, share): (String, String)| {
            let is_number = ["one compaction", "two", "three"].contains(&after.as_str());
            let after_word = if is_number { "after " } else { "" };
            format!("{after_word}{after}: {share}")
        };
        let mut blocks = vec![Block::Note(SAID.into())];
        blocks.extend(Block::list(rows.into_iter().map(line)));
        let gone = self.gone();
        if !gone.is_empty() {
            let mut table = Table::of_text(["sentence", "said in", "gone"]);
            for seen in &gone {
                table.add(TableRow::new(self.gone_row(seen)));
            }
            let summary = format!("{} gone", counted(gone.len(), "sentence"));
            blocks.push(Block::Fold(Fold::new(summary, vec![Block::Table(table)])));
        }
        blocks
    }

    fn gone_row(&self, seen: &SentenceSeen) -> [Inline; 3] {
        let rule = if seen.is_rule { " (a rule)" } else { "" };
        [
            format!("{}{rule}", seen.sentence).into(),
            format!("{}, message {}", code(&seen.session), seen.said_at).into(),
            self.compacted(&seen.session, seen.compaction),
        ]
    }

    /// Where a compaction is, which leads to it.
    fn compacted(&self, session: &str, place: usize) -> Inline {
        let mut all = self.compactions.iter();
        let made = all.find(|one| (one.session.as_str(), one.place) == (session, place));
        made.map_or(Inline::default(), |made| {
            let text = format!("after message {}", made.after);
            Inline::default().link(of_compaction(session, place), text)
        })
    }

    /// The uses of a list under its title; nothing without any.
    fn add_uses(&self, UseList { title, note, has }: UseList, document: &mut Document) {
        let uses = self.each_use.iter().enumerate();
        let uses = uses.filter(|(_, seen)| has(seen)).collect::<Vec<_>>();
        if !uses.is_empty() {
            let blocks = vec![Block::Note(note.into()), Block::Fold(self.uses_of(&uses))];
            document.section(format!("{title}: {}", uses.len()), blocks);
        }
    }

    fn uses_of(&self, uses: &[(usize, &UseSeen)]) -> Fold {
        let mut table =
            Table::of_text(["value", "first said by", "used by", "the call", "compacted"]);
        for (number, seen) in uses {
            table.add(TableRow::new(self.use_row(seen)).at(of_use(*number)));
        }
        let summary = counted(uses.len(), "value");
        Fold::new(summary, vec![Block::Table(table)]).open_if(uses.len() <= MOST_OPEN)
    }

    fn use_row(&self, seen: &UseSeen) -> [Inline; 5] {
        let is_perhaps = seen.at_most == Some(true) && seen.held == Held::OutOfSight;
        let perhaps = if is_perhaps {
            " (perhaps put back)"
        } else {
            ""
        };
        let said = format!("{}, message {}", speaker_name(seen.said_by), seen.said_at);
        [
            (code(&seen.value) + perhaps).into(),
            Inline::default().link(of_message(&seen.session, seen.said_at), said),
            format!("{}, message {}", seen.by(), seen.used_at).into(),
            code(&seen.call).into(),
            self.compacted(&seen.session, seen.compaction),
        ]
    }

    /// The messages that stated the values first, each with the uses of its values.
    fn messages(&self) -> Vec<Block> {
        let mut messages = BTreeMap::<(&str, u32), Vec<(usize, &UseSeen)>>::new();
        for (number, seen) in self.each_use.iter().enumerate() {
            let message = messages.entry((&seen.session, seen.said_at)).or_default();
            message.push((number, seen));
        }
        if messages.is_empty() {
            return Vec::new();
        }
        let summary = counted(messages.len(), "message");
        let mut blocks = Vec::new();
        for ((session, message), uses) in messages {
            let speaker = speaker_name(uses[0].1.said_by);
            let title = format!("{}, message {message}, {speaker}", code(session));
            blocks.push(Block::heading_at(2, of_message(session, message), title));
            let uses = uses.into_iter();
            blocks.extend(Block::list(uses.map(|(number, seen)| used(number, seen))));
        }
        vec![Block::Fold(Fold::new(summary, blocks))]
    }

    fn compaction(&self, made: &CompactionLosses) -> Block {
        let [used, unused] = [made.used_values, made.unused_values]
            .map(|count| count.share().map_or("-".to_owned(), percent));
        let summary = format!(
            "{}; values held: {used} of those used later, {unused} of the others",
            line_of(made)
        );
        let paragraphs = self.lost_at(made).into_iter().chain(harm(made));
        let written = made.written.iter().cloned().map(Block::Verbatim);
        let blocks = paragraphs.map(Block::Paragraph).chain(written).collect();
        Block::Fold(Fold::new(summary, blocks).at(of_compaction(&made.session, made.place)))
    }

    /// The uses whose value this compaction left out; nothing without any.
    fn lost_at(&self, made: &CompactionLosses) -> Option<Inline> {
        let is_lost = |seen: &UseSeen| {
            (&seen.session, seen.compaction) == (&made.session, made.place)
                && seen.held == Held::OutOfSight
        };
        let uses = self.each_use.iter().enumerate();
        let mut line = Inline::default();
        let mut before = "Not held when a later call took them: ";
        for (number, seen) in uses.filter(|(_, seen)| is_lost(seen)) {
            line = line.text(before).link(of_use(number), code(&seen.value));
            before = ", ";
        }
        (before == ", ").then(|| line.text("."))
    }
}

/// What a compaction did to the user and to calls.
fn harm(made: &CompactionLosses) -> impl Iterator<Item = Inline> {
    let again = made.costs.said_again.iter().map(|value| code(value));
    let again = again.collect::<Vec<_>>().join(", ");
    let again = (!again.is_empty()).then(|| format!("Users said again: {again}."));
    let wrong = made.costs.wrong_values.iter().map(|one| {
        let [value, said] = [&one.value, &one.said].map(|text| code(text));
        format!(
            "A call in message {} failed on {value}; {said} had been said.",
            one.used_at
        )
    });
    again.into_iter().chain(wrong).map(Inline::from)
}

/// A value that a message stated, and the use that it leads to.
fn used(number: usize, seen: &UseSeen) -> Inline {
    let said = format!("{} in {}, ", code(&seen.value), code(&seen.statement));
    Inline::from(said).link(of_use(number), format!("used in message {}", seen.used_at))
}

fn of_use(number: usize) -> String {
    format!("u-{number}")
}

fn of_message(session: &str, message: u32) -> String {
    format!("m-{}-{message}", plain(session))
}

/// A compaction, by its place among those of its session.
fn of_compaction(session: &str, place: usize) -> String {
    format!("c-{}-{place}", plain(session))
}

fn plain(session: &str) -> String {
    session.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
}
