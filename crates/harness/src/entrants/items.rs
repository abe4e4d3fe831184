//! The form of a list of strategies: items, and the name and the strategies of each.

/// What an item begins with that runs a program.
pub(super) const EXEC: &str = "exec:";
/// How many strategies may come one after the other.
pub(super) const MOST_STAGES: usize = 16;

/// A list of strategies as its items: at the commas that are in no double quotes.
pub fn items(list: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut is_quoted = false;
    for letter in list.chars() {
        is_quoted ^= letter == '"';
        match items.last_mut() {
            Some(item) if letter != ',' || is_quoted => item.push(letter),
            _ => items.push(String::new()),
        }
    }
    items
        .into_iter()
        .map(|item| item.trim().to_owned())
        .filter(|item| !item.is_empty())
        .collect()
}

/// The name that an item gives to its row, and what it names.
pub fn alias_of(item: &str) -> (Option<&str>, &str) {
    match item.split_once('=') {
        Some((alias, base)) if !alias.contains([':', '"']) => (Some(alias), base),
        _ => (None, item),
    }
}

/// The strategies of an item, which come one after the other. A command without quotes has all that
/// follows it.
pub fn stages(base: &str) -> Vec<&str> {
    let (mut stages, mut rest) = (Vec::new(), base.trim());
    loop {
        let is_open = rest
            .strip_prefix(EXEC)
            .is_some_and(|command| !command.starts_with('"'));
        let mut is_quoted = false;
        let end = rest.find(|letter| {
            is_quoted ^= letter == '"';
            letter == '>' && !is_quoted
        });
        let Some(end) = end.filter(|_| !is_open) else {
            break;
        };
        stages.push(rest[..end].trim());
        rest = rest[end + 1..].trim();
    }
    stages.push(rest);
    stages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_parameters_are_no_names_and_no_strategies() {
        assert_eq!(
            items("a, x=exec:\"b, c\":d=1 ,,e"),
            ["a", "x=exec:\"b, c\":d=1", "e"]
        );
        assert_eq!(alias_of("x=exec:A=1 b"), (Some("x"), "exec:A=1 b"));
        assert_eq!(alias_of("exec:A=1 b"), (None, "exec:A=1 b"));
        assert_eq!(
            alias_of("chained:tail=5>summarize"),
            (None, "chained:tail=5>summarize")
        );
        // A quoted command comes before another strategy; one without quotes has all that follows.
        assert_eq!(
            stages("exec:\"a > b\":keep=1>summarize"),
            ["exec:\"a > b\":keep=1", "summarize"]
        );
        assert_eq!(
            stages("exec:sh mine.sh 2>errors"),
            ["exec:sh mine.sh 2>errors"]
        );
        assert_eq!(
            stages("chained>exec:sh a.sh 2>errors"),
            ["chained", "exec:sh a.sh 2>errors"]
        );
    }
}
