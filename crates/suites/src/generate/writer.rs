//! Turns templates into text for one conversation, which keeps to its own selection of words.

use std::collections::VecDeque;

use crate::dice::SeededDice;
use crate::generate::domains::{Domain, PEOPLE, WordPool};
use crate::generate::forms::{GeneratedForm, Reserved};
use crate::generate::part::SplitPart;

/// The number of words of each pool that one conversation uses.
const CAST: usize = 7;

const DAY_S: usize = 86_400;

/// The number of earlier values that may come again.
const MOST_KNOWN: usize = 200;

/// Writes the text of one conversation.
pub(crate) struct ConversationWriter<'r> {
    /// The conversation's text stream.
    pub(crate) dice: SeededDice,
    /// What the conversation is about.
    pub(crate) domain: &'static Domain,
    part: SplitPart,
    reserved: &'r Reserved,
    cast: Vec<(&'static str, Vec<&'static str>)>,
    /// Seconds since the start of the first day.
    seconds: usize,
    /// The percentage of values that were mentioned earlier and are no fact's. Without it, each
    /// value is new.
    pub(crate) known_share: usize,
    /// The latest of those values.
    known: VecDeque<(GeneratedForm, String)>,
}

impl<'r> ConversationWriter<'r> {
    /// A writer for a conversation about `subjects`, with the words and templates of the given
    /// part.
    pub(crate) fn new(
        domain: &'static Domain,
        part: SplitPart,
        subjects: &[&'static str],
        mut dice: SeededDice,
        reserved: &'r Reserved,
    ) -> Self {
        let pools = domain.pools.iter().chain([&*PEOPLE]);
        let mut cast: Vec<_> = pools
            .map(|pool| (pool.slot.as_str(), choose(pool, part, &mut dice)))
            .collect();
        cast.push(("subject", subjects.to_vec()));
        let seconds = dice.between(0, 30_000_000);
        ConversationWriter {
            dice,
            domain,
            part,
            reserved,
            cast,
            seconds,
            known_share: 0,
            known: VecDeque::new(),
        }
    }

    /// Sentences from `count` different templates.
    pub(crate) fn sentences(&mut self, templates: &[impl AsRef<str>], count: usize) -> Vec<String> {
        let mut chosen = self.part.members(templates);
        self.dice.shuffle(&mut chosen);
        chosen
            .iter()
            .take(count)
            .map(|template| capitalized(&self.fill(template)))
            .collect()
    }

    /// Text from one of the templates, not turned into a sentence.
    pub(crate) fn line(&mut self, templates: &[impl AsRef<str>]) -> String {
        let template = self.pick(templates);
        self.fill(template)
    }

    /// A random template of those that the conversation may use.
    pub(crate) fn pick<'t>(&mut self, templates: &'t [impl AsRef<str>]) -> &'t str {
        self.part.pick(templates, &mut self.dice)
    }

    /// A value that is not a fact's.
    pub(crate) fn incidental(&mut self, form: GeneratedForm) -> String {
        if self.known_share == 0 {
            return self
                .reserved
                .draw_incidental(form, self.part, &mut self.dice);
        }
        let of_form = self
            .known
            .iter()
            .filter(|(known, _)| *known == form)
            .map(|(_, value)| value);
        let of_form = of_form.collect::<Vec<_>>();
        if !of_form.is_empty() && self.dice.chance(self.known_share) {
            // It is mentioned again, so that it comes again more easily.
            let value = self.dice.pick(&of_form).clone();
            self.mentioned(form, value.clone());
            return self.mentioned(form, value);
        }
        let value = self
            .reserved
            .draw_incidental(form, self.part, &mut self.dice);
        self.mentioned(form, value)
    }

    fn mentioned(&mut self, form: GeneratedForm, value: String) -> String {
        self.known.push_back((form, value.clone()));
        if self.known.len() > MOST_KNOWN {
            self.known.pop_front();
        }
        value
    }

    /// Fills the slots of a template. General slots are `n` (2 to 40), `date`, `clock` and `stamp`
    /// (time only moves forward), `subject` and `person`. An unknown slot, such as a claim's `s`
    /// and `v`, remains.
    pub(crate) fn fill(&mut self, template: &str) -> String {
        let mut text = String::with_capacity(template.len() * 2);
        let mut rest = template;
        while let Some((before, slot, after)) = next_slot(rest) {
            text.push_str(before);
            match self.slot(slot) {
                Some(word) => text.push_str(&word),
                None => text.extend(["{", slot, "}"]),
            }
            rest = after;
        }
        text.push_str(rest);
        text
    }

    fn slot(&mut self, slot: &str) -> Option<String> {
        if let Some(form) = GeneratedForm::by_slot(slot) {
            return Some(self.incidental(form));
        }
        match slot {
            "n" => Some(self.dice.between(2, 40).to_string()),
            "date" => Some(self.date()),
            "clock" => Some(self.clock()),
            "stamp" => Some(format!(
                "{}T{}:{:02}Z",
                self.date(),
                self.clock(),
                self.seconds % 60
            )),
            _ => {
                let (_, words) = self.cast.iter().find(|(name, _)| *name == slot)?;
                let word = self.dice.pick(words);
                // Pool words may contain slots, but never their own.
                Some(if word.contains('{') {
                    self.fill(word)
                } else {
                    word.to_owned()
                })
            }
        }
    }

    /// Advances the clock by at least one second and at most `seconds`.
    pub(crate) fn pass(&mut self, seconds: usize) {
        self.seconds += self.dice.between(1, seconds);
    }

    /// Advances the clock by a day.
    pub(crate) fn next_day(&mut self) {
        self.seconds += DAY_S;
    }

    /// Months have 28 days, so that every date exists.
    fn date(&self) -> String {
        let days = self.seconds / DAY_S;
        format!(
            "{}-{:02}-{:02}",
            2024 + days / 336,
            days / 28 % 12 + 1,
            days % 28 + 1
        )
    }

    fn clock(&self) -> String {
        format!(
            "{:02}:{:02}",
            self.seconds / 3_600 % 24,
            self.seconds / 60 % 60
        )
    }
}

