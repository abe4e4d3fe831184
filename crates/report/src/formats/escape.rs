//! Text from data as it may stand in a page: everything is escaped, and what stands between backticks is code.

use minijinja::HtmlEscape;
use minijinja::value::Value;

/// HTML with what stands between backticks as code; everything is escaped.
pub(super) fn code_html(text: &str) -> Value {
    let mut html = String::new();
    for (piece, is_code) in pieces(text) {
        let escaped = HtmlEscape(piece).to_string();
        html.push_str(&if is_code { format!("<code>{escaped}</code>") } else { escaped });
    }
    Value::from_safe_string(html)
}

/// HTML that a browser may break after each underscore.
pub(super) fn breakable_html(text: &str) -> Value {
    Value::from_safe_string(HtmlEscape(text).to_string().replace('_', "_<wbr>"))
}

/// Markdown that shows the text as it is, in one line; what stands between backticks is code.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut markdown = String::new();
    for (piece, is_code) in pieces(text) {
        if is_code {
            markdown.push_str(&format!("`{}`", piece.replace('|', r"\|").replace(['\n', '\r'], " ")));
            continue;
        }
        for letter in piece.chars() {
            match letter {
                '\n' | '\r' => markdown.push(' '),
                '<' => markdown.push_str("&lt;"),
                '&' => markdown.push_str("&amp;"),
                '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => markdown.extend(['\\', letter]),
                _ => markdown.push(letter),
            }
        }
    }
    markdown
}

/// The text cut at backticks, where they come in pairs.
fn pieces(text: &str) -> Vec<(&str, bool)> {
    if text.matches('`').count() % 2 == 1 {
        return vec![(text, false)];
    }
    text.split('`').enumerate().map(|(at, piece)| (piece, at % 2 == 1)).filter(|(piece, _)| !piece.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_shows_text_as_it_is() {
        assert_eq!(markdown_text("a|b_c <i> `x_y`\n"), r"a\|b\_c &lt;i> `x_y` ");
        assert_eq!(markdown_text("odd ` tick"), r"odd \` tick");
    }
}
