//! One short conversation in each format of exports. The files are synthetic, after the published
//! forms.

use super::traces::{LANGFUSE, LANGSMITH, OTEL};
use super::*;

/// The formats of exports with a file of each.
pub(super) const EXPORTS: [(&str, &str); 6] = [
    ("swe-agent", SWE_AGENT),
    ("locomo", LOCOMO),
    ("inspect", INSPECT),
    ("otel", OTEL),
    ("otel", LANGFUSE),
    ("otel", LANGSMITH),
];

pub(super) const SWE_AGENT: &str = r#"{"environment":"ann__shop.12.pr_3","trajectory":[
{"action":"read","query":[{"role":"system","content":"Fix it."},{"role":"user","content":"Read pay.toml."}]},
{"action":"read","query":[{"role":"system","content":"Fix it."},{"role":"user","content":"Read pay.toml."},{"role":"assistant","content":"I read."},{"role":"tool","content":"Old output: (1 line omitted)"}]},
{"action":"submit","query":[{"role":"system","content":"Fix it."},{"role":"user","content":"Read pay.toml."},{"role":"assistant","content":"I read."},{"role":"tool","content":"Old output: (1 line omitted)"},{"role":"assistant","content":""},{"role":"tool","content":"Old output: (2 lines omitted)"}]},
{"action":"odd","query":[{"role":"user","content":"Read pay.toml."}]}],
"history":[
{"role":"system","content":"Fix it.","agent":"main","message_type":"system_prompt"},
{"role":"user","content":[{"type":"text","text":"Read pay.toml."}],"agent":"main","message_type":"observation"},
{"role":"assistant","content":"I read.","thinking_blocks":[{"type":"thinking","thinking":"Read it.","signature":"sig"}],"agent":"main","message_type":"action","tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"pay.toml\"}"}}]},
{"role":"tool","content":[{"type":"text","text":"port = 8443"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}],"agent":"main","message_type":"observation","tool_call_ids":["t1"]},
{"role":"assistant","content":"","agent":"main","message_type":"action","tool_calls":[{"id":"t2","type":"function","function":{"name":"list","arguments":"{}"}}]},
{"role":"tool","content":"a\nb","agent":"main","message_type":"observation","tool_call_ids":["t2"]},
{"role":"assistant","content":"It is 8443.","agent":"main","message_type":"action"}],
"info":{"model_stats":{"tokens_sent":10}},"later":[1]}"#;

#[test]
fn swe_agent_outputs_are_whole_and_what_a_request_left_out_is_a_compaction() {
    let imported = imported("swe-agent", SWE_AGENT, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 system: text(Fix it.)\n2 user: text(Read pay.toml.)\n\
         3 assistant: thinking(Read it.) | text(I read.) | call_1=read{\"path\":\"pay.toml\"}\n\
         4 tool: call_1->port = 8443 | image/png:1600\n5 assistant: call_2=list{}\n6 tool: call_2->a\nb\n\
         7 assistant: text(It is 8443.)"
    );
    assert_eq!(found.projects, ["shop"]);
    let written = |lines: &str| written_text(Role::Tool, &format!("Old output: ({lines} omitted)"));
    let kept = |id| Retained::Kept(MessageId(id));
    let [one, two] = &found.compactions[..] else {
        panic!("two compactions: {:?}", found.compactions)
    };
    assert_eq!(
        (one.after, &one.context[..]),
        (MessageId(4), &[kept(2), kept(3), written("1 line")][..])
    );
    let left = [
        kept(2),
        kept(3),
        written("1 line"),
        kept(5),
        written("2 lines"),
    ];
    assert_eq!((two.after, &two.context[..]), (MessageId(6), &left[..]));
    assert_eq!(one.trigger.as_deref(), Some("history processor"));
    assert_eq!(
        ignored(&imported),
        [
            ("request that does not follow the history", 1),
            ("usage of the whole run", 1)
        ]
    );
}

fn written_text(role: Role, text: &str) -> Retained {
    Retained::Written {
        role,
        text: text.to_owned(),
    }
}

fn ignored(imported: &Imported) -> Vec<(&str, usize)> {
    imported
        .report
        .ignored
        .iter()
        .map(|(kind, count)| (kind.as_str(), *count))
        .collect()
}

pub(super) const LOCOMO: &str = r#"[{"sample_id":"talk-1","conversation":{"speaker_a":"Ann","speaker_b":"Bo",
"session_2_date_time":"2:05 pm on 9 May, 2023","session_2":[{"speaker":"Ann","dia_id":"D2:1","text":"I moved to Oslo.","img_url":["https://x.org/a.png"],"blip_caption":"a photo of a harbour"}],
"session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[{"speaker":"Bo","dia_id":"D1:1","text":"Hello Ann!"},{"speaker":"Ann","dia_id":"D1:2","text":"I have 3 cats."}],
"session_3_date_time":"1:56 pm on 8 May, 2024"},
"qa":[{"question":"Where does Ann live?","answer":"Oslo","evidence":["D2:1","D1:2"],"category":1},
{"question":"How many cats has Ann?","answer":3,"evidence":["D1:2; D1:1"],"category":4},
{"question":"When did Ann move?","answer":"Before 9 May 2023","evidence":["D2:1"],"category":2},
{"question":"Where does Bo live?","adversarial_answer":"Oslo","evidence":["D2:1"],"category":5}],
"event_summary":{"a":1},"observation":{"b":1},"session_summary":{}}]"#;

