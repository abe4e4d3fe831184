//! `serve`: a model as a server on loopback, with the interfaces of OpenAI and Anthropic.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use clap::Args;
use compactometer_agents::ByHand;
use compactometer_engine::model::ChatModel;
use compactometer_formats::scenario::Scenario;
use compactometer_harness::plan::tools_of;
use compactometer_models::server::{Server, ServerLimits};
use compactometer_text::suggest::unknown;

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::arguments::{agents, suites};
use crate::output::failure::Failure;
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "serve",
    about: "Serve a mock to programs in other languages, as providers do",
    group: HelpGroup::Rest,
    arguments: ServeArgs::augment_args,
    run: |matches| serve(&parsed(matches)?),
};

#[derive(clap::Args)]
pub(crate) struct ServeArgs {
    /// The model that answers, also with faults: `mock:weak`, `mock+empty=0.1`.
    #[arg(
        long,
        value_name = "MODEL",
        env = "COMPACTOMETER_MODEL",
        default_value = "mock"
    )]
    pub(crate) model: String,
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, value_name = "N", default_value_t = 8041)]
    pub(crate) port: u16,
    /// Play a conversation of this suite to an agent that you start yourself: its turns are answered
    /// with the recorded ones, and its requests for summaries by the model.
    #[arg(long, value_name = "SUITE", requires = "agent")]
    pub(crate) play: Option<PathBuf>,
    /// Whose requests to expect, and how it is offered tools (`list agents`).
    #[arg(long, value_name = "NAME", requires = "play")]
    pub(crate) agent: Option<String>,
    /// The conversation to play. Default: the first.
    #[arg(long, value_name = "ID", requires = "play")]
    pub(crate) scenario: Option<String>,
    /// Tokens of the context window, over which a request is refused. Default: the suite's.
    #[arg(long, value_name = "TOKENS", requires = "play", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) window: Option<u32>,
    /// Keep what the agent sends, and what became of it, in a folder.
    #[arg(long, value_name = "DIR", requires = "play")]
    pub(crate) agent_log: Option<PathBuf>,
}

fn serve(args: &ServeArgs) -> Result<(), Failure> {
    let model: Arc<dyn ChatModel> = compactometer_models::by_name(&args.model)
        .map_err(Failure::usage)?
        .into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::failed)?;
    if let Some(suite) = &args.play {
        let by_hand = by_hand(args, suite).map_err(Failure::usage)?;
        let mut tell = |words: String| drop(say(&format!("{words}\n")));
        let played = runtime.block_on(by_hand.serve(args.port, &*model, &mut tell));
        return played.map_err(|why| Failure::failed(anyhow!(why)));
    }
    runtime.block_on(async {
        let server = Server::bind(Arc::clone(&model), args.port, ServerLimits::default())
            .await
            .with_context(|| {
                format!(
                    "cannot listen on 127.0.0.1:{}; choose another `--port`, or 0 for a free one",
                    args.port
                )
            })
            .map_err(Failure::usage)?;
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let stop = std::sync::Mutex::new(Some(stop));
        ctrlc::set_handler(move || drop(stop.lock().map(|mut stop| stop.take())))
            .map_err(|error| Failure::failed(anyhow!("cannot listen for Ctrl-C: {error}")))?;
        say(&banner(
            &format!("http://{}", server.address()),
            model.name(),
        ))?;
        // The channel closes at Ctrl-C; nothing is ever sent.
        server.run(async { drop(stopped.await) }).await;
        note("stopped");
        Ok(())
    })
}

/// What is played, and to what.
fn by_hand(args: &ServeArgs, suite: &PathBuf) -> anyhow::Result<ByHand> {
    let name = args.agent.as_deref().unwrap_or_default();
    let definition = agents::definition(name)?;
    let suite = suites::load(std::slice::from_ref(suite), &args.model)?;
    let window = args.window.or(suite.header.window);
    let ids = || suite.scenarios.iter().map(|scenario| scenario.id.as_str());
    let wanted = |scenario: &&Scenario| args.scenario.as_ref().is_none_or(|id| *id == scenario.id);
    let found = suite.scenarios.iter().find(wanted).ok_or_else(|| {
        let id = args.scenario.as_deref().unwrap_or_default();
        anyhow!(unknown("conversation", id, ids()))
    })?;
    Ok(ByHand {
        definition,
        tools: tools_of(&found.tools, &found.messages),
        messages: found.messages.clone(),
        window: window.ok_or_else(|| anyhow!("the suite has no window; set `--window`"))?,
        log: args.agent_log.clone(),
    })
}

/// The server's address, and how to try it.
fn banner(url: &str, model: &str) -> String {
    format!(
        "{model} answers at {url}/v1 until Ctrl-C; any key will do\n\n\
         curl {url}/v1/chat/completions -H 'content-type: application/json' \\\n  \
         -d '{{\"model\": \"{model}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Summarize this in 20 words.\\n\\nUSER: Keep port 8042 open.\"}}]}}'\n"
    )
}
