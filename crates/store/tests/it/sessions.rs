//! What 100 rounds of each strategy take in each store, and what compression does to the records of which ten are kept.
//! `cargo run -p compactometer-store --example dictionary`

use std::error::Error;
use std::sync::Arc;

use compactometer_engine::budget::Budget;
use compactometer_engine::log::Counted;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::meter::Metered;
use compactometer_engine::params::Settings;
use compactometer_engine::saved::Saved;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::store::{Commit, Store};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_engine::view::Edit;
use compactometer_generate::smoke;
use compactometer_store::{Checkpoints, KEEP};

const ROUNDS: usize = 100;
/// The library's own default.
const LEVEL: i32 = 3;
/// Tokens.
const WINDOW: u32 = 12_000;

/// What one decision of a session committed.
struct Decision {
    saved: Vec<Saved>,
    view: Vec<Edit>,
    after: MessageId,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let messages = endless()?;
    println!("{:22} records   body   old   alone  newer as  one     directory    sqlite", "");
    println!("{:22}         (mean)  (kB)         dictionary stream       (kB)      (kB)", "strategy");
    for spec in strategies::ALL {
        let decisions = decisions(spec, &messages).await?;
        let folder = tempfile::tempdir()?;
        let directory = Checkpoints::in_directory(&folder.path().join("threads"), KEEP)?;
        let sqlite = Checkpoints::in_sqlite(&folder.path().join("store.db"), KEEP)?;
        let sizes = [size_of(&directory, &decisions)?, size_of(&sqlite, &decisions)?];
        print_row(spec.name, &decisions, sizes)?;
    }
    Ok(())
}

fn print_row(name: &str, decisions: &[Decision], [directory, sqlite]: [u64; 2]) -> Result<(), Box<dyn Error>> {
    let records = decisions.iter().map(|decision| decision.saved.len()).sum::<usize>();
    let bodies = decisions.iter().flat_map(|decision| &decision.saved).map(|saved| saved.body.len()).sum::<usize>();
    let jsons = decisions.iter().map(|decision| serde_json::to_vec(&decision.saved)).collect::<Result<Vec<_>, _>>()?;
    let old = &jsons[..jsons.len().saturating_sub(KEEP.get())];
    let plain = old.iter().map(Vec::len).sum::<usize>();
    let alone = compressed(old, |_| &[])?;
    let newer = compressed(old, |index| &jsons[index + 1])?;
    let stream = zstd::bulk::compress(&old.concat(), LEVEL)?.len();
    let [alone, newer, stream] = [alone, newer, stream].map(|bytes| 100 * bytes / plain.max(1));
    println!(
        "{name:22} {records:7} {:6} {:5} {alone:5} % {newer:7} % {stream:5} % {:11} {:9}",
        bodies / records.max(1),
        plain / 1_000,
        directory / 1_000,
        sqlite / 1_000,
    );
    Ok(())
}

/// Bytes of all texts, each compressed with a dictionary of its own.
fn compressed<'l>(texts: &'l [Vec<u8>], dictionary: impl Fn(usize) -> &'l [u8]) -> std::io::Result<usize> {
    let size = |(index, text): (usize, &Vec<u8>)| {
        Ok(zstd::bulk::Compressor::with_dictionary(LEVEL, dictionary(index))?.compress(text)?.len())
    };
    texts.iter().enumerate().map(size).sum()
}

fn size_of(store: &Checkpoints, decisions: &[Decision]) -> Result<u64, Box<dyn Error>> {
    let mut thread = store.thread("measured")?;
    for Decision { saved, view, after } in decisions {
        thread.commit(&Commit { saved, view, after: *after })?;
    }
    Ok(store.size()?.bytes)
}

/// The embedded suite as one conversation, several times over.
fn endless() -> Result<Vec<Counted>, Box<dyn Error>> {
    let said = smoke()?.scenarios.into_iter().flat_map(|scenario| scenario.messages);
    let said = said.filter(|message| message.role != Role::System).collect::<Vec<_>>();
    let count = |(id, message): (usize, &Message)| {
        let parts = message.parts.iter().map(|part| part_of_pass(part, id / said.len())).collect();
        let message = Message { id: MessageId(id as u32), parts, ..message.clone() };
        Counted { tokens: Encoding::O200k.count_message(&message), message: Arc::new(message) }
    };
    Ok(said.iter().cycle().take(4 * said.len()).enumerate().map(count).collect())
}

/// Call ids are unique in a conversation, so each pass over the suite has its own.
fn part_of_pass(part: &Part, pass: usize) -> Part {
    match part.clone() {
        Part::ToolCall { id, name, arguments } => Part::ToolCall { id: format!("{id}-{pass}"), name, arguments },
        Part::ToolResult { call_id, text, is_error } => {
            Part::ToolResult { call_id: format!("{call_id}-{pass}"), text, is_error }
        }
        other => other,
    }
}

async fn decisions(spec: &StrategySpec, messages: &[Counted]) -> Result<Vec<Decision>, Box<dyn Error>> {
    let settings = Settings::defaults(spec);
    let limits = (spec.limits)(&settings)?;
    let strategy = (spec.build)(&settings.scaled(spec, f64::from(WINDOW) / f64::from(limits.window)));
    let model = compactometer_llm::by_name("mock")?;
    let metered = Metered::new(&*model, 1);
    let budget = Budget::matched(WINDOW, WINDOW / 5 * 4, WINDOW / 5 * 2, limits.tail_share())?;
    let config =
        SessionConfig { budget, overhead: 0, summarizer_window: None, automatic: true, policy: Policy::Enforce };
    let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
    let mut decisions = Vec::new();
    for (last, next) in messages.iter().zip(&messages[1..]) {
        session.push(last.clone())?;
        let (records, events) = (session.history().len(), session.events().len());
        session.before_call(Some(1_769_870_000_000 + i64::from(next.message.id.0) * 30_000)).await;
        let saved = session.history()[records..].to_vec();
        if !saved.is_empty() || session.events().len() > events {
            decisions.push(Decision { saved, view: session.view().to_edits(), after: last.message.id });
        }
        if session.events().len() >= ROUNDS {
            break;
        }
    }
    Ok(decisions)
}