fn choose(pool: &'static WordPool, part: SplitPart, dice: &mut SeededDice) -> Vec<&'static str> {
    let mut words = part.members(&pool.words);
    dice.shuffle(&mut words);
    words.truncate(CAST);
    words
}

/// The text with its first letter in upper case. A name such as `orders_raw` is unchanged.
pub(crate) fn capitalized(text: &str) -> String {
    let first_word = text.split(' ').next().unwrap_or_default();
    if first_word.contains(['_', '/']) {
        return text.to_owned();
    }
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The next `{slot}` of lowercase letters, with the text before and after it. Other braces are
/// text.
pub(crate) fn next_slot(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find('{').map(|at| from + at) {
        let inside = &text[open + 1..];
        let length = inside.bytes().take_while(u8::is_ascii_lowercase).count();
        if length > 0 && inside.as_bytes().get(length) == Some(&b'}') {
            return Some((&text[..open], &inside[..length], &inside[length + 1..]));
        }
        from = open + 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Stream;
    use crate::generate::domains;

    fn known(domain: &Domain, slot: &str) -> bool {
        let general = ["n", "date", "clock", "stamp", "person", "subject", "s", "v"];
        GeneratedForm::by_slot(slot).is_some()
            || general.contains(&slot)
            || domain.pools.iter().any(|pool| pool.slot == slot)
    }

    #[test]
    fn slots_are_found_among_other_braces() {
        assert_eq!(next_slot("a {b} c"), Some(("a ", "b", " c")));
        assert_eq!(
            next_slot("fn x() { {path} }"),
            Some(("fn x() { ", "path", " }"))
        );
        assert_eq!(next_slot("{} {A} {unclosed"), None);
    }

    #[test]
    fn filling_leaves_the_claims_slots() {
        let reserved = Reserved::default();
        let domain = &domains::ALL[0];
        let mut writer = ConversationWriter::new(
            domain,
            SplitPart::Whole,
            &["the gate"],
            SeededDice::new(1, 0, Stream::Text),
            &reserved,
        );
        assert_eq!(
            writer.fill("{s} and {subject}: {v}"),
            "{s} and the gate: {v}"
        );
        assert_eq!(capitalized("état"), "État");
        assert_eq!(capitalized("orders_raw is empty"), "orders_raw is empty");
    }

    #[test]
    fn every_slot_of_every_template_is_known() {
        for domain in &*domains::ALL {
            let templates = crate::generate::tests::template_texts(domain);
            assert!(
                templates.len() > 150,
                "{}: {}",
                domain.name,
                templates.len()
            );
            for template in templates {
                let mut rest = template;
                while let Some((_, slot, after)) = next_slot(rest) {
                    assert!(known(domain, slot), "`{slot}` in `{template}`");
                    rest = after;
                }
            }
        }
    }

    /// A strategy could use a word that names what is measured as a key to the answers.
    #[test]
    fn no_template_names_what_is_measured() {
        let labels = [
            "fact",
            "facts",
            "decoy",
            "probe",
            "goal",
            "goals",
            "decision",
            "decisions",
            "decided",
            "preference",
            "preferences",
            "prefer",
            "constraint",
            "constraints",
            "prohibition",
            "negation",
            "distractor",
            "pending",
            "workflow",
            "artifact",
            "remember",
            "important",
            "temporal",
            "foil",
            "critical",
            "memorize",
            "keyword",
        ];
        for template in domains::ALL
            .iter()
            .flat_map(|domain| crate::generate::tests::template_texts(domain))
        {
            let lower = template.to_lowercase();
            let hit = lower
                .split(|letter: char| !letter.is_alphanumeric())
                .find(|word| labels.contains(word));
            assert_eq!(hit, None, "in `{template}`");
        }
    }
}
