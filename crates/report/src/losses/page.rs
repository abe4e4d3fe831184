//! What compactions lost, as a page: every value with the message that stated it and the call that
//! used it.

use std::collections::BTreeMap;

use compactometer_formats::losses::{CompactionLosses, SentenceSeen, UseSeen};
use compactometer_formats::record::{Held, UseKind};
use serde_json::{Value, json};

use super::text::{ShareLine, line_of, percent};
use super::{Losses, UseShares};
use crate::render::phrases::speaker_name;
use crate::render::render_template;

impl Losses {
    /// The losses as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// Where the page's template does not render.
    pub fn page(&self) -> Result<String, minijinja::Error> {
        let after = self
            .compactions
            .iter()
            .map(|one| ((one.session.as_str(), one.place), one.after))
            .collect();
        let uses = |title: &str, note: &str, chosen: Vec<(usize, &UseSeen)>| {
            let rows = chosen
                .into_iter()
                .map(|used| use_row(used, &after))
                .collect::<Vec<_>>();
            json!({"title": title, "note": note, "uses": rows})
        };
        let of = |keep: &dyn Fn(&UseSeen) -> bool| {
            self.each_use
                .iter()
                .enumerate()
                .filter(|(_, seen)| keep(seen))
                .collect()
        };
        let lost = |kind: UseKind| {
            move |seen: &UseSeen| seen.kind == kind && seen.held == Held::OutOfSight
        };
        let lists = [
            uses(
                "Not held when they were needed",
                "Values that said where or what to act on, and that the compaction left out. The call was made all the same: the agent \
                 rebuilt the value, or found it again.",
                of(&|seen: &UseSeen| seen.kind == UseKind::Address && !seen.is_held_at_most()),
            ),
            uses(
                "Perhaps put back by the program",
                "The log does not show these values after the compaction, but the program may have read their files again.",
                of(&|seen: &UseSeen| {
                    seen.kind == UseKind::Address && !seen.is_held() && seen.is_held_at_most()
                }),
            ),
            uses(
                "Held by another name",
                "Paths that the compaction left relative to a working directory or to the user's home.",
                of(&|seen: &UseSeen| seen.held == Held::NamedOtherwise),
            ),
            uses(
                "In text that the agent wrote",
                "Values in new files, new text of edits, messages and plans.",
                of(&lost(UseKind::Authored)),
            ),
            uses(
                "Generic values",
                "Bare numbers, paths of the operating system, masked text, names that a language brings, and values of more than one \
                 project. They are not counted.",
                of(&lost(UseKind::Generic)),
            ),
            uses(
                "Held as they were said",
                "Values of every kind that the compaction left and a later call took.",
                of(&|seen: &UseSeen| seen.held == Held::AsSaid),
            ),
        ];
        let page = json!({
            "heading": self.heading(),
            "first_lines": self.first_lines(),
            "shares": self.share_rows(&self.uses.address),
            "beside_shares": self.beside_shares(),
            "said": self.said_rows(),
            "gone": self.gone_rows(&after),
            "costs": self.costs(),
            "advice": self.advice(),
            "limits": self.limits(),
            "lists": lists,
            "messages": self.messages(),
            "compactions": self.compactions.iter().map(|one| json!({
                "id": compaction_anchor(&one.session, one.place),
                "lost": self.lost_at(one),
                "line": line_of(one),
                "used": one.used_values.share().map(percent),
                "unused": one.unused_values.share().map(percent),
                "said_again": one.costs.said_again,
                "wrong": one.costs.wrong_values,
                "written": one.written,
            })).collect::<Vec<_>>(),
        });
        render_template("losses.html", include_str!("page.html"), &page)
    }

    /// The sentences that are gone.
    fn gone_rows(&self, after: &BTreeMap<(&str, usize), u32>) -> Vec<Value> {
        let row = |seen: &SentenceSeen| {
            json!({
                "sentence": seen.sentence,
                "is_rule": seen.is_rule,
                "said_at": seen.said_at,
                "session": seen.session,
                "compaction": compaction_anchor(&seen.session, seen.compaction),
                "after": after.get(&(seen.session.as_str(), seen.compaction)),
            })
        };
        self.gone().into_iter().map(row).collect()
    }

    /// The uses whose value this compaction left out.
    fn lost_at(&self, compaction: &CompactionLosses) -> Vec<Value> {
        let is_of = |seen: &UseSeen| {
            (&seen.session, seen.compaction) == (&compaction.session, compaction.place)
        };
        let lost = self
            .each_use
            .iter()
            .enumerate()
            .filter(|(_, seen)| is_of(seen) && seen.held == Held::OutOfSight);
        lost.map(|(number, seen)| json!({"number": number, "value": seen.value}))
            .collect()
    }

    fn share_rows(&self, shares: &UseShares) -> Vec<Value> {
        let row = |line: ShareLine| {
            let width = (100.0 * line.share.unwrap_or_default()).round();
            json!({"name": line.name, "text": line.text, "width": width})
        };
        self.share_lines(shares).into_iter().map(row).collect()
    }

    /// The messages that stated the values first, each with the uses of its values.
    fn messages(&self) -> Vec<Value> {
        let mut messages = BTreeMap::<(&str, u32), Vec<(usize, &UseSeen)>>::new();
        for (number, seen) in self.each_use.iter().enumerate() {
            messages
                .entry((&seen.session, seen.said_at))
                .or_default()
                .push((number, seen));
        }
        let row = |((session, message), uses): ((&str, u32), Vec<(usize, &UseSeen)>)| {
            json!({
                "id": anchor(session, message),
                "session": session,
                "message": message,
                "speaker": speaker_name(uses[0].1.said_by),
                "uses": uses.iter().map(|(number, seen)| json!({
                    "number": number, "value": seen.value, "statement": seen.statement, "used_at": seen.used_at,
                })).collect::<Vec<_>>(),
            })
        };
        messages.into_iter().map(row).collect()
    }
}

/// A use; `after` has the message before each compaction.
fn use_row((number, seen): (usize, &UseSeen), after: &BTreeMap<(&str, usize), u32>) -> Value {
    json!({
        "number": number,
        "value": seen.value,
        "speaker": speaker_name(seen.said_by),
        "said_at": seen.said_at,
        "said": anchor(&seen.session, seen.said_at),
        "used_at": seen.used_at,
        "compaction": compaction_anchor(&seen.session, seen.compaction),
        "after": after.get(&(seen.session.as_str(), seen.compaction)),
        "by": if seen.argument.is_empty() { seen.tool.clone() } else { format!("{}.{}", seen.tool, seen.argument) },
        "call": seen.call,
        "at_most": seen.at_most == Some(true) && seen.held == Held::OutOfSight,
    })
}

/// The address of a message on the page.
fn anchor(session: &str, message: u32) -> String {
    format!("m-{}-{message}", plain(session))
}

/// The address of a compaction, by its place among those of its session.
fn compaction_anchor(session: &str, place: usize) -> String {
    format!("c-{}-{place}", plain(session))
}

fn plain(session: &str) -> String {
    session
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect()
}
