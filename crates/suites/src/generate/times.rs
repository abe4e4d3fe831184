//! When each message was said: at a steady pace, with an absence of the user before each observation point.

use std::collections::BTreeSet;

use compactometer_engine::message::{Message, MessageId, Role};

use crate::generate::dice::Dice;

/// The first of January 2026, in milliseconds since the Unix epoch.
const START_MS: i64 = 1_767_225_600_000;
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;

/// Gives each message its time. Before the user's messages at `points` so many hours pass.
pub(crate) fn set(messages: &mut [Message], points: &BTreeSet<MessageId>, [least, most]: [usize; 2], dice: &mut Dice) {
    let mut now = START_MS;
    for message in messages {
        now += match message.role {
            Role::User if points.contains(&message.id) => {
                let minutes = dice.between(60 * least, 60 * most);
                minutes as i64 * MINUTE_MS
            }
            Role::User => dice.between(30, 240) as i64 * SECOND_MS,
            _ => dice.between(2, 20) as i64 * SECOND_MS,
        };
        message.at_ms = Some(now);
    }
}
