//! Files of skeletons: a header, then a session on each line.

use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::format::{AtomShape, SkeletonSession, Skeletons};
use super::session_limits::{KnownNumbers, fault};

const FORMAT: &str = "compactometer-skeletons";
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SkeletonHeader {
    format: String,
    version: u32,
    punctuation: Vec<Vec<u32>>,
    shared: Vec<AtomShape>,
}

/// Why a file of skeletons cannot be read or must not be written.
#[derive(Debug, thiserror::Error)]
pub enum SkeletonError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line is not what it must be.
    #[error("line {line}: {why}")]
    Line {
        /// The line.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// As one of the others, in this file.
    #[error("`{}`: {what}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: Box<SkeletonError>,
    },
    /// A skeleton holds text.
    #[error("a skeleton holds text ({0}), so nothing is written")]
    Text(String),
}

/// Writes skeletons, after a check that they hold no text of a session.
///
/// # Errors
/// [`SkeletonError::Text`], before anything is written, and errors of the writer.
pub fn write(out: &mut dyn Write, skeletons: &Skeletons) -> Result<(), SkeletonError> {
    check(skeletons)?;
    let header = SkeletonHeader {
        format: FORMAT.to_owned(),
        version: VERSION,
        punctuation: skeletons.punctuation.clone(),
        shared: skeletons.shared.clone(),
    };
    serde_json::to_writer(&mut *out, &header).map_err(io::Error::from)?;
    writeln!(out)?;
    for session in &skeletons.sessions {
        serde_json::to_writer(&mut *out, session).map_err(io::Error::from)?;
        writeln!(out)?;
    }
    Ok(())
}

/// Reads skeletons.
///
/// # Errors
/// [`SkeletonError`] with the line that is wrong.
pub fn read(input: &mut dyn BufRead) -> Result<Skeletons, SkeletonError> {
    let mut lines = input.lines().zip(1..);
    let Some((first, _)) = lines.next() else {
        return Err(SkeletonError::Line {
            line: 1,
            why: "the file is empty; `compactometer skeleton` writes one".to_owned(),
        });
    };
    let header: SkeletonHeader = parsed(&first?, 1)?;
    if header.format != FORMAT || header.version != VERSION {
        let why = format!(
            "format `{}`, version {}; this program reads `{FORMAT}`, version {VERSION}",
            header.format, header.version
        );
        return Err(SkeletonError::Line { line: 1, why });
    }
    let known = KnownNumbers {
        punctuation: &header.punctuation,
        shared: &header.shared,
    };
    let wrong = |line, why: &str| SkeletonError::Line {
        line,
        why: why.to_owned(),
    };
    if let Some(why) = known.fault() {
        return Err(wrong(1, why));
    }
    let sessions = lines.map(|(line, number)| {
        let session = parsed::<SkeletonSession>(&line?, number)?;
        match fault(&session, &known) {
            Some(why) => Err(wrong(number, why)),
            None => Ok(session),
        }
    });
    let sessions = sessions.collect::<Result<_, _>>()?;
    let skeletons = Skeletons {
        punctuation: header.punctuation,
        shared: header.shared,
        sessions,
    };
    check(&skeletons)?;
    Ok(skeletons)
}

fn parsed<T: DeserializeOwned>(line: &str, number: usize) -> Result<T, SkeletonError> {
    serde_json::from_str(line).map_err(|error| SkeletonError::Line {
        line: number,
        why: error.to_string(),
    })
}

/// Fails if skeletons hold letters other than those of escaped breaks. Their form has no field for
/// text, and this makes sure of it: it reads what would be written.
pub(super) fn check(skeletons: &Skeletons) -> Result<(), SkeletonError> {
    for points in &skeletons.punctuation {
        let marks: String = points.iter().copied().filter_map(char::from_u32).collect();
        let is_escape = ["\\n", "\\t", "\\r"].contains(&marks.as_str());
        if !is_escape && marks.contains(char::is_alphanumeric) {
            return Err(SkeletonError::Text(format!("`{marks}` as punctuation")));
        }
    }
    for session in &skeletons.sessions {
        let written = serde_json::to_value(session).map_err(io::Error::from)?;
        if let Some(text) = first_text(&written) {
            return Err(SkeletonError::Text(format!("`{text}`")));
        }
    }
    Ok(())
}

fn first_text(value: &serde_json::Value) -> Option<&str> {
    match value {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Array(items) => items.iter().find_map(first_text),
        serde_json::Value::Object(fields) => fields.values().find_map(first_text),
        _ => None,
    }
}
