//! Records made by hand, and a made-up run that looks like a real one.
#![allow(
    dead_code,
    clippy::unwrap_used,
    reason = "a test; each of its users takes a part"
)]

use compactometer_engine::budget::{Budget, Tail};
use compactometer_engine::estimate::Estimator;
use compactometer_engine::event::{Event, Outcome};
use compactometer_engine::message::{MessageId, Usage};
use compactometer_engine::meter::Purpose;
use compactometer_engine::model::Finish;
use compactometer_formats::answer::{AnswerRow, Grade, ProbeRow};
use compactometer_formats::fate::Fates;
use compactometer_formats::manifest::{Manifest, StrategySettings};
use compactometer_formats::prices::{CacheRules, PrefixPart, PriceRow, PriceTable};
use compactometer_formats::protocol::Protocol;
use compactometer_formats::record::{
    CallRow, Case, ChanceCell, CompactionRow, FactRow, Family, Observation, ObservationKind,
    Record, Stages, Turn, VERSION,
};
use compactometer_formats::scenario::{Category, ValueKind};
use compactometer_formats::view_breakdown::ViewParts;

pub(crate) mod simulated;

pub(crate) fn manifest(strategies: &[&str], cases: usize, groups: usize) -> Manifest {
    Manifest {
        version: 2,
        program: "0.1.0".to_owned(),
        commit: "c0331t".to_owned(),
        command: ["compactometer", "compare"].map(str::to_owned).to_vec(),
        suite: "tiny".to_owned(),
        suite_hash: "5u17e".to_owned(),
        notes: Vec::new(),
        headline_metrics: Vec::new(),
        newest_talk: Vec::new(),
        window: 12_000,
        trigger: 9_600,
        retained: 3_600,
        sweep: Vec::new(),
        splits: Vec::new(),
        swept_cases: None,
        protocols: vec![Protocol::Matched],
        strategies: strategies.iter().map(|name| (*name).to_owned()).collect(),
        scale: 1.0,
        reference: None,
        pairs: Default::default(),
        settings_hash: "9209".to_owned(),
        settings: strategies
            .iter()
            .map(|name| ((*name).to_owned(), settings(name)))
            .collect(),
        matcher: "3a7c".to_owned(),
        prompts: strategies
            .iter()
            .map(|name| ((*name).to_owned(), prompt_hash(name)))
            .collect(),
        prices_hash: "91ce5".to_owned(),
        tokenizer: "o200k_base".to_owned(),
        summarizer: "mock:strong".to_owned(),
        target: None,
        checkpointer: None,
        judge: None,
        latency_is_result: true,
        seed: 1,
        properties: Vec::new(),
        versions: Default::default(),
        cases,
        conversations: groups,
        groups,
    }
}

/// A strategy with two parameters.
pub(crate) fn settings(base: &str) -> StrategySettings {
    let parameters = [("tail", "10"), ("asked", "800")];
    StrategySettings {
        version: None,
        unmetered: false,
        base: base.to_owned(),
        without_effect: Vec::new(),
        parameters: parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
    }
}

/// One dollar a token for everything would hide a mistake; these prices are all different and
/// round.
pub(crate) fn prices() -> PriceTable {
    let row = PriceRow {
        name: "priced".to_owned(),
        date: "2026-01-02".to_owned(),
        source: "a test".to_owned(),
        input: 4.0,
        cache_write: 5.0,
        cache_read: 1.0,
        output: 20.0,
        tier: Vec::new(),
        cache: CacheRules {
            prefix_order: vec![PrefixPart::Tools, PrefixPart::System, PrefixPart::Messages],
            minimum_tokens: 1_000,
            granularity_tokens: 1,
            breakpoints: 0,
            lifetime_s: 300,
            renewed_by_use: true,
        },
    };
    PriceTable {
        summarizer_as: None,
        checkpointer_as: None,
        mock_as: "priced".to_owned(),
        model: vec![row],
    }
}

pub(crate) fn record(strategy: &str, family: Family, scenario: &str, group: &str) -> Record {
    let budget = Budget {
        window: 12_000,
        assumed_window: false,
        trigger: 9_600,
        retained: Some(3_600),
        tail: Tail::Tokens(1_800),
        written: 1_800,
        estimator: Estimator::Exact,
    };
    Record {
        version: VERSION,
        key: format!("{strategy}/{scenario}"),
        case: Case {
            scenario: scenario.to_owned(),
            group: group.to_owned(),
            strategy: strategy.to_owned(),
            family,
            protocol: Protocol::Matched,
            budget,
            split: None,
            summarizer: "mock:strong".to_owned(),
            target: None,
            checkpointer: None,
            seed: 1,
            tool_tokens: 0,
            system_tokens: 0,
            fixed_prefix_tokens: 0,
            foreign: Vec::new(),
            pending_over_budget: false,
        },
        facts: Vec::new(),
        observations: Vec::new(),
        compactions: Vec::new(),
        checkpoints: Vec::new(),
        recoveries: Vec::new(),
        contexts: Vec::new(),
        turns: Vec::new(),
        probes: Vec::new(),
        answers: Vec::new(),
        storage: None,
        counted: Default::default(),
    }
}

