//! Names of paths: relative to the directory where a conversation began, and the lines that list a
//! folder's files.

/// The directory that paths are named relative to.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots {
    /// Where the conversation began; empty if that is not known.
    pub(super) first: String,
}

impl Roots {
    pub(super) fn new(directories: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let first = directories
            .into_iter()
            .next()
            .map(|first| first.as_ref().trim_end_matches('/').to_owned());
        Roots {
            first: first.unwrap_or_default(),
        }
    }

    /// The name of a path: one for each file, however it was said.
    pub(super) fn name<'p>(&self, path: &'p str) -> &'p str {
        let path = path.trim_end_matches('/');
        let below = path
            .strip_prefix(self.first.as_str())
            .and_then(|rest| rest.strip_prefix('/'));
        let relative = below
            .filter(|rest| !rest.is_empty() && !self.first.is_empty())
            .unwrap_or(path);
        relative.strip_prefix("./").unwrap_or(relative)
    }
}

/// The folder of a path, with its slash, and the name in it. A path of one name has none.
pub(super) fn folder(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.rsplit_once('/').filter(|(_, name)| !name.is_empty())?;
    Some((&path[..folder.len() + 1], name))
}
