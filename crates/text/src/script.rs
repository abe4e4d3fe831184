//! Words of several scripts side by side: where one ends without a blank.

use unicode_script::{Script, UnicodeScript as _};

/// Whether a letter is of a script that puts no blanks between words, or glues particles to them.
pub(crate) fn is_spaceless(letter: char) -> bool {
    !letter.is_ascii()
        && matches!(
            letter.script(),
            Script::Han
                | Script::Hiragana
                | Script::Katakana
                | Script::Hangul
                | Script::Bopomofo
                | Script::Thai
                | Script::Lao
                | Script::Khmer
                | Script::Myanmar
                | Script::Tibetan
        )
}

/// Whether two letters or digits side by side are of one word. Digits and signs go with every
/// script that puts blanks between words.
pub(crate) fn is_one_word(one: char, other: char) -> bool {
    if one.is_ascii() && other.is_ascii() {
        return true;
    }
    let (one_script, other_script) = (one.script(), other.script());
    let is_common = |script: Script| matches!(script, Script::Common | Script::Inherited);
    one_script == other_script
        || is_common(one_script) && !is_spaceless(other)
        || is_common(other_script) && !is_spaceless(one)
}
