//! The reference strategies. Each is one file and one line in [`ALL`]; help, lists, plots and tests iterate it.

mod chained;
mod prompt_checkpoint;
mod summarize;

use crate::event::{FailReason, SkipReason};
use crate::meter::Purpose;
use crate::model::ChatRequest;
use crate::select::Selection;
use crate::strategy::{Context, Declined, StrategySpec};

/// Every reference strategy.
pub const ALL: &[&StrategySpec] = &[&summarize::SPEC, &prompt_checkpoint::SPEC, &chained::SPEC];

/// The selection of the recent tail, where something leaves it.
fn recent_or_skip<'s>(cx: &Context<'s>) -> Result<Selection<'s>, Declined> {
    let selection = Selection::recent(cx.log, cx.view, cx.budget.tail);
    if selection.takes_messages() { Ok(selection) } else { Err(SkipReason::NothingToCompact.into()) }
}

/// Asks the summarizer; an answer without text is a failure.
async fn ask(cx: &Context<'_>, prompt: String, max_tokens: u32, temperature: Option<f32>) -> Result<String, Declined> {
    let request = ChatRequest::prompt(prompt, max_tokens, temperature, cx.summarizer.seed());
    let reply = cx.summarizer.complete(Purpose::Compaction, request).await?;
    let text = reply.text.trim();
    if text.is_empty() { Err(FailReason::EmptySummary.into()) } else { Ok(text.to_owned()) }
}

/// Fills the `{name}` placeholders of a prompt. Values are inserted once and never searched for placeholders.
fn fill(prompt: &str, values: &[(&str, &str)]) -> String {
    let mut text = String::with_capacity(prompt.len());
    let mut rest = prompt;
    while let Some(open) = rest.find('{') {
        let (before, after) = rest.split_at(open);
        text.push_str(before);
        let value = after.find('}').and_then(|close| {
            let name = &after[1..close];
            values.iter().find(|(key, _)| *key == name).map(|(_, value)| (close, *value))
        });
        match value {
            Some((close, value)) => {
                text.push_str(value);
                rest = &after[close + 1..];
            }
            None => {
                text.push('{');
                rest = &after[1..];
            }
        }
    }
    text + rest
}

/// English words that fit a number of tokens, for prompts that limit words: three words in four tokens.
fn words_in(tokens: u32) -> u32 {
    (tokens * 3 / 4).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_in_values_stay_text() {
        assert_eq!(fill("a {x} {y} {z} {", &[("x", "{y}"), ("y", "2")]), "a {y} 2 {z} {");
    }

    #[test]
    fn every_strategy_is_listed_once_and_documented() {
        let mut names = ALL.iter().map(|spec| spec.name).collect::<Vec<_>>();
        let files = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategies")).unwrap();
        let mut stems = files
            .map(|file| file.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "rs") && path.file_stem().unwrap() != "mod")
            .map(|path| path.file_stem().unwrap().to_str().unwrap().replace('_', "-"))
            .collect::<Vec<_>>();
        names.sort_unstable();
        stems.sort_unstable();
        assert_eq!(names, stems);
        assert!(ALL.iter().all(|spec| !spec.about.is_empty() && (0.0..=1.0).contains(&spec.tail_share)));
    }
}
