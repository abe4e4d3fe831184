//! The words that screens, pages, plots and gates print: one name for each thing. Files for programs
//! keep the ids.

use compactometer_formats::fate::Fate;

/// A thing that reports name.
pub struct Term {
    /// Its id in files for programs.
    pub id: &'static str,
    /// Its name in texts, headings and plots.
    pub name: &'static str,
    /// Its name over a narrow column, in two lines.
    pub(crate) header: [&'static str; 2],
    /// What the name does not say, as a sentence that explains the column; may be empty.
    pub meaning: &'static str,
}

/// Every term, metrics first.
pub const TERMS: &[Term] = &[
    Term {
        id: "bound_recall_corrected",
        name: "facts kept",
        header: ["facts", "kept"],
        meaning: "Facts kept: of what was said long before, the share that is held with its subject.",
    },
    Term {
        id: "context_recall_corrected",
        name: "values kept",
        header: ["values", "kept"],
        meaning: "Values kept: of the values said long before, the share that is held, with or without its subject, beyond chance.",
    },
    Term {
        id: "context_recall",
        name: "values kept with chance",
        header: ["values", "kept"],
        meaning: "Values kept: of the values said long before, the share that is held; chance is in it.",
    },
    Term {
        id: "bound_recall",
        name: "facts kept with chance",
        header: ["facts", "kept"],
        meaning: "",
    },
    Term {
        id: "address_use_recall",
        name: "needed values held",
        header: ["values", "needed"],
        meaning: "Values needed: of old values that later calls acted on, the share held just before.",
    },
    Term {
        id: "address_use_lift",
        name: "needed values held, over random old text",
        header: ["over", "random"],
        meaning: "Over random: the points by which that is more than as much random old text would hold.",
    },
    Term {
        id: "address_use_recall_floor",
        name: "needed values held at least",
        header: ["at", "least"],
        meaning: "At least: what is outside of summaries.",
    },
    Term {
        id: "address_use_recall_ceiling",
        name: "needed values held at most",
        header: ["at", "most"],
        meaning: "At most: what a summarizer was shown, too.",
    },
    Term {
        id: "uncompacted_address_use_recall",
        name: "needed values held before the first summary",
        header: ["before", "summary"],
        meaning: "Before summary: values needed before the recorded program first compacted. Later ones were chosen from its own summary.",
    },
    Term {
        id: "answer_recall",
        name: "answers right",
        header: ["answers", "right"],
        meaning: "Answers right: to questions about old facts.",
    },
    Term {
        id: "prompted_answer_recall",
        name: "answers right with what is found when asked",
        header: ["right", "when asked"],
        meaning: "Right when asked: the same with what a search of the strategy's notes finds for the question.",
    },
    Term {
        id: "recent_recall",
        name: "recent values held",
        header: ["recent", "values"],
        meaning: "Recent values: the share of newer facts whose values the context holds.",
    },
    Term {
        id: "stated_share",
        name: "values in a clause",
        header: ["in a", "clause"],
        meaning: "In a clause: of the values held, those with other words beside them.",
    },
    Term {
        id: "tokens_retained",
        name: "tokens after a compaction",
        header: ["tokens", "left"],
        meaning: "",
    },
    Term {
        id: "written_budget",
        name: "tokens that may be written",
        header: ["may", "write"],
        meaning: "",
    },
    Term {
        id: "wait_ms_p95",
        name: "wait, 19 of 20 shorter",
        header: ["", "wait"],
        meaning: "Wait: 19 of 20 are shorter.",
    },
    Term {
        id: "wait_ms_p50",
        name: "wait, median",
        header: ["median", "wait"],
        meaning: "",
    },
    Term {
        id: "cost_usd",
        name: "cost",
        header: ["", "cost"],
        meaning: "",
    },
    Term {
        id: "cost_against_full",
        name: "cost over uncompacted",
        header: ["over un-", "compacted"],
        meaning: "Cost: with prompt caching; `full` never compacts.",
    },
    Term {
        id: "recoveries_shown",
        name: "checkpoints shown after an absence",
        header: ["shown", "again"],
        meaning: "Shown again: checkpoints shown after an absence, in a conversation.",
    },
    Term {
        id: "survival_first_round",
        name: "facts that survive the first round",
        header: ["after", "1 round"],
        meaning: "After 1 round: of the facts whose message left, the share that the context still held.",
    },
    Term {
        id: "drift",
        name: "lost from round 1 to 4",
        header: ["lost", "to 4"],
        meaning: "Lost to 4: points of that share lost by the fourth round.",
    },
    Term {
        id: "drift_20_rounds",
        name: "lost from round 1 to 20",
        header: ["lost", "to 20"],
        meaning: "Lost to 20, to 100: points of that share lost by those rounds.",
    },
    Term {
        id: "drift_100_rounds",
        name: "lost from round 1 to 100",
        header: ["lost", "to 100"],
        meaning: "",
    },
    Term {
        id: "memory_document_recall",
        name: "answers in the memory document",
        header: ["in the", "document"],
        meaning: "In the document: answers that requests held of the memory document.",
    },
    Term {
        id: "memory_note_recall",
        name: "answers in notes",
        header: ["in", "notes"],
        meaning: "In notes: answers that requests held of an earlier conversation, or that were retrieved.",
    },
    Term {
        id: "memory_answer_recall",
        name: "memory questions answered right",
        header: ["memory", "right"],
        meaning: "Memory right: questions about it that were answered right.",
    },
    Term {
        id: "cost_saving",
        name: "cost saved against uncompacted",
        header: ["cost", "saved"],
        meaning: "Cost saved: against an uncompacted conversation, with prompt caching, without the output.",
    },
    Term {
        id: "break_even_turns",
        name: "turns until a compaction is paid for",
        header: ["paid", "after"],
        meaning: "Paid after: turns until a compaction is paid for.",
    },
    Term {
        id: "over_window_share",
        name: "turns over the context window",
        header: ["turns", "too large"],
        meaning: "",
    },
    Term {
        id: "failed_share",
        name: "compactions that failed",
        header: ["failed", "compactions"],
        meaning: "",
    },
    Term {
        id: "failed_probes",
        name: "questions that failed",
        header: ["questions", "failed"],
        meaning: "",
    },
    Term {
        id: "cost_usd_probes",
        name: "cost of questions",
        header: ["cost of", "questions"],
        meaning: "",
    },
    Term {
        id: "verbatim",
        name: "held as said",
        header: ["held", "as said"],
        meaning: "A message that stayed holds it.",
    },
    Term {
        id: "carried",
        name: "held in a summary",
        header: ["held in", "summary"],
        meaning: "A summary or checkpoint holds it.",
    },
    Term {
        id: "stored_only",
        name: "only stored",
        header: ["only", "stored"],
        meaning: "A store holds it and the context does not.",
    },
    Term {
        id: "dropped_unseen",
        name: "never read",
        header: ["never", "read"],
        meaning: "No request to the summarizer held it.",
    },
    Term {
        id: "unwritten",
        name: "left out",
        header: ["left", "out"],
        meaning: "A summarizer read it and did not write it.",
    },
    Term {
        id: "eroded",
        name: "lost later",
        header: ["lost", "later"],
        meaning: "It was written once, and a later compaction lost it.",
    },
    Term {
        id: "lost",
        name: "lost",
        header: ["", "lost"],
        meaning: "It left the context at a stage that the transcript does not show.",
    },
    Term {
        id: "sealed",
        name: "sealed",
        header: ["", "sealed"],
        meaning: "A summarizer read it. What it wrote only its provider's models read.",
    },
    Term {
        id: "superseded",
        name: "no longer valid",
        header: ["no longer", "valid"],
        meaning: "A newer value replaced it.",
    },
    Term {
        id: "unstated",
        name: "not yet said",
        header: ["not yet", "said"],
        meaning: "",
    },
    Term {
        id: "unexplained",
        name: "unexplained",
        header: ["", "unexplained"],
        meaning: "The context holds it, and nothing shows how it got there: a fault of this program.",
    },
    Term {
        id: "unusable",
        name: "context unusable",
        header: ["context", "unusable"],
        meaning: "The last context exceeded its limit, or a compaction that was due had failed.",
    },
    Term {
        id: "agent_requests_over_window",
        name: "requests over the context window",
        header: ["requests", "too long"],
        meaning: "Requests over the context window: an agent sent them, and its model refused them.",
    },
];

/// Words that no reader of a screen, page, plot or gate meets outside of code, with what is said
/// instead. Each names a thing of this program's inside, or one that a term names already.
pub const AVOIDED: &[(&str, &str)] = &[
    ("tau-b", "share of pairs in the same order"),
    ("BR*", "facts kept"),
    ("CR*", "values kept"),
    ("CR", "values kept with chance"),
    ("BR", "facts kept with chance"),
    ("AR", "answers right"),
    ("carried", "held in a summary"),
    ("unwritten", "left out"),
    ("eroded", "lost later"),
    ("superseded", "no longer valid"),
    ("unbound", "bare values"),
    ("in sight", "held"),
    ("out of sight", "not held"),
    ("window", "context window"),
    ("group", "independent conversation"),
    ("groups", "independent conversations"),
    ("unit", "independent conversation"),
    ("units", "independent conversations"),
    ("case", "conversation"),
    ("cases", "conversations"),
    ("cassette", "recording"),
    ("probe", "question"),
    ("probes", "questions"),
];

/// Where an avoided word is part of what is meant.
const ALLOWED: &[&str] = &[
    "context window",
    "Context window",
    "in any case",
    "in that case",
    "upper case",
    "lower case",
];

/// The term of an id.
pub fn term(id: &str) -> Option<&'static Term> {
    TERMS.iter().find(|term| term.id == id)
}

