//! Masks secrets in transcripts: keys, tokens, passwords.
//!
//! A secret becomes `[masked:KIND:N]`, numbered by first appearance, so equal secrets stay equal and none can be guessed back.
//! Patterns ask for the shape of a known issuer, or for a telling name before the value; hashes, uuids and plain ids are left
//! alone. Absent on purpose: names, addresses and other personal data.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use compactometer_engine::message::Part;
use regex::{Captures, Regex};
use serde_json::Value;

use super::error::ImportError;
use super::session::Session;

/// Masks every text and argument in place; returns how many were masked, by kind.
pub(super) fn mask(sessions: &mut [Session]) -> Result<BTreeMap<&'static str, usize>, ImportError> {
    let mut masker = Masker::new()?;
    for part in sessions.iter_mut().flat_map(|session| &mut session.messages).flat_map(|said| &mut said.parts) {
        masker.part(part);
    }
    Ok(masker.counts)
}

/// What a match must pass beside its pattern.
type Accepts = fn(&str) -> bool;

/// Kind, pattern, and what a match must pass beside; group 1 is the secret where the pattern has one.
const PATTERNS: &[(&str, &str, Accepts)] = &[
    (
        "private_key",
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
        any,
    ),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", any),
    ("api_key", r"\bsk-[A-Za-z0-9_-]{20,}", mixed),
    ("stripe", r"\b[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", mixed),
    ("github", r"\b(?:gh[opusr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})", mixed),
    ("gitlab", r"\bglpat-[A-Za-z0-9_-]{20,}", mixed),
    ("aws", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b", any),
    ("slack", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}", mixed),
    ("google", r"\bAIza[A-Za-z0-9_-]{35}", any),
    ("npm", r"\bnpm_[A-Za-z0-9]{36}", any),
    ("hugging_face", r"\bhf_[A-Za-z0-9]{30,}", mixed),
    ("bearer", r"(?i)\bbearer\s+([a-z0-9._~+/=-]{16,})", mixed),
    ("url_login", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@?#]{1,100}:([^\s/@\[]{3,200})@", literal),
    (
        "password",
        r#"(?i)(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key)\\?["']?\s*[:=]\s*\\?["']([^\s"'\\\[]{6,})\\?["']"#,
        literal,
    ),
    (
        "password",
        r#"(?i)(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key)\s*[:=]\s*([^\s"'`\\\[\](){}<>$;,&|]{6,})"#,
        mixed_literal,
    ),
    (
        "token",
        r#"(?i)(?:(?:auth|access|refresh|session|api|id|bearer|github|gitlab|gh|npm|slack|bot|deploy)[_-]?|[^a-z0-9_-])token\\?["']?\s*[:=]\s*\\?["']?([a-z0-9._~+/=-]{16,})"#,
        mixed,
    ),
];

/// Names whose value is a secret, in lower case without separators.
const SECRET_NAMES: &[&str] =
    &["password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "secretkey"];

type Compiled = Vec<(&'static str, Regex, Accepts)>;

/// The patterns, compiled once: that takes longer than masking a short session.
static COMPILED: LazyLock<Result<Compiled, regex::Error>> = LazyLock::new(|| {
    PATTERNS.iter().map(|(kind, pattern, accepts)| Ok((*kind, Regex::new(pattern)?, *accepts))).collect()
});

struct Masker {
    patterns: &'static Compiled,
    counts: BTreeMap<&'static str, usize>,
    numbers: BTreeMap<String, usize>,
}

impl Masker {
    fn new() -> Result<Self, ImportError> {
        let patterns = COMPILED.as_ref().map_err(Clone::clone)?;
        Ok(Masker { patterns, counts: BTreeMap::new(), numbers: BTreeMap::new() })
    }

    fn part(&mut self, part: &mut Part) {
        match part {
            Part::Text { text } | Part::ToolResult { text, .. } => drop(self.replace(text)),
            Part::Thinking { text, signature } => {
                // A signature holds for the very bytes that it was made for.
                if self.replace(text) {
                    *signature = None;
                }
            }
            Part::ToolCall { arguments, .. } => self.arguments(arguments),
            Part::Media { .. } => {}
        }
    }

    /// Arguments stay valid JSON; without a secret they keep their bytes.
    fn arguments(&mut self, arguments: &mut String) {
        match serde_json::from_str::<Value>(arguments) {
            Ok(mut value) => {
                if self.value(&mut value) {
                    *arguments = value.to_string();
                }
            }
            Err(_) => drop(self.replace(arguments)),
        }
    }

    fn value(&mut self, value: &mut Value) -> bool {
        match value {
            Value::String(text) => self.replace(text),
            Value::Array(items) => items.iter_mut().fold(false, |changed, item| self.value(item) | changed),
            Value::Object(fields) => fields.iter_mut().fold(false, |changed, (key, field)| {
                let named =
                    matches!(field, Value::String(text) if is_secret_name(key) && literal(text) && text.len() >= 6);
                if let (true, Value::String(text)) = (named, &mut *field) {
                    *text = self.masked("password", text);
                    return true;
                }
                self.value(field) | changed
            }),
            _ => false,
        }
    }

    fn replace(&mut self, text: &mut String) -> bool {
        let mut changed = false;
        for (kind, pattern, accepts) in self.patterns {
            let haystack: &str = text;
            let masked = pattern.replace_all(haystack, |found: &Captures<'_>| {
                let (start, whole) = found.get(0).map_or((0, ""), |all| (all.start(), all.as_str()));
                let (at, secret) = found.get(1).map_or((start, whole), |group| (group.start(), group.as_str()));
                // The kind in a mask reads like a name before a value.
                if haystack[..start].ends_with("[masked:") || !accepts(secret) {
                    return whole.to_owned();
                }
                let (before, after) = (&whole[..at - start], &whole[at - start + secret.len()..]);
                format!("{before}{}{after}", self.masked(kind, secret))
            });
            if let std::borrow::Cow::Owned(masked) = masked {
                changed |= masked != *text;
                *text = masked;
            }
        }
        changed
    }

    fn masked(&mut self, kind: &'static str, secret: &str) -> String {
        *self.counts.entry(kind).or_insert(0) += 1;
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(secret.to_owned()).or_insert(next);
        format!("[masked:{kind}:{number}]")
    }
}

fn is_secret_name(key: &str) -> bool {
    let plain = key.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase();
    SECRET_NAMES.iter().any(|name| plain.ends_with(name))
}

fn any(_: &str) -> bool {
    true
}

/// Letters and digits: no word of prose, no run of words joined by dashes.
fn mixed(secret: &str) -> bool {
    secret.bytes().any(|byte| byte.is_ascii_digit()) && secret.bytes().any(|byte| byte.is_ascii_alphabetic())
}

fn mixed_literal(secret: &str) -> bool {
    mixed(secret) && literal(secret)
}

/// Words that stand where a value would, in schemas, forms and examples.
const STAND_INS: &[&str] = &["string", "password", "required", "optional", "undefined", "example", "changeme"];

/// A value, not a placeholder, a type or an expression of a program.
fn literal(secret: &str) -> bool {
    let lower = secret.to_lowercase();
    let word = lower.trim_end_matches(|letter: char| !letter.is_alphanumeric());
    let marked = ["your", "[masked:", "process.env", "os.environ"].iter().any(|start| lower.starts_with(start));
    let expression = secret.contains(['<', '{', '$', '(', '*']) || secret.contains(char::is_whitespace);
    let mut letters = secret.chars();
    let first = letters.next();
    let repeated = letters.all(|letter| Some(letter) == first);
    !(marked || expression || repeated || STAND_INS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(text: &str) -> (String, BTreeMap<&'static str, usize>) {
        let mut masker = Masker::new().expect("patterns compile");
        let mut text = text.to_owned();
        masker.replace(&mut text);
        (text, masker.counts)
    }

    #[test]
    fn secrets_are_masked() {
        let jwt = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P";
        for (kind, text, secret) in [
            ("api_key", "use sk-ant-api03-Ab12Cd34Ef56Gh78Ij90 now", "sk-ant-api03-Ab12Cd34Ef56Gh78Ij90"),
            ("github", "ghp_abcdefghij0123456789ABCDEFGHIJ012345", "ghp_abcdefghij0123456789ABCDEFGHIJ012345"),
            ("github", "x github_pat_11ABCDEFG0abcdefghijkl_mn y", "github_pat_11ABCDEFG0abcdefghijkl_mn"),
            ("aws", "AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
            ("slack", "xoxb-123456789012-abcdefABCDEF", "xoxb-123456789012-abcdefABCDEF"),
            ("bearer", "Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"),
            ("jwt", jwt, jwt),
            ("password", "password=hunter22", "hunter22"),
            ("password", r#"{"api_key": "correcthorsebattery"}"#, "correcthorsebattery"),
            ("password", r#"{\"password\": \"correcthorse\"}"#, "correcthorse"),
            ("password", "DB_PASSWORD: s3cr3t-val", "s3cr3t-val"),
            ("url_login", "postgres://app:pa55w0rd@db:5432/x", "pa55w0rd"),
            ("token", "access_token: 0123456789abcdef0123", "0123456789abcdef0123"),
            ("token", "GITHUB_TOKEN=0123456789abcdef0123", "0123456789abcdef0123"),
            ("token", r#"{"token": "0123456789abcdef0123"}"#, "0123456789abcdef0123"),
            ("password", "SECRET_KEY = 'django-insecure-words'", "django-insecure-words"),
            ("private_key", "a -----BEGIN RSA PRIVATE KEY-----\nMIIB\n-----END RSA PRIVATE KEY----- b", "MIIB"),
            ("private_key", "cut -----BEGIN PRIVATE KEY-----\nMIIB", "MIIB"),
        ] {
            let (text_after, counts) = masked(text);
            assert!(!text_after.contains(secret), "{text} became {text_after}");
            assert_eq!(counts.get(kind), Some(&1), "{text}: {counts:?}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "commit 3f786850e387550fdab836ed7e6dc881de23001b",
            "uuid 62e0bdc0-a1e4-4d5c-8509-3b9d0d57cc67",
            "toolu_019okXfjnUzJkV2VZbndx6ik call_oIHazX6yQrB8hUwl4cRilFKj",
            "credit_card_4421486 certificate_7504069",
            "const password = process.env.DB_PASSWORD1;",
            "password: string; apiKey: getKey(12345)",
            "the password must be at least 8 characters",
            r#""password": "required""#,
            "apiKey=${API_KEY_1}",
            "see sk-learn-estimators-and-their-docs",
            "bearer of the responsibilities",
            "https://example.com:8080/a@b",
            "api_key: YOUR_API_KEY_1",
            r#""next_page_token": "CAUQAA0123456789abcdef""#,
            "max_tokens: 4096, token: 17",
        ] {
            assert_eq!(masked(text), (text.to_owned(), BTreeMap::new()));
        }
    }

    #[test]
    fn equal_secrets_stay_equal_and_masking_twice_changes_nothing() {
        let (once, _) = masked("password=hunter22 then password=hunter22 or password=hunter33");
        let masks = once.split("password=").skip(1).map(|rest| rest.split_whitespace().next()).collect::<Vec<_>>();
        assert_eq!(masks[0], masks[1]);
        assert_ne!(masks[0], masks[2]);
        assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
    }

    proptest::proptest! {
        #[test]
        fn masks_are_no_secrets(text in r#"(?:password|api_key|token|Bearer|[ =:"'\\]|[a-z0-9]{1,20}){0,20}"#) {
            let (once, _) = masked(&text);
            proptest::prop_assert_eq!(masked(&once), (once.clone(), BTreeMap::new()));
        }
    }

    #[test]
    fn arguments_stay_json() {
        let mut masker = Masker::new().expect("patterns compile");
        let mut arguments = r#"{"cmd": "export API_KEY='ab\"c'; curl -H 'Bearer abcdef0123456789abcdef'", "password": "a b\"c{", "secret":"plainsecret", "n": 1.0}"#.to_owned();
        masker.arguments(&mut arguments);
        let value: Value = serde_json::from_str(&arguments).expect("still JSON");
        assert_eq!(value["n"], 1.0);
        assert!(value["cmd"].as_str().expect("a string").contains("Bearer [masked:bearer:"), "{arguments}");
        assert!(value["secret"].as_str().expect("a string").starts_with("[masked:password:"), "{arguments}");
        let mut plain = r#"{ "path" : "a/b.txt" }"#.to_owned();
        masker.arguments(&mut plain);
        assert_eq!(plain, r#"{ "path" : "a/b.txt" }"#);
    }
}
