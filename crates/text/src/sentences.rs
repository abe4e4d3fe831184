//! Sentences that a person wrote, and whether a text still says them.
//!
//! A text says a sentence if one of its lines has at least half of the sentence's content words, and
//! three of them, in any order and inflection; or a fifth of them, three in a row. Absent on
//! purpose: meaning. A paraphrase in other words counts as unsaid.

use std::collections::{BTreeSet, HashMap};

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_script::{Script, UnicodeScript as _};
use unicode_segmentation::UnicodeSegmentation as _;

use crate::script::is_spaceless;

/// Fewer content words say too little to be found again.
const FEWEST_WORDS: usize = 3;
/// A longer sentence is pasted text.
const MOST_WORDS: usize = 60;
/// Most sentences of one message, the first and the last ones: a longer message has something
/// pasted.
const MOST_SENTENCES: usize = 40;
/// A longer line says what its sentences say, and not all of them together.
const LONGEST_LINE: usize = 400;
/// At least this share of the letters and signs of a person's line are letters.
const LEAST_LETTERS: f64 = 0.7;

/// A sentence that a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The sentence as it was written.
    pub text: String,
    /// Whether it states a rule: what to do always or never.
    pub is_rule: bool,
    /// Its content words, in order.
    words: Vec<String>,
    /// How many different ones there are.
    different: usize,
}

impl Sentence {
    /// A text as one sentence; nothing if it has too few words to be found again, or more than a
    /// person writes.
    pub fn of(text: &str) -> Option<Self> {
        let words = content_words(text);
        let different = words.iter().collect::<BTreeSet<_>>().len();
        let counts = (FEWEST_WORDS..=MOST_WORDS).contains(&different);
        counts.then(|| Sentence {
            text: text.to_owned(),
            is_rule: is_rule(text),
            words,
            different,
        })
    }
}

/// The sentences of a message that a person wrote. Code, quotes, commands and what looks like the
/// output of a program are left out.
pub fn sentences(message: &str) -> Vec<Sentence> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in message.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code && is_prose(line) {
            found.extend(
                line.unicode_sentences()
                    .filter_map(|text| Sentence::of(text.trim())),
            );
        }
    }
    if found.len() > MOST_SENTENCES {
        found.drain(MOST_SENTENCES / 2..found.len() - MOST_SENTENCES / 2);
    }
    found
}

/// Words of the levels of a log.
const LEVELS: [&str; 5] = ["ERROR", "WARN", "WARNING", "INFO", "DEBUG"];

/// Whether a person may have written a line. A number and a colon begin a line of a search.
fn is_prose(line: &str) -> bool {
    let text = line.trim();
    let is_found = text
        .trim_start_matches(|letter: char| letter.is_ascii_digit())
        .starts_with(':');
    let mut words = text.split(|letter: char| !letter.is_alphanumeric());
    if is_found || words.any(|word| LEVELS.contains(&word)) {
        return false;
    }
    let is_marked = text.starts_with(['<', '>', '[', '/', '{', '|', '$', '#', '@'])
        || line.starts_with("    ")
        || line.starts_with('\t');
    let signs = text.chars().filter(|letter| !letter.is_whitespace());
    let (mut letters, mut all) = (0, 0);
    for sign in signs {
        letters += usize::from(sign.is_alphabetic());
        all += 1;
    }
    !is_marked && letters as f64 >= LEAST_LETTERS * f64::from(all)
}

/// Words that state a rule, in lower case, sorted.
const RULES: &[&str] = &[
    "always",
    "avoid",
    "don't",
    "dont",
    "don’t",
    "forbidden",
    "immer",
    "jamais",
    "must",
    "mustn't",
    "never",
    "nie",
    "niemals",
    "nunca",
    "only",
    "shouldn't",
    "siempre",
    "toujours",
];

/// Signs of a rule in scripts without blanks.
const RULES_INSIDE: &[&str] = &[
    "不要",
    "必须",
    "禁止",
    "不能",
    "总是",
    "必ず",
    "しないで",
    "하지 마",
    "항상",
];

fn is_rule(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|letter: char| !letter.is_alphabetic() && !"'’".contains(letter));
    words.any(|word| RULES.binary_search(&word).is_ok())
        || lower.contains("do not")
        || RULES_INSIDE.iter().any(|sign| lower.contains(sign))
}

