//! When each message was said: at a steady pace, with absences of the user.

use std::collections::BTreeSet;

use compactometer_engine::message::{Message, MessageId, Role};

use crate::dice::SeededDice;

/// The first of January 2026, in milliseconds since the Unix epoch.
const START_MS: i64 = 1_767_225_600_000;
const SECOND_MS: i64 = 1_000;
const MINUTE_MS: i64 = 60 * SECOND_MS;

/// When the user is away.
#[derive(Clone, Copy)]
pub(crate) struct Pauses {
    /// The fewest and the most hours before each observation point.
    pub(crate) before_points: Option<[usize; 2]>,
    /// The percentage of other requests that come after a pause of up to some hours.
    pub(crate) share: usize,
}

impl Pauses {
    /// Whether there are any. Otherwise messages have no times.
    pub(crate) fn are_wanted(self) -> bool {
        self.before_points.is_some() || self.share > 0
    }

    /// Gives each message its time. The observation points are the messages at `points`.
    pub(crate) fn set_times(
        self,
        messages: &mut [Message],
        points: &BTreeSet<MessageId>,
        dice: &mut SeededDice,
    ) {
        let mut now = START_MS;
        for message in messages {
            let is_request = message.role == Role::User;
            now += match self.before_points {
                Some([least, most]) if is_request && points.contains(&message.id) => {
                    dice.between(60 * least, 60 * most) as i64 * MINUTE_MS
                }
                _ if is_request && self.share > 0 && dice.chance(self.share) => {
                    let longest = dice.pick(&[15, 60, 480]);
                    dice.between(5, longest) as i64 * MINUTE_MS
                }
                _ if is_request => dice.between(30, 240) as i64 * SECOND_MS,
                _ => dice.between(2, 20) as i64 * SECOND_MS,
            };
            message.at_ms = Some(now);
        }
    }
}
