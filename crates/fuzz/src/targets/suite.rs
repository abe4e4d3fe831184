//! The suite reader: an accepted suite conforms to the published schema and survives a round trip.
//! A refusal names the line.

use std::path::Path;
use std::sync::LazyLock;

use boon::{Compiler, SchemaIndex, Schemas};
use compactometer_formats::schemas;
use compactometer_formats::suite::{Suite, SuiteError, SuiteFault};

pub(super) fn run(data: &[u8]) -> bool {
    match Suite::from_reader(data, Path::new("suite.jsonl")) {
        Ok(suite) => {
            reads_back(&suite);
            is_of_schema(&suite);
            true
        }
        Err(SuiteError::Invalid { faults, .. }) => {
            let lines = data.split(|byte| *byte == b'\n').count();
            assert!((1..=20).contains(&faults.len()), "{faults:?}");
            for SuiteFault { line, what } in faults {
                assert!(
                    (1..=lines).contains(&line) && !what.is_empty(),
                    "line {line} of {lines}: {what:?}"
                );
            }
            false
        }
        Err(error) => panic!("bytes in memory cannot fail to be read: {error}"),
    }
}

/// A written suite passes the reader's validation and equals the original.
pub(super) fn reads_back(suite: &Suite) {
    let text = suite_bytes(suite);
    let back = Suite::from_reader(text.as_slice(), Path::new("written.jsonl"))
        .expect("the suite is accepted again");
    assert_eq!(back, *suite);
    assert_eq!(back.hash(), suite.hash());
}

fn suite_bytes(suite: &Suite) -> Vec<u8> {
    let mut text = Vec::new();
    suite
        .write(&mut text)
        .expect("a suite can be written to memory");
    text
}

static SCHEMA: LazyLock<(Schemas, SchemaIndex)> = LazyLock::new(|| {
    let suite = schemas::ALL
        .iter()
        .find(|format| format.name == "suite")
        .expect("suites have a schema");
    let (mut compiler, mut schemas) = (Compiler::new(), Schemas::new());
    compiler
        .add_resource("mem:suite.json", (suite.schema)().to_value())
        .expect("a schema");
    let index = compiler
        .compile("mem:suite.json", &mut schemas)
        .expect("a valid schema");
    (schemas, index)
});

fn is_of_schema(suite: &Suite) {
    let (schemas, index) = &*SCHEMA;
    for line in suite_bytes(suite)
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
    {
        let value = serde_json::from_slice(line).expect("a line is JSON");
        if let Err(error) = schemas.validate(&value, *index) {
            panic!("the line does not conform to the published schema: {error:#}\n{value}");
        }
    }
}
