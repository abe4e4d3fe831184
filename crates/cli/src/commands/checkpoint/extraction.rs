//! `checkpoint test`: extracts one checkpoint from a whole conversation.
//!
//! The strategy is the reference engine's own. Its thresholds are lowered so that a checkpoint is
//! due at once.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, anyhow, bail};
use compactometer_engine::budget::Budget;
use compactometer_engine::checkpoint::LadderReading;
use compactometer_engine::estimate::Estimator;
use compactometer_engine::event::CheckpointEvent;
use compactometer_engine::log::Log;
use compactometer_engine::meter::Metered;
use compactometer_engine::params::Settings;
use compactometer_engine::record::{RecordKind, SessionRecord};
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::TokenCounter;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_store::Thread;
use compactometer_suites::import::{self, Options};
use compactometer_text::suggest::unknown;
use serde_json::{Value, json};

use super::arguments::TestArgs;
use crate::arguments::encoding;
use crate::arguments::{stores, suites};
use crate::output::failure::Failure;
use crate::output::terminal::{name_in_files, say, say_json};

/// What an extraction returned.
struct ExtractionResult {
    event: CheckpointEvent,
    saved: Option<SessionRecord>,
    calls: usize,
}

pub(crate) fn test(args: &TestArgs) -> Result<(), Failure> {
    let scenario = scenario(args).map_err(Failure::usage)?;
    let model = compactometer_models::by_name(&args.model).map_err(Failure::usage)?;
    let counter = encoding(&args.tokenizer)?;
    let spec = spec(&args.strategy).map_err(Failure::usage)?;
    let id = args.thread.clone().unwrap_or_else(|| scenario.id.clone());
    let thread = if args.save {
        Some(stores::open(&args.store).and_then(|store| Ok(store.thread(&id)?)))
    } else {
        None
    };
    let thread = thread.transpose().map_err(Failure::usage)?;
    let log = log_of(&scenario, &counter).map_err(Failure::usage)?;
    let metered = Metered::new(&*model, args.seed);
    let tried = extract(args, spec, &metered, &counter, log, thread).map_err(Failure::usage)?;
    let report = ExtractionReport {
        scenario: &scenario,
        model: model.name(),
        thread: args.save.then_some(&id),
        tried,
    };
    if args.json {
        say_json(&report.json())
    } else {
        say(&report.text())
    }?;
    match &report.tried.event.failed {
        None => Ok(()),
        Some(reason) => Err(Failure::failed(anyhow!("no checkpoint: {reason}"))),
    }
}

/// The requested conversation, from a suite or from a transcript in an importable format.
fn scenario(args: &TestArgs) -> Result<Scenario> {
    let scenarios = match &args.format {
        None => suites::join(std::slice::from_ref(&args.file))?.scenarios,
        Some(format) => transcript(format, &args.file)?.scenarios,
    };
    let longest = || {
        scenarios
            .iter()
            .max_by_key(|scenario| scenario.messages.len())
    };
    let found = match &args.scenario {
        None => longest(),
        Some(id) => scenarios.iter().find(|scenario| scenario.id == *id),
    };
    let ids = scenarios.iter().map(|scenario| scenario.id.as_str());
    found.cloned().ok_or_else(|| {
        anyhow!(unknown(
            "scenario",
            args.scenario.as_deref().unwrap_or_default(),
            ids
        ))
    })
}

fn transcript(format: &str, file: &Path) -> Result<Suite> {
    let names = import::ALL.iter().map(|importer| importer.name);
    let importer =
        import::by_name(format).ok_or_else(|| anyhow!(unknown("format", format, names)))?;
    let options = Options::default();
    Ok(import::import(importer, &[file.to_owned()], format, &options)?.suite)
}

fn spec(name: &str) -> Result<&'static StrategySpec> {
    let names = strategies::ALL.iter().map(|spec| spec.name);
    strategies::ALL
        .iter()
        .copied()
        .find(|spec| spec.name == name)
        .ok_or_else(|| anyhow!(unknown("strategy", name, names)))
}

fn log_of(scenario: &Scenario, counter: &dyn TokenCounter) -> Result<Log> {
    let mut log = Log::default();
    for message in &scenario.messages {
        let tokens = counter.count_message(message);
        log.push(CountedMessage {
            message: message.clone(),
            tokens,
        })?;
    }
    Ok(log)
}