#[test]
fn locomo_sessions_are_one_conversation_with_questions() {
    let imported = imported("locomo", LOCOMO, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 user: text(1:56 pm on 8 May, 2023) | text(Bo: Hello Ann!)\n2 assistant: text(Ann: I have 3 cats.)\n\
         3 assistant: text(2:05 pm on 9 May, 2023) | text(Ann: I moved to Oslo.) | text([image: a photo of a harbour])"
    );
    assert_eq!(
        (found.id.as_str(), found.messages[0].at_ms),
        ("talk-1", Some(1_683_554_160_000))
    );
    let asked = |probe: &Probe| {
        (
            probe.id.clone(),
            probe.fact_ids.clone(),
            probe.gold.clone(),
            probe.abstain_expected,
        )
    };
    let expected = |id: &str, fact: Option<&str>, gold: Option<&str>, abstains| {
        (
            id.to_owned(),
            fact.map(str::to_owned).into_iter().collect::<Vec<_>>(),
            gold.map(str::to_owned),
            abstains,
        )
    };
    assert_eq!(
        found.probes.iter().map(asked).collect::<Vec<_>>(),
        [
            expected("q1", Some("a1"), Some("Oslo"), false),
            expected("q2", Some("a2"), Some("3"), false),
            expected("q3", None, Some("Before 9 May 2023"), false),
            expected("q4", None, None, true),
        ]
    );
    assert!(
        found
            .probes
            .iter()
            .all(|probe| probe.asked_after == MessageId(3))
    );
    assert_eq!(found.probes[3].forbidden, ["Oslo"]);
    let oslo = fact(found, "Oslo");
    assert_eq!(
        (&oslo.evidence_message_ids[..], oslo.stated_by),
        (&[MessageId(3)][..], Speaker::Assistant)
    );
    assert_eq!(
        (fact(found, "3").value_kind, imported.report.questions),
        (ValueKind::Number, 4)
    );
    assert_eq!(
        ignored(&imported),
        [
            ("event_summary", 1),
            ("link of an image with a caption", 1),
            ("observation", 1)
        ]
    );
}

