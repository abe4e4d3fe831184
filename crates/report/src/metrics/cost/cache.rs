//! What a provider's prompt cache does with the requests of one conversation.
//!
//! The agent is taken to mark the ends of its requests and of their fixed parts, as far as
//! breakpoints go. Absent on purpose: a limit on how far back a provider looks for an earlier mark,
//! and prefixes shared between conversations.

use compactometer_engine::message::Usage;
use compactometer_formats::prices::{CacheRules, PrefixPart, PriceRow};
use compactometer_formats::record::{Case, Turn};

/// The cache as one conversation sees it.
pub(super) struct PromptCache<'p> {
    rules: &'p CacheRules,
    /// Ends of the fixed parts, in order of the prefix.
    fixed: Vec<(PrefixPart, u32)>,
    entries: Vec<CachedPrefix>,
    now_ms: i64,
}

/// A cached prefix of the latest request.
struct CachedPrefix {
    tokens: u32,
    used_ms: i64,
}

/// How a request's input is charged, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChargedInput {
    pub(super) read: u32,
    pub(super) written: u32,
    pub(super) plain: u32,
}

impl ChargedInput {
    /// In US dollars.
    pub(super) fn dollars(self, prices: &PriceRow) -> f64 {
        let [input, cache_write, cache_read] = [self.plain, self.written, self.read].map(u64::from);
        prices.dollars(&Usage {
            input,
            cache_write,
            cache_read,
            output: 0,
        })
    }
}

impl<'p> PromptCache<'p> {
    /// An empty cache for a case's conversation. A recorded agent's fixed prefix counts as tool
    /// definitions.
    pub(super) fn for_case(rules: &'p CacheRules, case: &Case) -> Self {
        PromptCache::new(
            rules,
            case.tool_tokens.saturating_add(case.fixed_prefix_tokens),
            case.system_tokens,
        )
    }

    /// An empty cache, given the tokens of tool definitions and of the system prompt.
    fn new(rules: &'p CacheRules, tools: u32, system: u32) -> Self {
        let mut end = 0;
        let parts = rules
            .prefix_order
            .iter()
            .take_while(|part| **part != PrefixPart::Messages);
        let fixed = parts.map(|part| {
            end += if *part == PrefixPart::Tools {
                tools
            } else {
                system
            };
            (*part, end)
        });
        let fixed = fixed.collect();
        PromptCache {
            rules,
            fixed,
            entries: Vec::new(),
            now_ms: 0,
        }
    }

    /// A request, so long after the one before.
    pub(super) fn request(&mut self, turn: &Turn, gap_ms: i64) -> ChargedInput {
        self.now_ms += gap_ms;
        let shared = self.in_order(turn.shared_prefix).min(turn.input);
        let lifetime_ms = i64::from(self.rules.lifetime_s) * 1000;
        self.entries
            .retain(|entry| self.now_ms - entry.used_ms <= lifetime_ms);
        if self.rules.breakpoints == 0 {
            let rules = self.rules;
            self.entries
                .iter_mut()
                .for_each(|entry| entry.tokens = whole(rules, entry.tokens.min(shared)));
        } else {
            self.entries.retain(|entry| entry.tokens <= shared);
        }
        let read = self
            .entries
            .iter()
            .map(|entry| entry.tokens)
            .max()
            .unwrap_or(0);
        let read = if read >= self.rules.minimum_tokens {
            read
        } else {
            0
        };
        if self.rules.renewed_by_use {
            let used = self.entries.iter_mut().filter(|entry| entry.tokens == read);
            used.for_each(|entry| entry.used_ms = self.now_ms);
        }
        let last = self.mark(turn.input);
        let written = last.saturating_sub(read);
        ChargedInput {
            read,
            written,
            plain: turn.input - read - written,
        }
    }

    /// Whether a prefix of that size would be read so long after the request that wrote it.
    pub(super) fn is_read(rules: &CacheRules, tokens: u32, gap_ms: i64) -> bool {
        tokens >= rules.minimum_tokens && gap_ms <= i64::from(rules.lifetime_s) * 1000
    }

    /// Keeps the prefixes that a request of that size marks; gives the longest one's tokens.
    fn mark(&mut self, input: u32) -> u32 {
        let fixed = self.fixed.iter().rev().map(|(_, end)| *end);
        let most = self.rules.breakpoints.max(1) as usize;
        let marked = std::iter::once(input)
            .chain(fixed)
            .take(most)
            .map(|tokens| whole(self.rules, tokens.min(input)));
        let marked = marked
            .filter(|tokens| *tokens >= self.rules.minimum_tokens && *tokens > 0)
            .collect::<Vec<_>>();
        for tokens in &marked {
            match self
                .entries
                .iter_mut()
                .find(|entry| entry.tokens == *tokens)
            {
                Some(entry) if !self.rules.renewed_by_use => entry.tokens = *tokens,
                Some(entry) => entry.used_ms = self.now_ms,
                None => self.entries.push(CachedPrefix {
                    tokens: *tokens,
                    used_ms: self.now_ms,
                }),
            }
        }
        marked.first().copied().unwrap_or(0)
    }

