//! What a conversation will state: pairs of statements, their values, and their places.

use compactometer_formats::scenario::{Category, Speaker, ValueKind};

use crate::dice::{SeededDice, Stream};
use crate::generate::agent::AgentTable;
use crate::generate::domains::{Domain, SubjectClaim, Tool};
use crate::generate::forms::{GeneratedForm, Reserved};
use crate::generate::part::SplitPart;
use crate::generate::session::SessionTable;
use crate::generate::spec::{MemorySpec, Spec};

/// Foil values of each fact and decoy.
const FOILS: usize = 6;
/// Number of subjects of one conversation.
const SUBJECTS: usize = 20;
/// One fact in this many has a value that other conversations may share.
const COMMON_EVERY: usize = 12;
/// Percentage of the pairs with an identifier or path that a later tool call uses, unless a spec
/// says more about the agent.
const USED: usize = 30;
/// Percentage of pairs that are said early enough to be at least the trigger's distance away at the
/// last observation point.
const EARLY: usize = 85;
/// The most uses of a pair by an agent that a spec describes. One in three is far from the last
/// mention.
const MOST_USES: usize = 3;

/// What a conversation will state.
pub(crate) struct ConversationPlan {
    /// The subject area of the conversation.
    pub(crate) domain: &'static Domain,
    /// The part of the domain's lists that it draws from.
    pub(crate) part: SplitPart,
    /// The claims that it may make.
    pub(crate) claims: Vec<&'static SubjectClaim>,
    /// The subjects of its claims.
    pub(crate) subjects: Vec<&'static str>,
    /// The pairs. A pair that replaces another comes after it.
    pub(crate) pairs: Vec<StatementPair>,
    /// What only memory states.
    pub(crate) remembered: Remembered,
    /// Lengths that determine places.
    pub(crate) span: TokenSpan,
}

/// Lengths of a conversation, in tokens.
#[derive(Clone, Copy)]
pub(crate) struct TokenSpan {
    /// The length of the whole conversation.
    pub(crate) length: usize,
    /// A fact whose last mention is at least this far back is one that a compaction must retain.
    pub(crate) trigger: usize,
    /// The approximate place of the first observation point.
    pub(crate) first_point: usize,
    /// Anything said before this place is at least the trigger's distance away at the end.
    early: usize,
    /// Nothing is stated after this place.
    late: usize,
    window: usize,
}

/// Two statements of one form, one of which is the fact.
#[derive(Clone)]
pub(crate) struct StatementPair {
    /// The claim that they state.
    pub(crate) claim: &'static SubjectClaim,
    /// The form of their values.
    pub(crate) form: GeneratedForm,
    /// The two statements, in the order in which they are said.
    pub(crate) sides: [StatementSide; 2],
    /// The index of the side that is the fact.
    pub(crate) fact: usize,
    /// The index of the pair whose values these replace.
    pub(crate) replaces: Option<usize>,
    /// The places where they are said.
    pub(crate) mentions: Vec<PlannedMention>,
    /// The places where tool calls use their values.
    pub(crate) uses: Vec<SidePlaces>,
}

/// What memory states for one conversation, and no message does.
#[derive(Default)]
pub(crate) struct Remembered {
    pub(crate) document: Vec<StatementPair>,
    pub(crate) noted: Vec<StatementPair>,
}

impl Remembered {
    pub(crate) fn pairs(&self) -> impl Iterator<Item = &StatementPair> {
        self.document.iter().chain(&self.noted)
    }
}

/// A statement of both sides.
#[derive(Clone, Copy)]
pub(crate) struct PlannedMention {
    pub(crate) place: SidePlaces,
    /// Who makes it: the claim's own speaker, or an agent that quotes a tool.
    pub(crate) by: Speaker,
}

/// A place in the conversation for each side, in tokens from its start.
pub(crate) type SidePlaces = [usize; 2];

/// One of the two statements.
#[derive(Clone)]
pub(crate) struct StatementSide {
    /// The subject of the statement.
    pub(crate) subject: &'static str,
    /// The value that it states.
    pub(crate) value: String,
    /// Values that are never stated.
    pub(crate) foils: Vec<String>,
}