/// An image counts some 1,600 tokens, so links of captioned ones would be most of a conversation.
#[test]
fn an_image_of_locomo_without_a_caption_is_its_link() {
    let text = LOCOMO.replace(r#","blip_caption":"a photo of a harbour""#, "");
    let imported = imported("locomo", &text, &STRICT);
    assert!(
        outline(&imported.suite.scenarios[0]).ends_with("text(Ann: I moved to Oslo.) | image:1600")
    );
}

#[test]
fn a_question_of_locomo_that_cannot_be_graded_is_reported() {
    let text = LOCOMO.replace(
        r#""answer":"Oslo","evidence":["D2:1","D1:2"]"#,
        r#""evidence":["D9:9"]"#,
    );
    let imported = imported("locomo", &text.replace("2:05 pm", "noon"), &FACTS);
    assert_eq!(
        repairs(&imported),
        [
            "element 1, message 3: date `noon on 9 May, 2023` of a session is not readable: left out",
            "element 1: evidence `D9:9` names no message: left out",
            "element 1: question without a text or an answer: dropped"
        ]
    );
    assert_eq!(imported.suite.scenarios[0].probes.len(), 3);
}

pub(super) const INSPECT: &str = r#"{"version":2,"eval":{"task":"shop"},"samples":[{"id":7,"epoch":2,
"messages":[{"role":"user","content":"Read pay.toml."},{"role":"user","content":"A summary.","metadata":{"summary":true}},{"role":"assistant","content":"It is 8443."}],
"attachments":{"k1":"You are an agent."},
"events_data":{"messages":[
{"id":"m0","role":"system","content":"attachment://k1"},
{"id":"m1","role":"user","content":[{"type":"text","text":"Read pay.toml."},{"type":"image","image":"data:image/png;base64,aGk="}]},
{"id":"m2","role":"assistant","content":[{"type":"reasoning","reasoning":"Read it.","signature":"sig"},{"type":"text","text":"I read."}],"tool_calls":[{"id":"t1","function":"read","arguments":{"path":"pay.toml"}}]},
{"id":"m3","role":"tool","tool_call_id":"t1","content":"port = 8443","error":{"type":"timeout","message":"late"}},
{"id":"m4","role":"user","content":"Summarize the conversation."},
{"id":"m5","role":"user","content":"SUMMARY\nThe port in the file is 8443. Go on."},
{"id":"m6","role":"assistant","content":"I look again."},
{"id":"m7","role":"user","content":"SUMMARY\nThe port is still 8443, says the file."}]},
"events":[
{"event":"span_begin","id":"s"},
{"event":"model","span_id":"s","timestamp":"2026-01-02T03:04:05Z","completed":"2026-01-02T03:04:06Z","input":[],"input_refs":[[0,2]],"output":{"choices":[{"message":{"id":"m2","role":"assistant","content":[{"type":"reasoning","reasoning":"Read it.","signature":"sig"},{"type":"text","text":"I read."}],"tool_calls":[{"id":"t1","function":"read","arguments":{"path":"pay.toml"}}]}}],"usage":{"input_tokens":100,"output_tokens":20,"input_tokens_cache_read":40,"total_tokens":160}}},
{"event":"model","span_id":"s","timestamp":"2026-01-02T03:04:07Z","input":[],"input_refs":[[0,5]],"output":{"choices":[{"message":{"role":"assistant","content":"The port in the file is 8443."}}],"usage":{"input_tokens":300,"output_tokens":9,"total_tokens":309}}},
{"event":"compaction","span_id":"s","timestamp":"2026-01-02T03:04:08Z","type":"summary","tokens_before":290,"metadata":{"trigger":"threshold"}},
{"event":"model","span_id":"s","timestamp":"2026-01-02T03:04:09Z","input":[],"input_refs":[[0,2],[5,6]],"output":{"choices":[{"message":{"role":"assistant","content":"I look again."}}],"usage":{"input_tokens":60,"output_tokens":3}}},
{"event":"compaction","span_id":"s","timestamp":"2026-01-02T03:04:10Z","type":"edit","tokens_before":95},
{"event":"model","span_id":"s","timestamp":"2026-01-02T03:04:11Z","input":[],"input_refs":[[0,2],[7,8]],"output":{"choices":[{"message":{"role":"assistant","content":"It is 8443."}}],"usage":{"input_tokens":50,"output_tokens":6}}},
{"event":"hologram"}]}]}"#;

#[test]
fn inspect_samples_are_built_from_their_requests() {
    let imported = imported("inspect", INSPECT, &STRICT);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        (found.id.as_str(), found.group_id.as_str()),
        ("shop/7/epoch-2", "shop/7")
    );
    assert_eq!(
        outline(found),
        "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.) | image/png:1600\n\
         3 assistant: thinking(Read it.) | text(I read.) | call_1=read{\"path\":\"pay.toml\"}\n\
         4 tool: call_1->port = 8443\nlate (error)\n5 assistant: text(I look again.)\n6 assistant: text(It is 8443.)"
    );
    let usage = found.messages[2]
        .usage
        .as_deref()
        .expect("it reports its tokens");
    assert_eq!((usage.input, usage.cache_read, usage.output), (100, 40, 20));
    assert_eq!(found.messages[2].at_ms, Some(1_767_323_046_000));
    let [one, two] = &found.compactions[..] else {
        panic!("two compactions: {:?}", found.compactions)
    };
    let left = [
        Retained::Kept(MessageId(2)),
        written_text(Role::User, "SUMMARY\nThe port in the file is 8443. Go on."),
    ];
    assert_eq!((one.after, &one.context[..]), (MessageId(4), &left[..]));
    assert_eq!(
        (one.trigger.as_deref(), one.reported_tokens),
        (Some("threshold"), Some(290))
    );
    assert_eq!(
        (one.at_ms, one.usage.map(|usage| usage.output)),
        (Some(1_767_323_048_000), Some(9))
    );
    assert_eq!(
        (two.after, two.trigger.as_deref(), two.usage),
        (MessageId(5), Some("edit"), None)
    );
    assert_eq!(
        ignored(&imported),
        [
            ("hologram", 1),
            ("message of a call that wrote a summary", 2),
            ("span_begin", 1)
        ]
    );
}

#[test]
fn an_inspect_log_without_requests_lacks_its_compaction() {
    let text = INSPECT.replace("\"event\":\"model\"", "\"event\":\"other\"");
    let imported = imported("inspect", &text, &FACTS);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 user: text(Read pay.toml.)\n2 assistant: text(It is 8443.)"
    );
    assert_eq!(
        repairs(&imported),
        [
            "element 1, message 2: summary of a compaction whose requests are not in the file: left out"
        ]
    );
    assert_eq!(
        imported.report.ignored["compaction that no request follows"],
        1
    );
}