fn extract(
    args: &TestArgs,
    spec: &StrategySpec,
    metered: &Metered<'_>,
    counter: &dyn TokenCounter,
    log: Log,
    thread: Option<Thread>,
) -> Result<ExtractionResult> {
    let mut settings = Settings::defaults(spec);
    // Due at once: the least share of the trigger, and any new token.
    for (name, value) in [("ratio", "0.01"), ("delta", "1")] {
        let set = settings.set(spec, name, value);
        set.with_context(|| format!("`{}` writes no checkpoint before a turn", spec.name))?;
    }
    let limits = (spec.limits)(&settings)?;
    let tokens = log
        .messages()
        .iter()
        .map(|counted| counted.tokens)
        .sum::<u32>()
        .max(1);
    // Above the conversation, so that no compaction starts.
    let trigger = tokens.saturating_add(1);
    let budget = Budget {
        window: trigger,
        trigger,
        estimator: Estimator::Exact,
        ..Budget::published(limits, 1.0)?
    };
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: args.window,
        automatic: true,
        policy: Policy::Enforce,
    };
    let strategy = (spec.build)(&settings);
    let mut thread = thread;
    let state = thread
        .as_mut()
        .map(Thread::load)
        .transpose()?
        .unwrap_or_default();
    let same = "the thread is of another conversation; name another with `--thread`";
    let session = Session::new(&*strategy, metered, counter, config)
        .restored(log, state)
        .context(same)?;
    match thread {
        Some(thread) => run(session.stored_in(thread), metered),
        None => run(session, metered),
    }
}

fn run(mut session: Session<'_>, metered: &Metered<'_>) -> Result<ExtractionResult> {
    let before = session.history().len();
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(session.before_call(Some(now_ms())));
    let Some(event) = session.checkpoint_events().last().cloned() else {
        bail!("nothing was said since the thread's last checkpoint");
    };
    let saved = session.history()[before..]
        .iter()
        .find(|saved| saved.kind == RecordKind::Checkpoint)
        .cloned();
    Ok(ExtractionResult {
        event,
        saved,
        calls: metered.take_calls().len(),
    })
}

fn now_ms() -> i64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

struct ExtractionReport<'r> {
    scenario: &'r Scenario,
    model: &'r str,
    /// The thread that it was saved in.
    thread: Option<&'r String>,
    tried: ExtractionResult,
}

impl ExtractionReport<'_> {
    fn checkpoint(&self) -> Option<Value> {
        serde_json::from_str(&self.tried.saved.as_ref()?.body).ok()
    }

    fn json(&self) -> Value {
        json!({
            "scenario": self.scenario.id,
            "messages": self.scenario.messages.len(),
            "tokens": self.tried.event.tokens,
            "model": self.model,
            "calls": self.tried.calls,
            "extraction": self.tried.event.extraction,
            "failed": self.tried.event.failed.as_ref().map(ToString::to_string),
            "checkpoint": self.checkpoint(),
            "saved": self.tried.saved.as_ref().zip(self.thread).map(|(saved, thread)| json!({"thread": thread, "number": saved.number})),
        })
    }

    fn text(&self) -> String {
        let ExtractionResult {
            event,
            saved,
            calls,
        } = &self.tried;
        let mut lines = vec![format!(
            "{}: {} messages, {} tokens; {} was called {calls} times",
            self.scenario.id,
            self.scenario.messages.len(),
            event.tokens,
            self.model
        )];
        if let Some(extraction) = &event.extraction {
            let reading = match &extraction.reading {
                LadderReading::Rung(rung) => {
                    format!("the reply was read as {}", name_in_files(rung))
                }
                LadderReading::Unreadable(why) => {
                    format!("the reply could not be read: {}", name_in_files(why))
                }
            };
            lines.push(format!(
                "{reading}; {} values of the prompt's example taken out, {} of a wrong type left out",
                extraction.leaked, extraction.left_out
            ));
        }
        lines.extend(
            self.checkpoint()
                .map(|checkpoint| format!("{checkpoint:#}")),
        );
        match (saved, self.thread) {
            (Some(saved), Some(thread)) => lines.push(format!(
                "saved as record {} of thread {thread}",
                saved.number
            )),
            (Some(_), None) => lines.push("not saved; `--save` keeps it".to_owned()),
            (None, _) => {}
        }
        lines.join("\n") + "\n"
    }
}
