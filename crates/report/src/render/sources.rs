//! The page of what the source documents say.

use serde::Serialize;

use crate::document::render_template;

/// A page with the rows of each document: `documents` with `name` and `rows`, each with `verdict`,
/// `section`, `claim`, `value`, `reason` and `command`, and `counts` as a sentence.
///
/// # Errors
/// Where the page's template does not render.
pub fn page(of: &impl Serialize) -> Result<String, minijinja::Error> {
    render_template(&[("sources.html", include_str!("sources.html"))], of)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::page;

    #[test]
    fn documents_without_rows_are_left_out_and_text_stays_data() {
        let row = json!({"verdict": "holds", "section": "part 1", "claim": "`a.b`: <b>", "value": "1", "reason": "", "command": ""});
        let documents = json!([{"name": "None", "rows": []}, {"name": "One", "rows": [row]}]);
        let page = page(&json!({"counts": "1 row", "documents": documents})).unwrap();
        assert!(
            page.contains("<h2>One</h2>") && !page.contains("<h2>None</h2>"),
            "{page}"
        );
        assert!(
            page.contains("<code>a.b</code>") && page.contains("&lt;b&gt;"),
            "{page}"
        );
    }
}
