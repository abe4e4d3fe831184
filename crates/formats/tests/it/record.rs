//! Records of earlier programs are read by this one, and what this one writes reads back as it was.

use compactometer_engine::checkpoint::{Extraction, LadderReading, Rung, Unreadable};
use compactometer_engine::event::{RecoveryEvent, RecoveryOutcome, RecoveryReason};
use compactometer_engine::message::MessageId;
use compactometer_formats::answer::{AnswerRow, Grade, ProbeRow, Signs};
use compactometer_formats::record::{Observation, Prompted, Record, Turn, text_hash};
use compactometer_formats::view_breakdown::Storage;

/// As the program wrote it before events said what became of a checkpoint.
const BEFORE_EXTRACTIONS: &str = r#"{"version":1,"key":"k","case":{"scenario":"s","group":"g","strategy":"hybrid-checkpoint","family":"reference","protocol":"matched","budget":{"window":12000,"trigger":9600,"retained":3600,"tail":{"tokens":1800},"written":1800},"model":"mock:strong","seed":1,"pending_over_budget":false},"facts":[],"observations":[],"compactions":[{"after":7,"outcome":{"outcome":"applied"},"tokens_before":10000,"tokens_after":3000,"tokens_retained":2500,"over_budget":false,"attempts":1,"stages":{"left":0,"reached":0,"written":0,"kept":0,"decoys_left":0,"decoys_reached":0,"decoys_written":0},"calls":[],"inserted":[]}],"checkpoints":[{"after":5,"tokens":8000,"failed":"no_checkpoint","calls":[]}],"turns":[]}"#;

fn line(json: &str) -> String {
    format!("{{\"checksum\":\"{}\",\"record\":{json}}}", text_hash(json))
}

#[test]
fn a_record_of_version_1_without_extractions_still_reads() {
    let record = Record::from_line(&line(BEFORE_EXTRACTIONS)).unwrap();
    assert!(record.compactions[0].event.extractions.is_empty());
    assert_eq!(record.checkpoints[0].event.extraction, None);
    assert_eq!(record.case.summarizer, "mock:strong");
    let renamed = BEFORE_EXTRACTIONS.replace("\"model\":", "\"summarizer\":");
    assert_eq!(
        record.to_line().unwrap(),
        line(&renamed),
        "only the name of a field differs"
    );
}

#[test]
fn a_long_record_is_written_as_a_short_one() {
    let mut record = Record::from_line(&line(BEFORE_EXTRACTIONS)).unwrap();
    let turn = r#"{"message":3,"input":4000,"shared_prefix":10,"output":100,"waited_ms":0,"over_window":false,"violations":0}"#;
    let turn: Turn = serde_json::from_str(turn).unwrap();
    for turns in [0, 60_000] {
        record.turns = vec![turn; turns];
        let mut written = Vec::new();
        record.write_line(&mut written).unwrap();
        assert_eq!(
            String::from_utf8(written).unwrap(),
            record.to_line().unwrap() + "\n",
            "{turns} turns"
        );
    }
}

