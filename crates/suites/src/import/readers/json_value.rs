//! Files that are one JSON value.

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::input::Input;
use crate::import::place::Place;
use crate::import::readers::surrogates;
use crate::import::report::Recorder;

/// The value of a file, with its lone surrogates repaired. `expected` is for the error if the file
/// is no JSON.
pub(in crate::import) fn read(
    input: &Input,
    expected: &str,
    recorder: &mut Recorder,
) -> Result<Value, ImportError> {
    let broken = |error: serde_json::Error| {
        let (file, line) = (&input.file, error.line());
        ImportError::Other(format!(
            "`{file}`, line {line}: expected {expected}: {error}"
        ))
    };
    let (value, mended) = surrogates::parse::<Value>(&input.text).map_err(broken)?;
    if let Some(mended) = mended {
        let line = 1 + input.text[..mended.first].matches('\n').count();
        recorder.repair(Place::Line(line), mended.what())?;
    }
    Ok(value)
}

/// The value of a file that begins with this bracket and names all these keys, for recognising its
/// format.
pub(in crate::import) fn with_keys(text: &str, bracket: char, keys: &[&str]) -> Option<Value> {
    let names = |key: &&str| text.contains(&format!("\"{key}\""));
    let is_likely = text.trim_start().starts_with(bracket) && keys.iter().all(names);
    is_likely
        .then(|| surrogates::parse::<Value>(text).ok())
        .flatten()
        .map(|(value, _)| value)
}
