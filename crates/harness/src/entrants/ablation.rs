//! `@ablation`: every strategy, its published form, and each of its corrections taken back by
//! itself.
//!
//! Absent on purpose: corrections in pairs, and published forms with a single correction.

use compactometer_engine::params::{PROMPT, Settings};
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_formats::record::Family;

use super::all;
use crate::plan::{Entrant, EntrantKind};

/// Each strategy that was published, its published form, and, where that has several switches, a
/// row for each of them; all but the first are compared with the first.
pub(super) fn entrants() -> impl Iterator<Item = Entrant> {
    strategies::ALL.iter().flat_map(|spec| {
        let name = spec.published_name();
        let published = all().find(|entrant| entrant.name == name);
        let plain = all()
            .find(|entrant| entrant.name == spec.name)
            .filter(|_| published.is_some());
        let paired = published.into_iter().chain(switched(spec));
        let paired = paired.map(|entrant| Entrant {
            reference: Some(spec.name.to_owned()),
            ..entrant
        });
        plain.into_iter().chain(paired).collect::<Vec<_>>()
    })
}

/// The plain form with one value as published.
fn switched(spec: &'static StrategySpec) -> impl Iterator<Item = Entrant> {
    let values = spec.published.as_ref().map_or(&[][..], |form| form.values);
    values
        .iter()
        .filter(|_| values.len() > 1)
        .filter_map(move |(key, value)| {
            let mut settings = Settings::defaults(spec);
            // A test of the engine holds that every published value fits.
            settings.set(spec, key, value).ok()?;
            let shown = if *key == PROMPT { "published" } else { value };
            Some(Entrant {
                name: format!("{}[{key}={shown}]", spec.name),
                family: Family::Reference,
                entry: EntrantKind::Strategy(spec, settings),
                addition: None,
                absence: None,
                trigger: None,
                reference: None,
            })
        })
}

#[cfg(test)]
mod tests {
    use compactometer_engine::session::Policy;

    use super::*;

    #[test]
    fn each_published_form_and_each_switch_is_paired_with_its_plain_form() {
        let all = entrants().collect::<Vec<_>>();
        let of = |base: &str| {
            let rows = all
                .iter()
                .filter(|entrant| entrant.reference.as_deref() == Some(base));
            rows.map(|entrant| entrant.name.as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            of("summarize"),
            [
                "summarize-faithful",
                "summarize[prompt=published]",
                "summarize[unchecked=faithful]",
                "summarize[one_piece=faithful]",
                "summarize[pending=faithful]",
            ]
        );
        for spec in strategies::ALL {
            let switches = spec.published.as_ref().map_or(0, |form| form.values.len());
            assert_eq!(
                of(spec.name).len(),
                1 + if switches > 1 { switches } else { 0 },
                "{}",
                spec.name
            );
        }
        let plain = all.iter().filter(|entrant| entrant.reference.is_none());
        assert_eq!(plain.count(), strategies::ALL.len());
    }

    /// What breaks a rule of the engine would else be refused, and the row would show nothing.
    #[test]
    fn a_row_that_deviates_is_measured_as_it_is() {
        let policy = |name: &str| {
            entrants()
                .find(|entrant| entrant.name == name)
                .map(|entrant| entrant.policy())
        };
        assert_eq!(policy("chained"), Some(Policy::Enforce));
        assert_eq!(policy("chained[prompt=published]"), Some(Policy::Enforce));
        assert_eq!(policy("chained[assistant=faithful]"), Some(Policy::Observe));
        assert_eq!(policy("chained-faithful"), Some(Policy::Observe));
    }
}
