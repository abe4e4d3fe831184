//! The folders of the user, as variables and the system name them.

use std::ffi::OsString;
use std::path::PathBuf;

/// Finds the user's folders by environment variables.
#[derive(Clone, Copy, Debug)]
pub struct UserFolders<F> {
    /// Reads a variable.
    pub variable: F,
    /// Whether Windows' variables count.
    pub is_windows: bool,
}

/// The folders of the user of this process.
pub const USER: UserFolders<fn(&str) -> Option<OsString>> = UserFolders {
    variable: |name| std::env::var_os(name),
    is_windows: cfg!(windows),
};

/// The folders of a user with these variables only.
pub fn with(
    variables: &[(&str, &str)],
    is_windows: bool,
) -> UserFolders<impl Fn(&str) -> Option<OsString>> {
    let variable = move |name: &str| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| OsString::from(value))
    };
    UserFolders {
        variable,
        is_windows,
    }
}

impl<F: Fn(&str) -> Option<OsString>> UserFolders<F> {
    /// The user's own folder. On Windows `HOME` counts last: shells from elsewhere set it, and
    /// agents do not look there.
    pub fn home(&self) -> Option<PathBuf> {
        match self.is_windows {
            true => self
                .folder_in("USERPROFILE")
                .or_else(|| self.folder_in("HOME")),
            false => self.folder_in("HOME"),
        }
    }

    /// The folder of settings.
    pub fn config(&self) -> Option<PathBuf> {
        self.base("XDG_CONFIG_HOME", "APPDATA", ".config")
    }

    /// The folder of what can be made again.
    pub fn cache(&self) -> Option<PathBuf> {
        self.base("XDG_CACHE_HOME", "LOCALAPPDATA", ".cache")
    }

    /// A program's folder: the one that its variable names, or this one in the user's own.
    pub fn of_program(&self, variable: Option<&str>, folder: &str) -> Option<PathBuf> {
        let named = variable.and_then(|variable| self.folder_in(variable));
        named.or_else(|| Some(self.home()?.join(folder)))
    }

    fn base(&self, everywhere: &str, of_windows: &str, below_home: &str) -> Option<PathBuf> {
        let of_windows = || self.folder_in(of_windows).filter(|_| self.is_windows);
        let named = self.folder_in(everywhere).or_else(of_windows);
        named.or_else(|| Some(self.home()?.join(below_home)))
    }

    /// The folder that a variable names; an empty one names none.
    fn folder_in(&self, variable: &str) -> Option<PathBuf> {
        let value = (self.variable)(variable).filter(|value| !value.is_empty());
        value.map(PathBuf::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Variables = &'static [(&'static str, &'static str)];

    const UNIX: Variables = &[("HOME", "/home/ann"), ("LOCALAPPDATA", "/elsewhere")];
    const MAC: Variables = &[("HOME", "/Users/ann"), ("CODEX_HOME", "")];
    const XDG: Variables = &[
        ("HOME", "/home/ann"),
        ("XDG_CONFIG_HOME", "/config"),
        ("XDG_CACHE_HOME", "/cache"),
        ("CODEX_HOME", "/codex"),
    ];
    const WINDOWS: Variables = &[
        ("HOME", "/c/Users/ann"),
        ("USERPROFILE", "C:/Users/ann"),
        ("APPDATA", "C:/Users/ann/AppData/Roaming"),
        ("LOCALAPPDATA", "C:/Users/ann/AppData/Local"),
    ];

    /// Whether it is Windows, variables, and the folders: home, settings, cache, Codex's.
    const ROWS: [(bool, Variables, [&str; 4]); 5] = [
        (
            false,
            UNIX,
            [
                "/home/ann",
                "/home/ann/.config",
                "/home/ann/.cache",
                "/home/ann/.codex",
            ],
        ),
        (
            false,
            MAC,
            [
                "/Users/ann",
                "/Users/ann/.config",
                "/Users/ann/.cache",
                "/Users/ann/.codex",
            ],
        ),
        (false, XDG, ["/home/ann", "/config", "/cache", "/codex"]),
        (
            true,
            WINDOWS,
            [
                "C:/Users/ann",
                "C:/Users/ann/AppData/Roaming",
                "C:/Users/ann/AppData/Local",
                "C:/Users/ann/.codex",
            ],
        ),
        (true, XDG, ["/home/ann", "/config", "/cache", "/codex"]),
    ];

    #[test]
    fn folders_are_where_each_system_has_them() {
        for (is_windows, variables, expected) in ROWS {
            let user = with(variables, is_windows);
            let found = [
                user.home(),
                user.config(),
                user.cache(),
                user.of_program(Some("CODEX_HOME"), ".codex"),
            ];
            let expected = expected.map(|folder| Some(PathBuf::from(folder)));
            assert_eq!(found, expected, "windows: {is_windows}, {variables:?}");
        }
        let user = with(&[], false);
        assert_eq!(user.of_program(Some("CODEX_HOME"), ".codex"), None);
    }
}
