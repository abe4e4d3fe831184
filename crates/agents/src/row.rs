//! An agent as a strategy of a plan.

use std::path::PathBuf;
use std::sync::Arc;

use compactometer_engine::model::ToolDefinition;
use compactometer_engine::strategy::Strategy;
use compactometer_harness::plan::CustomStrategy;

use crate::definition::Definition;
use crate::play::Play;
use crate::stage::AgentLaunch;

/// An agent that is installed.
#[derive(Clone)]
pub struct AgentRow {
    definition: Arc<Definition>,
    cache: PathBuf,
    logs: Option<PathBuf>,
    about: String,
}

impl AgentRow {
    /// The agent of a definition, installed in a folder of agents. Its plays are logged in a folder,
    /// if one is named.
    ///
    /// # Errors
    /// Where it is not installed, with the command that installs it.
    pub fn new(
        definition: Definition,
        cache: PathBuf,
        logs: Option<PathBuf>,
    ) -> Result<Self, String> {
        if !definition.folder(&cache).is_dir() {
            return Err(format!(
                "`{row}` is not installed; install it with `compactometer add {row}`",
                row = definition.row()
            ));
        }
        let about = format!(
            "{} {}, unmodified, told that its model is `{}`",
            definition.title, definition.version, definition.model
        );
        Ok(AgentRow {
            definition: Arc::new(definition),
            cache,
            logs,
            about,
        })
    }
}

impl CustomStrategy for AgentRow {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn version(&self) -> &str {
        &self.definition.version
    }

    fn about(&self) -> &str {
        &self.about
    }

    fn parameters(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    fn with(&self, parameter: &str, _: &str) -> Result<Arc<dyn CustomStrategy>, String> {
        Err(format!(
            "`{}` is an agent and has no parameter `{parameter}`",
            self.definition.name
        ))
    }

    fn identity(&self) -> String {
        format!("{} {}", self.definition.row(), self.definition.hash)
    }

    fn tail_share(&self) -> f64 {
        0.0
    }

    fn window(&self) -> Option<u32> {
        self.definition.window
    }

    /// It is measured as it is.
    fn deviates(&self) -> bool {
        true
    }

    fn build(&self, tools: &[ToolDefinition], _: u64) -> Arc<dyn Strategy> {
        Arc::new(Play::new(AgentLaunch {
            definition: Arc::clone(&self.definition),
            cache: self.cache.clone(),
            tools: tools.to_vec(),
            logs: self.logs.clone(),
        }))
    }
}