    /// Records count a shared prefix with tools first. Tools never change, so where the system
    /// prompt comes first and changes, they are not part of it.
    fn in_order(&self, shared: u32) -> u32 {
        let (Some((first, _)), Some((_, all))) = (self.fixed.first(), self.fixed.last()) else {
            return 0;
        };
        let changed = shared < *all;
        let tools = self
            .fixed
            .iter()
            .find(|(part, _)| *part == PrefixPart::Tools);
        match (*first, tools) {
            (PrefixPart::System, Some((_, end))) if changed => {
                let system = self.fixed[0].1;
                shared.saturating_sub(end - system)
            }
            _ => shared,
        }
    }
}

/// Only whole steps are cached.
fn whole(rules: &CacheRules, tokens: u32) -> u32 {
    tokens - tokens % rules.granularity_tokens
}

#[cfg(test)]
mod tests {
    use compactometer_engine::message::MessageId;

    use super::*;

    const RULES: CacheRules = CacheRules {
        prefix_order: Vec::new(),
        minimum_tokens: 100,
        granularity_tokens: 1,
        breakpoints: 4,
        lifetime_s: 300,
        renewed_by_use: true,
    };

    fn rules(order: [PrefixPart; 3]) -> CacheRules {
        CacheRules {
            prefix_order: order.to_vec(),
            ..RULES
        }
    }

    fn marked() -> CacheRules {
        rules([PrefixPart::Tools, PrefixPart::System, PrefixPart::Messages])
    }

    fn turn(input: u32, shared_prefix: u32) -> Turn {
        let message = MessageId(1);
        Turn {
            message,
            at_ms: None,
            input,
            shared_prefix,
            output: 0,
            recorded: None,
            waited_ms: None,
            over_window: false,
            violations: 0,
        }
    }

    /// Requests as size, shared prefix and seconds since the one before; what is read and written
    /// of each.
    fn played(rules: &CacheRules, requests: &[(u32, u32, i64)]) -> Vec<(u32, u32)> {
        let mut cache = PromptCache::new(rules, 60, 140);
        let charged = requests
            .iter()
            .map(|(input, shared, gap_s)| cache.request(&turn(*input, *shared), gap_s * 1000));
        charged.map(|input| (input.read, input.written)).collect()
    }

    #[test]
    fn a_prefix_is_read_up_to_a_mark_of_an_earlier_request() {
        let found = played(
            &marked(),
            &[
                (1_000, 0, 0),
                (1_500, 1_000, 10),
                (400, 250, 10),
                (500, 400, 10),
            ],
        );
        // Of the 250 tokens that the compacted request shares, the last mark is the end of the
        // system prompt at 200.
        assert_eq!(found, [(0, 1_000), (1_000, 500), (200, 200), (400, 100)]);
        // A single mark is at the end of requests, so nothing is read after a compaction.
        let one = CacheRules {
            breakpoints: 1,
            ..marked()
        };
        assert_eq!(
            played(&one, &[(1_000, 0, 0), (400, 250, 10)]),
            [(0, 1_000), (0, 400)]
        );
        // Without marks every place is one, in whole steps.
        let automatic = CacheRules {
            breakpoints: 0,
            granularity_tokens: 128,
            ..marked()
        };
        let found = played(
            &automatic,
            &[
                (1_000, 0, 0),
                (400, 300, 10),
                (450, 400, 10),
                (150, 120, 10),
            ],
        );
        assert_eq!(found, [(0, 896), (256, 128), (384, 0), (0, 128)]);
    }

    #[test]
    fn what_is_short_or_old_is_not_cached() {
        let found = played(
            &marked(),
            &[(99, 0, 0), (150, 99, 1), (151, 150, 300), (152, 151, 301)],
        );
        assert_eq!(found, [(0, 0), (0, 150), (150, 1), (0, 152)]);
        // Each use renews the system prompt's mark: after 400 s it is still read. Without renewal
        // it is gone.
        let requests = [(1_000, 0, 0), (1_100, 1_000, 200), (500, 250, 200)];
        assert_eq!(played(&marked(), &requests)[2], (200, 300));
        let fixed = CacheRules {
            renewed_by_use: false,
            ..marked()
        };
        assert_eq!(played(&fixed, &requests)[2], (0, 500));
    }

    #[test]
    fn a_changed_system_prompt_voids_tools_that_follow_it() {
        let requests = [(1_000, 0, 0), (500, 160, 10)];
        // 60 tokens of tools, then 100 of the system prompt's 140 are the same.
        let short = |rules| CacheRules {
            minimum_tokens: 50,
            ..rules
        };
        assert_eq!(played(&short(marked()), &requests)[1], (60, 440));
        let order = rules([PrefixPart::System, PrefixPart::Tools, PrefixPart::Messages]);
        assert_eq!(played(&short(order), &requests)[1], (0, 500));
    }
}
