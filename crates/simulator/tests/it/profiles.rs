//! The metamorphic rules hold for every profile, and each profile behaves as described.

use compactometer_engine::message::{Part, Role};
use compactometer_engine::model::{ChatRequest, WireMessage};
use compactometer_engine::summary;
use compactometer_engine::tokens::{Encoding, TokenCounter};
use compactometer_simulator::profile::{
    ALL, CLAUDE_CODE, LOST_IN_COMPACTION_LENGTH, PERFECT_READER, Profile, STRONG, WEAK,
};

use crate::material::{
    CHAINED, PROMPT_CHECKPOINT, SUMMARIZE, ask_as, by_name, complete_as, conversation, filled,
    kept, values,
};

const SEEDS: u64 = 16;

fn mean_kept(profile: &Profile, values: &[String], prompt: &str) -> f64 {
    (0..SEEDS)
        .map(|seed| kept(values, &ask_as(profile, prompt, 4_000, seed).text))
        .sum::<f64>()
        / SEEDS as f64
}

#[test]
fn permuted_values_keep_every_profiles_rate() {
    let original = values(24, 1);
    let permuted = (0..24)
        .map(|slot| original[(slot + 8) % 24].clone())
        .collect::<Vec<_>>();
    // Continuing a chat is one draw for all values, which makes the rate too coarse to compare.
    for profile in ALL {
        let [one, other] = [&original, &permuted].map(|values| {
            mean_kept(
                profile,
                values,
                &filled(SUMMARIZE, &conversation(values), 250),
            )
        });
        assert!(
            one > 0.05 && (one - other).abs() < 0.08,
            "{}: {one} against {other}",
            profile.name
        );
    }
}

#[test]
fn no_profile_writes_what_was_removed() {
    let all = values(12, 5);
    let mut without = all.clone();
    without[3].clear();
    for profile in ALL {
        for prompt in [SUMMARIZE, PROMPT_CHECKPOINT, CHAINED] {
            let prompt = filled(prompt, &conversation(&without), 700);
            let holds = (0..10)
                .filter(|seed| {
                    ask_as(profile, &prompt, 4_000, *seed)
                        .text
                        .contains(&all[3])
                })
                .count();
            assert_eq!(holds, 0, "{}", profile.name);
        }
    }
}

#[test]
fn a_larger_budget_never_lowers_any_profiles_mean() {
    let values = values(24, 7);
    let material = conversation(&values);
    for profile in ALL {
        let rates = [150, 300, 600]
            .map(|tokens| mean_kept(profile, &values, &filled(SUMMARIZE, &material, tokens)));
        assert!(
            rates.is_sorted() && rates[2] > rates[0],
            "{}: {rates:?}",
            profile.name
        );
    }
}

/// Instructions that ask for nothing about the summary do not change a byte of it.
#[test]
fn placebos_change_no_byte() {
    let material = conversation(&values(24, 8));
    for prompt in [SUMMARIZE, PROMPT_CHECKPOINT, CHAINED] {
        let plain = filled(prompt, &material, 250);
        for placebo in [
            "You are the best writer in the world.",
            "Take a deep breath and think step by step.",
            "Accuracy matters here; a great deal hangs on it.",
            "Remember every fact, every value and every name!",
        ] {
            for profile in ALL.iter().filter(|profile| profile.faults.value.is_empty()) {
                // After the material, so that neither prompt ends with it.
                let with = match prompt.find("\n\n") {
                    Some(at) => filled(
                        &format!("{} {placebo}{}", &prompt[..at], &prompt[at..]),
                        &material,
                        250,
                    ),
                    None => panic!("a prompt of one paragraph"),
                };
                assert_eq!(
                    ask_as(profile, &with, 600, 3).text,
                    ask_as(profile, &plain, 600, 3).text,
                    "{}: {placebo}",
                    profile.name
                );
            }
        }
    }
}

#[test]
fn the_perfect_reader_is_a_bound_and_the_weak_one_is_not() {
    let values = values(24, 9);
    let prompt = filled(SUMMARIZE, &conversation(&values), 300);
    let [perfect, strong, weak] =
        [&PERFECT_READER, &STRONG, &WEAK].map(|profile| mean_kept(profile, &values, &prompt));
    assert!(
        perfect > strong && strong > weak + 0.1,
        "{perfect} {strong} {weak}"
    );
    let whole = filled(SUMMARIZE, &conversation(&values), 3_000);
    assert_eq!(mean_kept(&PERFECT_READER, &values, &whole), 1.0);
    let answers = |seed| ask_as(&PERFECT_READER, &whole, 4_000, seed).text;
    assert_eq!(answers(1), answers(2), "no noise");
}

