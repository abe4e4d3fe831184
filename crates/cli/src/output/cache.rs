//! The folder of what can be made again.

use std::path::PathBuf;

use compactometer_disk::user::USER;

/// `compactometer` in the user's cache folder, if the user has one.
pub(crate) fn folder() -> Option<PathBuf> {
    Some(USER.cache()?.join("compactometer"))
}