pub(crate) fn fact(id: &str, category: Category, value_kind: ValueKind) -> FactRow {
    FactRow {
        id: id.to_owned(),
        category,
        value_kind,
        weight: 1.0,
        decoy: false,
        generic: false,
        mentions: vec![MessageId(0)],
        has_subject: false,
    }
}

/// `count` facts of one kind with weight 1.
pub(crate) fn facts(count: usize, kind: ValueKind) -> Vec<FactRow> {
    (0..count)
        .map(|at| fact(&format!("f{at}"), Category::Decision, kind))
        .collect()
}

/// An observation point at which every fact is eligible; fates as letters.
pub(crate) fn point(round: u32, letters: &str) -> Observation {
    let fates: Fates = serde_json::from_str(&format!("\"{letters}\"")).unwrap();
    Observation {
        after: MessageId(10 * round + 1),
        kind: ObservationKind::Point,
        round,
        tokens_since_compaction: 100,
        log_tokens: 100 * (10 * round + 1),
        eligible: (0..fates.0.len() as u32).collect(),
        unusable: None,
        stored: Vec::new(),
        stated: Vec::new(),
        fits: Vec::new(),
        bound: Vec::new(),
        misbound: Vec::new(),
        fates,
        used: Vec::new(),
        uses: Vec::new(),
        needed: Vec::new(),
        echoed: 0,
        chance: Vec::new(),
        selection_hits: Vec::new(),
        selection_chance: Vec::new(),
        selection_bound: Vec::new(),
        foil_hits: 0,
        foils: 0,
        asked: Vec::new(),
        said: Vec::new(),
        prompted: None,
    }
}

pub(crate) fn chance(kind: ValueKind, hits: u32, pairs: u32) -> ChanceCell {
    ChanceCell { kind, hits, pairs }
}

pub(crate) fn compaction(stages: Stages, retained: u32, calls: Vec<CallRow>) -> CompactionRow {
    let event = Event {
        after: MessageId(1),
        outcome: Outcome::Applied,
        tokens_before: 10_000,
        tokens_after: retained + 500,
        tokens_retained: retained,
        over_budget: false,
        attempts: 1,
        fallback: None,
        extractions: Vec::new(),
        unread: Vec::new(),
        journey: None,
    };
    let view = ViewParts {
        system: 500,
        summaries: vec![(0, retained / 3)],
        spoken: retained - retained / 3,
        ..ViewParts::default()
    };
    CompactionRow {
        event,
        stages,
        calls,
        recorded_usage: None,
        left: Vec::new(),
        inserted: Vec::new(),
        holds_request: Some(true),
        view: Some(view),
    }
}

pub(crate) fn call(input: u64, output: u64) -> CallRow {
    CallRow {
        purpose: Purpose::Compaction,
        usage: Usage {
            input,
            cache_read: 0,
            cache_write: 0,
            output,
        },
        latency_ms: Some(2_900),
        finish: Some(Finish::Stop),
        request: None,
        reply: None,
        error: None,
        refusal: None,
        served: None,
    }
}

pub(crate) fn turn(input: u32, shared_prefix: u32, output: u32) -> Turn {
    Turn {
        message: MessageId(1),
        at_ms: None,
        input,
        shared_prefix,
        output,
        recorded: None,
        waited_ms: Some(0),
        over_window: false,
        violations: 0,
    }
}

/// The question with that number, for the fact with that number.
pub(crate) fn question(number: u32) -> ProbeRow {
    ProbeRow {
        id: format!("p{number}"),
        facts: vec![number],
        abstain_expected: false,
        updated: false,
        ordered: false,
        memory: None,
    }
}

/// An answer to it at the point of [`point`], whose context holds the fact.
pub(crate) fn answer(question: u32, grade: Grade) -> AnswerRow {
    AnswerRow {
        probe: question,
        after: MessageId(11),
        prompted: false,
        present: true,
        grade,
        order: Vec::new(),
        signs: None,
        call: None,
        judged: None,
    }
}

/// The hash of the prompt that a strategy is published with.
fn prompt_hash(name: &str) -> String {
    let spec = compactometer_engine::strategies::ALL
        .iter()
        .find(|spec| spec.name == name);
    spec.map_or("9409".to_owned(), |spec| {
        compactometer_formats::record::text_hash(spec.prompt)
    })
}