#[test]
fn the_middle_is_lost() {
    let values = values(30, 10);
    let prompt = filled(SUMMARIZE, &conversation(&values), 3_000);
    let of = |part: std::ops::Range<usize>| mean_kept(&WEAK, &values[part], &prompt);
    let [middle, end] = [of(12..18), of(24..30)];
    assert!(end > middle + 0.1, "{end} against {middle}");
    // Facts in the middle are also lost for answers.
    let chat = |at: usize, seed: u64| {
        let mut said: Vec<String> = (0..30)
            .map(|turn| format!("Turn {turn} brings nothing that is new to us."))
            .collect();
        said[at] = "The mascot of the harbour is a heron.".to_owned();
        said.push("What is the mascot of the harbour?".to_owned());
        let message = |text: &String| WireMessage {
            role: Role::User,
            parts: vec![Part::Text { text: text.clone() }].into(),
        };
        let request = ChatRequest::prompt(String::new(), 50, None, seed);
        let request = ChatRequest {
            messages: said.iter().map(message).collect(),
            ..request
        };
        complete_as(&WEAK, &request).text.contains("heron")
    };
    let found = |at: usize| (0..200).filter(|seed| chat(at, *seed)).count();
    assert!(
        found(29) > found(15) + 20,
        "{} against {}",
        found(29),
        found(15)
    );
}

/// Of the paths that 28 recorded summaries kept, 247 were relative to the session's directory and
/// 13 absolute.
#[test]
fn the_fitted_one_names_paths_relative_to_the_folder_of_the_work() {
    let path = |at: usize| {
        format!(
            "/home/ann/shop/{}/part{at}/cart{at}.rs",
            ["src", "docs"][at % 2]
        )
    };
    let prompt = filled(
        SUMMARIZE,
        &conversation(&(0..40).map(path).collect::<Vec<_>>()),
        2_000,
    );
    let named = |profile: &Profile| {
        let replies = (0..SEEDS)
            .map(|seed| ask_as(profile, &prompt, 4_000, seed).text)
            .collect::<String>();
        let with = |folder: &str| {
            ["src", "docs"].map(|part| replies.matches(&format!("{folder}{part}/part")).count())
        };
        [with("/home/ann/shop/"), with("")].map(|counts| counts.iter().sum::<usize>())
    };
    let [absolute, all] = named(&CLAUDE_CODE);
    assert!(
        all > 100 && absolute > 0 && absolute * 100 < all * 12,
        "{absolute} of {all}"
    );
    let [absolute, all] = named(&STRONG);
    assert!(all > 100 && absolute == all, "{absolute} of {all}");
}

#[test]
fn the_weak_one_fails_in_form_as_measured() {
    let prompt = filled(PROMPT_CHECKPOINT, &conversation(&values(12, 13)), 400);
    let missing = (0..200)
        .filter(|seed| {
            !ask_as(&WEAK, &prompt, 800, *seed)
                .text
                .contains("[CHECKPOINT]")
        })
        .count();
    // 3 in 10 of 200, with four standard errors.
    assert!((34..=86).contains(&missing), "{missing}");
}

/// The tokens of the replies of a profile to a prompt, ascending.
fn lengths(profile: &Profile, prompt: &str, most: u32, seeds: u64) -> Vec<u64> {
    let mut lengths: Vec<u64> = (0..seeds)
        .map(|seed| ask_as(profile, prompt, most, seed).usage.output)
        .collect();
    lengths.sort_unstable();
    lengths
}

/// Calls asked for 20 % of 58,000 tokens wrote 0.49 to 1.23 % of them, 0.85 % in the median.
#[test]
fn replies_of_lost_in_compaction_length_are_as_long_as_measured() {
    let material = conversation(&values(160, 14));
    let prompt = filled(SUMMARIZE, &material, 11_600);
    let found = lengths(&LOST_IN_COMPACTION_LENGTH, &prompt, 12_000, 24);
    // A reply ends before the sentence that would exceed its length.
    assert!(found[0] >= 284 - 40 && found[23] <= 713, "{found:?}");
    assert!((400..=590).contains(&found[12]), "{found:?}");
    assert!(lengths(&STRONG, &prompt, 12_000, 1)[0] > 2 * 713);
    // Where less is asked for, it writes less.
    let short = lengths(
        &LOST_IN_COMPACTION_LENGTH,
        &filled(SUMMARIZE, &material, 100),
        12_000,
        4,
    );
    assert!(short[3] < 200, "{short:?}");
}

