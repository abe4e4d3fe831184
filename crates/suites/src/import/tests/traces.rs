//! Traces of calls to models. The files are synthetic, after the published forms.

use super::*;

/// OTLP, one export a line: an agent's span, calls with a tool, a title by another prompt, a
/// summary and a trimming.
pub(super) const OTEL: &str = r#"{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t-1", "spanId": "s2", "startTimeUnixNano": "1767323050000000000", "endTimeUnixNano": "1767323051000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Read pay.toml.\"}, {\"type\": \"blob\", \"modality\": \"image\", \"mime_type\": \"image/png\", \"content\": \"aGk=\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"reasoning\", \"content\": \"Read it.\"}, {\"type\": \"tool_call\", \"id\": \"t1\", \"name\": \"read\", \"arguments\": {\"path\": \"pay.toml\"}}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "100"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "20"}}, {"key": "gen_ai.usage.cache_read.input_tokens", "value": {"intValue": "40"}}]}, {"traceId": "t-1", "spanId": "s1", "startTimeUnixNano": "1767323045000000000", "endTimeUnixNano": "1767323046000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Read pay.toml.\"}, {\"type\": \"blob\", \"modality\": \"image\", \"mime_type\": \"image/png\", \"content\": \"aGk=\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"It is 8443.\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "0"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "0"}}]}, {"traceId": "t-1", "spanId": "s3", "startTimeUnixNano": "1767323055000000000", "endTimeUnixNano": "1767323056000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}}]}, {"traceId": "t-1", "spanId": "s4", "startTimeUnixNano": "1767323060000000000", "endTimeUnixNano": "1767323061000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Read pay.toml.\"}, {\"type\": \"blob\", \"modality\": \"image\", \"mime_type\": \"image/png\", \"content\": \"aGk=\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"tool_call\", \"id\": \"t1\", \"name\": \"read\", \"arguments\": {\"path\": \"pay.toml\"}}]}, {\"role\": \"tool\", \"parts\": [{\"type\": \"tool_call_response\", \"id\": \"t1\", \"response\": \"port = 8443\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"It is 8443.\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "150"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "5"}}]}, {"traceId": "t-1", "spanId": "s5", "startTimeUnixNano": "1767323065000000000", "endTimeUnixNano": "1767323066000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Read pay.toml.\"}, {\"type\": \"blob\", \"modality\": \"image\", \"mime_type\": \"image/png\", \"content\": \"aGk=\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"tool_call\", \"id\": \"t1\", \"name\": \"read\", \"arguments\": {\"path\": \"pay.toml\"}}]}, {\"role\": \"tool\", \"parts\": [{\"type\": \"tool_call_response\", \"id\": \"t1\", \"response\": \"port = 8443\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"It is 8443.\"}]}, {\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"And the host?\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"It is shop.org.\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "170"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "6"}}]}, {"traceId": "t-1", "spanId": "s6", "startTimeUnixNano": "1767323070000000000", "endTimeUnixNano": "1767323071000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You write titles.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Write a title for: Read pay.toml.\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Port\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "9"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "1"}}]}]}]}]}
{"resourceSpans": [{"scopeSpans": [{"spans": [{"traceId": "t-1", "spanId": "s7", "startTimeUnixNano": "1767323075000000000", "endTimeUnixNano": "1767323076000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Read pay.toml.\"}, {\"type\": \"blob\", \"modality\": \"image\", \"mime_type\": \"image/png\", \"content\": \"aGk=\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"tool_call\", \"id\": \"t1\", \"name\": \"read\", \"arguments\": {\"path\": \"pay.toml\"}}]}, {\"role\": \"tool\", \"parts\": [{\"type\": \"tool_call_response\", \"id\": \"t1\", \"response\": \"port = 8443\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"It is 8443.\"}]}, {\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"And the host?\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"It is shop.org.\"}]}, {\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Sumarise.\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Summary so far: the port of the shop is 8443.\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "200"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "11"}}]}, {"traceId": "t-1", "spanId": "s8", "startTimeUnixNano": "1767323080000000000", "endTimeUnixNano": "1767323081000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Read pay.toml.\"}, {\"type\": \"blob\", \"modality\": \"image\", \"mime_type\": \"image/png\", \"content\": \"aGk=\"}]}, {\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Summary so far: the port of the shop is 8443.\"}]}, {\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Go on.\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Done.\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "60"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "2"}}]}, {"traceId": "t-1", "spanId": "s9", "startTimeUnixNano": "1767323085000000000", "endTimeUnixNano": "1767323086000000000", "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "chat"}}, {"key": "gen_ai.conversation.id", "value": {"stringValue": "s-5"}}, {"key": "gen_ai.system_instructions", "value": {"stringValue": "[{\"type\": \"text\", \"content\": \"You are an agent.\"}]"}}, {"key": "gen_ai.input.messages", "value": {"stringValue": "[{\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Go on.\"}]}, {\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Done.\"}]}, {\"role\": \"user\", \"parts\": [{\"type\": \"text\", \"content\": \"Is it public?\"}]}]"}}, {"key": "gen_ai.output.messages", "value": {"stringValue": "[{\"role\": \"assistant\", \"parts\": [{\"type\": \"text\", \"content\": \"Yes.\"}]}]"}}, {"key": "gen_ai.usage.input_tokens", "value": {"intValue": "40"}}, {"key": "gen_ai.usage.output_tokens", "value": {"intValue": "1"}}]}]}]}]}"#;

