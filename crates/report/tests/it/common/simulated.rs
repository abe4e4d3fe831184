//! A made-up run: eight strategies on twelve conversations, for looking at tables and pictures.
//! Nothing here is a result.

use compactometer_engine::message::MessageId;
use compactometer_formats::fate::{Fate, Fates};
use compactometer_formats::manifest::Manifest;
use compactometer_formats::record::{
    Family, Misbound, Observation, ObservationKind, Record, Stages,
};
use compactometer_formats::scenario::{Category, ValueKind};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::{call, chance, compaction, fact, manifest, record, turn};

/// Name, family, tokens retained, chance to write a fact, chance to lose a carried one.
const STRATEGIES: &[(&str, Family, u32, f64, f64)] = &[
    ("summarize", Family::Reference, 3_300, 0.45, 0.30),
    ("prompt-checkpoint", Family::Reference, 3_450, 0.60, 0.20),
    ("chained", Family::Reference, 2_700, 0.50, 0.12),
    ("full", Family::Control, 0, 0.0, 0.0),
    ("null", Family::Control, 0, 0.0, 0.0),
    ("random-drop", Family::Control, 3_600, 0.30, 0.40),
    ("head-tail", Family::Control, 3_580, 0.20, 0.0),
    ("oracle", Family::Control, 3_200, 1.0, 0.0),
];
const TURNS: u32 = 120;
const FACTS: u32 = 40;
const CATEGORIES: [Category; 5] = [
    Category::Goal,
    Category::Decision,
    Category::Prohibition,
    Category::Reference,
    Category::ToolOutput,
];
const KINDS: [ValueKind; 4] = [
    ValueKind::Nonce,
    ValueKind::Id,
    ValueKind::Number,
    ValueKind::Path,
];

pub(crate) fn run(scenarios: u32) -> (Manifest, Vec<Record>) {
    let names: Vec<&str> = STRATEGIES.iter().map(|(name, ..)| *name).collect();
    let mut manifest = manifest(&names, names.len() * scenarios as usize, scenarios as usize);
    manifest.suite = "simulated".to_owned();
    manifest.notes = vec!["made-up records for looking at reports: no result".to_owned()];
    let cases = STRATEGIES
        .iter()
        .flat_map(|strategy| (0..scenarios).map(move |scenario| (strategy, scenario)));
    let records = cases
        .map(|(strategy, scenario)| conversation(strategy, scenario))
        .collect();
    (manifest, records)
}

/// The same run with a smaller size and another split beside it; `chained` exceeds the window in
/// every turn.
pub(crate) fn swept(scenarios: u32) -> (Manifest, Vec<Record>) {
    let (mut manifest, mut records) = run(scenarios);
    for record in records
        .iter_mut()
        .filter(|record| record.case.strategy == "chained")
    {
        record
            .turns
            .iter_mut()
            .for_each(|turn| turn.over_window = true);
    }
    let small = |mut record: Record| {
        record.case.budget.retained = Some(1_200);
        record
            .compactions
            .iter_mut()
            .for_each(|row| row.event.tokens_retained /= 3);
        record
    };
    let split = |mut record: Record| {
        record.case.split = Some(0.25);
        record.case.budget.written = 2_700;
        record
    };
    let is_swept = |record: &&Record| record.case.strategy != "full";
    let further = records.iter().filter(is_swept).cloned().map(small);
    let tested = records
        .iter()
        .filter(|record| record.case.family == Family::Reference)
        .cloned()
        .map(split);
    let further = further.chain(tested).collect::<Vec<_>>();
    (manifest.sweep, manifest.splits, manifest.swept_cases) =
        (vec![1_200], vec![0.25], Some(further.len()));
    records.extend(further);
    manifest.cases = records.len();
    (manifest, records)
}

struct State {
    random: ChaCha8Rng,
    fates: Vec<Fate>,
    context: u32,
    round: u32,
}

impl State {
    fn happens(&mut self, chance: f64) -> bool {
        f64::from(self.random.next_u32()) < chance * f64::from(u32::MAX)
    }
}

fn conversation(strategy: &(&str, Family, u32, f64, f64), scenario: u32) -> Record {
    let (name, family, retained, write, lose) = *strategy;
    let mut made = record(
        name,
        family,
        &format!("talk-{scenario:02}"),
        &format!("task-{scenario:02}"),
    );
    made.facts = (0..FACTS).map(a_fact).collect();
    let seed = u64::from(scenario) * 100 + name.len() as u64;
    let mut state = State {
        random: ChaCha8Rng::seed_from_u64(seed),
        fates: vec![Fate::Unstated; FACTS as usize],
        context: 1_400,
        round: 0,
    };
    for at in 0..TURNS {
        state_facts(&mut state, at);
        let grown = 180 + state.random.next_u32() % 240;
        let mut shared = state.context;
        state.context += grown;
        let mut waited = 0;
        if state.context > 9_600 && name != "full" {
            compact(&mut made, &mut state, retained, (write, lose), at);
            shared = 1_200;
            waited = if family == Family::Reference {
                2_000 + u64::from(state.random.next_u32() % 3_000)
            } else {
                0
            };
        }
        let mut turn = turn(state.context, shared, 60 + state.random.next_u32() % 200);
        turn.message = MessageId(at);
        turn.waited_ms = Some(waited);
        turn.over_window = state.context > 12_000;
        made.turns.push(turn);
        if at % 20 == 19 {
            let observation = look(&mut state, at, ObservationKind::Point);
            made.observations.push(observation);
        }
    }
    made
}

