//! A story as a page that needs no other file.

use compactometer_engine::message::Message;
use serde_json::{Value, json};

use super::Story;
use super::template_values::{CaseLists, PagePlace, legend, message_parts, points, stated};
use super::timeline::TimelineStep;
use crate::render::{ReportError, filled};

/// Lost facts that are shown unfolded.
const SHOWN: usize = 20;
/// So few messages or facts are shown unfolded.
const SHORT: usize = 12;

impl Story<'_> {
    /// The story as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// If the page or its picture cannot be made.
    pub fn page(&self) -> Result<String, ReportError> {
        let whole = PagePlace {
            message: &|id| format!("#m{id}"),
            fact: &|index| format!("#fact-{index}"),
            step: &|after| format!("#step-{after}"),
            room: usize::MAX,
            short: usize::MAX,
            changes: usize::MAX,
        };
        let lists = CaseLists::new(self, &whole);
        let timeline = self.timeline();
        let marks = self.marks();
        let message = |message: &Message| {
            let decisions = timeline
                .iter()
                .filter(|step| step.after() == message.id)
                .map(TimelineStep::words);
            json!({"said": message_parts(message, &marks, usize::MAX), "decisions": decisions.collect::<Vec<_>>()})
        };
        let page = json!({
            "title": self.title(),
            "stated": stated(self),
            "unusable": self.unusable(),
            "lost": lists.lost,
            "shown": SHOWN,
            "is_short": self.messages.len() <= SHORT,
            "has_few": lists.facts.len() <= SHORT,
            "limits": self.limits(),
            "legend": legend(),
            "points": points(self),
            "facts": lists.facts,
            "steps": lists.steps,
            "picture": self.picture()?,
            "answers": lists.answers,
            "messages": Value::from_iter(self.messages.iter().map(|counted| message(&counted.message))),
        });
        filled("explain.html", include_str!("page.html"), &page)
    }
}
