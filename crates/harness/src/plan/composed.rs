//! Several strategies as one row: `FIRST>SECOND` in a list of strategies.

use std::sync::Arc;

use compactometer_engine::model::ToolDefinition;
use compactometer_engine::params::PROMPT;
use compactometer_engine::session::Policy;
use compactometer_engine::strategy::Strategy;
use compactometer_engine::strategy::composed::Composed;
use compactometer_formats::record::{Family, text_hash};

use super::{CustomStrategy, Entrant, EntrantKind, LimitsError};

/// Strategies, of which each is asked only if those before it leave too much.
#[derive(Clone)]
pub struct Composition {
    name: String,
    version: String,
    stages: Vec<Entrant>,
}

impl Composition {
    /// The row of these strategies. Each is a strategy with settings, or one of the user's own, and
    /// has nothing added to it.
    pub fn new(stages: Vec<Entrant>) -> Self {
        let name = stages
            .iter()
            .map(|stage| stage.name.as_str())
            .collect::<Vec<_>>()
            .join(">");
        let own = stages.iter().filter(|stage| stage.family == Family::Custom);
        let version = own.map(Entrant::source).collect::<Vec<_>>().join(", ");
        Composition {
            name,
            version,
            stages,
        }
    }
}

impl CustomStrategy for Composition {
    fn name(&self) -> &str {
        &self.name
    }

    /// Those of the user's own strategies.
    fn version(&self) -> &str {
        &self.version
    }

    fn about(&self) -> &'static str {
        "strategies one after the other, each if those before it leave too much"
    }

    /// Those of each strategy, with its place; a prompt of the user's own by its hash.
    fn parameters(&self) -> Vec<(String, String)> {
        let stages = (1..).zip(&self.stages);
        let numbered = stages.flat_map(|(place, stage)| {
            let prompt = stage
                .changed_prompt()
                .map(|prompt| (PROMPT.to_owned(), text_hash(prompt)));
            stage
                .parameters()
                .into_iter()
                .chain(prompt)
                .map(move |(name, value)| (format!("{place}.{name}"), value))
        });
        numbered.collect()
    }

    fn with(&self, parameter: &str, _: &str) -> Result<Arc<dyn CustomStrategy>, String> {
        Err(format!(
            "`{}` has no parameter `{parameter}`; set it on one of its strategies",
            self.name
        ))
    }

    fn identity(&self) -> String {
        let stages = self.stages.iter().map(|stage| match &stage.entry {
            EntrantKind::Custom(custom) => custom.identity(),
            _ => serde_json::json!([stage.entry_name(), stage.source(), stage.settings()])
                .to_string(),
        });
        blake3::hash(stages.collect::<Vec<_>>().join("\n").as_bytes()).to_hex()[..32].to_owned()
    }

    /// That of the last strategy, which leaves the context.
    fn tail_share(&self) -> f64 {
        let last = self.stages.last().map(Entrant::tail_share);
        // Parameters that contradict each other are an error of `in_window`.
        last.and_then(Result::ok).unwrap_or_default()
    }

    fn is_unmetered(&self) -> bool {
        self.stages.iter().any(Entrant::is_unmetered)
    }

    fn deviates(&self) -> bool {
        self.stages
            .iter()
            .any(|stage| stage.policy() == Policy::Observe)
    }

    fn in_window(&self, window: u32) -> Result<Option<Arc<dyn CustomStrategy>>, LimitsError> {
        let stages = self
            .stages
            .iter()
            .map(|stage| stage.in_window(window))
            .collect::<Result<Vec<_>, _>>()?;
        Ok(Some(Arc::new(Composition {
            stages,
            ..self.clone()
        })))
    }

    fn build(&self, tools: &[ToolDefinition], seed: u64) -> Arc<dyn Strategy> {
        let stages = self.stages.iter().filter_map(|stage| match &stage.entry {
            EntrantKind::Strategy(spec, settings) => Some((spec.build)(settings)),
            EntrantKind::Custom(custom) => Some(custom.build(tools, seed)),
            EntrantKind::Control(_) | EntrantKind::Recorded(_) => None,
        });
        Arc::new(Composed {
            stages: stages.collect(),
        })
    }
}
