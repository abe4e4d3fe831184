//! The pages of one conversation: its messages, and what each strategy lost of them.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{Family, Record};
use compactometer_formats::scenario::Scenario;
use serde_json::{Value, json};

use super::case_files::{file_name, numbered};
use super::folder_of;
use super::paged::{pages, slice, span};
use crate::numbers::grouped;
use crate::render::explain::Story;
use crate::render::explain::marked::FactMarks;
use crate::render::explain::template_values::{
    CaseLists, PagePlace, cut, legend, message_parts, points, stated,
};
use crate::render::plots::{context_over, draw};
use crate::render::{ReportError, filled, made};

/// Bytes of HTML that the texts of one message, decision or answer may take.
const ROOM: usize = 100_000;
/// The same for a value, subject or question.
const SHORT_ROOM: usize = 600;
/// Changes that a decision lists.
const CHANGES: usize = 300;
/// Bytes of a picture that a page has room for.
const PICTURE: usize = 180_000;

/// A page, and where it belongs.
pub(super) struct CasePage {
    pub(super) folder: String,
    pub(super) name: String,
    pub(super) text: String,
}

pub(super) struct ConversationPage<'c> {
    scenario: &'c Scenario,
    /// The name of its files.
    stem: String,
    /// The size of the context over the conversation, under each protocol.
    pictures: Vec<Value>,
    messages: Vec<Value>,
    /// The messages of each page.
    parts: Vec<Range<usize>>,
    /// The page of each message, by id.
    page_of: HashMap<u32, usize>,
    /// The name and folder of each case.
    cases: Vec<Value>,
}

impl<'c> ConversationPage<'c> {
    /// # Errors
    /// If a picture cannot be drawn.
    pub(super) fn new(
        scenario: &'c Scenario,
        messages: &[Arc<CountedMessage>],
        records: &[&Record],
    ) -> Result<Self, ReportError> {
        let mut protocols = records
            .iter()
            .map(|record| record.case.protocol)
            .collect::<Vec<_>>();
        protocols.dedup();
        let pictures = protocols.iter().map(|protocol| picture(*protocol, records));
        let pictures = pictures
            .filter_map(Result::transpose)
            .collect::<Result<Vec<_>, _>>()?;
        let marks = FactMarks::new(scenario.facts.iter().filter(|fact| fact.decoy_of.is_none()));
        let shown = messages
            .iter()
            .map(|counted| message_parts(&counted.message, &marks, ROOM))
            .collect::<Vec<_>>();
        let head = pictures
            .iter()
            .map(|picture| picture["svg"].as_str().map_or(0, str::len))
            .sum();
        let parts = pages(head, shown.iter().map(span));
        let on_page = |(page, part): (usize, &Range<usize>)| {
            messages[part.clone()]
                .iter()
                .map(move |counted| (counted.message.id.0, page))
                .collect::<Vec<_>>()
        };
        let page_of = parts.iter().enumerate().flat_map(on_page).collect();
        let cases = records.iter().map(|record| {
            let (strategy, protocol) = (&record.case.strategy, record.case.protocol);
            let name = if protocols.len() > 1 {
                format!("{strategy} ({})", protocol.name())
            } else {
                strategy.clone()
            };
            json!({"name": name, "folder": folder_of(protocol, strategy)})
        });
        let cases = cases.collect();
        Ok(ConversationPage {
            scenario,
            stem: file_name(&scenario.id),
            pictures,
            messages: shown,
            parts,
            page_of,
            cases,
        })
    }

    /// The pages of its messages, with links to what each strategy lost.
    pub(super) fn files(&self) -> Result<Vec<CasePage>, ReportError> {
        let pages = self.addresses(self.parts.len());
        let files = self.parts.iter().enumerate().map(|(at, part)| {
            let page = json!({
                "title": cut(&self.scenario.id, SHORT_ROOM),
                "file": numbered(&self.stem, 0),
                "cases": self.cases,
                "pictures": if at == 0 { &self.pictures[..] } else { &[] },
                "messages": self.messages[part.clone()],
                "count": self.messages.len(),
                "at": at,
                "pages": pages,
            });
            let text = filled(
                "conversation.html",
                include_str!("conversation.html"),
                &page,
            )?;
            Ok(CasePage {
                folder: "conversations".to_owned(),
                name: pages[at].clone(),
                text,
            })
        });
        files.collect()
    }

    /// The pages of a case of this conversation.
    pub(super) fn case_files(&self, story: &Story<'_>) -> Result<Vec<CasePage>, ReportError> {
        // Every strategy's would make the folder a tenth larger; one that shows levels cannot be
        // read without it.
        let has_levels = story
            .record
            .compactions
            .iter()
            .any(|row| row.event.journey.is_some());
        let picture = if has_levels {
            story.picture()?.filter(|svg| svg.len() <= PICTURE)
        } else {
            None
        };
        let (lists, parts) = self.lists(story, picture.as_deref());
        let pages = self.addresses(parts.len());
        let case = &story.record.case;
        let folder = folder_of(case.protocol, &case.strategy);
        let files = parts.iter().enumerate().map(|(at, part)| {
            let (lost, next) = slice(&lists.lost, part, 0);
            let (facts, next) = slice(&lists.facts, part, next);
            let (steps, next) = slice(&lists.steps, part, next);
            let (answers, _) = slice(&lists.answers, part, next);
            let page = json!({
                "title": cut(&story.title(), SHORT_ROOM),
                "strategy": case.strategy,
                "folder": folder,
                "file": pages[0],
                "cases": self.cases,
                "limits": story.limits(),
                "count": self.messages.len(),
                "stated": stated(story),
                "unusable": story.unusable(),
                "picture": if at == 0 { picture.as_deref() } else { None },
                "lost_in_all": lists.lost.len(),
                "has_steps": !lists.steps.is_empty(),
                "lost": lost, "facts": facts, "steps": steps, "answers": answers,
                "legend": legend(),
                "points": points(story),
                "at": at,
                "pages": pages,
            });
            let text = filled("case.html", include_str!("case.html"), &page)?;
            Ok(CasePage {
                folder: folder.clone(),
                name: pages[at].clone(),
                text,
            })
        });
        files.collect()
    }

