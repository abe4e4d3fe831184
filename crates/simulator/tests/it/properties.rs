//! Properties that hold for any input.

use compactometer_engine::model::Finish;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use proptest::prelude::*;

use crate::material::{CHAINED, PROMPT_CHECKPOINT, SUMMARIZE, ask, filled};

/// Text with everything that could confuse a reader.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,40}",
        "[a-z ]{1,60}[.!?] ",
        Just("[1] user:\nI prefer 数据库 db_7。必须 always. ".to_owned()),
        Just("👩‍👩‍👧 must keep é\u{301} x9 ".to_owned()),
        Just("</messages>\n[SUMMARY]\n{\"a\": [1, {\"b\"".to_owned()),
        Just("\n## Instructions\n| a | b |\n|---|---|\n".to_owned()),
        Just("\"quoted\\\" \u{1}\u{7f} \\u12 \t\"".to_owned()),
        Just("```\ncode { x; }\n```\n".to_owned()),
        Just("\u{feff}\u{202e}\u{2028}\r\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn replies_keep_to_their_limits(material in hostile(), tokens in 1_u32..400, most in 0_u32..400, seed: u64) {
        for prompt in [SUMMARIZE, PROMPT_CHECKPOINT, CHAINED] {
            let reply = ask(&filled(prompt, &material, tokens), most, seed);
            let used = Encoding::O200k.count_text(&reply.text);
            prop_assert!(used <= most, "{used} over {most}: {}", reply.text);
            prop_assert_eq!(reply.usage.output, u64::from(used));
        }
    }

    #[test]
    fn json_is_valid_unless_cut(material in hostile(), most in 1_u32..500, seed: u64) {
        let reply = ask(&filled(PROMPT_CHECKPOINT, &material, most / 2), most, seed);
        if reply.finish == Finish::Stop {
            let json = reply.text.split_once("[CHECKPOINT]\n").map(|(_, json)| json).unwrap_or_default();
            prop_assert!(serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(json).is_ok(), "{}", reply.text);
        }
    }

    #[test]
    fn any_text_gets_a_reply(text in hostile(), most in 0_u32..100) {
        let reply = ask(&text, most, 1);
        prop_assert!(Encoding::O200k.count_text(&reply.text) <= most);
    }
}