/// The name of a metric or fate; without a term, the words of its id.
pub fn name(id: &str) -> String {
    term(id).map_or_else(|| id.replace('_', " "), |term| term.name.to_owned())
}

/// The name of a fate.
pub(crate) fn of_fate(fate: Fate) -> String {
    name(fate.name())
}

/// A name over a narrow column, in two lines.
pub(crate) fn header(id: &str) -> [String; 2] {
    match term(id) {
        Some(term) => term.header.map(str::to_owned),
        None => {
            let name = name(id);
            let (first, second) = name.split_once(' ').unwrap_or(("", &name));
            [first.to_owned(), second.to_owned()]
        }
    }
}

/// The avoided words in a text for readers, each with its paragraph. What stands between backticks
/// is code, also across lines.
pub fn avoided_in(text: &str) -> Vec<String> {
    text.split("\n\n").flat_map(in_paragraph).collect()
}

fn in_paragraph(paragraph: &str) -> Vec<String> {
    let prose = paragraph.split('`').step_by(2).collect::<Vec<_>>();
    let prose = prose
        .join("`")
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    let prose = ALLOWED
        .iter()
        .fold(prose, |prose, allowed| prose.replace(allowed, ""));
    // A line `key = value` of a spec is code too.
    let is_whole = |(at, word): (usize, &str)| stands_alone(&prose, at, at + word.len());
    let is_found = |word: &str| prose.match_indices(word).any(is_whole);
    AVOIDED
        .iter()
        .filter(|(word, _)| is_found(word))
        .map(|(word, instead)| format!("`{word}` (say: {instead}) in: {prose}"))
        .collect()
}

