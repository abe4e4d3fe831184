//! The reference strategies. Each is one folder and one line in [`ALL`]; help, lists, plots and tests iterate it.

mod chained;
mod handoff;
mod hybrid_checkpoint;
mod middleware_checkpoint;
mod progressive;
mod prompt_checkpoint;
mod published;
mod summarize;
mod threshold_summary;

use crate::strategy::StrategySpec;

pub use progressive::journey;

/// Every reference strategy.
pub const ALL: &[&StrategySpec] = &[
    &summarize::SPEC,
    &prompt_checkpoint::SPEC,
    &middleware_checkpoint::SPEC,
    &hybrid_checkpoint::SPEC,
    &threshold_summary::SPEC,
    &progressive::SPEC,
    &handoff::SPEC,
    &chained::SPEC,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Tail;
    use crate::strategy::params::{PROMPT, Settings};

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test reads the sources' names")]
    fn every_strategy_is_listed_once_and_documented() {
        let mut names = ALL.iter().map(|spec| spec.name).collect::<Vec<_>>();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategies");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut folders = paths
            .filter(|path| path.is_dir())
            .map(|path| path.file_name().unwrap().to_str().unwrap().replace('_', "-"))
            .collect::<Vec<_>>();
        names.sort_unstable();
        folders.sort_unstable();
        assert_eq!(names, folders);
        assert!(ALL.iter().all(|spec| !spec.about.is_empty() && !spec.source.is_empty()));
    }

    #[test]
    fn defaults_are_in_range_and_every_strategy_builds_with_them() {
        for spec in ALL {
            for param in spec.params() {
                let (least, greatest) = param.range;
                assert!((least..=greatest).contains(&param.default), "{} {}", spec.name, param.name);
            }
            let settings = Settings::defaults(spec);
            let limits = (spec.limits)(&settings).expect("the source's own limits hold");
            assert!(limits.trigger <= limits.window, "{}", spec.name);
            (spec.build)(&settings);
            assert_eq!(settings.clone().set(spec, PROMPT, spec.prompt), Ok(()), "{}", spec.name);
            assert!(settings.clone().set(spec, PROMPT, " \n").is_err(), "{}: a prompt that says nothing", spec.name);
        }
    }

    #[test]
    fn published_defaults_are_those_of_the_sources() {
        let limits = |name: &str| {
            let spec = ALL.iter().find(|spec| spec.name == name).expect("listed");
            let limits = (spec.limits)(&Settings::defaults(spec)).expect("holds");
            (limits.window, limits.trigger, limits.tail, limits.written)
        };
        assert_eq!(limits("summarize"), (12_500, 10_000, Tail::Tokens(2_000), 400));
        assert_eq!(limits("prompt-checkpoint"), (12_500, 10_000, Tail::Tokens(2_000), 800));
        assert_eq!(limits("middleware-checkpoint"), (12_500, 10_000, Tail::Tokens(2_000), 800));
        assert_eq!(limits("hybrid-checkpoint"), (12_500, 10_000, Tail::Tokens(2_000), 800));
        assert_eq!(limits("threshold-summary"), (100_000, 80_000, Tail::Messages(10), 500));
        assert_eq!(limits("progressive"), (32_000, 25_600, Tail::Tokens(4_096), 3_000));
        assert_eq!(limits("handoff"), (250_000, 200_000, Tail::Tokens(0), 4_000));
        assert_eq!(limits("chained"), (128_000, 93_600, Tail::Messages(10), 1_000));
    }

    #[test]
    fn bad_parameters_name_value_and_range() {
        let spec = ALL.iter().find(|spec| spec.name == "chained").expect("listed");
        let mut settings = Settings::defaults(spec);
        let mut error = |name, value| settings.set(spec, name, value).expect_err("refused").to_string();
        assert!(error("treshold", "1").contains("`threshold`"));
        assert_eq!(error("threshold", "1.5"), "`threshold` is `1.5`; it must be a number of share from 0.01 to 1");
        assert!(error("threshold", "0").contains("from 0.01"));
        assert!(error("tail", "2.5").contains("messages"));
        assert!(error("prompt", "Summarize.").contains("`{previous}`"));
        let twice = spec.placeholders.iter().map(|name| format!("{{{name}}} {{{name}}} ")).collect::<String>();
        assert!(error("prompt", &twice).contains("2 times; it must occur once"));
        settings.set(spec, "window", "9000").expect("in range");
        let error = (spec.limits)(&settings).expect_err("the reserves take more").to_string();
        assert_eq!(error, "`window` is 9000 tokens; its reserves alone take 11000");
    }

    #[test]
    fn every_published_value_differs_from_the_corrected_form_and_fits() {
        for spec in ALL {
            let published = spec.published.as_ref().expect("every source has its own form");
            let settings = Settings::published(spec).expect("fits").expect("there is one");
            let corrected = Settings::defaults(spec);
            assert!((spec.limits)(&settings).is_ok(), "{}", spec.name);
            for (name, value) in published.values {
                let mut only = Settings::defaults(spec);
                only.set(spec, name, value).expect("fits");
                assert_ne!(only, corrected, "{} {name}", spec.name);
            }
            assert!(published.breaks.iter().all(|number| (1..=22).contains(number)), "{}", spec.name);
            assert!(published.breaks.is_sorted());
        }
    }

    #[test]
    fn no_parameter_stands_twice() {
        for spec in ALL {
            let names = spec.params().map(|param| param.name).collect::<std::collections::BTreeSet<_>>();
            assert_eq!(names.len(), spec.params().count(), "{}", spec.name);
        }
    }
}