#[test]
fn extractions_read_back_as_they_were_written() {
    let mut record = Record::from_line(&line(BEFORE_EXTRACTIONS)).unwrap();
    let lenient = Extraction {
        reading: LadderReading::Rung(Rung::Lenient),
        leaked: 2,
        left_out: 1,
    };
    let no_answer = Extraction {
        reading: LadderReading::Unreadable(Unreadable::NoAnswer),
        leaked: 0,
        left_out: 0,
    };
    record.compactions[0].event.extractions = vec![lenient, no_answer];
    record.checkpoints[0].event.extraction = Some(no_answer);
    let written = record.to_line().unwrap();
    assert!(
        written.contains(r#""extractions":[{"rung":"lenient","leaked":2,"left_out":1},{"unreadable":"no_answer"}]"#),
        "{written}"
    );
    assert_eq!(Record::from_line(&written).unwrap(), record);
}

#[test]
fn recoveries_read_back_as_they_were_written() {
    let mut record = Record::from_line(&line(BEFORE_EXTRACTIONS)).unwrap();
    assert!(record.recoveries.is_empty());
    let event = RecoveryEvent {
        after: MessageId(6),
        at_ms: None,
        reason: RecoveryReason::Absence(30_000_000),
        outcome: RecoveryOutcome::Shown(2, 3),
        tokens_before: 10,
        tokens_after: 20,
        fallback: None,
    };
    record.recoveries = vec![event];
    let written = record.to_line().unwrap();
    let expected = r#""recoveries":[{"after":6,"reason":{"absence":30000000},"outcome":{"shown":[2,3]},"tokens_before":10,"tokens_after":20}]"#;
    assert!(written.contains(expected), "{written}");
    assert_eq!(Record::from_line(&written).unwrap(), record);
}

#[test]
fn a_storage_without_the_fewest_fields_still_reads_and_writes_the_same_bytes() {
    let old = r#"{"records":3,"bytes":900,"fields_supported":5,"fields_populated":4}"#;
    let mut storage: Storage = serde_json::from_str(old).unwrap();
    assert_eq!(storage.fewest_populated, None);
    assert_eq!(serde_json::to_string(&storage).unwrap(), old);
    storage.fewest_populated = Some(2);
    let written = serde_json::to_string(&storage).unwrap();
    assert!(written.ends_with(r#","fewest_populated":2}"#), "{written}");
    assert_eq!(serde_json::from_str::<Storage>(&written).unwrap(), storage);
}

/// As the program wrote an observation before prompted probes, with draws of contexts that are no
/// longer made.
const BEFORE_PROBES: &str = r#"{"after":11,"kind":"point","round":1,"tokens_since_compaction":100,"fates":"vs","eligible":[0,1],"random_hits":[0,0],"chance":[],"random_chance":[]}"#;

#[test]
fn an_observation_without_prompted_probes_still_reads_and_writes_the_same_bytes() {
    let mut old: Observation = serde_json::from_str(BEFORE_PROBES).unwrap();
    assert_eq!((&old.asked, &old.prompted), (&Vec::new(), &None));
    let without_draws = BEFORE_PROBES
        .replace(r#","random_hits":[0,0]"#, "")
        .replace(r#","random_chance":[]"#, "");
    assert_eq!(serde_json::to_string(&old).unwrap(), without_draws);
    old.asked = vec![0, 1];
    old.prompted = Some(Prompted {
        found: vec![1],
        tokens: 80,
        chance: Vec::new(),
    });
    let written = serde_json::to_string(&old).unwrap();
    assert!(
        written.ends_with(r#","asked":[0,1],"prompted":{"found":[1],"tokens":80,"chance":[]}}"#),
        "{written}"
    );
    assert_eq!(serde_json::from_str::<Observation>(&written).unwrap(), old);
}

#[test]
fn answers_read_back_as_they_were_written() {
    let mut record = Record::from_line(&line(BEFORE_EXTRACTIONS)).unwrap();
    assert!(record.probes.is_empty() && record.answers.is_empty());
    record.probes = vec![ProbeRow {
        id: "p1".into(),
        facts: vec![3],
        abstain_expected: false,
        updated: true,
        ordered: false,
        memory: None,
    }];
    let row = AnswerRow {
        probe: 0,
        after: MessageId(9),
        prompted: false,
        present: true,
        grade: Grade::WrongValue,
        order: Vec::new(),
        signs: Some(Signs {
            contradicts: false,
            invents: true,
        }),
        call: None,
        judged: None,
    };
    record.answers = vec![row];
    let written = record.to_line().unwrap();
    let expected = r#""probes":[{"id":"p1","facts":[3],"updated":true}],"answers":[{"probe":0,"after":9,"present":true,"grade":"wrong_value","signs":{"invents":true}}]"#;
    assert!(written.contains(expected), "{written}");
    assert_eq!(Record::from_line(&written).unwrap(), record);
}

#[test]
fn a_record_that_no_run_writes_is_refused() {
    let look = r#"{"after":7,"kind":"point","round":1,"tokens_since_compaction":0,"fates":"","eligible":[],"random_hits":[],"chance":[],"random_chance":[]}"#;
    let whole =
        BEFORE_EXTRACTIONS.replace("\"observations\":[]", &format!("\"observations\":[{look}]"));
    Record::from_line(&line(&whole)).unwrap();
    for (from, to, told) in [
        (
            "\"fates\":\"\"",
            "\"fates\":\"v\"",
            "observation 0 has `1` fates for `0` facts",
        ),
        (
            "\"round\":1",
            "\"round\":4294967295",
            "observation 0 is of round `4294967295` after at most `1`",
        ),
        (
            "\"written\":0",
            "\"written\":9",
            "compaction 0 moved `9` of `0` facts",
        ),
        (
            "\"tokens_before\":10000",
            "\"tokens_before\":4294967295",
            "compaction 0 has `4294967295` tokens",
        ),
        (
            "\"pending_over",
            "\"tool_tokens\":4294967295,\"pending_over",
            "a turn has `4294967295` tokens",
        ),
    ] {
        assert!(whole.contains(from), "{from}");
        let error = Record::from_line(&line(&whole.replacen(from, to, 1)))
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{error}");
    }
}
