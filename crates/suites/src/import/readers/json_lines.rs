//! Files of one JSON object a line. A line that cannot be read is dropped and reported with its
//! number.

use serde_json::Value;

use crate::import::error::ImportError;
use crate::import::input::{BEGINNING, Input, InputLine};
use crate::import::place::Place;
use crate::import::readers::surrogates;
use crate::import::report::Recorder;
use crate::import::session::type_name;

/// A line that is not JSON: its number and its text.
pub(in crate::import) type BrokenLine = (usize, String);

/// A file's objects with their places.
pub(in crate::import) fn read(
    input: &Input,
    recorder: &mut Recorder,
) -> Result<Vec<(Place, Value)>, ImportError> {
    let mut rows = Vec::new();
    each(input, recorder, &mut |place, row, _| {
        rows.push((place, row));
        Ok(())
    })?;
    Ok(rows)
}

type TakeRow<'t> = dyn FnMut(Place, Value, &mut Recorder) -> Result<(), ImportError> + 't;

/// Takes each object when its line is read, and returns the lines that are not JSON.
pub(in crate::import) fn each(
    input: &Input,
    recorder: &mut Recorder,
    take: &mut TakeRow<'_>,
) -> Result<Vec<BrokenLine>, ImportError> {
    let mut broken = Vec::new();
    input.each_line(recorder, &mut |line, recorder| {
        let number = line.number;
        let repair = |what, recorder: &mut Recorder| recorder.repair(Place::Line(number), what);
        match surrogates::parse::<Value>(line.text) {
            Ok((row @ Value::Object(_), mended)) => {
                if let Some(mended) = mended {
                    repair(mended.what(), recorder)?;
                }
                take(Place::Line(number), row, recorder)
            }
            Ok((value, _)) => {
                let what = format!("expected an object, found {}: dropped", type_name(&value));
                repair(what, recorder)
            }
            Err(error) => match joined(line.text) {
                Some(objects) => {
                    let what = format!(
                        "{} objects without a line break between them: read as lines",
                        objects.len()
                    );
                    repair(what, recorder)?;
                    let mut rows = objects.into_iter().zip(places(number));
                    rows.try_for_each(|(row, place)| take(place, row, recorder))
                }
                None => {
                    broken.push((number, line.text.to_owned()));
                    repair(dropped(&line, &error), recorder)
                }
            },
        }
    })?;
    Ok(broken)
}

/// Places of the objects of one line.
fn places(line: usize) -> impl Iterator<Item = Place> {
    let later = (2..).map(move |part| Place::Part { line, part });
    std::iter::once(Place::Line(line)).chain(later)
}

/// What is said of a line that is not JSON.
fn dropped(line: &InputLine<'_>, error: &serde_json::Error) -> String {
    let torn = match line.is_last {
        true => "torn last line",
        false => "broken line",
    };
    let error = error.to_string().replace("line 1 column", "column");
    format!("{torn} ({error}): dropped")
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
