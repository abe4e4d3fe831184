//! The table's examples, and texts with and without secrets. Masks are not masked again, and
//! arguments stay JSON.

use serde::Deserialize;

use super::*;

fn masked(text: &str) -> (String, BTreeMap<&'static str, usize>) {
    let mut masker = Masker::new().expect("a good table");
    let mut text = text.to_owned();
    masker.replace(&mut text);
    (text, masker.counts)
}

fn masked_arguments(arguments: &str) -> String {
    let mut masker = Masker::new().expect("a good table");
    let mut arguments = arguments.to_owned();
    masker.arguments(&mut arguments);
    arguments
}

/// A text without its marks, and the same text with a mask of the given kind for each marked
/// secret.
fn unmarked(kind: Option<&str>, marked: &str) -> (String, String) {
    let marked = marked.replace('·', "");
    let mut expected = String::new();
    let mut numbers = BTreeMap::new();
    for piece in marked.split_inclusive('»') {
        let Some((before, secret)) = piece.split_once('«') else {
            expected.push_str(piece);
            continue;
        };
        let next = numbers.len() + 1;
        let number = *numbers.entry(secret.to_owned()).or_insert(next);
        expected.push_str(&format!(
            "{before}[masked:{}:{number}]",
            kind.expect("a kind")
        ));
    }
    (marked.replace(['«', '»'], ""), expected)
}

/// A row, as the tests read it.
#[derive(Deserialize)]
struct SecretRow {
    kind: Option<String>,
    about: String,
    #[serde(default)]
    fields: bool,
    masked: Vec<String>,
    kept: Vec<String>,
}

/// The fields that a row may have in addition to its kind, description and examples.
const FIELDS: &[(&str, &[&str])] = &[
    (
        "form",
        &["pattern", "checks", "unless_after", "unless_before"],
    ),
    (
        "name",
        &[
            "ends", "glued", "counted", "whole", "weak", "machine", "fields", "checks", "least",
        ],
    ),
    ("context", &["before", "after", "checks", "setting"]),
    (
        "random",
        &["pattern", "checks", "unless_after", "unless_before"],
    ),
];

fn rows() -> Vec<SecretRow> {
    let table: toml::Table = include_str!("rules.toml").parse().expect("TOML");
    let rows = |group: &str| table[group].as_array().expect("rows").clone();
    FIELDS
        .iter()
        .flat_map(|(group, _)| rows(group))
        .map(|row| row.try_into().expect("a row with examples"))
        .collect()
}

