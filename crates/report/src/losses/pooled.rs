//! Shares over all items of many sessions, with intervals over projects, since sessions of one
//! project are alike. Where there are few projects, they are over sessions.

use std::collections::BTreeMap;

use compactometer_formats::losses::SessionLosses;

use crate::stats::interval;

/// Shares of fewer sessions or projects than this have no interval: so few show something, and
/// prove nothing.
pub const FEWEST_SESSIONS: usize = 6;

/// What was found in one session.
#[derive(Clone, Debug)]
pub(super) struct PooledGroup<'s, T> {
    project: &'s str,
    pub(super) items: Vec<T>,
}

impl<'s, T> PooledGroup<'s, T> {
    /// Items with their sessions, by session.
    pub(super) fn all(items: impl IntoIterator<Item = (&'s SessionLosses, T)>) -> Vec<Self> {
        let mut groups = BTreeMap::<&str, PooledGroup<'s, T>>::new();
        for (session, item) in items {
            let of_session = groups.entry(&session.group).or_insert_with(|| PooledGroup {
                project: session.projects.first().unwrap_or(&session.group),
                items: Vec::new(),
            });
            of_session.items.push(item);
        }
        groups.into_values().collect()
    }

    /// What was found of some kind.
    pub(super) fn map<U>(&self, of: impl FnMut(&T) -> Option<U>) -> PooledGroup<'s, U> {
        PooledGroup {
            project: self.project,
            items: self.items.iter().filter_map(of).collect(),
        }
    }
}

/// The mean over all items, with its interval.
pub(super) fn pooled<T>(
    groups: &[PooledGroup<'_, T>],
    of: impl Fn(&T) -> f64,
) -> (Option<f64>, Option<(f64, f64)>) {
    let mut of_sessions = Vec::new();
    let mut of_projects = BTreeMap::<&str, (f64, f64)>::new();
    for PooledGroup { project, items } in groups.iter().filter(|group| !group.items.is_empty()) {
        let sum = (items.iter().map(&of).sum::<f64>(), items.len() as f64);
        of_sessions.push(sum);
        let of_project = of_projects.entry(project).or_default();
        (of_project.0, of_project.1) = (of_project.0 + sum.0, of_project.1 + sum.1);
    }
    let sums = match of_projects.len() >= FEWEST_SESSIONS {
        true => of_projects.into_values().collect(),
        false => of_sessions,
    };
    let mean = |times: &[u32]| {
        let drawn = sums
            .iter()
            .zip(times)
            .map(|((held, of), times)| (held * f64::from(*times), of * f64::from(*times)));
        let (held, of) = drawn.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        (of > 0.0).then(|| held / of)
    };
    let has_interval = sums.len() >= FEWEST_SESSIONS;
    let ends = has_interval
        .then(|| interval::of_statistic(sums.len(), sums.len(), mean))
        .flatten();
    (mean(&vec![1; sums.len()]), ends)
}

/// The ends of an interval of a share.
pub(super) fn within_one((low, high): (f64, f64)) -> (f64, f64) {
    (low.max(0.0), high.min(1.0))
}