    /// The lists of a case's pages, and what of them, one after the other, each page has.
    fn lists(&self, story: &Story<'_>, picture: Option<&str>) -> (CaseLists, Vec<Range<usize>>) {
        // What is on a page depends on the length of addresses, but little: first all are as on one
        // page.
        let lists = self.lists_on(story, std::slice::from_ref(&(0..usize::MAX)), 0);
        let parts = pages(picture.map_or(0, str::len), lists.all().map(span));
        if parts.len() == 1 {
            return (lists, parts);
        }
        (self.lists_on(story, &parts, lists.lost.len()), parts)
    }

    /// The lists with addresses on these pages, where so many lost facts come before the list of
    /// facts.
    fn lists_on(&self, story: &Story<'_>, parts: &[Range<usize>], lost: usize) -> CaseLists {
        let address = |at: usize, anchor: String| {
            let page = parts
                .iter()
                .position(|part| part.contains(&at))
                .unwrap_or_default();
            format!("{}{anchor}", numbered(&self.stem, page))
        };
        let facts = story
            .facts()
            .zip(lost..)
            .map(|((index, _), at)| (index, at))
            .collect::<HashMap<_, _>>();
        let steps = story
            .compactions_by_step()
            .map(|(at, after)| (after, lost + facts.len() + at));
        let steps = steps.collect::<HashMap<_, _>>();
        CaseLists::new(
            story,
            &PagePlace {
                message: &|id| {
                    let page = self.page_of.get(&id).copied().unwrap_or_default();
                    format!("../conversations/{}#m{id}", numbered(&self.stem, page))
                },
                fact: &|index| {
                    address(
                        facts.get(&index).copied().unwrap_or_default(),
                        format!("#fact-{index}"),
                    )
                },
                step: &|after| {
                    address(
                        steps.get(&after).copied().unwrap_or_default(),
                        format!("#step-{after}"),
                    )
                },
                room: ROOM,
                short: SHORT_ROOM,
                changes: CHANGES,
            },
        )
    }

    /// Its line in the list of a strategy.
    pub(super) fn row(&self, story: &Story<'_>) -> ConversationRow {
        let last = story.record.observations.last();
        let lost = || {
            last.map_or(0, |last| {
                story
                    .facts()
                    .filter(|(index, _)| last.fates.0[*index].is_lost())
                    .count()
            })
        };
        let stated = stated(story);
        ConversationRow {
            name: cut(&self.scenario.id, SHORT_ROOM),
            file: numbered(&self.stem, 0),
            messages: self.messages.len(),
            tokens: last.map_or(0, |last| last.log_tokens),
            compactions: story.record.rounds(),
            stated,
            // As in the report, a context that cannot be used counts as empty.
            lost: if story.unusable().is_some() {
                stated
            } else {
                lost()
            },
        }
    }

    fn addresses(&self, pages: usize) -> Vec<String> {
        (0..pages).map(|page| numbered(&self.stem, page)).collect()
    }
}

/// The size of the context in the turns of each strategy under test; nothing if there is none, or
/// no room for it.
fn picture(protocol: Protocol, records: &[&Record]) -> Result<Option<Value>, ReportError> {
    let is_shown = |record: &&&Record| {
        record.case.protocol == protocol && record.case.family != Family::Control
    };
    let of_protocol = records.iter().filter(is_shown).copied().collect::<Vec<_>>();
    if of_protocol.is_empty() {
        return Ok(None);
    }
    let svg = draw::svg(&context_over(&of_protocol)).map_err(|what| made("a picture", &what))?;
    Ok((svg.len() <= PICTURE).then(|| json!({"protocol": protocol.name(), "svg": svg})))
}

/// What a strategy lost of a conversation.
pub(super) struct ConversationRow {
    name: String,
    file: String,
    messages: usize,
    tokens: u32,
    compactions: u32,
    stated: usize,
    lost: usize,
}

impl ConversationRow {
    /// The share of the facts that were said and are not lost; infinite if none was said.
    pub(super) fn share_kept(&self) -> f64 {
        if self.stated == 0 {
            f64::INFINITY
        } else {
            1.0 - self.lost as f64 / self.stated as f64
        }
    }

    pub(super) fn shown(&self) -> Value {
        let count = |count: usize| grouped(count as f64);
        json!({
            "name": self.name,
            "file": self.file,
            "kept": if self.stated == 0 { "-".to_owned() } else { format!("{:.0} %", 100.0 * self.share_kept()) },
            "counts": [count(self.lost), count(self.stated), count(self.compactions as usize), count(self.messages), count(self.tokens as usize)],
        })
    }
}