fn ignored(imported: &Imported) -> Vec<(&str, usize)> {
    imported
        .report
        .ignored
        .iter()
        .map(|(kind, count)| (kind.as_str(), *count))
        .collect()
}

fn written_text(text: &str) -> Retained {
    Retained::Written {
        role: Role::User,
        text: text.to_owned(),
    }
}

#[test]
fn spans_of_a_conversation_are_one_conversation_with_its_compactions() {
    let imported = imported("otel", OTEL, &STRICT);
    let ids = imported
        .suite
        .scenarios
        .iter()
        .map(|found| (&*found.id, &*found.group_id))
        .collect::<Vec<_>>();
    assert_eq!(ids, [("s-5", "s-5"), ("s-5/side-1", "s-5")]);
    let found = &imported.suite.scenarios[0];
    assert_eq!(
        outline(found),
        "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.) | image/png:1600\n\
         3 assistant: thinking(Read it.) | call_1=read{\"path\":\"pay.toml\"}\n4 tool: call_1->port = 8443\n\
         5 assistant: text(It is 8443.)\n6 user: text(And the host?)\n7 assistant: text(It is shop.org.)\n\
         8 user: text(Go on.)\n9 assistant: text(Done.)\n10 user: text(Is it public?)\n11 assistant: text(Yes.)"
    );
    let usage = found.messages[2]
        .usage
        .as_deref()
        .expect("it reports its tokens");
    assert_eq!((usage.input, usage.cache_read, usage.output), (60, 40, 20));
    assert_eq!(found.messages[1].at_ms, Some(1_767_323_050_000));
    let [one, two] = &found.compactions[..] else {
        panic!("two compactions: {:?}", found.compactions)
    };
    let left = [
        Retained::Kept(MessageId(2)),
        written_text("Summary so far: the port of the shop is 8443."),
    ];
    assert_eq!(
        (one.after, &one.context[..], one.reported_tokens),
        (MessageId(7), &left[..], Some(200))
    );
    assert_eq!(one.usage.map(|usage| usage.output), Some(11));
    let left = [Retained::Kept(MessageId(8)), Retained::Kept(MessageId(9))];
    assert_eq!(
        (two.after, &two.context[..], two.usage),
        (MessageId(9), &left[..], None)
    );
    assert_eq!(
        ignored(&imported),
        [
            ("message of a call that wrote a summary", 2),
            ("span execute_tool", 1),
            ("span invoke_agent", 1)
        ]
    );
}

#[test]
fn a_torn_last_line_and_an_unknown_part_are_reported() {
    let text = OTEL.replace(
        "\\\"type\\\": \\\"blob\\\"",
        "\\\"type\\\": \\\"hologram\\\"",
    );
    let torn = imported("otel", &format!("{text}\n{{\"resourceSpans\":["), &FACTS);
    let found = repairs(&torn);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("line 3: torn last line"), "{found:?}");
    assert_eq!(
        found[1],
        "line 1: part of type `hologram` in a message of role `user`: dropped"
    );
}

/// A request that ends where the last one had its reply asks again.
#[test]
fn a_call_that_is_repeated_leaves_the_first_reply_out() {
    let call = |number: u32, input: &str, output: &str| {
        format!(
            r#"{{"traceId":"t-1","type":"GENERATION","startTime":"2026-01-02 03:04:0{number}.000000","input":{input},"output":"{output}"}}"#
        )
    };
    let asked = r#"{"role":"user","content":"Read pay.toml."}"#;
    let again = r#"{"role":"user","content":"Read it."},{"role":"assistant","content":"Yes."}"#;
    let rows = [
        call(1, &format!("[{asked}]"), "No."),
        call(2, &format!("[{asked}]"), "Yes."),
    ];
    let repeated = imported("otel", &rows.join("\n"), &STRICT);
    assert_eq!(
        outline(&repeated.suite.scenarios[0]),
        "1 user: text(Read pay.toml.)\n2 assistant: text(Yes.)"
    );
    assert_eq!(ignored(&repeated), [("message of an abandoned branch", 1)]);
    let rows = [
        call(1, &format!("[{asked},{again},{asked}]"), "No."),
        call(
            2,
            &format!("[{asked},{again},{{\"role\":\"user\",\"content\":\"Wait.\"}}]"),
            "OK.",
        ),
    ];
    let edited = imported("otel", &rows.join("\n"), &STRICT);
    assert!(
        outline(&edited.suite.scenarios[0])
            .ends_with("3 assistant: text(Yes.)\n4 user: text(Wait.)\n5 assistant: text(OK.)")
    );
    assert!(edited.suite.scenarios[0].compactions.is_empty());
}

