//! Rounds of compaction over short sessions, as in the suites of peers: a session is compacted,
//! continues for one turn, and is compacted again. After each round every fact is searched for and
//! every question is asked.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use compactometer_benches::cheap::SameAnswer;
use compactometer_benches::conversations::counted;
use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::event::Outcome;
use compactometer_engine::message::part_text;
use compactometer_engine::message::{Message, MessageId, Part, Role};
use compactometer_engine::meter::Metered;
use compactometer_engine::model::{ChatModel, ChatRequest, WireMessage};
use compactometer_engine::params::Settings;
use compactometer_engine::session::{Policy, Session, SessionConfig};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_engine::tokens::CountedMessage;
use compactometer_engine::tokens::Encoding;
use compactometer_engine::view::View;
use compactometer_formats::scenario::Scenario;
use compactometer_formats::suite::Suite;
use compactometer_text::matcher::Matcher;
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

const COUNTER: Encoding = Encoding::O200k;
/// A strategy writes at most one part in this many of a session, so that even short sessions
/// shrink.
const WRITTEN_PART: u32 = 3;
/// The largest number of tokens in an answer to a question.
const ANSWER: u32 = 100;

/// Counts of the work done.
#[derive(Default)]
struct Done {
    cases: usize,
    rounds: usize,
    applied: usize,
    /// Facts searched for, and facts found.
    checks: usize,
    held: usize,
    asked: usize,
    tokens_before: u64,
    tokens_after: u64,
}

/// Runs the first strategies of the registry (a number) or one of them (a name) over every
/// scenario, with the named model or `at-once`.
pub(crate) fn run(
    path: &Path,
    strategies: &str,
    rounds: usize,
    model: &str,
) -> Result<serde_json::Value, Box<dyn Error>> {
    let suite = Suite::read(path)?;
    let model = match model {
        "at-once" => Box::new(SameAnswer::at_once()),
        name => compactometer_models::by_name(name)?,
    };
    let runtime = Builder::new_current_thread().build()?;
    let mut done = Done::default();
    let strategies = chosen(strategies)?;
    for scenario in &suite.scenarios {
        // Counted and prepared once for all strategies, as in every replay.
        let said = counted(scenario, &COUNTER);
        let matcher = Matcher::new(
            scenario
                .facts
                .iter()
                .map(|fact| (fact.value_kind, fact.forms())),
        );
        for spec in &strategies {
            let case = Case {
                scenario,
                said: &said,
                matcher: &matcher,
                model: &*model,
                runtime: &runtime,
            };
            case.run(&mut done, spec, rounds)?;
        }
    }
    let Done {
        cases,
        rounds,
        applied,
        checks,
        held,
        asked,
        tokens_before,
        tokens_after,
    } = done;
    Ok(
        json!({"cases": cases, "rounds": rounds, "applied": applied, "checks": checks, "held": held, "asked": asked,
        "tokens_before": tokens_before, "tokens_after": tokens_after}),
    )
}

fn chosen(strategies: &str) -> Result<Vec<&'static StrategySpec>, String> {
    let number = strategies.parse().unwrap_or(0);
    let named =
        |(place, spec): &(usize, &&StrategySpec)| *place < number || spec.name == strategies;
    let found = strategies::ALL
        .iter()
        .enumerate()
        .filter(named)
        .map(|(_, spec)| *spec)
        .collect::<Vec<_>>();
    if found.is_empty() {
        Err(format!("no strategy `{strategies}`"))
    } else {
        Ok(found)
    }
}

/// One session and what all strategies share.
struct Case<'c> {
    scenario: &'c Scenario,
    said: &'c [Arc<CountedMessage>],
    matcher: &'c Matcher,
    model: &'c dyn ChatModel,
    runtime: &'c Runtime,
}

impl Case<'_> {
    fn run(
        &self,
        done: &mut Done,
        spec: &StrategySpec,
        rounds: usize,
    ) -> Result<(), Box<dyn Error>> {
        let settings = Settings::defaults(spec);
        let strategy = (spec.build)(&settings);
        let metered = Metered::new(self.model, 1);
        let written = self.said.iter().map(|message| message.tokens).sum::<u32>() / WRITTEN_PART;
        let mut session = Session::new(&*strategy, &metered, &COUNTER, config(written));
        for message in self.said {
            session.push(message.clone())?;
        }
        for round in 0..rounds {
            if round > 0 {
                go_on(&mut session)?;
            }
            let event = self
                .runtime
                .block_on(session.compact(None))
                .ok_or("nothing was said")?;
            done.applied += usize::from(event.outcome == Outcome::Applied);
            done.tokens_before += u64::from(event.tokens_before);
            done.tokens_after += u64::from(event.tokens_after);
            let held = held(self.matcher, session.view());
            done.checks += held.len();
            done.held += held.iter().filter(|held| **held).count();
            for probe in &self.scenario.probes {
                self.runtime.block_on(
                    self.model
                        .complete(&question(session.view(), &probe.question)),
                )?;
                done.asked += 1;
            }
            done.rounds += 1;
        }
        done.cases += 1;
        Ok(())
    }
}

/// Compacts only on request, without a trigger.
fn config(written: u32) -> SessionConfig {
    let budget = Budget {
        window: u32::MAX,
        assumed_window: false,
        trigger: 0,
        retained: None,
        tail: Tail::Messages(2),
        written,
        estimator: Estimator::Exact,
    };
    SessionConfig {
        budget,
        overhead: 0,
        summarizer_window: None,
        automatic: false,
        policy: Policy::Enforce,
    }
}

/// The turn between two rounds.
fn go_on(session: &mut Session<'_>) -> Result<(), Box<dyn Error>> {
    for (role, text) in [
        (Role::User, "Please go on from here."),
        (Role::Assistant, "I go on from here."),
    ] {
        let id = session.log().last().map_or(0, |last| last.0 + 1);
        let parts = vec![Part::Text {
            text: text.to_owned(),
        }];
        let message = Message {
            id: MessageId(id),
            role,
            at_ms: None,
            parts,
            usage: None,
        };
        session.push(CountedMessage::new(message, &COUNTER))?;
    }
    Ok(())
}

fn held(matcher: &Matcher, view: &View) -> Vec<bool> {
    let mut held = vec![false; matcher.len()];
    let texts = view
        .entries()
        .iter()
        .flat_map(|entry| entry.parts())
        .filter_map(|(part, _)| part_text(part));
    texts.for_each(|text| matcher.mark(text, &mut held));
    held
}

fn question(view: &View, question: &str) -> ChatRequest {
    let mut request = ChatRequest::prompt(question.to_owned(), ANSWER, None, 1);
    let asked = std::mem::take(&mut request.messages);
    request.messages = view
        .to_wire()
        .into_iter()
        .chain(asked)
        .collect::<Vec<WireMessage>>();
    request
}
