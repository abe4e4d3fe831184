//! Faults in the names of models.

use compactometer_models::by_name;

#[test]
fn names_show_the_faults_and_can_be_typed_again() {
    for (typed, shown) in [
        ("mock+empty=0.1", "mock:claude-code+empty=0.1"),
        (
            "mock:strong+ empty=1e-1, timeout=.05",
            "mock:strong+empty=0.1,timeout=0.05",
        ),
        ("mock+seed=7,slow=-0", "mock:claude-code+slow=0,seed=7"),
    ] {
        for spec in [typed, shown] {
            assert_eq!(by_name(spec).expect("a model").name(), shown);
        }
    }
}

#[test]
fn errors_name_value_choices_and_range() {
    let error = |spec: &str| {
        by_name(spec)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let bad = [
        "mock+emty=0.1",
        "mock+empty",
        "mock+",
        "mock+empty=0.1,",
        "mock+seed=3",
        "mock+empty=2",
        "mock+empty=NaN",
        "mock+empty=",
        "mock+empty=0.1,seed=-1",
        "mock+empty=0.1,empty=0.2",
        "mock+empty=0.7,slow=0.7",
        "mok+empty=0.1",
        "mock+empty=0.1+slow=0.1",
    ];
    let errors = bad
        .iter()
        .map(|spec| format!("{spec}: {}", error(spec)))
        .collect::<Vec<_>>()
        .join("\n");
    insta::assert_snapshot!(errors);
}
