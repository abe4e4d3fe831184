//! What answers do that are not right: wrong, stale and made-up values, contradictions,
//! abstentions, and answers that never came.
//!
//! Rates that are better low count the answers that came alone: a failed call states nothing wrong,
//! and would flatter. Where an abstention is right, a failed call is a miss as in all recall.

use compactometer_engine::model::Finish;
use compactometer_formats::answer::{AnswerRow, Grade, Signs};
use compactometer_formats::summary::MetricValue;

use super::{GradedAnswer, NO_ANSWER, answers, of_context, share};
use crate::data::StrategyRecords;
use crate::metrics::value::{over_units, ratio};
use crate::metrics::{Better, Metric, MetricsSection};

pub(crate) const WRONG_VALUE_RATE: Metric = Metric {
    id: "wrong_value_rate",
    better: Better::Lower,
    definition: "answers to questions about values that state a foil, a forbidden value, or, without the right one, another fact's \
              value of that kind / answers that came (the call did not fail, and the answer was not cut or withheld before it \
              stated anything), averaged as answer_recall; replaced values count in staleness",
    compute: |_, strategy| {
        lower(strategy, NO_ANSWER, |answer| {
            Some(answer.row.grade == Grade::WrongValue)
        })
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const STALENESS: Metric = Metric {
    id: "staleness",
    better: Better::Lower,
    definition: "answers that state a replaced value / answers that came to questions of facts that replaced one, averaged as answer_recall; none of \
              them counts in wrong_value_rate",
    compute: |_, strategy| {
        lower(
            strategy,
            "no question asks for a value that replaced another",
            |answer| {
                answer
                    .probe
                    .updated
                    .then_some(answer.row.grade == Grade::Stale)
            },
        )
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const CONTRADICTION: Metric = Metric {
    id: "contradiction",
    better: Better::Lower,
    definition: "answers that assert the right value together with a replaced or forbidden one, or deny the right one / answers that \
              came, averaged as answer_recall; an answer with both values counts in staleness or wrong_value_rate too",
    compute: |_, strategy| {
        lower(strategy, NOT_READ, |answer| {
            answer.row.signs.map(|signs: Signs| signs.contradicts)
        })
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const HALLUCINATION: Metric = Metric {
    id: "hallucination",
    better: Better::Lower,
    definition: "answers that state a value which the conversation had not stated (a foil, or an identifier, path or number of the \
              form asked for) / answers that came and do not say that it is not known, those to questions that nothing answers \
              included, by conversation; a foil counts in wrong_value_rate too, other made-up values only here, also \
              beside a right one",
    compute: |_, strategy| {
        over_units(strategy, NOT_READ, |unit| {
            let rows = unit.records.iter().flat_map(|record| &record.answers);
            let said =
                rows.filter(|row| !row.prompted && came(row) && row.grade != Grade::Abstained);
            let signs: Vec<Signs> = said.filter_map(|row| row.signs).collect();
            ratio(
                signs.iter().filter(|signs| signs.invents).count() as f64,
                signs.len() as f64,
            )
        })
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const ABSTENTION: Metric = Metric {
    id: "abstention",
    definition: "answers that say it is not known / questions of what the conversation never says, by conversation",
    compute: |_, strategy| {
        share(
            strategy,
            "no question asks for what the conversation never says",
            |answer| {
                let asks = answer.probe.abstain_expected && !answer.row.prompted;
                asks.then_some(answer.row.grade == Grade::Abstained)
            },
        )
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const FALSE_ABSTENTION: Metric = Metric {
    id: "false_abstention",
    better: Better::Lower,
    definition: "answers that say it is not known / answers that came to questions of facts that the context holds, averaged as answer_recall",
    compute: |_, strategy| {
        lower(strategy, "no context held what was asked for", |answer| {
            answer
                .row
                .present
                .then_some(answer.row.grade == Grade::Abstained)
        })
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const FAILED_PROBES: Metric = Metric {
    id: "failed_probes",
    better: Better::Lower,
    definition: "questions without an answer (the call failed, or no provider takes the request) / questions, by conversation",
    compute: |_, strategy| rate(strategy, |row| Some(row.grade == Grade::Failed)),
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

pub(crate) const CUT_ANSWERS: Metric = Metric {
    id: "cut_answers",
    better: Better::Lower,
    definition: "answers that ended at the most tokens that a reply may have, or that a filter withheld / questions whose call did not \
              fail, by conversation",
    compute: |_, strategy| {
        rate(strategy, |row| {
            (row.grade != Grade::Failed).then(|| is_cut(row))
        })
    },
    ..Metric::share(MetricsSection::WrongAnswers, "Grades")
};

const NOT_READ: &str = "no answer states anything, or the records are too old to hold it";

/// Whether there is an answer that could have stated something wrong.
fn came(row: &AnswerRow) -> bool {
    row.grade != Grade::Failed && !(row.grade == Grade::Missing && is_cut(row))
}

/// Whether the answer was cut short or withheld.
pub(crate) fn is_cut(row: &AnswerRow) -> bool {
    let finish = row.call.as_ref().and_then(|call| call.finish);
    matches!(finish, Some(Finish::Length | Finish::ContentFilter))
}

/// The share of hits among the answers from the context that came and count.
fn lower(
    strategy: &StrategyRecords,
    reason: &str,
    hit: impl Fn(&GradedAnswer) -> Option<bool>,
) -> MetricValue {
    let asked = || {
        strategy
            .records()
            .flat_map(answers)
            .filter(|answer| of_context(answer).is_some())
    };
    let reason = match () {
        () if asked().next().is_none() => NO_ANSWER,
        () if !asked().any(|answer| came(answer.row)) => {
            "every call failed or was cut before it stated anything"
        }
        () => reason,
    };
    share(strategy, reason, |answer| {
        of_context(answer)
            .filter(|answer| came(answer.row))
            .and_then(&hit)
    })
}

/// The share of hits among the rows that count, by unit.
fn rate(strategy: &StrategyRecords, hit: impl Fn(&AnswerRow) -> Option<bool>) -> MetricValue {
    over_units(strategy, NO_ANSWER, |unit| {
        let rows = unit.records.iter().flat_map(|record| &record.answers);
        let hits: Vec<bool> = rows.filter_map(&hit).collect();
        ratio(
            hits.iter().filter(|hit| **hit).count() as f64,
            hits.len() as f64,
        )
    })
}
