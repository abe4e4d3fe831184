//! The page of what the source documents say.

use serde::Serialize;

use super::render_template;

/// A page with the rows of each document: `documents` with `name` and `rows`, each with `verdict`,
/// `section`, `claim`, `value`, `reason` and `command`, and `counts` as a sentence.
///
/// # Errors
/// Where the page's template does not render.
pub fn page(of: &impl Serialize) -> Result<String, minijinja::Error> {
    render_template("sources.html", include_str!("sources.html"), of)
}
