//! The reference strategies. Each is one file or folder and one line in [`ALL`]; help, lists, plots
//! and tests iterate it.

mod chained;
#[cfg(test)]
mod dummy;
mod handoff;
mod hybrid_checkpoint;
mod middleware_checkpoint;
mod progressive;
mod prompt_checkpoint;
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
    #[cfg(test)]
    &dummy::SPEC,
];

/// Window, trigger, tail and written tokens of a strategy with its defaults.
#[cfg(test)]
fn default_limits(spec: &StrategySpec) -> (u32, u32, crate::budget::Tail, u32) {
    let limits =
        (spec.limits)(&crate::strategy::params::Settings::defaults(spec)).expect("defaults fit");
    (limits.window, limits.trigger, limits.tail, limits.written)
}

#[cfg(test)]
mod tests {
    use super::*;
    use async_trait::async_trait;

    use crate::budget::Budget;
    use crate::message::{Message, MessageId, Part, Role};
    use crate::model::meter::Metered;
    use crate::model::{ChatError, ChatModel, ChatReply, ChatRequest};
    use crate::session::event::Outcome;
    use crate::session::{Policy, Session, SessionConfig};
    use crate::strategy::params::{PROMPT, Settings};
    use crate::tokens::{CountedMessage, Encoding};

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test reads the sources' names")]
    fn every_strategy_is_listed_once_and_documented() {
        let mut names = ALL.iter().map(|spec| spec.name).collect::<Vec<_>>();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/strategies");
        let paths = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let modules = paths.map(|path| {
            path.file_stem()
                .unwrap()
                .to_str()
                .unwrap()
                .replace('_', "-")
        });
        let mut modules = modules.filter(|name| name != "mod").collect::<Vec<_>>();
        names.sort_unstable();
        modules.sort_unstable();
        assert_eq!(names, modules);
        assert!(
            ALL.iter()
                .all(|spec| !spec.about.is_empty() && !spec.source.is_empty())
        );
    }

    #[test]
    fn defaults_are_in_range_and_every_strategy_builds_with_them() {
        for spec in ALL {
            for param in spec.params() {
                let (least, greatest) = param.range;
                assert!(
                    (least..=greatest).contains(&param.default),
                    "{} {}",
                    spec.name,
                    param.name
                );
            }
            let settings = Settings::defaults(spec);
            let limits = (spec.limits)(&settings).expect("the source's own limits hold");
            assert!(limits.trigger <= limits.window, "{}", spec.name);
            (spec.build)(&settings);
            let own_prompt = settings.clone().set(spec, PROMPT, spec.prompt);
            assert_eq!(
                own_prompt.is_ok(),
                !spec.prompt.is_empty(),
                "{}: {own_prompt:?}",
                spec.name
            );
            assert!(
                settings.clone().set(spec, PROMPT, " \n").is_err(),
                "{}: a prompt that says nothing",
                spec.name
            );
        }
    }

    #[tokio::test]
    async fn a_new_strategy_needs_its_file_and_its_line_alone() {
        let spec = ALL
            .iter()
            .find(|spec| spec.name == dummy::SPEC.name)
            .expect("it is in the registry");
        let settings = Settings::defaults(spec);
        let strategy = (spec.build)(&settings);
        let budget =
            Budget::published((spec.limits)(&settings).expect("they hold"), 1.0).expect("it holds");
        let metered = Metered::new(&NoModel, 0);
        let (overhead, summarizer_window, automatic, policy) = (0, None, true, Policy::Enforce);
        let config = SessionConfig {
            budget,
            overhead,
            summarizer_window,
            automatic,
            policy,
        };
        let mut session = Session::new(&*strategy, &metered, &Encoding::O200k, config);
        for id in 0..100 {
            let role = if id % 2 == 0 {
                Role::User
            } else {
                Role::Assistant
            };
            let parts = vec![Part::Text {
                text: format!("Message {id} of a long conversation."),
            }];
            let message = Message {
                id: MessageId(id),
                role,
                at_ms: None,
                parts,
                usage: None,
            };
            session
                .push(CountedMessage::new(message, &Encoding::O200k))
                .expect("a provider takes it");
            session.before_call(None).await;
        }
        let outcomes = session
            .events()
            .iter()
            .map(|event| &event.outcome)
            .collect::<Vec<_>>();
        assert!(
            !outcomes.is_empty() && outcomes.iter().all(|outcome| **outcome == Outcome::Applied),
            "{outcomes:?}"
        );
        assert!(session.request_tokens() < budget.window && metered.take_calls().is_empty());
    }

    struct NoModel;

    #[async_trait]
    impl ChatModel for NoModel {
        fn name(&self) -> &str {
            "none"
        }

        async fn complete(&self, _: &ChatRequest) -> Result<ChatReply, ChatError> {
            Err(ChatError::Refused {
                message: "nobody should ask".to_owned(),
            })
        }
    }

    #[test]
    fn bad_parameters_name_value_and_range() {
        let spec = ALL
            .iter()
            .find(|spec| spec.name == "chained")
            .expect("listed");
        let mut settings = Settings::defaults(spec);
        let mut error = |name, value| {
            settings
                .set(spec, name, value)
                .expect_err("refused")
                .to_string()
        };
        assert!(error("treshold", "1").contains("`threshold`"));
        assert_eq!(
            error("threshold", "1.5"),
            "`threshold` is `1.5`; it must be a share from 0.01 to 1"
        );
        assert!(error("threshold", "0").contains("from 0.01"));
        assert!(error("tail", "2.5").contains("messages"));
        assert!(error("prompt", "Summarize.").contains("`{previous}`"));
        let twice = spec
            .placeholders
            .iter()
            .map(|name| format!("{{{name}}} {{{name}}} "))
            .collect::<String>();
        assert!(error("prompt", &twice).contains("repeats the placeholders"));
        settings.set(spec, "window", "9000").expect("in range");
        let error = (spec.limits)(&settings)
            .expect_err("the reserves take more")
            .to_string();
        assert_eq!(
            error,
            "`window` is 9000 tokens; its reserves already take 11000"
        );
    }

    #[test]
    fn every_published_value_differs_from_the_corrected_form_and_fits() {
        for spec in ALL {
            let Some(published) = &spec.published else {
                continue;
            };
            let settings = Settings::published(spec)
                .expect("fits")
                .expect("there is one");
            let corrected = Settings::defaults(spec);
            assert!((spec.limits)(&settings).is_ok(), "{}", spec.name);
            for (name, value) in published.values {
                let mut only = Settings::defaults(spec);
                only.set(spec, name, value).expect("fits");
                assert_ne!(only, corrected, "{} {name}", spec.name);
            }
            assert!(
                published
                    .breaks
                    .iter()
                    .all(|number| (1..=22).contains(number)),
                "{}",
                spec.name
            );
            assert!(published.breaks.is_sorted());
        }
    }

    #[test]
    fn no_parameter_stands_twice() {
        for spec in ALL {
            let names = spec
                .params()
                .map(|param| param.name)
                .collect::<std::collections::BTreeSet<_>>();
            assert_eq!(names.len(), spec.params().count(), "{}", spec.name);
        }
    }
}
