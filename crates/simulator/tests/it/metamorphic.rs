//! Metamorphic tests: changes of the input that must or must not change the reply, averaged over
//! seeds if a draw is involved.

use crate::material::{
    CHAINED, PROGRESSIVE, PROMPT_CHECKPOINT, SUMMARIZE, ask, conversation, filled, kept, statement,
    value, values,
};

const SEEDS: u64 = 40;

/// The mean share of the values that replies keep, over seeds.
fn mean_kept(values: &[String], prompt: &str) -> f64 {
    (0..SEEDS)
        .map(|seed| kept(values, &ask(prompt, 4_000, seed).text))
        .sum::<f64>()
        / SEEDS as f64
}

#[test]
fn equal_bytes_in_equal_bytes_out_and_seeds_differ() {
    let prompt = filled(SUMMARIZE, &conversation(&values(30, 1)), 150);
    assert_eq!(ask(&prompt, 500, 1), ask(&prompt, 500, 1));
    assert_ne!(ask(&prompt, 500, 1).text, ask(&prompt, 500, 2).text);
}

#[test]
fn permuted_values_keep_the_rate() {
    for prompt in [SUMMARIZE, CHAINED, PROGRESSIVE] {
        let original = values(24, 1);
        // Values are permuted within their form: a rate may depend on a value's form, but not on
        // the value.
        let permuted = (0..24)
            .map(|slot| original[(slot + 8) % 24].clone())
            .collect::<Vec<_>>();
        let fresh = values(24, 99);
        let rates = [original, permuted, fresh]
            .map(|values| mean_kept(&values, &filled(prompt, &conversation(&values), 250)));
        assert!(rates[0] > 0.1 && rates[0] < 0.9, "{rates:?}");
        assert!(
            (rates[0] - rates[1]).abs() < 0.05 && (rates[0] - rates[2]).abs() < 0.05,
            "{rates:?}"
        );
    }
}

#[test]
fn a_removed_statement_leaves_no_value() {
    let all = values(12, 5);
    let mut without = all.clone();
    without[3].clear();
    for prompt in [SUMMARIZE, PROMPT_CHECKPOINT, CHAINED] {
        let holds = |values: &[String]| {
            let prompt = filled(prompt, &conversation(values), 700);
            (0..10)
                .filter(|seed| ask(&prompt, 4_000, *seed).text.contains(&all[3]))
                .count()
        };
        assert!(holds(&all) > 0, "never written at all");
        assert_eq!(holds(&without), 0);
    }
}

#[test]
fn a_larger_budget_never_lowers_the_mean() {
    let values = values(24, 7);
    let material = conversation(&values);
    for prompt in [SUMMARIZE, PROMPT_CHECKPOINT, CHAINED, PROGRESSIVE] {
        let rates = [150, 250, 400, 700]
            .map(|tokens| mean_kept(&values, &filled(prompt, &material, tokens)));
        assert!(rates.is_sorted(), "{rates:?}");
        assert!(rates[3] > rates[0] + 0.2, "{rates:?}");
    }
}

#[test]
fn a_reworded_prompt_keeps_the_rate() {
    let values = values(24, 8);
    let material = conversation(&values);
    let reworded = [
        "Here is a chat. Boil it down to a summary.\n\n<chat>\n{messages}\n</chat>\n\nWrite no more than {words} words. Name goals, choices, open points and wishes. Omit tool chatter.",
        "You get a transcript and produce a recap of up to {words} words; skip what tools printed.\n\n## Transcript\n{messages}\n\n## Instructions\nWrite the recap now, up to {words} words.",
    ];
    let rate = mean_kept(&values, &filled(SUMMARIZE, &material, 250));
    for prompt in reworded {
        let other = mean_kept(&values, &filled(prompt, &material, 250));
        assert!((rate - other).abs() < 0.03, "{rate} against {other}");
    }
    // Another introduction and other sentences, with the same names.
    let named = "<talk>\n{messages}\n</talk>\n\nCondense the talk to {tokens} tokens or less. Use these headings, none of them empty; omit empty ones:\n\nGoal:\n- what the user wants from the whole work\n\nRequirements:\n- each thing that the result must do or have\n\nConstraints:\n- each limit or prohibition that holds until the end\n\nArchitecture Decisions:\n- each decision that later work builds on, its reason and its impact\n\nSummary: what was done, in full sentences, the most important first\n\nKey Decisions:\n- each other decision, with its reason, names and values\n\nFiles Modified:\n- each file, and what changed\n\nNext Steps:\n- each step that is open";
    let rates =
        [PROGRESSIVE, named].map(|prompt| mean_kept(&values, &filled(prompt, &material, 250)));
    assert!((rates[0] - rates[1]).abs() < 0.03, "{rates:?}");
    let checkpoint = "<conversation>\n{messages}\n</conversation>\n\nFirst a summary in at most {words} words, without raw tool output. Then a checkpoint of at most {tokens} tokens, as this JSON, without empty fields:\n{\"active_goals\": [\"...\"], \"pending_tasks\": [{\"task\": \"...\", \"context\": \"...\"}], \"key_decisions\": {\"about\": \"...\"}, \"user_preferences\": {\"about\": \"...\"}, \"context_references\": {\"files\": [], \"tables\": [], \"databases\": [], \"threads\": [], \"external_apis\": []}, \"workflow_state\": {\"current_step\": \"...\", \"completed_steps\": [], \"next_steps\": []}}\n\nReply like so:\n[SUMMARY]\ntext\n[CHECKPOINT]\nthe JSON";
    let rates = [PROMPT_CHECKPOINT, checkpoint]
        .map(|prompt| mean_kept(&values, &filled(prompt, &material, 250)));
    assert!((rates[0] - rates[1]).abs() < 0.03, "{rates:?}");
}