impl ConversationPlan {
    /// Whether a fact or decoy, of the conversation or of memory, makes the claim about the
    /// subject.
    pub(crate) fn states(&self, claim: &SubjectClaim, subject: &str) -> bool {
        self.pairs
            .iter()
            .chain(self.remembered.pairs())
            .any(|pair| pair.states(claim, subject))
    }
}

impl StatementPair {
    /// Whether it makes the claim about the subject.
    fn states(&self, claim: &SubjectClaim, subject: &str) -> bool {
        std::ptr::eq(self.claim, claim) && self.sides.iter().any(|side| side.subject == subject)
    }

    /// The category of the pair's fact.
    pub(crate) fn category(&self) -> Category {
        if self.replaces.is_some() {
            Category::Update
        } else {
            self.claim.category
        }
    }
}

/// Draws the plan of conversation `number`; `earlier` is that of the same person's first
/// conversation, if there is one.
pub(crate) fn draw(
    spec: &Spec,
    number: usize,
    reserved: &mut Reserved,
    earlier: Option<&ConversationPlan>,
) -> ConversationPlan {
    let domain = spec.domains[spec.person(number) % spec.domains.len()];
    let part = spec.part(number);
    let span = TokenSpan::new(spec.lengths[number] as usize, spec.window as usize);
    let mut dice = SeededDice::new(spec.seed, number, Stream::Plan);
    let mut subjects = part.members(&domain.subjects);
    dice.shuffle(&mut subjects);
    subjects.truncate(SUBJECTS);
    let count = facts_wanted(spec, span.length);
    let addresses = domain.addresses.iter().filter(|_| spec.agent.is_some());
    let mut draft = PlanDraft {
        session: &spec.session,
        agent: spec.agent,
        domain,
        claims: domain.claims.iter().chain(addresses).collect(),
        part,
        span,
        dice,
        subjects,
        reserved,
        pairs: Vec::new(),
        remembered: Remembered::default(),
        commons: count / COMMON_EVERY,
        words: Vec::new(),
    };
    if let Some(memory) = spec.memory {
        draft.remember(memory, earlier);
    }
    draft.fill(count);
    let PlanDraft {
        claims,
        subjects,
        pairs,
        remembered,
        ..
    } = draft;
    ConversationPlan {
        domain,
        part,
        claims,
        subjects,
        pairs,
        remembered,
        span,
    }
}

/// The number of facts, which grows with the conversation's length from the spec's low number to
/// its high one.
fn facts_wanted(spec: &Spec, length: usize) -> usize {
    let [low, high] = spec.facts;
    let shortest = spec.lengths.iter().copied().min().unwrap_or(0) as usize;
    let longest = spec.lengths.iter().copied().max().unwrap_or(0) as usize;
    low + (high - low) * (length - shortest) / (longest - shortest).max(1)
}

impl TokenSpan {
    /// Whether facts of a conversation of that length can be far away at its end.
    pub(crate) fn has_room(length: usize, window: usize) -> bool {
        length > window
    }

    fn new(length: usize, window: usize) -> Self {
        let trigger = window * 8 / 10;
        let slack = window / 10;
        let first_point = (length / 3).max(trigger + slack);
        TokenSpan {
            length,
            trigger,
            first_point,
            early: length - trigger - slack,
            late: length * 92 / 100,
            window,
        }
    }
}

struct PlanDraft<'r> {
    session: &'r SessionTable,
    agent: Option<AgentTable>,
    domain: &'static Domain,
    claims: Vec<&'static SubjectClaim>,
    part: SplitPart,
    span: TokenSpan,
    dice: SeededDice,
    subjects: Vec<&'static str>,
    reserved: &'r mut Reserved,
    pairs: Vec<StatementPair>,
    remembered: Remembered,
    /// The number of pairs with common words still to draw, and the words already used.
    commons: usize,
    words: Vec<String>,
}

