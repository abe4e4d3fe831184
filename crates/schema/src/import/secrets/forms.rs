//! Secrets that need no name: shapes of known issuers, and places in commands, headers and addresses that take a login.
//!
//! A new issuer is one line in [`ISSUERS`]. Absent on purpose: shapes that plain ids and hashes share.

use regex::Regex;

use super::Found;
use super::values::{any, credential, issued, login, mixed, password};

/// What a match must pass beside its pattern.
type Accepts = fn(&str) -> bool;

/// A key in its armour: up to its end, to the end of a text that was cut, or over its lines. What a key cannot hold ends it, so
/// that a text about keys is not taken for one; line numbers and quotes may stand between its lines.
const ARMOUR: &str = r#"(-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----(?:[A-Za-z0-9+/=\s\\:,.→|"'-]*?(?:-----END [A-Z ]*PRIVATE KEY(?: BLOCK)?-----|\z)|(?:(?:\s|\\[nr]|\d+→|[|"'+])*[A-Za-z0-9+/=]{30,})+))"#;

/// Kind, shape, and what a match must pass beside. A shape stands at the start of a word, or right after an escape such as `\n`.
const ISSUERS: &[(&str, &str, Accepts)] = &[
    ("private_key", r"AGE-SECRET-KEY-1[A-Z0-9]{20,}", any),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}", any),
    ("api_key", r"sk-[A-Za-z0-9_-]{20,}", issued),
    ("api_key", r"(?:xai-|gsk_)[A-Za-z0-9]{20,}", issued),
    ("stripe", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}", mixed),
    ("github", r"(?:gh[opusr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})", mixed),
    ("gitlab", r"glpat-[A-Za-z0-9_-]{20,}", issued),
    ("aws", r"(?:AKIA|ASIA)[A-Z0-9]{16}\b", any),
    ("slack", r"xox[abeoprs]-[A-Za-z0-9-]{10,}", mixed),
    ("google", r"AIza[A-Za-z0-9_-]{35}", any),
    ("google", r"(?:GOCSPX-|ya29\.)[A-Za-z0-9_-]{20,}", issued),
    ("npm", r"npm_[A-Za-z0-9]{36}", any),
    ("pypi", r"pypi-[A-Za-z0-9_-]{16,}", issued),
    ("hugging_face", r"hf_[A-Za-z0-9]{30,}", mixed),
    ("sendgrid", r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}", mixed),
    ("digital_ocean", r"do[opr]_v1_[a-f0-9]{32,}", mixed),
    ("shopify", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{20,}", mixed),
    ("docker", r"dckr_[po]at_[A-Za-z0-9_-]{16,}", mixed),
    ("vault", r"hv[bsr]\.[A-Za-z0-9_-]{20,}", mixed),
];

/// Kind, pattern with the secret as its group, and what the secret must pass beside.
const PLACES: &[(&str, &str, Accepts)] = &[
    ("slack", r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})", mixed),
    ("bearer", r"(?i)\bbearer\s+([a-z0-9._~+/=-]{16,})", mixed),
    ("basic", r"(?i)\bbasic\s+([a-z0-9+/_-]{6,}={0,2})", login),
    (
        "authorization",
        r#"(?i)authorization\\*["']?\s*[:=]\s*\\*["']?(?:[a-z][a-z0-9-]{1,20}\s+(?:token=)?)?\\*["']?([a-z0-9._~+/=-]{12,})"#,
        credential,
    ),
    ("url_login", r#"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@?#"'`]{0,100}:([^\s/@\["'`]{3,200})@"#, password),
    ("url_login", r"\bhttps?://([A-Za-z0-9_-]{16,})@[A-Za-z0-9]", issued),
    (
        "command_line",
        r#"\bcurl\b(?:[^|;\n]|\\\r?\n)*?\s(?:-u|--user|--proxy-user)[\s=]*\\*["']?[^\s:"'@/\\\[]{1,64}:([^\s"'\\]{3,})"#,
        login_password,
    ),
    (
        "command_line",
        r#"\b(?:mysql|mysqldump|mysqladmin|mariadb)\b(?:[^|;\n]|\\\r?\n)*?\s-p\\*["']?([^\s"'\\]{3,})"#,
        password,
    ),
    (
        "command_line",
        r#"\b(?:sshpass\s+-p|redis-cli\b(?:[^|;\n]|\\\r?\n)*?\s(?:-a|--pass))\s*\\*["']?([^\s"'\\]{3,})"#,
        password,
    ),
];

/// One pattern.
pub(super) struct Form {
    kind: &'static str,
    pattern: Regex,
    accepts: Accepts,
}

/// All of them, in the order in which they are tried.
pub(super) fn compile() -> Result<Vec<Form>, regex::Error> {
    let form = |kind, pattern: &str, accepts| Ok(Form { kind, pattern: Regex::new(pattern)?, accepts });
    let issuers =
        ISSUERS.iter().map(|(kind, shape, accepts)| form(kind, &format!(r"(?:\b|\\[nrt])({shape})"), *accepts));
    let places = PLACES.iter().map(|(kind, pattern, accepts)| form(kind, pattern, *accepts));
    std::iter::once(form("private_key", ARMOUR, any)).chain(issuers).chain(places).collect()
}

impl Form {
    pub(super) fn find(&self, text: &str) -> Vec<Found> {
        let secrets = self.pattern.captures_iter(text).filter_map(|found| found.get(1));
        let secrets = secrets.filter(|secret| (self.accepts)(secret.as_str()));
        secrets.map(|secret| Found { kind: self.kind, at: secret.range() }).collect()
    }
}

/// The password of `-u user:password`; numbers alone are ids of a user and a group.
fn login_password(secret: &str) -> bool {
    password(secret) && !secret.bytes().all(|byte| byte.is_ascii_digit())
}
