//! What the matcher and the rules of binding find in a fixed list of texts. Recall that was counted
//! by rules with other results is another measure, so runs and baselines carry a hash of these
//! results.
//!
//! A version number would have to be raised by hand, and a hash of the sources would change with
//! every comment. These results change when a rule does: each text is searched for all values, with
//! every stance, so that one list reaches most rules. A rule that no text reaches still goes
//! unnoticed; a new rule therefore needs a text here.
//!
//! Absent on purpose: what would be right. `tests/it/hard` measures that.

use std::fmt::Write as _;

use crate::binding::Subjects;
use crate::matcher::ValueKind::{self, Enum, Free, Id, Nonce, Number, Path};
use crate::matcher::{Matcher, Said, Sought};

/// The results, a line for each text that holds a value.
pub fn results() -> String {
    let mut results = String::new();
    let matcher = matcher();
    let said = STATED
        .iter()
        .flat_map(|value| SAID.iter().map(move |text| text.replace("{}", value)));
    let spelled = SPELLED.iter().map(|text| (*text).to_owned());
    for (place, text) in spelled.chain(said).chain(worded()).enumerate() {
        let found = matcher.find(&text).collect::<Vec<_>>();
        let _ = writeln!(results, "{place} {found:?}");
    }
    let subjects = Subjects::new(SUBJECTS.iter().copied(), BOUND.iter().copied());
    let values = Matcher::new(VALUES.iter().map(|(kind, value)| (*kind, [*value])));
    for text in BOUND {
        let _ = writeln!(results, "{:?}", subjects.bindings(&values, text));
    }
    results
}

fn worded() -> impl Iterator<Item = String> {
    WORDS
        .split_whitespace()
        .flat_map(|word| AROUND.iter().map(move |text| text.replace("{}", word)))
}

fn matcher() -> Matcher {
    let sought = |said| {
        VALUES
            .iter()
            .map(move |(kind, value)| (Sought { kind: *kind, said }, [*value]))
    };
    let all = [Said::Either, Said::Affirmed, Said::Denied];
    Matcher::new(all.into_iter().flat_map(sought))
}

const VALUES: &[(ValueKind, &str)] = &[
    (Free, "Redis"),
    (Free, "silken olive rafter"),
    (Free, "Café"),
    (Enum, "blue"),
    (Nonce, "tavorim"),
    (Id, "QJT-37149"),
    (Id, "call_9"),
    (Id, "1.10"),
    (Id, "1.1"),
    (Id, "2.3.1"),
    (Id, "2024-11-05"),
    (Id, "release-9"),
    (Path, "src/app/main.rs"),
    (Path, "src/app"),
    (Path, "C:\\new\\table.csv"),
    (Path, "https://ab.example/x?y=1"),
    (Number, "4500 ms"),
    (Number, "12500"),
    (Number, "-12500"),
    (Number, "64 GB"),
    (Number, "64 GiB"),
    (Number, "15 %"),
    (Number, "90 min"),
    (Number, "3 days"),
    (Number, "EUR 250"),
    (Number, "17"),
    (Number, "6379"),
    (Number, "0.25"),
    (Number, "05 min"),
    (Number, "482131 rows"),
];

