//! Templates of pages, filled.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Serde, Value};
use minijinja::{Environment, Error};
use serde::Serialize;

use super::escape::{breakable_html, code_html, markdown_cell, markdown_text, shown};

/// The first of these templates, each with its name, filled with what it shows; it may include the
/// others and `style.css`. Templates named `.html` escape all that they print; those named `.md`
/// escape through the filters `md`, `cell` and `line`.
pub(crate) fn render(
    templates: &[(&'static str, &'static str)],
    page: &impl Serialize,
) -> Result<String, Error> {
    let mut environment = Environment::new();
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build()?;
    environment.set_syntax(syntax);
    environment.add_filter("code", |text: &str| {
        Value::from_safe_string(code_html(text))
    });
    environment.add_filter("md", markdown_text);
    environment.add_filter("cell", markdown_cell);
    environment.add_filter("line", shown);
    environment.add_filter("wbr", |text: &str| {
        Value::from_safe_string(breakable_html(text))
    });
    environment.add_template("style.css", include_str!("style.css"))?;
    for (name, template) in templates {
        environment.add_template(name, template)?;
    }
    let main = templates.first().map_or("", |(name, _)| *name);
    environment
        .get_template(main)?
        .render(Value::from(Serde(page)))
}
