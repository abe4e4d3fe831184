//! Decides whether a model's name is that of a mock.

/// Whether the name is `mock` or `mock:PROFILE`, with or without faults after a `+`.
pub fn is_mock(model: &str) -> bool {
    model
        .strip_prefix("mock")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '+']))
}

/// Whether one of a run's models is a mock.
pub fn has_mock(summarizer: &str, target: Option<&str>) -> bool {
    is_mock(summarizer) || target.is_some_and(is_mock)
}

#[cfg(test)]
mod tests {
    use super::is_mock;

    #[test]
    fn a_mock_is_known_by_its_name_with_and_without_faults() {
        for mock in [
            "mock",
            "mock:weak",
            "mock+empty=0.1",
            "mock:strong~7+empty=0.1",
        ] {
            assert!(is_mock(mock), "{mock}");
        }
        for other in [
            "mockingbird",
            "openai:mock",
            "openai-compatible:mock:7b@host",
            "",
        ] {
            assert!(!is_mock(other), "{other}");
        }
    }
}
