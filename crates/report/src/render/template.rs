//! Templates of pages, filled.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error};
use serde::Serialize;

use super::escape::{breakable_html, code_html, markdown_cell, markdown_text, shown};

/// A template filled with what it shows. Templates named `.html` escape all that they print; those
/// named `.md` escape through the filters `md`, `cell` and `line`. Pages share `style.css`.
pub(crate) fn render(
    name: &'static str,
    template: &'static str,
    page: &impl Serialize,
) -> Result<String, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.add_filter("code", code_html);
    environment.add_filter("md", markdown_text);
    environment.add_filter("cell", markdown_cell);
    environment.add_filter("line", shown);
    environment.add_filter("wbr", breakable_html);
    environment.add_template("head.html", include_str!("head.html"))?;
    environment.add_template("style.css", include_str!("style.css"))?;
    environment.add_template("script.js", include_str!("script.js"))?;
    environment.add_template("story.css", include_str!("explain/story.css"))?;
    environment.add_template("parts.html", include_str!("explain/parts.html"))?;
    environment.add_template(name, template)?;
    environment
        .get_template(name)?
        .render(Value::from(Serde(page)))
}