/// Texts about spellings, borders and notations.
const SPELLED: &[&str] = &[
    "redis REDIS Redis's \"Redis\" `Redis` **Redis** _Redis_ Redis-like xRedis Redis2 Redis_db (Redis)",
    "a silken\n   olive rafter; a silken olive, rafter; silken-olive rafter; silken\u{a0}olive rafter",
    "{\"name\":\"caf\\u00e9\"} CAFE\u{301} cafe Ｃａｆé",
    "blue-green, blue, bluer, light blue",
    "tavorim.restart() tavorim_2 Tavorims",
    "QJT\u{2011}37149 QJT–37149 QJT 37149 qjt-37149 QJT37149 QJT-37149-2 XQJT-37149 #QJT-37149 line\\nQJT-37149\\tdone",
    "\"id\":\"call_9\" call_99 call 9 call\\_9",
    "1.1 1.10 v1.1 V1.10 1.1.2 11.1 1.1-beta 1.1rc1 version 1.1, =1.1 ^1.10 ~1.1",
    "2.3.1-beta v2.3.1 2.3.1. 2.3.10 2.3.1+build",
    "2024-11-05T09:00Z 5 November 2024 2024/11/05 05.11.2024 Nov 5, 2024 2024-11-051",
    "release-9 release_9 release 9 release-9.1 origin/release-9 release-90",
    "vendor/src/app/main.rs /repo/src/app/main.rs:10 ./src/app/main.rs src/app/main.rs.bak src\\/app\\/main.rs in src/app.",
    "C:\\\\new\\\\table.csv C:/new/table.csv C:\\new\\table.csv",
    "<https://ab.example/x?y=1> https://ab.example/x?y=12 http://ab.example/x?y=1, ab.example/x?y=1",
    "4.5 s, 4500ms, 4,500 ms, 4.500 ms, 4500 milliseconds, 4500 MB, 4500-millisecond, `4500` ms, 4.50 seconds, 14.5 s",
    "12 500 rows",
    "12.5k",
    "12_500",
    "-12500",
    "minus 12500",
    "1.25e4",
    "12'500 and 12,500 and 12.500",
    "from 1000-12500",
    "tail -12500 log",
    "--limit=12500 and #12500 and $12500 and 12500th and 12500x",
    "64GB 64 gigabytes 65536 MiB 64000 MB 64 Gb 64 gb/s",
    "64 GiB 64 gibibytes 68719476736 bytes",
    "15% 15 percent 15 per cent 0.15 15 pp 15 percentage points",
    "1.5 hours",
    "1 h 30 min",
    "1h30m",
    "1 hour and 30 minutes",
    "an hour and a half, ninety minutes, 01:30",
    "three days, 72 hours, 3d, 3-day, 3 days ago",
    "250 euros, €250, 250 EUR, 250€, EUR 250.00, $250, -€250, EUR 2500",
    "17.0, 17, seventeen, 017, 17th, 1.7e1, 17-18, 16-17, 117, 17.5, x17",
    "port:6379 :6379 6,379 6379/tcp localhost:6379",
    ".25 0.250 0,25 1/4 25% 25 %",
    "in 05 min, 5 min, 5 minutes",
    "482,131\nrows 482131-row 482131 items",
];

/// The values that are put into [`SAID`]: for a number, other rules hold.
const STATED: &[&str] = &["Redis", "QJT-37149", "src/app/main.rs", "12500", "90 min"];

/// Statements about a value.
const SAID: &[&str] = &[
    "We use {}.",
    "Never use {}.",
    "Never use {} here. There we use {}.",
    "We chose {} over Memcached.",
    "We chose Memcached over {}.",
    "We chose Memcached instead of {}.",
    "The choice is Memcached, not {}.",
    "It is {}, not Memcached.",
    "{} was replaced by Memcached.",
    "Memcached was replaced by {}.",
    "{} -> 4711",
    "4711 -> {}",
    "{} -> Memcached",
    "Memcached → {}",
    "Changed from {} to 4711.",
    "Changed from 4711 to {}.",
    "Was it {}? I have no idea.",
    "Is it {}?",
    "It may be {}.",
    "I think it is {}.",
    "Perhaps {}, perhaps not.",
    "I do not know whether it is {}.",
    "We considered {}.",
    "{} was considered and chosen.",
    "{} is not the answer.",
    "{} isn't used.",
    "{} must never be edited.",
    "{} must stay unchanged.",
    "Leave {} alone.",
    "Leave {} as it is.",
    "{}: do not touch",
    "{} (never edit it)",
    "{} (rejected)",
    "{}, which was dropped, is back.",
    "We never closed {}, that is the ticket.",
    "Not only {} but also Memcached.",
    "No more than {}.",
    "Not more than {}.",
    "At most {}, and no less.",
    "Do not exceed {}.",
    "Do not forget {}.",
    "Nothing but {}.",
    "Without {} it fails.",
    "{} is no longer used.",
    "We no longer use {}.",
    "Formerly {}, now 4711.",
    "Now {}, formerly 4711.",
    "It used to be {}.",
    "The old value was {}; the new one is 4711.",
    "{} belongs to another project.",
    "{} is wrong.",
    "It is wrong that {} failed.",
    "If {} fails, stop.",
    "Neither {} nor Memcached.",
    "Either {} or Memcached.",
    "\"{}\" is what the user said, but it is not so.",
    "- {}\n- not this one",
    "Not this one:\n- {}",
    "The user asked for {} and we did it.",
    "~~{}~~",
    "TODO: check {}",
    "{} was correct until yesterday.",
    "Revert {}.",
    "Undo the change to {}.",
];

