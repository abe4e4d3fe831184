//! How many of the declared tools are called. Every request pays for the definitions of all of
//! them.

use std::collections::BTreeSet;

use compactometer_engine::message::Part;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_formats::property::Property;
use compactometer_formats::scenario::Scenario;
use compactometer_text::code::code;

use super::PropertyMeasure;

/// Share of the declared tools that their conversation calls, with the tokens of all definitions
/// and of the others.
#[derive(Default)]
pub(super) struct Declared {
    conversations: Vec<ConversationTools>,
}

impl PropertyMeasure for Declared {
    fn add(&mut self, scenario: &Scenario) {
        self.conversations
            .extend((!scenario.tools.is_empty()).then(|| ConversationTools::new(scenario)));
    }

    fn measure(&self) -> Property {
        let (id, name) = (
            "called_tools",
            "declared tools that their conversation calls",
        );
        let sum =
            |of: fn(&ConversationTools) -> usize| self.conversations.iter().map(of).sum::<usize>();
        let Some(least) = least(&self.conversations) else {
            return Property::untold(id, name, "no conversation declares tools");
        };
        let (declared, called) = (sum(|tools| tools.declared), sum(|tools| tools.called));
        let detail = format!(
            "{called} of {declared} tools in {} conversations; definitions take {} tokens, {} of them for tools that are \
             never called; least in {}: {} of {}, {} of {} tokens",
            self.conversations.len(),
            sum(|tools| tools.tokens),
            sum(|tools| tools.idle_tokens),
            code(&least.scenario),
            least.called,
            least.declared,
            least.idle_tokens,
            least.tokens
        );
        Property::judged(
            id,
            name,
            called as f64 / declared as f64,
            None,
            None,
            detail,
        )
    }
}

/// The conversation that calls the smallest share of its tools.
fn least(conversations: &[ConversationTools]) -> Option<&ConversationTools> {
    let all = conversations.iter();
    all.min_by(|one, other| one.share().total_cmp(&other.share()))
}

/// The tools of one conversation.
struct ConversationTools {
    scenario: String,
    declared: usize,
    called: usize,
    /// Tokens of all definitions.
    tokens: usize,
    /// Tokens of those that no message calls.
    idle_tokens: usize,
}

impl ConversationTools {
    fn new(scenario: &Scenario) -> Self {
        let parts = scenario.messages.iter().flat_map(|message| &message.parts);
        let called = parts.filter_map(|part| match part {
            Part::ToolCall { name, .. } => Some(name.as_str()),
            _ => None,
        });
        let called = called.collect::<BTreeSet<_>>();
        let mut tools = ConversationTools {
            scenario: scenario.id.clone(),
            declared: scenario.tools.len(),
            called: 0,
            tokens: 0,
            idle_tokens: 0,
        };
        for tool in &scenario.tools {
            let text = format!("{}\n{}\n{}", tool.name, tool.description, tool.parameters);
            let tokens = Encoding::O200k.count_text(&text) as usize;
            let is_called = called.contains(tool.name.as_str());
            tools.called += usize::from(is_called);
            tools.tokens += tokens;
            tools.idle_tokens += if is_called { 0 } else { tokens };
        }
        tools
    }

    fn share(&self) -> f64 {
        self.called as f64 / self.declared as f64
    }
}

#[cfg(test)]
mod tests {
    use compactometer_engine::model::ToolDefinition;

    use compactometer_formats::suite::Suite;

    use super::*;
    use crate::properties::tests::{measured, suite};

    fn measure(suite: &Suite) -> Property {
        measured::<Declared>(suite)
    }

    fn tool(name: &str, description: &str) -> ToolDefinition {
        ToolDefinition {
            name: name.to_owned(),
            description: description.to_owned(),
            parameters: serde_json::json!({}),
        }
    }

    fn call(name: &str) -> Part {
        Part::ToolCall {
            id: "x".to_owned(),
            name: name.to_owned(),
            arguments: "{}".to_owned(),
        }
    }

    #[test]
    fn only_tools_that_are_called_count_and_definitions_cost_tokens() {
        let mut suite = suite(&[("a", "hello"), ("b", "hello"), ("c", "hello")]);
        assert_eq!(
            measure(&suite).detail,
            "not applicable: no conversation declares tools"
        );
        suite.scenarios[0].tools = vec![
            tool("find", "one two three"),
            tool("book", ""),
            tool("pay", ""),
        ];
        suite.scenarios[0].messages[0].parts = vec![call("find"), call("find"), call("unknown")];
        suite.scenarios[1].tools = vec![tool("find", "")];
        suite.scenarios[1].messages[0].parts = vec![call("find")];
        let found = measure(&suite);
        assert_eq!((found.value, found.passed), (Some(0.5), None));
        let tokens = |text: &str| Encoding::O200k.count_text(text) as usize;
        let idle = tokens("book\n\n{}") + tokens("pay\n\n{}");
        let used = tokens("find\none two three\n{}");
        assert_eq!(
            found.detail,
            format!(
                "2 of 4 tools in 2 conversations; definitions take {} tokens, {idle} of them for tools that are never called; \
                 least in `a-0`: 1 of 3, {idle} of {} tokens",
                idle + used + tokens("find\n\n{}"),
                idle + used
            )
        );
        assert!(!found.line().contains("cannot be told"), "{}", found.line());
    }
}
