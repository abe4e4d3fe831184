//! Published packages as strategies: pinned, each with a program that speaks the protocol of
//! strategies.

use std::path::Path;

use compactometer_text::shell::shell_word;

/// A package of others as a strategy.
pub(in crate::commands) struct Adapter {
    /// The strategy's name.
    pub(in crate::commands) name: &'static str,
    pub(in crate::commands) about: &'static str,
    /// The version of the package that it is named for.
    pub(super) version: &'static str,
    pub(super) from: Registry,
    pub(super) packages: &'static [&'static str],
    /// Its program, which is the first, and what that needs beside it.
    pub(super) files: &'static [(&'static str, &'static str)],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    Npm,
    Pypi,
}

/// A new one needs its program in `scripts/adapters` and a row here.
pub(in crate::commands) const ALL: &[Adapter] = &[
    Adapter {
        name: "langchain-summary",
        about: "SummarizationMiddleware of LangChain 1.4.7, from PyPI",
        version: "1.4.7",
        from: Registry::Pypi,
        packages: &[
            "langchain==1.4.7",
            "langchain-core==1.8.3",
            "langchain-openai==1.7.4",
            "langgraph==1.2.24",
            "openai==3.57.0",
        ],
        files: &[
            (
                "langchain_summary.py",
                include_str!("../../../../../scripts/adapters/langchain_summary.py"),
            ),
            PYTHON[0],
            PYTHON[1],
        ],
    },
    Adapter {
        name: "vercel-prune",
        about: "pruneMessages of the Vercel AI SDK 6.0.326, from npm",
        version: "6.0.326",
        from: Registry::Npm,
        packages: &["ai@6.0.326"],
        files: &[(
            "vercel_prune.mjs",
            include_str!("../../../../../scripts/adapters/vercel_prune.mjs"),
        )],
    },
];

/// The package for strategies in Python.
const PYTHON: [(&str, &str); 2] = [
    (
        "compactometer/__init__.py",
        include_str!("../../../../../python/compactometer/__init__.py"),
    ),
    (
        "compactometer/strategy.py",
        include_str!("../../../../../python/compactometer/strategy.py"),
    ),
];

impl Adapter {
    /// The command that runs it from the folder that it is installed in.
    pub(super) fn command(&self, folder: &Path) -> String {
        let word = |path: &Path| shell_word(&path.display().to_string());
        let program = word(&folder.join(self.files[0].0));
        match self.from {
            Registry::Npm => format!("node {program}"),
            Registry::Pypi => format!("{} {program}", word(&folder.join("python/bin/python"))),
        }
    }
}