/// What a text says, line by line.
#[derive(Clone, Debug, Default)]
pub struct SentenceLines {
    /// Numbers of words.
    words: HashMap<String, u32>,
    /// The lines that have a word, by its number.
    with: Vec<Vec<u32>>,
    /// The lines that have three words in a row.
    in_row: HashMap<[u32; 3], Vec<u32>>,
    lines: u32,
}

impl SentenceLines {
    /// The lines of texts.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut lines = SentenceLines::default();
        for line in texts.into_iter().flat_map(str::lines) {
            match line.len() > LONGEST_LINE {
                true => line.unicode_sentences().for_each(|text| lines.add(text)),
                false => lines.add(line),
            }
        }
        lines
    }

    fn add(&mut self, line: &str) {
        let words = content_words(line).into_iter().map(|word| {
            let next = self.words.len() as u32;
            *self.words.entry(word).or_insert(next)
        });
        let words = words.collect::<Vec<_>>();
        self.with.resize_with(self.words.len(), Vec::new);
        // Without an end of a sentence, a list of words of any length would say everything.
        words
            .chunks(MOST_WORDS)
            .for_each(|words| self.add_line(words));
    }

    fn add_line(&mut self, words: &[u32]) {
        for word in words.iter().collect::<BTreeSet<_>>() {
            self.with[*word as usize].push(self.lines);
        }
        for three in words.array_windows() {
            self.in_row.entry(*three).or_default().push(self.lines);
        }
        self.lines += 1;
    }

    /// Whether one of them says a sentence.
    pub fn say(&self, sentence: &Sentence) -> bool {
        let words = sentence.words.iter();
        let words = words
            .map(|word| self.words.get(word).copied())
            .collect::<Vec<_>>();
        let mut found = HashMap::<u32, usize>::new();
        for word in words.iter().flatten().collect::<BTreeSet<_>>() {
            for line in &self.with[*word as usize] {
                *found.entry(*line).or_default() += 1;
            }
        }
        let of = sentence.different;
        let has_half = |words: &usize| *words >= FEWEST_WORDS.max(of.div_ceil(2));
        let has_row = |line: &u32| found.get(line).is_some_and(|words| 5 * words >= of);
        let threes = words.array_windows().filter_map(|[one, two, three]| {
            let three = [(*one)?, (*two)?, (*three)?];
            self.in_row.get(&three)
        });
        found.values().any(has_half) || threes.flatten().any(has_row)
    }
}

/// The words of a text that say something, without their endings. Scripts without blanks between
/// words give pairs of letters.
fn content_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let lower = text.to_lowercase();
    let spoken = lower
        .split_whitespace()
        .filter(|word| !word.contains("://"));
    let is_between = |letter: char| !letter.is_alphanumeric() && !"'’".contains(letter);
    for run in spoken.flat_map(|word| word.split(is_between)) {
        let letters = run.chars().collect::<Vec<_>>();
        for part in letters.chunk_by(|one, other| is_spaceless(*one) == is_spaceless(*other)) {
            match is_spaceless(part[0]) {
                true => words.extend(part.windows(2).map(|pair| pair.iter().collect())),
                false => words.extend(content_word(&part.iter().collect::<String>())),
            }
        }
    }
    words
}

/// A word without its ending, if it says something.
fn content_word(word: &str) -> Option<String> {
    let word = word.trim_matches(['\'', '’']);
    let word = word.split(['\'', '’']).next().unwrap_or_default();
    let is_number = word.contains(|letter: char| letter.is_numeric());
    let least = if is_number { 2 } else { 3 };
    let says = word.chars().count() >= least && STOP_WORDS.binary_search(&word).is_err();
    says.then(|| stem(word))
}

fn stem(word: &str) -> String {
    let language = match word.chars().next().map(|letter| letter.script()) {
        Some(Script::Latin) => Algorithm::English,
        Some(Script::Cyrillic) => Algorithm::Russian,
        Some(Script::Greek) => Algorithm::Greek,
        Some(Script::Arabic) => Algorithm::Arabic,
        _ => return word.to_owned(),
    };
    Stemmer::create(language).stem(word).into_owned()
}

