//! Why a plan's folder cannot be used.

use std::io;
use std::path::{Path, PathBuf};

use crate::run::RunError;

/// A plan's folder that cannot be used, or a shard that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The folder holds no plan.
    #[error("`{}` holds no plan; name a folder that `compactometer plan --out DIR` wrote", dir.display())]
    NoPlan {
        /// The folder.
        dir: PathBuf,
    },
    /// The file system refused.
    #[error("cannot {what} `{}`: {source}; {}", path.display(), advice(source))]
    Io {
        /// The attempted operation.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A part cannot be created so that only the first worker creates it.
    #[error(
        "`{}` cannot be created safely: this file system has no hard links ({source}); move the plan's folder to one that has \
         them, and the same command goes on",
        path.display()
    )]
    NoLinks {
        /// The part.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The plan, an attempt or a part was written by another version of this program.
    #[error("`{}` is of another version of compactometer ({found}); use that version, or make a new plan", path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// An attempt or a part belongs to another plan or shard.
    #[error("`{}` belongs to {found}; move it out of this plan's folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: String,
    },
    /// This program would run other cases than those that were planned.
    #[error("this program would run other cases than the plan in `{}` ({what}); use the program, files and settings that the plan was \
             made with, or make a new plan", dir.display())]
    OtherCases {
        /// The plan's folder.
        dir: PathBuf,
        /// What differs.
        what: String,
    },
    /// A file of the plan's folder is damaged.
    #[error("`{}`, line {line}: {what}; {remedy}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What was found.
        what: String,
        /// What to do.
        remedy: &'static str,
    },
    /// Parts are missing.
    #[error("{} of {shards} shards are missing: {}; run them, then merge", missing.len(), ranges(missing))]
    Incomplete {
        /// The shards without a part, ascending.
        missing: Vec<u32>,
        /// How many there are.
        shards: u32,
    },
    /// The target of a merge exists.
    #[error("`{}` exists; choose another `--out`", path.display())]
    Exists {
        /// The target.
        path: PathBuf,
    },
    /// The cases cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ShardError {
    /// For an operation on this path.
    pub(super) fn io(what: &'static str, path: &Path) -> impl Fn(io::Error) -> ShardError {
        let path = path.to_owned();
        move |source| ShardError::Io {
            what,
            path: path.clone(),
            source,
        }
    }
}

fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => {
            "bring back the folder or the file system that held it, and the same command goes on"
        }
        _ => {
            "free space there, or make it readable and writable for this user, and the same command goes on"
        }
    }
}

/// Ascending numbers as job schedulers take them: `3,9,17-20`.
pub(super) fn ranges(numbers: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => runs.push((*number, *number)),
        }
    }
    let shown = |(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    runs.iter().map(shown).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn neighbours_are_one_range() {
        assert_eq!(ranges(&[3, 9, 17, 18, 19, 20, 22, 23]), "3,9,17-20,22-23");
        assert_eq!(ranges(&[]), "");
    }
}
