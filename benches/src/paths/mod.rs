//! The key paths: one registry for `scripts/perf-gate`, which counts instructions, and `cargo bench`, which takes times.
//!
//! Absent on purpose: limits and verdicts, which are the script's.

mod counting;
mod replays;
mod sessions;
mod stored;

use std::error::Error;

pub use counting::{CHUNK, reference};

/// Work that is ready to be done: gives a number that is never 0 where it was done, and the same at each run.
pub type Work = Box<dyn FnMut() -> u64>;

/// Work, or what kept it from being ready.
pub type Prepared = Result<Work, Box<dyn Error>>;

/// One path.
pub struct Path {
    /// What users type.
    pub name: String,
    /// What is done once.
    pub about: String,
    /// The size whose instructions the baseline holds and whose time is taken; growth is looked at from here to its double.
    pub size: usize,
    /// What is taken of it.
    pub measured: Measured,
    prepare: Box<dyn Fn(usize) -> Prepared>,
}

/// What is taken of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// Instructions by `scripts/perf-gate`, and times by `cargo bench`.
    Instructions,
    /// Times alone: too long, or too little of it ours, to count its instructions.
    Times,
    /// The time of one run: too long for more.
    Time,
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
            measured: Measured::Instructions,
            prepare: Box::new(prepare),
        }
    }

    fn measured(self, measured: Measured) -> Self {
        Path { measured, ..self }
    }

    /// Makes the work of one size ready.
    ///
    /// # Errors
    /// What kept the work from being ready.
    pub fn prepare(&self, size: usize) -> Prepared {
        (self.prepare)(size)
    }
}

/// Every path.
pub fn all() -> Vec<Path> {
    [counting::paths(), sessions::paths(), replays::paths(), stored::paths()].into_iter().flatten().collect()
}

/// The path of that name.
///
/// # Errors
/// Names the paths that there are.
pub fn by_name(name: &str) -> Result<Path, String> {
    let names = all().iter().map(|path| path.name.clone()).collect::<Vec<_>>().join(", ");
    let found = all().into_iter().find(|path| path.name == name);
    found.ok_or_else(|| format!("unknown path `{name}`; choose one of {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_does_the_same_work_twice() {
        for path in all().into_iter().filter(|path| path.measured == Measured::Instructions) {
            let mut work = path.prepare(12).unwrap_or_else(|error| panic!("{}: {error}", path.name));
            let once = work();
            assert!(once > 0 && work() == once, "{} did {once} and then something else", path.name);
        }
    }
}