pub(super) const LANGFUSE: &str = r#"{"id":"trace-1","sessionId":"s-6","observations":[
{"id":"o1","traceId":"trace-1","type":"SPAN","startTime":"2026-01-02T03:04:05Z","input":"x"},
{"id":"o2","traceId":"trace-1","type":"GENERATION","startTime":"2026-01-02T03:04:05Z","endTime":"2026-01-02T03:04:06Z","input":{"messages":[{"role":"system","content":"You are an agent."},{"role":"user","content":"Read pay.toml."}]},"output":{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"pay.toml\"}"}}]},"usageDetails":{"input":60,"input_cached_tokens":40,"output":20,"total":120}},
{"id":"o3","traceId":"trace-1","type":"GENERATION","startTime":"2026-01-02T03:04:07Z","input":"[{\"role\":\"system\",\"content\":\"You are an agent.\"},{\"role\":\"user\",\"content\":\"Read pay.toml.\"},{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"t1\",\"type\":\"function\",\"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"t1\",\"content\":\"port = 8443\"}]","output":"It is 8443.","usage":{"input":150,"output":5}}]}"#;

pub(super) const LANGSMITH: &str = r#"{"id":"r1","trace_id":"trace-2","run_type":"chain","start_time":"2026-01-02T03:04:05.000001","inputs":{},"extra":{"metadata":{"thread_id":"s-6"}}}
{"id":"r2","trace_id":"trace-2","run_type":"llm","start_time":"2026-01-02T03:04:05.100000","end_time":"2026-01-02T03:04:06","inputs":{"messages":[[{"lc":1,"type":"constructor","id":["langchain","schema","messages","SystemMessage"],"kwargs":{"content":"You are an agent.","type":"system"}},{"lc":1,"type":"constructor","id":["langchain","schema","messages","HumanMessage"],"kwargs":{"content":"Read pay.toml."}}]]},"outputs":{"generations":[[{"text":"","message":{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"read","args":{"path":"pay.toml"},"id":"t1","type":"tool_call"}],"usage_metadata":{"input_tokens":100,"output_tokens":20,"input_token_details":{"cache_read":40}}}}}]]}}
{"id":"r3","trace_id":"trace-2","run_type":"llm","start_time":"2026-01-02T03:04:07","inputs":{"messages":[[{"type":"system","content":"You are an agent."},{"type":"human","content":"Read pay.toml."},{"type":"ai","content":"","tool_calls":[{"name":"read","args":{},"id":"t1"}]},{"type":"tool","tool_call_id":"t1","content":"port = 8443"}]]},"outputs":{"choices":[{"message":{"role":"assistant","content":"It is 8443."}}]},"prompt_tokens":150,"completion_tokens":5}"#;

#[test]
fn exports_of_langfuse_and_langsmith_are_the_same_conversation() {
    for (text, kind) in [
        (LANGFUSE, "observation SPAN"),
        (LANGSMITH, "run of type chain"),
    ] {
        let imported = imported("otel", text, &STRICT);
        let found = &imported.suite.scenarios[0];
        assert_eq!(
            outline(found),
            "1 system: text(You are an agent.)\n2 user: text(Read pay.toml.)\n\
             3 assistant: call_1=read{\"path\":\"pay.toml\"}\n4 tool: call_1->port = 8443\n5 assistant: text(It is 8443.)"
        );
        assert_eq!(
            (found.id.as_str(), found.messages[2].at_ms),
            ("s-6", Some(1_767_323_046_000))
        );
        let usage = |at: usize| {
            found.messages[at]
                .usage
                .as_deref()
                .expect("it reports its tokens")
        };
        assert_eq!(
            (
                usage(2).input,
                usage(2).cache_read,
                usage(2).output,
                usage(4).input
            ),
            (60, 40, 20, 150)
        );
        assert_eq!(ignored(&imported), [(kind, 1)]);
    }
}
