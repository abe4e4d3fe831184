//! The tables of a page: each metric names the one that it is shown in.

/// A table of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricsSection {
    /// What contexts hold.
    Recall,
    /// What a reader answers.
    Answers,
    /// How answers are wrong.
    WrongAnswers,
    /// How long facts last.
    Survival,
    /// What retrieval adds.
    Retrieval,
    /// Where facts are lost on their way out of the context.
    Stages,
    /// Whether the summarizer's replies can be used.
    Summarizer,
    /// What compactions do to requests.
    Requests,
    /// What a conversation costs.
    Cost,
    /// What a session stores.
    Storage,
    /// What was played to agents.
    Agents,
}

impl MetricsSection {
    /// Every section, in the order of pages.
    pub(crate) fn all() -> impl Iterator<Item = MetricsSection> {
        TABLES.iter().map(|(section, _, _)| *section)
    }

    /// The table's heading, and what a reader needs to know before the numbers.
    pub(crate) fn heading(self) -> (&'static str, &'static str) {
        let found = TABLES.iter().find(|(section, _, _)| *section == self);
        found.map_or(("", ""), |(_, title, note)| (title, note))
    }
}

const TABLES: &[(MetricsSection, &str, &str)] = &[
    (
        MetricsSection::Recall,
        "Recall",
        "Shares of 1 with 95 % intervals over conversations; those that belong together, such as an agent and its helpers, count as one. A replay measures what contexts hold, not whether a task succeeds.",
    ),
    (
        MetricsSection::Answers,
        "Answers to questions",
        "One call per question on a copy of the session, from the context alone. `closed_book` and the correction take `null` \
         for a reader without the conversation. Under a mock all of this depends on the mock: shown with its intervals, \
         unranked.",
    ),
    (
        MetricsSection::WrongAnswers,
        "Answers that are not right",
        "A wrong value is counted apart from a missing one. Failed calls are misses of recall and abstention, and enter no \
         other rate here.",
    ),
    (
        MetricsSection::Survival,
        "Survival",
        "Facts since the compaction in which their last original left; `cliff` counts rounds. The picture shows the curves.",
    ),
    (
        MetricsSection::Retrieval,
        "Found again when asked",
        "What a strategy retrieves for the question of each eligible fact, within the retained budget, counts as well; no \
         model is called. `prompted_recall` covers only facts that have a question, and the rows of memory what only an agent's \
         memory states.",
    ),
    (
        MetricsSection::Stages,
        "Stages of a summary",
        "Of the facts whose last original left: read by a summarizer, then written, then in the new context.",
    ),
    (
        MetricsSection::Summarizer,
        "Answers of the summarizer",
        "Failed calls count as misses. `summary.json` says how replies were read, and why some were not.",
    ),
    (
        MetricsSection::Requests,
        "Size, validity and waiting",
        "`wait_ms_p50` and `wait_ms_p95` are over the turns that wait; `waiting_share` says how many do.",
    ),
    (
        MetricsSection::Cost,
        "Cost",
        "US dollars per conversation, compaction and checkpoint calls included; what asking the questions costs is shown \
         apart. Turns without a time follow each other by 10 s; `10min`: by ten minutes, longer than most caches live.",
    ),
    (
        MetricsSection::Storage,
        "Storage",
        "What a session's records take, uncompressed.",
    ),
    (
        MetricsSection::Agents,
        "Agents",
        "The recorded turns go on whatever an agent lost, and a summary's words are the summarizer's, not those of the agent's model.",
    ),
];
