//! Failures and their exit codes.

use std::io::ErrorKind;
use std::process::ExitCode;

/// A failure that no argument caused, such as a full disk or a damaged journal.
const FAILED: u8 = 1;
/// Unusable arguments or input, or a mismatch between them.
const USAGE: u8 = 2;
/// A gate found that a run retains less than its baseline.
const REGRESSION: u8 = 3;
/// A gate was inconclusive.
const INCONCLUSIVE: u8 = 4;
/// A model's server is unavailable; the same command may work later.
const LATER: u8 = 75;

/// An error with its causes, each printed once, since some errors include theirs.
pub(crate) fn words(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_of_full_disk(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        let io = cause
            .downcast_ref::<std::io::Error>()
            .map(std::io::Error::kind);
        let of_store = cause
            .downcast_ref::<compactometer_store::Error>()
            .is_some_and(|error| error.is_of_full_disk());
        matches!(io, Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded)) || of_store
    })
}

/// Why the program failed.
#[derive(Debug)]
pub(crate) struct Failure {
    code: u8,
    error: anyhow::Error,
}

impl Failure {
    /// Exit code 1.
    pub(crate) fn failed(error: impl Into<anyhow::Error>) -> Self {
        Failure {
            code: FAILED,
            error: error.into(),
        }
    }

    /// Exit code 2; 1 on a full disk, since other arguments would not help.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        let error = error.into();
        Failure {
            code: if is_of_full_disk(&error) {
                FAILED
            } else {
                USAGE
            },
            error,
        }
    }

    /// Exit code 75.
    pub(crate) fn later(error: impl Into<anyhow::Error>) -> Self {
        Failure {
            code: LATER,
            error: error.into(),
        }
    }

    /// Exit code 3.
    pub(crate) fn regression(error: impl Into<anyhow::Error>) -> Self {
        Failure {
            code: REGRESSION,
            error: error.into(),
        }
    }

    /// Exit code 4.
    pub(crate) fn inconclusive(error: impl Into<anyhow::Error>) -> Self {
        Failure {
            code: INCONCLUSIVE,
            error: error.into(),
        }
    }

    /// The message, with causes.
    pub(crate) fn words(&self) -> String {
        words(&self.error)
    }

    /// The program's exit code.
    pub(crate) fn code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::words;

    #[test]
    fn a_cause_is_said_once() {
        let error = anyhow!("disk full")
            .context("cannot write `a`: disk full; free space")
            .context("no record");
        assert_eq!(
            words(&error),
            "no record: cannot write `a`: disk full; free space"
        );
    }
}