#[test]
fn a_bad_table_is_an_error_that_says_where() {
    let table = include_str!("rules.toml");
    assert!(SecretTable::parse(table).is_ok());
    for (from, to, expected) in [
        ("[fragments]", "[fragments", "TOML parse error at line 7"),
        (
            "checks = [\"varied\"]",
            "checks = [\"various\"]",
            "unknown variant `various`",
        ),
        (
            "AGE-SECRET-KEY-1[A-Z0-9]",
            "AGE-SECRET-KEY-1[A-Z",
            "unclosed character class",
        ),
        (
            "setting = \"line\"",
            "setting = \"lines\"",
            "unknown variant `lines`",
        ),
        ("ends = [\"pwd\"]", "ends = [\"(pwd\"]", "ends of names"),
        ("[known.shapes]", "[known.forms]", "missing field `shapes`"),
    ] {
        assert!(table.contains(from), "{from}");
        let error = SecretTable::parse(&table.replacen(from, to, 1))
            .err()
            .expect("an error")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn rows_have_no_unused_fields() {
    let table: toml::Table = include_str!("rules.toml").parse().expect("TOML");
    let shared = ["kind", "about", "masked", "kept"];
    for (group, fields) in FIELDS {
        for row in table[*group].as_array().expect("rows") {
            let unread = row
                .as_table()
                .expect("a row")
                .keys()
                .filter(|key| !shared.contains(&key.as_str()));
            let unread = unread
                .filter(|key| !fields.contains(&key.as_str()))
                .collect::<Vec<_>>();
            assert!(unread.is_empty(), "{unread:?} in {row}");
        }
    }
    let text = include_str!("rules.toml");
    assert!(
        table["fragments"]
            .as_table()
            .expect("a table")
            .keys()
            .all(|name| text.contains(&format!("%{name}%")))
    );
}

/// Fails with all errors at once.
fn assert_none(wrong: &[String]) {
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_row_of_the_table_masks_its_examples_and_keeps_its_near_misses() {
    let mut wrong = Vec::new();
    for row in rows() {
        assert!(
            !row.masked.is_empty() && !row.kept.is_empty(),
            "`{}` wants an example and a near miss",
            row.about
        );
        let mask = |text: &str| {
            if row.fields {
                masked_arguments(text)
            } else {
                masked(text).0
            }
        };
        for example in &row.masked {
            let kinds = row
                .kind
                .as_deref()
                .map_or(vec!["password", "token"], |kind| vec![kind]);
            let outcomes = kinds.iter().map(|kind| unmarked(Some(kind), example));
            if !outcomes
                .into_iter()
                .any(|(plain, expected)| mask(&plain) == expected)
            {
                wrong.push(format!(
                    "{}: {example} became {}",
                    row.about,
                    mask(&unmarked(Some(""), example).0)
                ));
            }
        }
        for miss in row
            .kept
            .iter()
            .map(|miss| miss.replace('·', ""))
            .filter(|miss| mask(miss) != *miss)
        {
            wrong.push(format!("{}: {miss} became {}", row.about, mask(&miss)));
        }
    }
    assert_none(&wrong);
}

/// Texts that must be masked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Secrets {
    places: BTreeMap<String, String>,
    issued: BTreeMap<String, Vec<String>>,
    text: BTreeMap<String, Vec<String>>,
    arguments: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Harmless {
    text: Vec<String>,
    arguments: Vec<String>,
}

fn pairs(texts: &BTreeMap<String, Vec<String>>) -> impl Iterator<Item = (&str, &str)> {
    texts
        .iter()
        .flat_map(|(kind, texts)| texts.iter().map(move |text| (kind.as_str(), text.as_str())))
}

#[test]
fn secrets_are_masked() {
    let secrets: Secrets =
        toml::from_str(include_str!("../../../tests/fixtures/secrets.toml")).expect("TOML");
    let mut wrong = Vec::new();
    let mut check = |kind: &str, marked: &str, mask: fn(&str) -> String| {
        let (plain, expected) = unmarked(Some(kind), marked);
        if mask(&plain) != expected || mask(&expected) != expected {
            wrong.push(format!(
                "{expected}\n  became {}\n  then {}",
                mask(&plain),
                mask(&expected)
            ));
        }
    };
    for (kind, secret) in pairs(&secrets.issued) {
        for place in secrets.places.values() {
            check(
                kind,
                &place.replace("{}", &format!("«{secret}»")),
                |text| masked(text).0,
            );
        }
    }
    pairs(&secrets.text).for_each(|(kind, text)| check(kind, text, |text| masked(text).0));
    pairs(&secrets.arguments).for_each(|(kind, text)| check(kind, text, masked_arguments));
    assert_none(&wrong);
}

#[test]
fn harmless_text_is_unchanged() {
    let harmless: Harmless =
        toml::from_str(include_str!("../../../tests/fixtures/harmless.toml")).expect("TOML");
    let unmark = |text: &String| text.replace('·', "");
    let texts = harmless
        .text
        .iter()
        .map(unmark)
        .map(|text| (masked(&text).0, text));
    let arguments = harmless
        .arguments
        .iter()
        .map(unmark)
        .map(|text| (masked_arguments(&text), text));
    let changed = texts
        .chain(arguments)
        .filter(|(masked, text)| masked != text);
    assert_none(
        &changed
            .map(|(masked, text)| format!("{text}\n  became {masked}"))
            .collect::<Vec<_>>(),
    );
}

#[test]
fn escapes_hide_no_secret() {
    for (text, expected) in [
        (
            r"sk\u002dant\u002dapi03\u002dAb12Cd34Ef56Gh78Ij90",
            "[masked:api_key:1]",
        ),
        (
            r"x sk-ant-api03-Ab12Cd34Ef56\\u002DGh78Ij90Kl12 \u00e9",
            r"x [masked:api_key:1] \u00e9",
        ),
        (
            r#"{\u0022password\u0022: \u0022hunter!two\u0022}"#,
            r#"{"password": "[masked:password:1]"}"#,
        ),
    ] {
        assert_eq!(masked(text).0, expected);
    }
}

#[test]
fn every_text_of_a_list_is_masked() {
    let (text, _) = masked(r#"{"apiKeys": ["hunter!one", "hunter!two"], "names": ["hunter!one"]}"#);
    assert_eq!(
        text,
        r#"{"apiKeys": ["[masked:password:1]", "[masked:password:2]"], "names": ["hunter!one"]}"#
    );
}

#[test]
fn equal_secrets_stay_equal_and_masking_twice_changes_nothing() {
    let (once, _) = masked("password=hunter22 then password=hunter22 or password=hunter33");
    let masks = once
        .split("password=")
        .skip(1)
        .map(|rest| rest.split_whitespace().next())
        .collect::<Vec<_>>();
    assert_eq!(masks[0], masks[1]);
    assert_ne!(masks[0], masks[2]);
    assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
    // The colon of a mask does not separate a user from a password.
    let (once, _) = masked("curl -utoken=aaaa00a0a000password");
    assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
}

proptest::proptest! {
    #[test]
    fn masks_are_not_masked_again(
        text in r#"(?:password|DB_PASSWORD|--token|api_key|APP_KEY|name|value|token|Bearer|Authorization|[Cc]ookie|curl -u|curl -b|machine|login| is | to |</|://|:5432:|\\u002d|\\n|\n|[ =:@"'\\\[\]$<>&?;]|[a-z0-9]{1,20}|[A-Za-z0-9+/]{28,36}){0,20}"#
    ) {
        let (once, _) = masked(&text);
        proptest::prop_assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
    }
}

#[test]
fn arguments_stay_json() {
    let arguments = masked_arguments(
        r#"{"cmd": "export API_KEY='ab\"c'; curl -H 'Bearer abcdef0123456789abcdef'", "password": "a b\"c{", "secret":"plainsecret", "n": 1.0}"#,
    );
    let value: Value = serde_json::from_str(&arguments).expect("still JSON");
    assert_eq!(value["n"], 1.0);
    assert!(
        value["cmd"]
            .as_str()
            .expect("a string")
            .contains("Bearer [masked:bearer:"),
        "{arguments}"
    );
    assert!(
        value["secret"]
            .as_str()
            .expect("a string")
            .starts_with("[masked:password:"),
        "{arguments}"
    );
    assert!(
        value["password"]
            .as_str()
            .expect("a string")
            .starts_with("[masked:password:"),
        "{arguments}"
    );
    let plain = r#"{ "path" : "a/b.txt" }"#;
    assert_eq!(masked_arguments(plain), plain);
}

#[test]
fn named_fields_of_arguments_are_masked() {
    for (arguments, expected) in [
        (
            r#"{"accessToken":"hunter!two"}"#,
            r#"{"accessToken":"[masked:token:1]"}"#,
        ),
        (
            r#"{"auth":{"pass":"hunter!two","user":"ada"}}"#,
            r#"{"auth":{"pass":"[masked:password:1]","user":"ada"}}"#,
        ),
        (
            r#"{"db_pwd":"hunter$(two"}"#,
            r#"{"db_pwd":"[masked:password:1]"}"#,
        ),
        (
            r#"{"apiKeys":["hunter!one",{"x":"y"},"hunter!two"]}"#,
            r#"{"apiKeys":["[masked:password:1]",{"x":"y"},"[masked:password:2]"]}"#,
        ),
        (
            r#"{"name":"DB_PASSWORD","value":"hunter!two"}"#,
            r#"{"name":"DB_PASSWORD","value":"[masked:password:1]"}"#,
        ),
        (
            r#"{"Authorization":"Token abcdef012345"}"#,
            r#"{"Authorization":"[masked:authorization:1]"}"#,
        ),
        (
            r#"{"x":"sk\\u002dant\\u002dapi03-Ab12Cd34Ef56Gh78Ij90"}"#,
            r#"{"x":"[masked:api_key:1]"}"#,
        ),
    ] {
        assert_eq!(masked_arguments(arguments), expected);
    }
    for plain in [
        r#"{"max_tokens":4096,"tokens":["abc123def456"],"token_count":"123456","token":"identifier"}"#,
        r#"{"password":12345678,"pwd":"/home/ada/shop","next_token":"abc123def456ghi"}"#,
        r#"{"name":"LOG_LEVEL","value":"debugging1"}"#,
        r#"{"password":"Enter your password","secret":"${DB_SECRET}","credentials":"include"}"#,
    ] {
        assert_eq!(masked_arguments(plain), plain);
    }
}

#[test]
fn long_words_are_masked_whole_and_read_once() {
    let long = "a1B2".repeat(50_000);
    assert_eq!(
        masked(&format!("PASSWORD={long} x")).0,
        "PASSWORD=[masked:password:1] x"
    );
    assert_eq!(
        masked(&format!("password: \"{long}\"")).0,
        "password: \"[masked:password:1]\""
    );
    assert_eq!(
        masked(&format!("<pwd>{long}</pwd>")).0,
        "<pwd>[masked:password:1]</pwd>"
    );
    // The names have no blank between them, and each reads only nearby text.
    for piece in [
        "PASSWORD=$(x),",
        "password",
        "secret:[\"\",",
        "a_token-",
        "curl ",
        "://a:",
        "-----BEGIN PRIVATE KEY-----(",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        assert_eq!(masked(&text).0, text);
    }
}

/// A rule for an account's public id hides nothing from the rule for its password.
#[test]
fn one_form_disarms_no_other() {
    let sid = ["A", "C0123456789abcdef0123456789abcdef"].concat();
    for command in [
        format!("curl -X POST -u {sid}:hunter2secret9 https://api.example.test"),
        format!("curl --user '{sid}:hunter2secret9' https://api.example.test"),
    ] {
        let (text, _) = masked(&command);
        assert!(!text.contains("hunter2") && !text.contains(&sid), "{text}");
        assert!(text.ends_with("https://api.example.test"), "{text}");
    }
}

/// Of ordinary hashes and ids, at most one in fifty is masked by mistake.
#[test]
fn ordinary_hashes_stay() {
    let mut kept = 0;
    for number in 0..400_u32 {
        let hash = blake3::hash(&number.to_le_bytes()).to_hex().to_string();
        let forms = [
            format!("commit {}", &hash[..40]),
            format!("sha256:{hash}"),
            format!(
                "{}-{}-{}-{}-{}",
                &hash[..8],
                &hash[8..12],
                &hash[12..16],
                &hash[16..20],
                &hash[20..32]
            ),
            format!("integrity {}", &hash[..32]),
            format!("file-{}.js", &hash[..8]),
        ];
        kept += forms.iter().filter(|text| masked(text).0 == **text).count();
    }
    assert!(kept * 50 >= 400 * 5 * 49, "{kept} of 2000");
}
