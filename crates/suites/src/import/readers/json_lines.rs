//! Files of one JSON object a line. A line that cannot be read is dropped and reported with its
//! number.

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::input::{BEGINNING, Input, Line};
use crate::import::place::Place;
use crate::import::readers::surrogates;
use crate::import::report::Recorder;
use crate::import::session::type_name;

/// A file's objects with their places, and the lines that are not JSON with their numbers.
pub(in crate::import) struct JsonLines {
    pub(in crate::import) rows: Vec<(Place, Value)>,
    pub(in crate::import) broken: Vec<(usize, String)>,
}

pub(in crate::import) fn read(
    input: &Input,
    recorder: &mut Recorder,
) -> Result<JsonLines, ImportError> {
    read_without(&[], input, recorder)
}

/// The same without these fields of the objects, which may be most of a file.
pub(in crate::import) fn read_without(
    fields: &[&str],
    input: &Input,
    recorder: &mut Recorder,
) -> Result<JsonLines, ImportError> {
    let mut lines = JsonLines {
        rows: Vec::new(),
        broken: Vec::new(),
    };
    input.each_line(recorder, &mut |line, recorder| {
        lines.take(fields, line, recorder)
    })?;
    Ok(lines)
}

impl JsonLines {
    fn take(
        &mut self,
        fields: &[&str],
        line: Line<'_>,
        recorder: &mut Recorder,
    ) -> Result<(), ImportError> {
        let Line {
            number,
            text,
            is_last,
        } = line;
        let mut repair = |what| recorder.repair(Place::Line(number), what);
        match surrogates::parse::<Value>(text) {
            Ok((Value::Object(mut object), mended)) => {
                if let Some(mended) = mended {
                    repair(mended.what())?;
                }
                object.retain(|key, _| !fields.contains(&key.as_str()));
                self.rows.push((Place::Line(number), object.into()));
            }
            Ok((value, _)) => repair(format!(
                "expected an object, found {}: dropped",
                type_name(&value)
            ))?,
            Err(error) => {
                if let Some(objects) = joined(text) {
                    repair(format!(
                        "{} objects without a line break between them: read as lines",
                        objects.len()
                    ))?;
                    let places = (1..).map(|part| match part {
                        1 => Place::Line(number),
                        part => Place::Part { line: number, part },
                    });
                    self.rows.extend(places.zip(objects));
                    return Ok(());
                }
                let torn = match is_last {
                    true => "torn last line",
                    false => "broken line",
                };
                let error = error.to_string().replace("line 1 column", "column");
                repair(format!("{torn} ({error}): dropped"))?;
                self.broken.push((number, text.to_owned()));
            }
        }
        Ok(())
    }
}

/// The objects of a line that holds several and nothing else, as it does where a line break was
/// lost.
fn joined(line: &str) -> Option<Vec<Value>> {
    let objects = serde_json::Deserializer::from_str(line)
        .into_iter::<Value>()
        .collect::<Result<Vec<_>, _>>()
        .ok()?;
    (objects.len() > 1 && objects.iter().all(Value::is_object)).then_some(objects)
}

/// The first lines, null where one is not JSON.
pub(in crate::import) fn beginning(text: &str) -> impl Iterator<Item = Value> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.take(BEGINNING).map(|line| {
        surrogates::parse::<Value>(line)
            .map(|(row, _)| row)
            .unwrap_or_default()
    })
}

/// A time in the format of RFC 3339, or in milliseconds since the Unix epoch.
pub(in crate::import) fn at_ms(
    stamp: &Value,
    place: Place,
    recorder: &mut Recorder,
) -> Result<Option<i64>, ImportError> {
    let Some(text) = stamp.as_str() else {
        return Ok(stamp.as_i64());
    };
    let at = text.parse::<jiff::Timestamp>().ok();
    if at.is_none() {
        let what = format!("timestamp `{text}` is not in the format of RFC 3339: left out");
        recorder.repair(place, what)?;
    }
    Ok(at.map(jiff::Timestamp::as_millisecond))
}

/// A time in the format of RFC 3339, in milliseconds since the Unix epoch.
pub(in crate::import) fn milliseconds(stamp: &Value) -> Option<i64> {
    let at = stamp.as_str()?.parse::<jiff::Timestamp>().ok()?;
    Some(at.as_millisecond())
}

/// A time as [`at_ms`] reads it, or one without a zone, which counts as UTC: only the distances of
/// such times are right.
pub(in crate::import) fn local_at_ms(
    stamp: &Value,
    place: Place,
    recorder: &mut Recorder,
) -> Result<Option<i64>, ImportError> {
    let text = stamp.as_str().unwrap_or_default();
    let has_zone = text.parse::<jiff::Timestamp>().is_ok();
    let local = text
        .parse::<jiff::civil::DateTime>()
        .ok()
        .filter(|_| !has_zone);
    match local.and_then(|local| local.to_zoned(jiff::tz::TimeZone::UTC).ok()) {
        Some(at) => Ok(Some(at.timestamp().as_millisecond())),
        None => at_ms(stamp, place, recorder),
    }
}
