//! Names that have the form of a value, although any project may use them: steps of a style,
//! selectors, products.
//!
//! Holding one of them says nothing about the conversation. Absent on purpose: a list of single
//! names. Where form cannot decide, as for `us-east-1` or `Main.java`, the text stays a value.

/// Whether a text is such a name.
pub(super) fn is_common(text: &str) -> bool {
    is_style(text) || is_selector(text) || is_product(text)
}

/// First words of utility classes, which are short names of CSS properties.
const PROPERTIES: &str = "\
    m mx my mt mr mb ml ms me p px py pt pr pb pl ps pe w h z min max size gap space inset top right bottom left flex grow \
    shrink basis grid col row columns span text font leading tracking indent underline decoration bg from via to border \
    rounded divide outline ring shadow opacity blur brightness contrast saturate fill stroke accent caret placeholder \
    duration delay scale rotate translate skew";

/// Whether a text is a utility class: a property, further words and a step, such as `mb-8` or
/// `sm:hover:text-4xl`.
fn is_style(text: &str) -> bool {
    let (variants, class) = text.rsplit_once(':').unwrap_or(("", text));
    let Some((stem, step)) = class.trim_start_matches('.').rsplit_once('-') else {
        return false;
    };
    let mut words = stem.split('-');
    let of_property = words
        .next()
        .is_some_and(|first| PROPERTIES.split(' ').any(|known| known == first))
        && words.all(is_lower);
    let of_variants = variants
        .split([':', '-'])
        .all(|word| is_lower(word) || is_step(word));
    of_property
        && of_variants
        && step.split('/').count() <= 2
        && step.split('/').all(|part| is_lower(part) || is_step(part))
}

/// Whether a text is a step of a scale: up to three digits without leading zeros, also with a half,
/// or a size such as `4xl`.
fn is_step(text: &str) -> bool {
    let letters = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = &text[..text.len() - letters.len()];
    match letters {
        "" | ".5" => (1..=3).contains(&digits.len()) && (digits == "0" || !digits.starts_with('0')),
        "xs" | "sm" | "md" | "lg" | "xl" => digits.len() <= 1,
        _ => false,
    }
}

fn is_lower(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Whether a text is a dot and one name, or a chain that ends in words joined by `-`: a class in a
/// style sheet, a member or the ending of a file's name.
fn is_selector(text: &str) -> bool {
    let Some(names) = text
        .strip_prefix('.')
        .filter(|names| !names.contains(['/', '~', '@', '#', ':']))
    else {
        return false;
    };
    let last = names.rsplit_once('.').map(|(_, last)| last);
    !names.bytes().any(|byte| byte.is_ascii_digit()) && last.is_none_or(|last| last.contains('-'))
}

/// Endings that are part of a product's name.
const OF_PRODUCTS: &[&str] = &["js", "io", "ai", "net", "com", "org", "dev"];

/// Whether a text is a capitalised word with the ending of a product, such as `Next.js`, or several
/// of them joined by `/`.
fn is_product(text: &str) -> bool {
    let is_word = |text: &str| {
        text.starts_with(char::is_uppercase) && text.chars().all(char::is_alphanumeric)
    };
    let product = |part: &str| {
        let named = part.rsplit_once('.').filter(|(word, _)| is_word(word));
        named.is_some_and(|(_, ending)| OF_PRODUCTS.contains(&ending.to_lowercase().as_str()))
    };
    text.split('/').any(product) && text.split('/').all(|part| is_word(part) || product(part))
}

#[cfg(test)]
mod tests {
    use crate::exact::{Exact, keys, of_argument, within};

    fn values(text: &str) -> Vec<String> {
        within(text).map(|Exact { value, .. }| value).collect()
    }

    #[test]
    fn names_of_styles_selectors_and_products_are_no_values() {
        for name in "mb-8 text-4xl py-0.5 -mt-2 sm:hover:bg-gray-200 w-1/2 text-sm/6 max-w-2xl bg-black/50 2xl:grid-cols-4 \
                     .transcript-row.is-active .badge .json .getAttribute Next.js Node.js ASP.NET Next.js/React Socket.io".split(' ') {
            assert_eq!(values(&format!("it has {name} now")), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn what_only_resembles_such_names_stays_a_value() {
        for value in "us-east-1 msg-1 spotter-4te.1 utf-8 kx-4711 mb-4711 mb-08 text-4te MB-8 xterm-256color agent-abc123 h-1f2 \
                     .env.local .eslintrc.json .github/workflows app.js src/App.js AddTodo.tsx next.config.js nextjs.org README.md \
                     #1234 basic_economy POL-7781".split(' ') {
            assert_eq!(values(&format!("it has {value} now")), [value], "{value}");
        }
    }

    #[test]
    fn an_argument_that_is_such_a_name_as_a_whole_is_a_value() {
        let whole = |text: &str| {
            of_argument("", text)
                .into_iter()
                .map(|exact| exact.value)
                .collect::<Vec<_>>()
        };
        assert_eq!(whole("mb-8"), ["mb-8"]);
        assert_eq!(whole(".gitignore"), [".gitignore"]);
        assert_eq!(
            whole("<h1 className=\"mb-8 text-4xl\">"),
            Vec::<String>::new()
        );
    }

    #[test]
    fn keys_of_objects_are_no_values_and_ids_as_keys_are() {
        let json = r#"{"saved_passengers":[{"id_type": "one_way"}],"credit_card_4421486":{"a":1}}"#;
        assert_eq!(values(json), ["one_way", "credit_card_4421486"]);
        assert_eq!(
            values(&json.replace('"', "\\\"")),
            ["one_way", "credit_card_4421486"]
        );
        assert_eq!(
            values("{'payment_id': 'gift_card'} \"src/app.ts\": 1 \"no_key\" : see user_id"),
            ["gift_card", "src/app.ts", "no_key", "user_id"]
        );
        assert_eq!(
            keys(json).collect::<Vec<_>>(),
            ["saved_passengers", "id_type"]
        );
    }

    #[test]
    fn called_members_and_framed_marks_are_no_values() {
        assert_eq!(
            values(
                "todos.map(t => t) JSON.parse(text) it.###STOP### build_conn() src/a.ts(12) app.js (old)"
            ),
            ["build_conn", "src/a.ts", "app.js"]
        );
    }

    proptest::proptest! {
        #[test]
        fn four_digits_in_a_row_are_no_step(text in "[.a-z:/-]{0,8}[0-9]{4}[.a-z/-]{0,6}") {
            proptest::prop_assert!(!super::is_style(&text), "{}", text);
        }
    }
}