/// Words of English that say nothing on their own, sorted.
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "and", "any", "are", "aren", "because", "been",
    "before", "being", "but", "can", "could", "did", "didn", "does", "doesn", "doing", "don",
    "each", "either", "else", "for", "from", "get", "got", "had", "has", "have", "having", "her",
    "here", "him", "his", "how", "into", "isn", "its", "just", "let", "like", "maybe", "more",
    "most", "much", "nor", "not", "now", "off", "okay", "one", "onto", "other", "our", "out",
    "over", "own", "please", "really", "same", "she", "should", "shouldn", "some", "still", "such",
    "than", "that", "the", "their", "them", "then", "there", "these", "they", "thing", "this",
    "those", "too", "under", "until", "upon", "very", "want", "was", "wasn", "well", "were",
    "what", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will",
    "with", "won", "would", "yes", "yet", "you", "your",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sentence_is_said_by_its_words_in_any_order(words in prop::collection::vec("[a-zа-яα-ω]{3,9}", 3..20)) {
            let mut backwards = words.clone();
            backwards.reverse();
            if let Some(sentence) = Sentence::of(&words.join(" ")) {
                for line in [words.join(" "), format!("- {}.", backwards.join(", "))] {
                    prop_assert!(SentenceLines::new([line.as_str()]).say(&sentence), "{}", line);
                }
                prop_assert!(!SentenceLines::new(["0451 7702 9316"]).say(&sentence));
            }
        }

        #[test]
        fn any_message_has_sentences_of_some_words(message in "(\\PC|[.?!\n]){0,400}") {
            let found = sentences(&message);
            prop_assert!(found.len() <= MOST_SENTENCES);
            for one in found {
                prop_assert!((FEWEST_WORDS..=MOST_WORDS).contains(&one.different));
                prop_assert!(message.contains(&one.text));
            }
        }
    }

    #[test]
    fn of_a_long_paste_both_ends_count() {
        let paste =
            (0..100).map(|number| format!("Some words of pasted paragraph number{number}.\n"));
        let found = sentences(&paste.collect::<String>());
        assert_eq!(found.len(), MOST_SENTENCES);
        assert!(found[19].text.ends_with("number19.") && found[20].text.ends_with("number80."));
    }

    #[test]
    fn a_list_of_all_words_says_no_sentence() {
        let words = |number: usize| (0..8).map(move |place| format!("word{place}of{number}"));
        let all = (0..40).map(|number| words(number).collect::<Vec<_>>());
        let all = all.collect::<Vec<_>>();
        // The first word of each sentence, then the second of each, and so on.
        let list = (0..8).flat_map(|place| all.iter().map(move |words| words[place].as_str()));
        let list = list.collect::<Vec<_>>().join(" ");
        let lines = SentenceLines::new([list.as_str()]);
        for words in &all {
            let words = words.join(" ");
            let sentence = Sentence::of(&words).expect("a sentence");
            assert!(!lines.say(&sentence), "{words}");
            assert!(
                SentenceLines::new([words.as_str()]).say(&sentence),
                "{words}"
            );
        }
    }

    fn says(text: &str, sentence: &str) -> bool {
        SentenceLines::new([text]).say(&Sentence::of(sentence).expect("a sentence"))
    }

    #[test]
    fn half_of_the_words_in_one_line_say_a_sentence() {
        let sentence = "Never push to the main branch without my review.";
        assert!(says("- The user will review each push to main.", sentence));
        assert!(says("Said: “push to the main branch”.", sentence));
        assert!(!says(
            "- Push the tag.\n- The main file.\n- A review.",
            sentence
        ));
        assert!(says("必须先运行数据库迁移", "请必须先运行数据库迁移再部署"));
        assert!(!says("删除旧的日志文件", "请必须先运行数据库迁移再部署"));
    }

    #[test]
    fn what_a_person_did_not_write_is_no_sentence() {
        let message = "Fix the failing import test first.\nyes\n> Keep the old quoted words here.\n/compact keep all decisions\n```\nlet value = compute_all_things();\n```\n2026-03-01 10:00:00 ERROR [worker-3] id=77 code=500 took=12ms\nbuild: ERROR: the command of the bundle ended\n975: return the whole transcript here\nhttps://example.test/a/long/address\n<system-reminder>Use the todo list often.</system-reminder>";
        let found = sentences(message).into_iter().map(|sentence| sentence.text);
        assert_eq!(
            found.collect::<Vec<_>>(),
            ["Fix the failing import test first."]
        );
    }

    #[test]
    fn rules_are_known_by_their_words() {
        let is_rule = |text: &str| Sentence::of(text).expect("a sentence").is_rule;
        assert!(is_rule("Don't touch the generated schema files."));
        assert!(is_rule("不要修改生成的文件"));
        assert!(!is_rule("Look at the generated schema files."));
    }

    #[test]
    fn lists_are_sorted() {
        assert!(STOP_WORDS.is_sorted() && RULES.is_sorted());
    }
}
