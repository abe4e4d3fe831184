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
    /// The oldest Python that all packages take.
    pub(super) python: (u32, u32),
    /// The name and the text of its program.
    program: (&'static str, &'static str),
    /// The program's argument, if it is one for several adapters, which share a folder.
    kind: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Registry {
    Npm,
    Pypi,
}

/// What packages of PyPI need if they need no later one.
pub(super) const PYTHON_LEAST: (u32, u32) = (3, 11);

/// A new one needs its program in `scripts/adapters` and a row here.
pub(in crate::commands) const ALL: &[Adapter] = &[
    Adapter {
        name: "langchain-summary",
        about: "SummarizationMiddleware of LangChain 1.4.7, from PyPI",
        version: "1.4.7",
        packages: &[
            "langchain==1.4.7",
            "langchain-core==1.8.3",
            "langchain-openai==1.7.4",
            "langgraph==1.2.24",
            "openai==3.57.0",
        ],
        program: (
            "langchain_summary.py",
            include_str!("../../../../../scripts/adapters/langchain_summary.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "langchain-clear",
        about: "ContextEditingMiddleware of LangChain 1.4.7, from PyPI",
        version: "1.4.7",
        packages: &[
            "langchain==1.4.7",
            "langchain-core==1.8.3",
            "langgraph==1.2.24",
        ],
        program: (
            "langchain_clear.py",
            include_str!("../../../../../scripts/adapters/langchain_clear.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "deepagents-summary",
        about: "the summarization of deepagents 0.7.32, from PyPI",
        version: "0.7.32",
        packages: &[
            "deepagents==0.7.32",
            "langchain==1.4.7",
            "langchain-core==1.8.3",
            "langchain-openai==1.7.4",
            "langgraph==1.2.24",
            "openai==3.57.0",
        ],
        program: (
            "deepagents_summary.py",
            include_str!("../../../../../scripts/adapters/deepagents_summary.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "inspect-summary",
        about: "CompactionSummary of inspect_ai 0.3.285, from PyPI",
        kind: Some("summary"),
        ..INSPECT
    },
    Adapter {
        name: "inspect-edit",
        about: "CompactionEdit of inspect_ai 0.3.285, from PyPI",
        kind: Some("edit"),
        ..INSPECT
    },
    Adapter {
        name: "inspect-trim",
        about: "CompactionTrim of inspect_ai 0.3.285, from PyPI",
        kind: Some("trim"),
        ..INSPECT
    },
    Adapter {
        name: "strands-summary",
        about: "SummarizingConversationManager of Strands 1.62.0, from PyPI",
        version: "1.62.0",
        packages: &["strands-agents==1.62.0", "openai==2.54.0"],
        program: (
            "strands_summary.py",
            include_str!("../../../../../scripts/adapters/strands_summary.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "openhands-condenser",
        about: "LLMSummarizingCondenser of OpenHands 1.58.2, from PyPI",
        version: "1.58.2",
        packages: &["openhands-sdk==1.58.2"],
        python: (3, 12),
        program: (
            "openhands_condenser.py",
            include_str!("../../../../../scripts/adapters/openhands_condenser.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "adk-summary",
        about: "LlmEventSummarizer of Google's ADK 2.13.0, from PyPI",
        version: "2.13.0",
        packages: &["google-adk==2.13.0"],
        program: (
            "adk_summary.py",
            include_str!("../../../../../scripts/adapters/adk_summary.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "agent-framework-summary",
        about: "SummarizationStrategy of Microsoft's Agent Framework 1.23.0, from PyPI",
        version: "1.23.0",
        packages: &["agent-framework-core==1.23.0"],
        program: (
            "agent_framework_summary.py",
            include_str!("../../../../../scripts/adapters/agent_framework_summary.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "anthropic-compact",
        about: "the compaction by Anthropic's server, asked by its client 1.17.0 from PyPI",
        version: "1.17.0",
        packages: &["anthropic==1.17.0"],
        program: (
            "anthropic_compact.py",
            include_str!("../../../../../scripts/adapters/anthropic_compact.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "openai-compact",
        about: "the compaction by OpenAI's server, asked by its client 3.57.0 from PyPI",
        version: "3.57.0",
        packages: &["openai==3.57.0"],
        program: (
            "openai_compact.py",
            include_str!("../../../../../scripts/adapters/openai_compact.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "claude-code-port",
        about: "Claude Code's compaction as compact-middleware 0.1.1 ports it, from PyPI",
        version: "0.1.1",
        packages: &[
            "compact-middleware==0.1.1",
            "langchain==1.4.7",
            "langchain-core==1.8.3",
            "langchain-openai==1.7.4",
            "langgraph==1.2.24",
            "openai==3.57.0",
        ],
        program: (
            "claude_code_port.py",
            include_str!("../../../../../scripts/adapters/claude_code_port.py"),
        ),
        ..PYPI
    },
    Adapter {
        name: "pi-compaction",
        about: "the compaction of pi 0.73.1, from npm",
        version: "0.73.1",
        packages: &["@mariozechner/pi-coding-agent@0.73.1"],
        program: (
            "pi_compaction.mjs",
            include_str!("../../../../../scripts/adapters/pi_compaction.mjs"),
        ),
        ..NPM
    },
    Adapter {
        name: "vercel-prune",
        about: "pruneMessages of the Vercel AI SDK 6.0.326, from npm",
        version: "6.0.326",
        packages: &["ai@6.0.326"],
        program: (
            "vercel_prune.mjs",
            include_str!("../../../../../scripts/adapters/vercel_prune.mjs"),
        ),
        ..NPM
    },
];

const NPM: Adapter = Adapter {
    name: "",
    about: "",
    version: "",
    from: Registry::Npm,
    packages: &[],
    python: PYTHON_LEAST,
    program: ("", ""),
    kind: None,
};

const PYPI: Adapter = Adapter {
    from: Registry::Pypi,
    ..NPM
};

const INSPECT: Adapter = Adapter {
    version: "0.3.285",
    packages: &["inspect_ai==0.3.285", "openai==3.57.0"],
    program: (
        "inspect_compaction.py",
        include_str!("../../../../../scripts/adapters/inspect_compaction.py"),
    ),
    ..PYPI
};

/// The package for strategies in Python.
const PYTHON: [(&str, &str); 3] = [
    (
        "compactometer/__init__.py",
        include_str!("../../../../../python/compactometer/__init__.py"),
    ),
    (
        "compactometer/langchain.py",
        include_str!("../../../../../python/compactometer/langchain.py"),
    ),
    (
        "compactometer/strategy.py",
        include_str!("../../../../../python/compactometer/strategy.py"),
    ),
];

impl Adapter {
    /// The name of its folder.
    pub(super) fn folder_name(&self) -> String {
        let (stem, _) = self.program.0.rsplit_once('.').unwrap_or_default();
        let name = match self.kind {
            Some(_) => stem,
            None => self.name,
        };
        format!("{name}@{}", self.version)
    }

    /// The other adapters of its folder.
    pub(super) fn beside(&self) -> Vec<&'static str> {
        let folder = self.folder_name();
        let others = ALL.iter().filter(|other| other.name != self.name);
        others
            .filter(|other| other.folder_name() == folder)
            .map(|other| other.name)
            .collect()
    }

    /// Its program, and what that needs beside it.
    pub(super) fn files(&self) -> Vec<(&'static str, &'static str)> {
        let beside = match self.from {
            Registry::Npm => &[][..],
            Registry::Pypi => &PYTHON,
        };
        [&[self.program], beside].concat()
    }

    /// The command that runs it from the folder that it is installed in.
    pub(super) fn command(&self, folder: &Path) -> String {
        let word = |path: &Path| shell_word(&path.display().to_string());
        let program = word(&folder.join(self.program.0));
        let kind = self.kind.map_or(String::new(), |kind| format!(" {kind}"));
        match self.from {
            Registry::Npm => format!("node {program}{kind}"),
            Registry::Pypi => {
                let python = word(&folder.join("python/bin/python"));
                format!("{python} {program}{kind}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adapters_of_one_program_share_its_folder() {
        let by_name = |name: &str| ALL.iter().find(|adapter| adapter.name == name).unwrap();
        let edit = by_name("inspect-edit");
        assert_eq!(edit.folder_name(), "inspect_compaction@0.3.285");
        assert_eq!(edit.beside(), ["inspect-summary", "inspect-trim"]);
        let command = edit.command(Path::new("/cache"));
        assert!(
            command.ends_with("/cache/inspect_compaction.py edit"),
            "{command}"
        );
        let alone = by_name("langchain-clear");
        assert_eq!(alone.folder_name(), "langchain-clear@1.4.7");
        assert!(alone.beside().is_empty());
    }

    /// Programs of one name would share a folder with other packages.
    #[test]
    fn adapters_of_one_folder_have_the_same_packages() {
        for one in ALL {
            assert!(!one.name.is_empty() && one.about.contains(one.version));
            for other in ALL
                .iter()
                .filter(|other| one.beside().contains(&other.name))
            {
                assert_eq!(
                    (one.packages, one.program.0),
                    (other.packages, other.program.0)
                );
                assert_ne!(one.kind, other.kind, "{} and {}", one.name, other.name);
            }
        }
    }
}
