//! `serve`: a model as a server on loopback, with the interfaces of OpenAI and Anthropic.

use clap::Args;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use compactometer_engine::model::ChatModel;
use compactometer_models::server::{Limits, Server};

use super::command_row::{CommandRow, parsed};
use crate::arguments::help::HelpGroup;
use crate::output::failure::Failure;
use crate::output::terminal::{note, say};

pub(super) const COMMAND: CommandRow = CommandRow {
    name: "serve",
    about: "Answer like OpenAI's and Anthropic's servers, on loopback: the mock, for programs in other languages",
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
}

fn serve(args: &ServeArgs) -> Result<(), Failure> {
    let model: Arc<dyn ChatModel> = compactometer_models::by_name(&args.model)
        .map_err(Failure::usage)?
        .into();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(Failure::failed)?;
    runtime.block_on(async {
        let server = Server::bind(Arc::clone(&model), args.port, Limits::default())
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

/// The server's address, and how to try it.
fn banner(url: &str, model: &str) -> String {
    format!(
        "{model} answers at {url}/v1 until Ctrl-C; any key will do\n\n\
         curl {url}/v1/chat/completions -H 'content-type: application/json' \\\n  \
         -d '{{\"model\": \"{model}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Summarize this in 20 words.\\n\\nUSER: Keep port 8042 open.\"}}]}}'\n"
    )
}
