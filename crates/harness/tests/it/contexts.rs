//! What a run's folder holds is what was sent: every context and every request to a summarizer can
//! be put together again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Mutex;

use async_trait::async_trait;
use compactometer_engine::message::part_text;
use compactometer_engine::model::{ChatError, ChatModel, ChatReply, ChatRequest};
use compactometer_engine::tokens::Encoding;
use compactometer_formats::record::{ContextEntry, Record};
use compactometer_formats::scenario::Scenario;
use compactometer_harness::entrants::select;
use compactometer_harness::plan::{Plan, PlanOptions};
use compactometer_harness::run::{read_records, read_texts, run};

use crate::common::short_suite;

/// Keeps what it is sent.
struct Listening {
    model: Box<dyn ChatModel>,
    sent: Mutex<BTreeSet<Vec<String>>>,
}

#[async_trait]
impl ChatModel for Listening {
    fn name(&self) -> &str {
        self.model.name()
    }

    async fn complete(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.sent
            .lock()
            .unwrap()
            .insert(request.texts().map(str::to_owned).collect());
        self.model.complete(request).await
    }
}

/// Runs all but `oracle`, whose reader is given other texts than its context.
fn listened(dir: &Path) -> BTreeSet<Vec<String>> {
    let entrants = select(["@reference", "@controls"], []).unwrap();
    let options = PlanOptions {
        entrants: entrants
            .into_iter()
            .filter(|entrant| entrant.name != "oracle")
            .collect(),
        summarizer: "mock".into(),
        ..PlanOptions::default()
    };
    let plan = Plan::new(short_suite(), options, &Encoding::O200k).unwrap();
    let model = Listening {
        model: compactometer_models::by_name("mock").unwrap(),
        sent: Mutex::default(),
    };
    run(&plan, &model, &Encoding::O200k, 1, dir, &|_| {}).unwrap();
    model.sent.into_inner().unwrap()
}

#[test]
fn every_context_can_be_put_together_from_the_runs_folder() {
    let dir = tempfile::tempdir().unwrap();
    let sent = listened(dir.path());
    let (texts, scenario) = (
        read_texts(dir.path()).unwrap(),
        short_suite().scenarios.remove(0),
    );
    for record in read_records(dir.path()).unwrap() {
        let asked = record
            .answers
            .iter()
            .filter(|answer| answer.call.is_some() && !answer.prompted);
        let points = asked.map(|answer| answer.after).collect::<BTreeSet<_>>();
        assert!(points.len() >= 2, "{}: {points:?}", record.case.strategy);
        for after in points {
            let context = context(&record, &scenario, &texts, after.0);
            let is_sent = sent
                .iter()
                .any(|texts| texts.len() == context.len() + 1 && texts.starts_with(&context));
            assert!(
                is_sent,
                "{} after {after:?}: {context:#?}",
                record.case.strategy
            );
        }
    }
}

#[test]
fn every_request_to_a_summarizer_can_be_put_together_from_the_runs_folder() {
    let dir = tempfile::tempdir().unwrap();
    let sent = listened(dir.path())
        .into_iter()
        .map(|texts| texts.join("\n\n"))
        .collect::<BTreeSet<_>>();
    let (texts, scenario) = (
        read_texts(dir.path()).unwrap(),
        short_suite().scenarios.remove(0),
    );
    let mut names = 0;
    for record in read_records(dir.path()).unwrap() {
        for name in record.calls().filter_map(|call| call.request.as_ref()) {
            let request = expand(&texts[name], &scenario, &texts);
            assert!(
                sent.contains(&request),
                "{}: {request}",
                record.case.strategy
            );
            names += texts[name].matches('⟦').count();
        }
    }
    assert!(names > 100, "{names} texts are named instead of repeated");
}

/// The texts of the context after that message.
fn context(
    record: &Record,
    scenario: &Scenario,
    texts: &BTreeMap<String, String>,
    after: u32,
) -> Vec<String> {
    let said = |first: u32, last: u32| {
        let messages = scenario
            .messages
            .iter()
            .filter(move |message| (first..=last).contains(&message.id.0));
        messages
            .flat_map(|message| message.parts.iter().filter_map(part_text))
            .map(str::to_owned)
    };
    let rows = record.contexts.iter().filter(|row| row.after.0 <= after);
    let Some((from, view)) = rows
        .filter_map(|row| Some((row.after.0 + 1, row.view.as_ref()?)))
        .next_back()
    else {
        return said(0, after).collect();
    };
    let mut context = Vec::new();
    for entry in view {
        match entry {
            ContextEntry::Kept(first, last) => context.extend(said(first.0, last.0)),
            ContextEntry::Written { parts, text, .. } => {
                let mut letters = texts[text].chars();
                context.extend(parts.iter().map(|(_, length)| {
                    letters.by_ref().take(*length as usize).collect::<String>()
                }));
                assert_eq!(letters.next(), None, "the parts are the whole text");
            }
        }
    }
    context.extend(said(from, after));
    context
}

/// The text with what it names.
fn expand(short: &str, scenario: &Scenario, texts: &BTreeMap<String, String>) -> String {
    let mut expanded = String::new();
    let mut rest = short;
    while let Some((before, after)) = rest.split_once('⟦') {
        expanded += before;
        if let Some(plain) = after.strip_prefix('⟦') {
            (expanded, rest) = (expanded + "⟦", plain);
            continue;
        }
        let (name, after) = after.split_once('⟧').unwrap();
        expanded += match name.split_once('.') {
            None => &texts[name],
            Some((id, part)) => {
                let message = scenario
                    .messages
                    .iter()
                    .find(|message| message.id.0.to_string() == id)
                    .unwrap();
                part_text(&message.parts[part.parse::<usize>().unwrap()]).unwrap()
            }
        };
        rest = after;
    }
    expanded + rest
}