fn a_fact(at: u32) -> compactometer_formats::record::FactRow {
    let mut row = fact(
        &format!("f{at:02}"),
        CATEGORIES[at as usize % 5],
        KINDS[at as usize % 4],
    );
    row.has_subject = true;
    row.decoy = at % 10 == 9;
    row.generic = at % 20 == 18;
    row.mentions = vec![MessageId(at / 4 * 10 + at % 4)];
    row
}

/// Four facts in ten turns, over the first hundred.
fn state_facts(state: &mut State, at: u32) {
    if at % 10 < 4 {
        let index = (at / 10 * 4 + at % 10) as usize;
        if let Some(fate) = state.fates.get_mut(index) {
            *fate = Fate::Verbatim;
        }
    }
}

fn compact(
    made: &mut Record,
    state: &mut State,
    retained: u32,
    (write, lose): (f64, f64),
    at: u32,
) {
    let latest = state
        .fates
        .iter()
        .rposition(|fate| *fate != Fate::Unstated)
        .unwrap_or(0);
    let mut stages = Stages::default();
    for index in 0..state.fates.len() {
        let decoy = made.facts[index].decoy;
        let is_recent = retained > 0 && index + 4 > latest;
        let before = state.fates[index];
        state.fates[index] = match before {
            Fate::Verbatim if !is_recent => leave(state, &mut stages, decoy, write),
            Fate::Carried if state.happens(lose) => Fate::Eroded,
            same => same,
        };
    }
    state.context = 1_400 + retained - state.random.next_u32() % 200;
    state.round += 1;
    let calls = if made.case.family == Family::Reference {
        vec![call(8_200, 420)]
    } else {
        Vec::new()
    };
    let stages = if calls.is_empty() {
        Stages {
            left: stages.left,
            ..Stages::default()
        }
    } else {
        stages
    };
    let kept = retained.saturating_sub(state.random.next_u32() % 200);
    made.compactions.push(compaction(stages, kept, calls));
    let observation = look(state, at, ObservationKind::Compaction);
    made.observations.push(observation);
}

fn leave(state: &mut State, stages: &mut Stages, decoy: bool, write: f64) -> Fate {
    let was_seen = state.happens(0.85);
    let was_written = was_seen && state.happens(write);
    let (left, reached, written) = if decoy {
        (
            &mut stages.decoys_left,
            &mut stages.decoys_reached,
            &mut stages.decoys_written,
        )
    } else {
        stages.kept += u32::from(was_written);
        (&mut stages.left, &mut stages.reached, &mut stages.written)
    };
    *left += 1;
    *reached += u32::from(was_seen);
    *written += u32::from(was_written);
    match (was_seen, was_written) {
        (_, true) => Fate::Carried,
        (true, _) => Fate::Unwritten,
        _ => Fate::DroppedUnseen,
    }
}

fn look(state: &mut State, at: u32, kind: ObservationKind) -> Observation {
    let eligible: Vec<u32> = (0..FACTS).filter(|fact| fact / 4 * 10 + 30 < at).collect();
    let selection_hits: Vec<u32> = eligible
        .iter()
        .map(|_| state.random.next_u32() % 7)
        .collect();
    let is_present = |fact: &&u32| state.fates[**fact as usize].is_present();
    let bound = eligible
        .iter()
        .filter(is_present)
        .filter(|fact| *fact % 7 != 3)
        .copied()
        .collect();
    let rates = KINDS
        .iter()
        .map(|kind| chance(*kind, state.random.next_u32() % 4, 60))
        .collect();
    Observation {
        after: MessageId(at),
        kind,
        round: state.round,
        tokens_since_compaction: 500,
        log_tokens: 300 * at,
        fates: Fates(state.fates.clone()),
        used: eligible
            .iter()
            .copied()
            .filter(|fact| fact % 5 == 0)
            .collect(),
        eligible,
        uses: Vec::new(),
        needed: Vec::new(),
        echoed: 1,
        chance: rates,
        unusable: None,
        stored: Vec::new(),
        stated: Vec::new(),
        fits: Vec::new(),
        bound,
        misbound: vec![Misbound(3, 1, 4.0)],
        selection_bound: selection_hits.clone(),
        selection_hits,
        selection_chance: KINDS.iter().map(|kind| chance(*kind, 1, 60)).collect(),
        foil_hits: 0,
        foils: 20,
        asked: Vec::new(),
        said: Vec::new(),
        prompted: None,
    }
}
