//! Text from data, made safe for a page: everything is escaped, and text between backticks is code.

use compactometer_text::code::{Piece, code, pieces};
use minijinja::HtmlEscape;

/// Escaped HTML in which code spans are code.
pub(crate) fn code_html(text: &str) -> String {
    let html = pieces(text).into_iter().map(|piece| match piece {
        Piece::Plain(plain) => HtmlEscape(plain).to_string(),
        Piece::Code(inside) => format!("<code>{}</code>", HtmlEscape(inside)),
    });
    html.collect()
}

/// HTML that a browser may break after each underscore.
pub(crate) fn breakable_html(text: &str) -> String {
    HtmlEscape(text).to_string().replace('_', "_<wbr />")
}

/// Markdown that shows the text as it is, in one line; code spans stay code.
pub(crate) fn markdown_text(text: &str) -> String {
    let markdown = pieces(text).into_iter().map(|piece| match piece {
        Piece::Plain(text) => plain(text),
        Piece::Code(inside) => code(&shown(inside)),
    });
    markdown.collect()
}

/// The same for a table's cell, which a vertical bar would end.
pub(crate) fn markdown_cell(text: &str) -> String {
    let markdown = pieces(text).into_iter().map(|piece| match piece {
        // With a second backslash before the bar the cell ends in some readers, and code has no
        // other escape for it.
        Piece::Code(inside) if inside.contains('|') && inside.contains('\\') => plain(inside),
        Piece::Code(inside) => code(&shown(inside)).replace('|', r"\|"),
        Piece::Plain(text) => plain(text),
    });
    markdown.collect()
}

/// The text in one line, without the control characters that a terminal would obey.
pub(crate) fn shown(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' | '\r' | '\t' => ' ',
        _ if letter.is_control() => char::REPLACEMENT_CHARACTER,
        _ => letter,
    };
    text.chars().map(shown).collect()
}

fn plain(text: &str) -> String {
    let mut markdown = String::with_capacity(text.len());
    for letter in shown(text).chars() {
        match letter {
            '<' => markdown.push_str("&lt;"),
            '&' => markdown.push_str("&amp;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => markdown.extend(['\\', letter]),
            _ => markdown.push(letter),
        }
    }
    markdown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_shows_text_as_it_is() {
        assert_eq!(markdown_text("a|b_c <i> `x_y`\n"), r"a\|b\_c &lt;i> `x_y` ");
        assert_eq!(markdown_text("odd ` tick"), r"odd \` tick");
        assert_eq!(markdown_text("``a`b|c`` <i>"), "``a`b|c`` &lt;i>");
    }

    #[test]
    fn no_text_ends_its_cell() {
        assert_eq!(markdown_cell("a|b `c|d`\n"), r"a\|b `c\|d` ");
        assert_eq!(markdown_cell(r"`a\|b`"), r"a\\\|b");
    }
}
