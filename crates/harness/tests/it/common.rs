//! A suite for the tests of several files.

use std::path::Path;

use compactometer_formats::suite::Suite;
use compactometer_suites::generate::{Spec, generate};

const SPEC: &str = r#"
name = "short"
seed = 7
window = 6000
domains = ["software"]
conversations = 1
lengths = [20000]
facts = [24, 24]
points = [3, 3]
"#;

/// One conversation, short and with several rounds for every strategy.
pub(crate) fn short_suite() -> Suite {
    generate(&Spec::parse(SPEC, Path::new("short.toml")).unwrap())
}