impl PlanDraft<'_> {
    /// Draws what the memory document of a person states. If the person had a conversation before,
    /// the document is the same, and notes hold some of what was said then.
    fn remember(&mut self, memory: MemorySpec, earlier: Option<&ConversationPlan>) {
        let Some(earlier) = earlier else {
            let claims = self
                .claims_in_turn()
                .into_iter()
                .filter(|claim| memory_may_hold(claim))
                .collect::<Vec<_>>();
            for claim in claims.into_iter().cycle().take(memory.document) {
                let pair = self.pair_of(claim, claim.form, Vec::new());
                self.remembered.document.push(pair);
            }
            return;
        };
        self.remembered
            .document
            .clone_from(&earlier.remembered.document);
        let is_replaced = |at: usize| earlier.pairs.iter().any(|later| later.replaces == Some(at));
        let lasting = earlier
            .pairs
            .iter()
            .enumerate()
            .filter(|(at, pair)| pair.replaces.is_none() && !is_replaced(*at));
        let noted = lasting
            .map(|(_, pair)| pair)
            .filter(|pair| pair.form == pair.claim.form && memory_may_hold(pair.claim));
        let mut noted = noted.cloned().collect::<Vec<_>>();
        self.dice.shuffle(&mut noted);
        noted.truncate(memory.notes);
        self.remembered.noted = noted;
    }

    /// Adds pairs until there are `count`: first those to be replaced later, then their
    /// replacements, then the others.
    fn fill(&mut self, count: usize) {
        let claims = self.claims_in_turn();
        let replaced = self.replaced(&claims);
        for claim in &replaced {
            let place = self.between(200, self.span.length / 8);
            let old = self.pair(
                claim,
                vec![PlannedMention {
                    place,
                    by: claim.speaker,
                }],
            );
            self.pairs.push(old);
            self.replace_last();
        }
        let is_replaced =
            |claim: &SubjectClaim| replaced.iter().any(|other| std::ptr::eq(*other, claim));
        let others: Vec<&'static SubjectClaim> = claims
            .iter()
            .copied()
            .filter(|claim| !is_replaced(claim))
            .collect();
        let missing = count.saturating_sub(self.pairs.len());
        for claim in self.session.claims(&others, missing) {
            let mentions = self.mentions(claim.speaker);
            let mut pair = self.pair(claim, mentions);
            pair.uses = self.uses(&pair);
            self.pairs.push(pair);
        }
    }

    /// The claims whose values are replaced later. Where the speakers' shares are strict, tools
    /// make most of them.
    fn replaced(&self, claims: &[&'static SubjectClaim]) -> Vec<&'static SubjectClaim> {
        let changing = || {
            claims
                .iter()
                .copied()
                .filter(|claim| !claim.changes.is_empty())
        };
        if !self.session.strict_speakers {
            return changing().take(3 + self.span.length / 40_000).collect();
        }
        let by_tools = changing().filter(|claim| claim.speaker == Speaker::Tool);
        let by_others = changing().filter(|claim| claim.speaker != Speaker::Tool);
        by_tools.chain(by_others.take(1)).collect()
    }

    /// The domain's claims in random order, after one of each category.
    fn claims_in_turn(&mut self) -> Vec<&'static SubjectClaim> {
        let mut claims = self.claims.clone();
        self.dice.shuffle(&mut claims);
        let is_first = |at: usize| {
            claims[..at]
                .iter()
                .all(|earlier| earlier.category != claims[at].category)
        };
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..claims.len()).partition(|at| is_first(*at));
        first.into_iter().chain(rest).map(|at| claims[at]).collect()
    }

    fn pair(
        &mut self,
        claim: &'static SubjectClaim,
        mentions: Vec<PlannedMention>,
    ) -> StatementPair {
        let is_common =
            claim.form == GeneratedForm::Word && claim.changes.is_empty() && self.commons > 0;
        self.commons -= usize::from(is_common);
        self.pair_of(
            claim,
            if is_common {
                GeneratedForm::Common
            } else {
                claim.form
            },
            mentions,
        )
    }

    fn pair_of(
        &mut self,
        claim: &'static SubjectClaim,
        form: GeneratedForm,
        mentions: Vec<PlannedMention>,
    ) -> StatementPair {
        let first = self.free_subject(claim, None);
        let second = self.free_subject(claim, Some(first));
        let sides = [self.side(form, first), self.side(form, second)];
        let fact = self.dice.below(2);
        StatementPair {
            claim,
            form,
            sides,
            fact,
            replaces: None,
            mentions,
            uses: Vec::new(),
        }
    }

    /// A pair that gives the subjects of the last pair new values, late enough that the old ones
    /// can be asked for first and early enough that the new ones can be forgotten.
    fn replace_last(&mut self) {
        let Some(at) = self.pairs.len().checked_sub(1) else {
            return;
        };
        let [first, second] = [
            self.pairs[at].sides[0].subject,
            self.pairs[at].sides[1].subject,
        ];
        let (claim, fact) = (self.pairs[at].claim, self.pairs[at].fact);
        let earliest =
            (self.span.length * 55 / 100).max(self.span.first_point + self.span.window / 6);
        let place = self.between(
            earliest,
            self.span.early.max(earliest + self.span.window / 20),
        );
        let sides = [self.side(claim.form, first), self.side(claim.form, second)];
        let (replaces, mentions) = (
            Some(at),
            vec![PlannedMention {
                place,
                by: claim.speaker,
            }],
        );
        self.pairs.push(StatementPair {
            claim,
            form: claim.form,
            sides,
            fact,
            replaces,
            mentions,
            uses: Vec::new(),
        });
    }

    /// A subject for which the claim has not been made yet.
    fn free_subject(
        &mut self,
        claim: &'static SubjectClaim,
        other: Option<&'static str>,
    ) -> &'static str {
        let taken = |subject: &&str| {
            let mut all = self.pairs.iter().chain(self.remembered.pairs());
            Some(*subject) == other || all.any(|pair| pair.states(claim, subject))
        };
        let free: Vec<&'static str> = self
            .subjects
            .iter()
            .copied()
            .filter(|subject| !taken(subject))
            .collect();
        self.dice.pick(&free)
    }

    fn side(&mut self, form: GeneratedForm, subject: &'static str) -> StatementSide {
        let value = if form == GeneratedForm::Common {
            self.common()
        } else {
            self.reserved.draw(form, self.part, &mut self.dice)
        };
        let mut foils = Vec::new();
        while foils.len() < FOILS {
            let foil = match form {
                GeneratedForm::Common => form.draw_foil(self.part, &mut self.dice),
                _ => self.reserved.draw(form, self.part, &mut self.dice),
            };
            if !foils.contains(&foil) {
                foils.push(foil);
            }
        }
        StatementSide {
            subject,
            value,
            foils,
        }
    }

    /// A common word that this conversation does not use yet. Other conversations may use it.
    fn common(&mut self) -> String {
        loop {
            let word = GeneratedForm::Common.draw(self.part, &mut self.dice);
            if !self.words.contains(&word) {
                self.words.push(word.clone());
                return word;
            }
        }
    }

    /// The statements of a pair whose claim is the speaker's.
    fn mentions(&mut self, speaker: Speaker) -> Vec<PlannedMention> {
        let TokenSpan { early, late, .. } = self.span;
        let first = if self.dice.chance(EARLY) {
            self.between(200, early)
        } else {
            self.between(early, late)
        };
        let again = self.session.again(&mut self.dice);
        let end = if first[1] < early { early } else { late };
        let mut mentions = vec![PlannedMention {
            place: first,
            by: speaker,
        }];
        for _ in 0..again {
            let place = self.between(first[1], end.max(first[1]));
            let is_quoted = speaker == Speaker::Tool
                && self.session.quotes > 0
                && self.dice.chance(self.session.quotes);
            mentions.push(PlannedMention {
                place,
                by: if is_quoted {
                    Speaker::Assistant
                } else {
                    speaker
                },
            });
        }
        mentions
    }

    /// Places of uses, if there are any.
    fn uses(&mut self, pair: &StatementPair) -> Vec<SidePlaces> {
        let usable = matches!(pair.form.kind(), ValueKind::Id | ValueKind::Path);
        let share = self.agent.map_or(USED, |agent| agent.needed);
        if !usable || tool_for(self.domain, pair.form).is_none() || !self.dice.chance(share) {
            return Vec::new();
        }
        let Some(_) = self.agent else {
            return vec![self.use_when_far(pair)];
        };
        let count = self.dice.between(1, MOST_USES);
        let use_at = |draft: &mut Self| {
            if draft.dice.below(3) == 0 {
                draft.use_when_far(pair)
            } else {
                draft.use_after_mention(pair)
            }
        };
        (0..count).map(|_| use_at(self)).collect()
    }

    /// A place long after the last mention if there is room, otherwise soon after it.
    fn use_when_far(&mut self, pair: &StatementPair) -> SidePlaces {
        let TokenSpan {
            late,
            trigger,
            window,
            ..
        } = self.span;
        let said = pair
            .mentions
            .iter()
            .flat_map(|mention| mention.place)
            .max()
            .unwrap_or(0);
        let far = said + trigger + window / 5;
        if far < late {
            self.between(far, late)
        } else {
            self.between(said.min(late), late.min(said + window / 5))
        }
    }

    /// A place soon after one of the mentions.
    fn use_after_mention(&mut self, pair: &StatementPair) -> SidePlaces {
        let said = pair.mentions[self.dice.below(pair.mentions.len())].place;
        let said = said.into_iter().max().unwrap_or(0).min(self.span.late);
        self.between(said, self.span.late.min(said + self.span.window / 5))
    }

    /// A random place. The second side often comes in the same message, otherwise a little later.
    fn between(&mut self, low: usize, high: usize) -> SidePlaces {
        let first = self.dice.between(low, high.max(low));
        let apart = if self.dice.chance(60) {
            0
        } else {
            self.dice.between(20, self.span.window / 20)
        };
        [first, first + apart]
    }
}

