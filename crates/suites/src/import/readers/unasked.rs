//! Streams that do not have what the user asked.

use crate::import::error::ImportError;
use crate::import::place::Place;
use crate::import::report::Recorder;

/// What takes the place of the user's words, which is a repair.
pub(in crate::import) fn text(
    place: Place,
    recorder: &mut Recorder,
) -> Result<String, ImportError> {
    let what = "turn without the words of the user: a message says so";
    recorder.repair(place, what.to_owned())?;
    Ok("What was asked is not in the stream.".to_owned())
}