/// Words whose place before or after a value may say something about it.
const WORDS: &str = "avoid excludes forbid forbidden nobody prohibited reject rejected without former formerly obsolete outdated \
    previously replaced replacing superseded abandoned deprecated dropped retired barred off off-limits out ruled alternative \
    candidate considered contender debated discussed evaluated option proposed runner-up suggested weighed another different \
    incorrect mistaken unrelated wrong still alone intact unchanged unmodified untouched bumped changed migrated moved renamed \
    switched updated upgraded decided recommended voted advised warned not never no none cannot can't don't won't shouldn't \
    mustn't maybe perhaps possibly probably might could unsure unknown unclear whether if unless until except besides rather \
    instead versus vs than over under only just merely about exactly chosen picked selected kept remains stays lost failed skip \
    ignore stop remove delete disable drop cancel revoke leave keep touch edit modify change forget miss exceed believe doubt \
    guess assume wonder ask question verify check confirm denied deny refuse";

/// Where they are put.
const AROUND: &[&str] = &[
    "{} Redis",
    "{} 12500",
    "We {} to use Redis.",
    "Please do not {} QJT-37149.",
    "Redis {} by us.",
    "Redis is {}.",
    "Memcached is {} Redis",
];

const SUBJECTS: &[&str] = &[
    "the retry limit",
    "the port of the cache",
    "the deploy branch",
    "the ticket",
    "the cache",
    "the entry point",
];

const BOUND: &[&str] = &[
    "The retry limit is 17.",
    "The port of the cache is 6379.",
    "The deploy branch is release-9.",
    "The ticket is QJT-37149. The cache is Redis. The entry point is src/app/main.rs.",
    "The retry limit is 17; the port of the cache is 6379, and release-9 is the deploy branch.",
    "- retry limit: 17\n- cache port: 6379\n- deploy branch: release-9",
    "{\"retry_limit\": 17, \"cache\": {\"port\": 6379}, \"deployBranch\": \"release-9\"}",
    "| retry limit | cache port | deploy branch |\n|---|---|---|\n| 17 | 6379 | release-9 |",
    "## Retry limit\nSet to 17.\n\n## Port of the cache\nUse 6379.\n\n## Deploy branch\nIt is release-9.",
    "17, 6379, release-9",
    "- 17\n- 6379\n- release-9",
    "The user said 17. Then 6379 came. It ended with release-9.",
    "Retry limit, port of the cache, deploy branch.\n\n17, 6379, release-9",
    "The retry limit is 6379 and the port of the cache is 17.",
    "The retry limit and the port of the cache are 17 and 6379.",
    "retry limit 17 port 6379 branch release-9 ticket QJT-37149 entry point src/app/main.rs cache Redis",
    "17 is the retry limit. 6379 (the port of the cache) stays. QJT-37149 - the ticket - is open.",
    "Retries are limited to 17, while the cache listens on 6379 because the ticket QJT-37149 says so.",
    "retry limit: 17, 6379; the ticket: QJT-37149, release-9",
    "We use Redis. The cache's port: 6379. Its entry point, src/app/main.rs, is on the deploy branch release-9.",
    "1. The ticket\n   QJT-37149\n2. The cache\n   Redis\n   6379",
    "<retry_limit>17</retry_limit><port>6379</port>",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A list that always or never finds a value notices no change of its rules.
    #[test]
    fn every_value_is_found_in_some_texts_with_every_stance_that_it_can_have() {
        let mut found = BTreeSet::new();
        for line in results().lines() {
            let items = line
                .split_once('[')
                .map_or("", |(_, items)| items.trim_end_matches(']'));
            found.extend(
                items
                    .split(", ")
                    .filter_map(|item| item.parse::<usize>().ok())
                    .map(|item| item % VALUES.len()),
            );
        }
        assert_eq!(found.len(), VALUES.len(), "{found:?}");
        let stances = |stated: &str| {
            let place = VALUES
                .iter()
                .position(|(_, value)| *value == stated)
                .expect("listed");
            [0, 1, 2].map(|said| {
                let item = (said * VALUES.len() + place).to_string();
                let holds = |line: &&str| {
                    line.split([' ', '[', ',', ']'])
                        .skip(1)
                        .any(|found| found == item)
                };
                results().lines().filter(holds).count()
            })
        };
        for stated in STATED {
            let [either, affirmed, denied] = stances(stated);
            assert!(
                affirmed > 10 && denied > 5 && either > affirmed,
                "{stated}: {either} {affirmed} {denied}"
            );
        }
    }

    #[test]
    fn results_are_the_same_each_time_and_hold_bindings() {
        assert_eq!(results(), results());
        assert!(
            results().contains("(25, 0), (26, 1)"),
            "the retry limit is 17, the port 6379"
        );
    }
}