/// Whether memory may hold the claim. A number is a number in any sentence, so that it would be
/// found by chance.
fn memory_may_hold(claim: &SubjectClaim) -> bool {
    matches!(
        claim.form.kind(),
        ValueKind::Nonce | ValueKind::Id | ValueKind::Path | ValueKind::Free
    )
}

/// The tool that takes values of the form, and the index of the argument.
pub(crate) fn tool_for(
    domain: &'static Domain,
    form: GeneratedForm,
) -> Option<(&'static Tool, usize)> {
    domain
        .tools
        .iter()
        .find_map(|tool| Some((tool, tool.takes(form)?)))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    /// The forms must have enough values for the largest suite that a spec may ask for; otherwise
    /// drawing would never end.
    #[test]
    fn the_largest_suite_finds_enough_values() {
        for domains in [
            "\"software\"",
            "\"operations\"",
            "\"service\"",
            "\"research\"",
        ] {
            check_largest(domains, "");
        }
        check_largest(
            "\"software\", \"research\"",
            "[splits]\ndev = 29\ntest = 58\ncalibration = 13\n",
        );
    }

    fn check_largest(domains: &str, splits: &str) {
        let text = format!(
            "name = \"large\"\nseed = 1\nwindow = 12000\ndomains = [{domains}]\nconversations = 100\n\
             lengths = [40000]\nfacts = [60, 60]\npoints = [4, 6]\n{splits}"
        );
        let spec = Spec::parse(&text, Path::new("large.toml")).expect("the spec is right");
        let mut reserved = Reserved::default();
        let mut values = HashSet::new();
        for number in 0..100 {
            let plan = draw(&spec, number, &mut reserved, None);
            assert_eq!(plan.pairs.len(), 60);
            for side in plan
                .pairs
                .iter()
                .filter(|pair| pair.form != GeneratedForm::Common)
                .flat_map(|pair| &pair.sides)
            {
                assert!(values.insert(side.value.clone()), "`{}` twice", side.value);
            }
        }
    }

    #[test]
    fn replaced_pairs_keep_their_subjects() {
        let text = include_str!("../../../../datasets/smoke.toml");
        let spec = Spec::parse(text, Path::new("smoke.toml")).expect("the spec is right");
        let plan = draw(&spec, 7, &mut Reserved::default(), None);
        let replacing: Vec<&StatementPair> = plan
            .pairs
            .iter()
            .filter(|pair| pair.replaces.is_some())
            .collect();
        assert_eq!(replacing.len(), 4);
        for pair in replacing {
            let old = pair
                .replaces
                .map(|at| &plan.pairs[at])
                .expect("replaces one");
            let subjects = |pair: &StatementPair| [pair.sides[0].subject, pair.sides[1].subject];
            assert_eq!((subjects(pair), pair.fact), (subjects(old), old.fact));
            assert!(old.mentions[0].place[0] < pair.mentions[0].place[0]);
        }
    }
}
