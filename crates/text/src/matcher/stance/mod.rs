//! What a text says about a value that occurs in it: that it is so, that it is not, that it has
//! been replaced, or none of these.
//!
//! Narrow rules for English, applied to the clause or sentence around the value. A word of denial
//! or replacement before the value governs it up to the clause's start ("never edit V", "instead of
//! V", "W over V", "no longer V"). A denied verb governs it if its subject is the value, or a
//! pronoun for it directly after ("V is not", "V must never", "V must stay unchanged", "V was
//! replaced"). A sentence that asks or doubts leaves it open, and so does a range or a choice
//! between several values. The rules err in both directions; `tests/it/hard` measures how often.
//!
//! Absent on purpose: headings and keys that deny the text under them, and denials across
//! sentences.

mod after;
mod before;
mod clause;
mod doubt;
mod several;

use self::after::After;
use self::clause::{ClauseWords, head, tail};
use self::several::is_one_of_several;

/// What is said about a value at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stance {
    /// It is so, or nothing is said against it.
    Asserted,
    /// It is not so, or must not be.
    Denied,
    /// It was so, and has been replaced.
    Replaced,
    /// It is asked, doubted or considered.
    Open,
}

/// What the text says about the value from `start` to `end`. For a number, limits and counts are
/// not denials.
pub(super) fn stance(text: &str, start: usize, end: usize, is_number: bool) -> Stance {
    let start = with_version_mark(text, start);
    let value = &text[start..end];
    let text_before = tail(&text[..start]).to_ascii_lowercase();
    let text_after = head(&text[end..]).to_ascii_lowercase();
    let before = ClauseWords::before(&text_before);
    if doubt::is_open(&before, &text_after, is_number) {
        return Stance::Open;
    }
    let after = After::new(&text_after);
    match before::stance(&before, is_number) {
        // "We never closed V, that is the ticket."
        Stance::Denied if after.identifies() && !before::forbids(&before) => Stance::Asserted,
        Stance::Asserted if after.turns(value, is_number, before::changes(&before)) => {
            Stance::Replaced
        }
        Stance::Asserted if !is_number && before::leaves(&before) && after.is_left() => {
            Stance::Denied
        }
        Stance::Asserted => match after.stance(value, is_number) {
            Stance::Asserted if is_left_behind(&before, &after, value, is_number) => {
                Stance::Replaced
            }
            Stance::Asserted
                if is_one_of_several(
                    &text_before,
                    &text_after,
                    value,
                    is_number,
                    before::changes(&before),
                ) =>
            {
                Stance::Open
            }
            other => other,
        },
        other => other,
    }
}

/// Where a number begins that may be a version with its mark: `v1.2`.
fn with_version_mark(text: &str, start: usize) -> usize {
    let is_number = text[start..].starts_with(|first: char| first.is_ascii_digit());
    let marked = text[..start]
        .strip_suffix(['v', 'V'])
        .filter(|rest| is_number && !rest.ends_with(char::is_alphanumeric));
    marked.map_or(start, str::len)
}

/// "From V to W", of numbers, versions and ids. A file is copied from one place to another and
/// stays.
fn is_left_behind(
    before: &ClauseWords<'_>,
    after: &After<'_>,
    value: &str,
    is_number: bool,
) -> bool {
    let is_version =
        is_number || (value.bytes().any(|byte| byte.is_ascii_digit()) && !value.contains('/'));
    is_version && before.get(0) == "from" && after.turns(value, is_number, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stance_in(text: &str) -> Stance {
        let start = text.find("VALUE").expect("the text holds it");
        stance(text, start, start + 5, false)
    }

    #[test]
    fn what_is_said_of_a_value() {
        use Stance::{Asserted, Denied, Replaced};
        for (text, expected) in [
            ("We use VALUE.", Asserted),
            ("VALUE", Asserted),
            ("- VALUE", Asserted),
            ("{\"store\": \"VALUE\", \"not\": true}", Asserted),
            ("Never use VALUE.", Denied),
            ("Please do not touch `VALUE` while you work.", Denied),
            (
                "don't restart the payment gateway through the VALUE script",
                Denied,
            ),
            ("The gap was not caused by VALUE, that was later.", Denied),
            ("We use Redis, not VALUE.", Denied),
            ("Use Redis instead of VALUE", Denied),
            ("Redis rather than VALUE", Denied),
            ("They decided against VALUE", Denied),
            ("I ruled out commit VALUE for the slowdown", Denied),
            ("deploy without VALUE", Denied),
            ("VALUE is not what crashes it", Denied),
            (
                "Commit VALUE did not cause the slowdown; it was there before.",
                Denied,
            ),
            ("Version VALUE of the correction is not applied", Denied),
            ("The figures in VALUE must never be shown", Denied),
            ("I looked at host VALUE: it does not delay them", Denied),
            ("I tried VALUE, it isn't valid", Denied),
            ("the VALUE script is off limits", Denied),
            ("VALUE (not used)", Denied),
            ("VALUE, not Redis", Asserted),
            ("Not Redis, but VALUE", Asserted),
            ("It does not use Redis and runs VALUE", Asserted),
            ("not only VALUE", Asserted),
            ("Do not forget VALUE", Asserted),
            ("never fail to send VALUE", Asserted),
            ("The clean-up VALUE is not yet done", Asserted),
            ("The old one cannot stream. VALUE can.", Asserted),
            (
                "rolled out up to VALUE, what comes after it is not",
                Asserted,
            ),
            ("no longer VALUE", Replaced),
            ("VALUE is no longer used", Replaced),
            ("VALUE was replaced by Redis", Replaced),
            ("VALUE has been superseded", Replaced),
            ("VALUE (replaced by Redis)", Replaced),
            ("Redis replaced VALUE", Replaced),
            ("changed from VALUE to Redis", Replaced),
            ("formerly VALUE", Replaced),
            ("VALUE, formerly kx-11", Asserted),
            ("VALUE, formerly", Replaced),
            ("replaced Redis by VALUE", Asserted),
            ("copy from VALUE to there", Asserted),
        ] {
            assert_eq!(stance_in(text), expected, "{text}");
        }
    }

    #[test]
    fn limits_state_their_number() {
        let said = |text: &str| stance(text, text.find("45").expect("there"), text.len(), true);
        assert_eq!(said("It must not exceed 4500 ms"), Stance::Asserted);
        assert_eq!(said("no longer than 4500 ms"), Stance::Asserted);
        assert_eq!(said("never above 4500 ms"), Stance::Asserted);
        assert_eq!(said("rejected 4500 rows"), Stance::Asserted);
        assert_eq!(said("It is not 4500 ms"), Stance::Denied);
        assert_eq!(said("no longer 4500 ms"), Stance::Replaced);
    }
}
