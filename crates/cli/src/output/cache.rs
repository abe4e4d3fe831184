//! The folder of what can be made again.

use std::path::PathBuf;

/// `compactometer` in the user's cache folder, if the user has one.
pub(crate) fn folder() -> Option<PathBuf> {
    let of = |variable| {
        std::env::var_os(variable)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let cache = of("XDG_CACHE_HOME")
        .or_else(|| of("LOCALAPPDATA"))
        .or_else(|| Some(of("HOME")?.join(".cache")))?;
    Some(cache.join("compactometer"))
}
