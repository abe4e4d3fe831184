//! A story as a page that needs no other file.

use compactometer_engine::message::Message;
use serde_json::{Value, json};

use super::parts::{Lists, Place, legend, points, said, stated};
use super::{Story, decision};
use crate::render::render_template;

/// Lost facts that are shown unfolded.
const SHOWN: usize = 20;
/// So few messages or facts are shown unfolded.
const SHORT: usize = 12;

impl Story<'_> {
    /// The story as a page of HTML that needs no other file.
    ///
    /// # Errors
    /// Where the page's template does not render.
    pub fn page(&self) -> Result<String, minijinja::Error> {
        let whole = Place {
            message: &|id| format!("#m{id}"),
            fact: &|index| format!("#fact-{index}"),
            step: &|after| format!("#step-{after}"),
            room: usize::MAX,
            short: usize::MAX,
            changes: usize::MAX,
        };
        let lists = Lists::of(self, &whole);
        let marks = self.marks();
        let message = |message: &Message| {
            let row = self.record.compactions.iter().find(|row| row.event.after == message.id);
            json!({"said": said(message, &marks, usize::MAX), "decision": row.map(decision)})
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
            "answers": lists.answers,
            "messages": Value::from_iter(self.messages.iter().map(|counted| message(&counted.message))),
        });
        render_template("explain.html", include_str!("page.html"), &page)
    }
}
