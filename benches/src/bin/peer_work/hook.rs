//! The work of an agent framework before each call of the model: if the history exceeds its
//! trigger, compact it.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use compactometer_benches::cheap::{Quarter, SameAnswer};
use compactometer_benches::conversations::counted;
use compactometer_benches::cpu::timed;
use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::meter::Metered;
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::tokens::CountedMessage;
use compactometer_formats::suite::Suite;

/// The summarizer's answer, which is the same on the peer's side.
const ANSWER: &str = "The user and the agent went on with the work; nothing is open.";
/// The number of messages kept verbatim, which is the peer's default.
const KEPT: u32 = 20;
/// The number of replays, because one is too short for the clock.
const PASSES: u32 = 100;

/// CPU seconds of one replay of the first `messages` messages, and its result.
pub(crate) fn measure(
    path: &Path,
    messages: usize,
    trigger: u32,
) -> Result<serde_json::Value, Box<dyn Error>> {
    let suite = Suite::read(path)?;
    // Counted beforehand, because an engine counts each message only once, when it is added.
    let mut said = counted(&suite.scenarios[0], &Quarter);
    said.remove(0);
    if said.len() < messages {
        return Err(format!("{} messages, asked for {messages}", said.len()).into());
    }
    said.truncate(messages);
    let spec = strategies::ALL
        .iter()
        .find(|spec| spec.name == "summarize")
        .ok_or("no strategy `summarize`")?;
    let settings = Settings::defaults(spec);
    let strategy = (spec.build)(&settings);
    let budget = Budget {
        window: u32::MAX,
        assumed_window: false,
        trigger,
        retained: None,
        tail: Tail::Messages(KEPT),
        written: 400,
        estimator: Estimator::Exact,
    };
    let config = SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: true,
        policy: Policy::Enforce,
    };
    let model = SameAnswer(ANSWER.to_owned());
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let replay = || {
        let metered = Metered::new(&model, 0);
        let mut session = Session::new(&*strategy, &metered, &Quarter, config);
        runtime.block_on(replayed(&mut session, &metered, &said));
        let compactions = session.events().len();
        (compactions, session.view().entries().len())
    };
    let expected = replay();
    let (same, nanoseconds) = timed(|| (0..PASSES).all(|_| replay() == expected));
    if !same {
        return Err("two replays of one history differ".into());
    }
    let (compactions, left) = expected;
    let cpu_s = nanoseconds as f64 / 1e9 / f64::from(PASSES);
    Ok(
        serde_json::json!({"cpu_s": cpu_s, "messages": messages, "compactions": compactions, "left": left}),
    )
}

async fn replayed(session: &mut Session<'_>, metered: &Metered<'_>, said: &[Arc<CountedMessage>]) {
    for message in said {
        // The messages of a suite are valid.
        let _ = session.push(message.clone());
        if session.before_call(None).await.is_some() {
            // A host records a call and discards it, as the peer does.
            metered.take_calls();
        }
    }
}
