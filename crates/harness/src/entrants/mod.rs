//! Everything that can be compared: the engine's strategies and the controls, chosen by name.

mod ablation;
mod ideas;
mod items;
mod own;
mod recorded_program;
mod select;
mod select_error;

use compactometer_engine::params::Settings;
use compactometer_engine::strategies;
use compactometer_engine::strategy::StrategySpec;
use compactometer_formats::record::Family;
pub use items::{alias_of, items, stages};
pub use own::{add as add_own, own};
pub use select::{Open, select, select_with};
pub use select_error::SelectError;

use crate::controls;
use crate::plan::{Entrant, EntrantKind};

/// Every strategy with its source's settings, those of the program's own first, corrected and as
/// published; then every control.
pub fn all() -> impl Iterator<Item = Entrant> {
    let with_defaults = |family| {
        move |spec: &'static StrategySpec| Entrant {
            name: spec.name.to_owned(),
            family,
            entry: EntrantKind::Strategy(spec, Settings::defaults(spec)),
            addition: None,
            absence: None,
            trigger: None,
            reference: None,
        }
    };
    let own = own().iter().copied().map(with_defaults(Family::Custom));
    let plain = strategies::ALL
        .iter()
        .copied()
        .map(with_defaults(Family::Reference));
    let faithful = strategies::ALL.iter().filter_map(|spec| {
        // A test of the engine holds that every published value fits.
        let entry = EntrantKind::Strategy(spec, Settings::published(spec).ok()??);
        Some(Entrant {
            name: spec.published_name(),
            family: Family::Faithful,
            entry,
            addition: None,
            absence: None,
            trigger: None,
            reference: None,
        })
    });
    let controls = controls::ALL.iter().map(|control| Entrant {
        name: control.name.to_owned(),
        family: Family::Control,
        entry: EntrantKind::Control(control),
        addition: None,
        absence: None,
        trigger: None,
        reference: None,
    });
    let recorded = Entrant {
        name: recorded_program::PROGRAM.name.to_owned(),
        family: Family::Recorded,
        entry: EntrantKind::Recorded(&recorded_program::PROGRAM),
        addition: None,
        absence: None,
        trigger: None,
        reference: None,
    };
    own.chain(plain)
        .chain(faithful)
        .chain([recorded])
        .chain(controls)
}