/// Whether neither end of a word belongs to a longer one, or to a name such as `mock:weak`.
fn stands_alone(prose: &str, from: usize, to: usize) -> bool {
    let is_inside = |letter: char| letter.is_alphanumeric() || "_-*/=".contains(letter);
    if prose[to..].starts_with(" = ") {
        return false;
    }
    let mut after = prose[to..].chars();
    let ends = match after.next() {
        Some(':' | '.') => after.next().is_none_or(|letter| !letter.is_alphanumeric()),
        Some(letter) => !is_inside(letter),
        None => true,
    };
    ends && !prose[..from].chars().next_back().is_some_and(is_inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_term_is_one_of_the_programs_and_no_name_is_used_twice() {
        let mut names = std::collections::BTreeSet::new();
        for term in TERMS {
            let is_metric = crate::metrics::ALL
                .iter()
                .any(|metric| metric.id == term.id);
            let is_fate = Fate::STATED
                .iter()
                .chain([&Fate::Unstated])
                .any(|fate| fate.name() == term.id);
            assert!(
                is_metric || is_fate || term.id == crate::data::fates::UNUSABLE,
                "{}",
                term.id
            );
            assert!(names.insert(term.name), "{} names two things", term.name);
            assert!(avoided_in(term.name).is_empty() && avoided_in(term.meaning).is_empty());
        }
        for metric in crate::metrics::ALL {
            let name = name(metric.id);
            assert!(avoided_in(&name).is_empty(), "{name}");
        }
        for fate in Fate::STATED {
            assert!(term(fate.name()).is_some(), "{}", fate.name());
        }
    }

    #[test]
    fn avoided_words_are_found_whole_and_outside_of_code() {
        assert_eq!(avoided_in("95 % intervals over units").len(), 1);
        assert_eq!(avoided_in("BR* of `full`, 3 cases.").len(), 2);
        for fine in [
            "the context window",
            "give `--window 3` or `cassette:DIR`",
            "showcases, united, regrouped",
            "reports/cases/list.html",
        ] {
            assert!(avoided_in(fine).is_empty(), "{fine}");
        }
    }
}
