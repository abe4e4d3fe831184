//! Repairs JSON in which a text was cut inside a character: a lone surrogate escape such as
//! `\ud83d`, which JSON parsers reject.

use serde::de::DeserializeOwned;

/// JSON text with its lone surrogate escapes replaced.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::import) struct Mended {
    pub(in crate::import) text: String,
    /// The number of escapes replaced.
    pub(in crate::import) count: usize,
    /// The position of the first one, in bytes of the original.
    pub(in crate::import) first: usize,
}

impl Mended {
    /// A description of the repair.
    pub(in crate::import) fn what(&self) -> String {
        format!(
            "{}: replaced by U+FFFD",
            crate::import::repair::counted(self.count, "lone surrogate escape")
        )
    }
}

/// The value of a JSON text, and the repairs made if a text in it was cut inside a character.
pub(in crate::import) fn parse<T: DeserializeOwned>(
    json: &str,
) -> serde_json::Result<(T, Option<Mended>)> {
    let error = match serde_json::from_str(json) {
        Ok(value) => return Ok((value, None)),
        Err(error) => error,
    };
    let Some(mended) = mend(json) else {
        return Err(error);
    };
    Ok((serde_json::from_str(&mended.text)?, Some(mended)))
}

/// Replaces each lone surrogate escape by `\ufffd`, or returns `None` if there is none. Pairs and
/// escaped backslashes are unchanged.
fn mend(json: &str) -> Option<Mended> {
    let mut mended = Mended {
        text: String::new(),
        count: 0,
        first: 0,
    };
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = json[at..].find('\\') {
        at += found;
        match unit(json, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(json, at + 6), Some(0xDC00..=0xDFFF)) => {
                at += 12
            }
            Some(0xD800..=0xDFFF) => {
                if mended.count == 0 {
                    mended.first = at;
                    mended.text.reserve(json.len());
                }
                mended.count += 1;
                mended.text.push_str(&json[copied..at]);
                mended.text.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            Some(_) => at += 6,
            None => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    mended.text.push_str(&json[copied..]);
    (mended.count > 0).then_some(mended)
}

/// The code unit of the escape `\uXXXX` at byte `at`.
fn unit(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lone_surrogates_are_replaced() {
        for (json, text, count, first) in [
            (r#""a\ud83d""#, r#""a\ufffd""#, 1, 2),
            (r#""\ude00 \uD83D\u0041""#, r#""\ufffd \ufffd\u0041""#, 2, 1),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#, 1, 1),
            (r#""é\\\ud83d"#, r#""é\\\ufffd"#, 1, 5),
        ] {
            assert_eq!(
                mend(json),
                Some(Mended {
                    text: text.to_owned(),
                    count,
                    first
                }),
                "{json}"
            );
        }
        for json in [
            r#""\ud83d\ude00""#,
            r#""\\ud83d""#,
            r#""\u00e9 \n""#,
            "\"\\é\"",
            r#""\u12"#,
            "\\",
        ] {
            assert_eq!(mend(json), None, "{json}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_mended_parses(text in r#"(?:\\ud83d|\\ude00|\\u0041|\\\\|\\n|[a-zé ]){0,20}"#) {
            let json = format!("\"{text}\"");
            let mended = mend(&json).map_or(json, |mended| mended.text);
            proptest::prop_assert!(serde_json::from_str::<String>(&mended).is_ok(), "{mended}");
            proptest::prop_assert_eq!(mend(&mended), None);
        }
    }
}