/// Eight of ten Claude Code summaries have lengths between these, in tokens, as `studies/fit`
/// prints.
/// What recorded compactions kept of users' messages: of short ones most, of long ones little.
#[test]
fn what_users_type_is_kept_rather_than_what_they_paste() {
    let [typed, pasted, agents] =
        [(3, 21), (3, 22), (40, 23)].map(|(count, seed)| values(count, seed));
    let lines = |values: &[String], what: &str| {
        values
            .iter()
            .map(|value| format!("The {what} goes to {value} from now on."))
            .collect::<Vec<_>>()
            .join("\n")
    };
    let filler =
        "The log of the night run has a line for each row that was read, and none of them matters here.\n".repeat(8);
    let material = format!(
        "[1] user:\n{}\n\n[2] user:\n{filler}{}\n\n[3] assistant:\n{}",
        lines(&typed, "export"),
        lines(&pasted, "import"),
        lines(&agents, "backup")
    );
    let prompt = filled(SUMMARIZE, &material, 250);
    let [of_typed, of_pasted] =
        [&typed, &pasted].map(|values| mean_kept(&CLAUDE_CODE, values, &prompt));
    assert!(
        of_typed > 0.7 && of_pasted < 0.4,
        "{of_typed} typed, {of_pasted} pasted"
    );
    let [of_typed, of_pasted] = [&typed, &pasted].map(|values| mean_kept(&STRONG, values, &prompt));
    assert!(
        (of_typed - of_pasted).abs() < 0.3,
        "{of_typed} typed, {of_pasted} pasted: `strong` knows no difference"
    );
}

/// A reply as long as its material would be no summary.
#[test]
fn a_reply_of_claude_code_has_at_most_half_of_little_material() {
    let decided = |value: &String| {
        format!("We decided to keep the quotas at {value}, since finance signed it off.")
    };
    let material = values(40, 24)
        .iter()
        .map(decided)
        .collect::<Vec<_>>()
        .join("\n");
    let material = format!("[1] assistant:\n{material}");
    let prompt = filled(SUMMARIZE, &material, 2_000);
    let tokens = u64::from(Encoding::O200k.count_text(&material));
    let [own, strong] =
        [&CLAUDE_CODE, &STRONG].map(|profile| lengths(profile, &prompt, 4_000, 8)[7]);
    assert!(
        tokens < 1_500 && 2 * own <= tokens + 20,
        "{own} of {tokens}"
    );
    assert!(
        2 * strong > tokens + 20,
        "{strong} of {tokens}: `strong` writes more"
    );
}

/// A user's greeting at the start of a reply would look as if the mock answered it.
#[test]
fn a_reply_that_begins_with_a_user_says_so() {
    let material = "[1] user:\nThank you for sending the order ORD-48213 to the depot in Lund.\n\n[2] assistant:\nThe order ORD-48213 left \
                    today with carrier kx-4711, and the depot has been told about it by mail to the people on duty.";
    let reply = ask_as(&CLAUDE_CODE, &filled(SUMMARIZE, material, 300), 2_000, 1).text;
    assert!(reply.starts_with("The user said: Thank you for"), "{reply}");
    assert_eq!(summary::check(&reply, 2 * reply.len()), Ok(()));
}

/// Draws differ in the length of their replies, so that an order that rests on it is seen to depend
/// on the mock.
#[test]
fn draws_differ_in_the_length_of_their_replies() {
    let prompt = filled(SUMMARIZE, &conversation(&values(160, 16)), 4_000);
    let length = |number: u64| {
        let request = ChatRequest::prompt(prompt.clone(), 8_000, None, 1);
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .expect("a runtime");
        let reply = runtime.block_on(by_name(&format!("mock:strong~{number}")).complete(&request));
        reply.expect("the mock always replies").usage.output
    };
    let mut found: Vec<u64> = (1..=12).map(length).collect();
    found.sort_unstable();
    assert!(
        found[0] < 700 && found[11] > 3 * found[0] && found[11] <= 4_156,
        "{found:?}"
    );
    assert_eq!(length(3), length(3));
}

/// The rules that read a request know none of our prompts: no phrase of three or more words in them
/// occurs in a prompt.
#[test]
fn no_phrase_of_a_prompt_occurs_in_the_rules() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src");
    let strategies = concat!(env!("CARGO_MANIFEST_DIR"), "/../engine/src/strategies");
    let prompts = files(strategies, "md").join("\n").to_lowercase();
    assert!(prompts.len() > 5_000);
    // A common phrase for repeating a text unchanged.
    const COMMON_PHRASES: &[&str] = &["word for word"];
    for source in files(folder, "rs") {
        let rules = source.split("#[cfg(test)]").next().unwrap_or_default();
        let code = rules
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect::<Vec<_>>()
            .join("\n");
        for text in code.split('"').skip(1).step_by(2) {
            let phrase = text.trim().to_lowercase();
            let is_word = |word: &&str| word.chars().any(char::is_alphabetic);
            let is_phrase = phrase.split_whitespace().filter(is_word).count() >= 3
                && !COMMON_PHRASES.contains(&phrase.as_str());
            assert!(
                !(is_phrase && prompts.contains(&phrase)),
                "`{phrase}` occurs in a prompt"
            );
        }
    }
}

/// The texts of all files below a folder with the given extension.
fn files(folder: &str, ending: &str) -> Vec<String> {
    let mut texts = Vec::new();
    let mut folders = vec![std::path::PathBuf::from(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == ending) {
                texts.extend(std::fs::read_to_string(&path));
            }
        }
    }
    texts
}
