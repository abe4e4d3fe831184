//! What runs while a conversation is played: the agent's model, and the agent.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use compactometer_engine::budget::Budget;
use compactometer_engine::model::ToolDefinition;
use compactometer_external::runtime;
use compactometer_models::server::{Server, ServerLimits};
use tokio::sync::{Mutex, mpsc, oneshot};

use crate::definition::Definition;
use crate::desk::{DeskEvent, ModelDesk};
use crate::fill::PlaySetting;
use crate::play_log::PlayLog;
use crate::process::AgentProcess;

/// How many seconds an agent may be silent, unless its definition says otherwise.
const PATIENCE: u64 = 120;

/// What a case runs.
pub(crate) struct AgentLaunch {
    pub(crate) definition: Arc<Definition>,
    pub(crate) cache: PathBuf,
    pub(crate) tools: Vec<ToolDefinition>,
    /// Where plays are logged.
    pub(crate) logs: Option<PathBuf>,
}

impl AgentLaunch {
    /// A folder of its own among the logs.
    fn log(&self) -> Option<PathBuf> {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("{}-{number:03}", self.definition.row());
        self.logs.as_ref().map(|logs| logs.join(name))
    }
}

/// What runs. It ends with this.
pub(crate) struct RunningPlay {
    pub(crate) desk: Arc<ModelDesk>,
    agent: Arc<Mutex<AgentProcess>>,
    events: Arc<Mutex<mpsc::UnboundedReceiver<DeskEvent>>>,
    /// How many seconds the agent may be silent.
    patience: u64,
    _stop: oneshot::Sender<()>,
}

impl RunningPlay {
    /// Sets up the agent's model and its folder. The agent starts with its first turn.
    pub(crate) async fn set_out(
        launch: &AgentLaunch,
        system: String,
        budget: Budget,
    ) -> Result<Self, String> {
        let (definition, cache) = (&launch.definition, launch.cache.clone());
        let (sender, events) = mpsc::unbounded_channel();
        let desk = Arc::new(ModelDesk::new(
            Arc::clone(definition),
            budget.window,
            launch.tools.clone(),
            sender.clone(),
            PlayLog::new(launch.log()),
        ));
        let (served, definition) = (Arc::clone(&desk), Arc::clone(definition));
        let printed = ["stdout", "stderr"].map(|name| desk.log.file(name));
        let started = runtime()?.spawn(async move {
            let server = Server::answering(served, 0, ServerLimits::default())
                .await
                .map_err(|error| format!("no address for its model: {error}"))?;
            let setting = PlaySetting {
                address: server.address().to_string(),
                window: budget.window,
                trigger: budget.trigger,
                system,
            };
            let (stop, stopped) = oneshot::channel();
            tokio::spawn(server.run(async move { drop(stopped.await) }));
            let agent = AgentProcess::new(definition, &cache, setting, sender, printed)?;
            Ok::<_, String>((agent, stop))
        });
        let (agent, stop) = started.await.map_err(|error| error.to_string())??;
        Ok(RunningPlay {
            desk,
            agent: Arc::new(Mutex::new(agent)),
            events: Arc::new(Mutex::new(events)),
            patience: launch.definition.patience.unwrap_or(PATIENCE),
            _stop: stop,
        })
    }

    /// Begins a turn of the user.
    pub(crate) async fn begin(&self, text: String) -> Result<(), String> {
        let agent = Arc::clone(&self.agent);
        let begun = runtime()?.spawn(async move { agent.lock().await.take_turn(&text).await });
        begun.await.map_err(|error| error.to_string())?
    }

    /// What happens next.
    pub(crate) async fn next_event(&self) -> Result<DeskEvent, String> {
        let (events, patience) = (Arc::clone(&self.events), self.patience);
        let event = runtime()?.spawn(async move {
            let mut events = events.lock().await;
            tokio::time::timeout(Duration::from_secs(patience), events.recv()).await
        });
        match event.await.map_err(|error| error.to_string())? {
            Ok(Some(event)) => Ok(event),
            Ok(None) => Err("its server has ended".to_owned()),
            Err(_) => Err(format!("it was silent for {patience} seconds")),
        }
    }
}

impl Drop for RunningPlay {
    fn drop(&mut self) {
        let agent = Arc::clone(&self.agent);
        if let Ok(runtime) = runtime() {
            runtime.spawn(async move { agent.lock().await.stop().await });
        }
    }
}