/// An earlier checkpoint competes by its content, not by its place in the prompt.
#[test]
fn an_earlier_checkpoint_is_kept_alike_before_and_after_the_messages() {
    let earlier = values(16, 21);
    let decisions = earlier
        .iter()
        .enumerate()
        .map(|(slot, value)| format!("\"t{slot}\":\"{}\"", statement(slot, value)));
    let block = format!(
        "<previous>\n{{\"key_decisions\":{{{}}}}}\n</previous>\n",
        decisions.collect::<Vec<_>>().join(",")
    );
    let messages = "<messages>\n{messages}\n</messages>\n"
        .replace("{messages}", &conversation(&values(16, 22)));
    let rates = [
        format!("{block}\n{messages}"),
        format!("{messages}\n{block}"),
    ]
    .map(|given| {
        mean_kept(
            &earlier,
            &format!(
                "Keep the state of this work.\n\n{given}\nWrite a summary of at most 250 words."
            ),
        )
    });
    assert!(
        rates[0] > 0.1 && (rates[0] - rates[1]).abs() < 0.05,
        "{rates:?}"
    );
}

#[test]
fn a_repeated_summary_erodes() {
    let values = values(24, 11);
    let mut rates = Vec::new();
    let mut kept_of = |text: &str| rates.push(kept(&values, text));
    let mut summary = ask(&filled(SUMMARIZE, &conversation(&values), 400), 500, 3).text;
    kept_of(&summary);
    for round in 1..5 {
        let fresh = conversation(&crate::material::values(24, 100 + round));
        let material = format!(
            "[1] user:\n(earlier summary) {summary}\n\n{}",
            fresh.replacen("[1] user", "[2] user", 1)
        );
        summary = ask(&filled(SUMMARIZE, &material, 400), 500, 3).text;
        kept_of(&summary);
    }
    assert!(
        rates.is_sorted_by(|earlier, later| earlier >= later),
        "{rates:?}"
    );
    assert!(
        rates[0] > 0.4 && rates[1] > 0.1 && rates[4] < rates[1],
        "{rates:?}"
    );
}

/// Two statements of one form, role and place are kept equally often, so nothing distinguishes a
/// fact from its decoy.
#[test]
fn facts_and_decoys_are_kept_equally_often() {
    for prompt in [SUMMARIZE, PROMPT_CHECKPOINT, CHAINED, PROGRESSIVE] {
        let (mut facts, mut decoys, mut pairs) = (0_i32, 0_i32, 0);
        for seed in 0..SEEDS {
            let mut text = String::new();
            let pair = |slot: usize| (value(slot, 2 * seed), value(slot, 2 * seed + 1));
            for slot in 0..16 {
                let (fact, decoy) = pair(slot);
                let mut said = [statement(slot, &fact), statement(slot, &decoy)];
                if (slot as u64 + seed) % 2 == 1 {
                    said.reverse();
                }
                text += &format!(
                    "[{}] user:\n{}\n\n[{}] user:\n{}\n\n",
                    2 * slot + 1,
                    said[0],
                    2 * slot + 2,
                    said[1]
                );
            }
            let reply = ask(&filled(prompt, text.trim_end(), 200), 4_000, seed).text;
            for slot in 0..16 {
                let (fact, decoy) = pair(slot);
                facts += i32::from(reply.contains(&fact));
                decoys += i32::from(reply.contains(&decoy));
                pairs += 1;
            }
        }
        assert!(facts > pairs / 10, "{facts} of {pairs}");
        // Four standard errors of the difference of two rates near one third.
        let bound = 4.0 * (2.0 * 0.22 * f64::from(pairs)).sqrt();
        assert!(
            f64::from((facts - decoys).abs()) < bound,
            "{facts} against {decoys} of {pairs}"
        );
    }
}
