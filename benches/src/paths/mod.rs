//! The key paths: one registry for `scripts/perf-gate`, which counts instructions, and `cargo
//! bench`, which measures times.
//!
//! Absent on purpose: limits and verdicts, which belong to the script.

mod counting;
mod ledgers;
mod replays;
mod sessions;
mod stored;

use std::error::Error;

pub use counting::{CHUNK, reference};

/// Prepared work. It returns a number that is the same at each run, and never 0.
pub type Work = Box<dyn FnMut() -> u64>;

/// The work, or the reason why it could not be prepared.
pub type Prepared = Result<Work, Box<dyn Error>>;

/// A key path.
pub struct Path {
    /// The name that users type.
    pub name: String,
    /// What one run does.
    pub about: String,
    /// The size at which instructions and time are measured. Growth is measured from this size to
    /// twice it.
    pub size: usize,
    /// Whether the size is in kilobytes of text. Otherwise it is a number of what `about` names.
    pub is_text: bool,
    /// What is measured.
    pub measured: Measured,
    prepare: Box<dyn Fn(usize) -> Prepared>,
}

/// The measurements of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Instructions by `scripts/perf-gate`, and times by `cargo bench`.
    Instructions,
    /// Only times, because the path is too long, or too little of it is our code, to count its
    /// instructions.
    Times,
}

impl Path {
    fn new(
        name: impl Into<String>,
        size: usize,
        about: impl Into<String>,
        prepare: impl Fn(usize) -> Prepared + 'static,
    ) -> Self {
        Path {
            name: name.into(),
            about: about.into(),
            size,
            is_text: false,
            measured: Measured::Instructions,
            prepare: Box::new(prepare),
        }
    }

    fn of_text(self) -> Self {
        Path {
            is_text: true,
            ..self
        }
    }

    fn only_timed(self) -> Self {
        Path {
            measured: Measured::Times,
            ..self
        }
    }

    /// What one run does, with its size.
    pub fn what(&self) -> String {
        self.about.replace("SIZE", &self.size.to_string())
    }

    /// Prepares the work at one size.
    ///
    /// # Errors
    /// The reason why the work could not be prepared.
    pub fn prepare(&self, size: usize) -> Prepared {
        (self.prepare)(size)
    }
}

/// All paths.
pub fn all() -> Vec<Path> {
    [
        counting::paths(),
        ledgers::paths(),
        sessions::paths(),
        replays::paths(),
        stored::paths(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// The path with this name.
///
/// # Errors
/// A message that lists the paths.
pub fn by_name(name: &str) -> Result<Path, String> {
    let names = all()
        .iter()
        .map(|path| path.name.clone())
        .collect::<Vec<_>>()
        .join(", ");
    let found = all().into_iter().find(|path| path.name == name);
    found.ok_or_else(|| format!("unknown path `{name}`; choose one of {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_does_the_same_work_twice() {
        for path in all()
            .into_iter()
            .filter(|path| path.measured == Measured::Instructions)
        {
            let mut work = path
                .prepare(12)
                .unwrap_or_else(|error| panic!("{}: {error}", path.name));
            let once = work();
            assert!(
                once > 0 && work() == once,
                "{} did {once} and then something else",
                path.name
            );
        }
    }
}
