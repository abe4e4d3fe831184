//! Entrants chosen by a user's list of names.

use std::path::Path;
use std::sync::Arc;

use compactometer_disk::input::{InputKind, read_text};
use compactometer_engine::params::PROMPT;
use compactometer_formats::added_text::{AddedText, AddedTextRow};
use compactometer_formats::record::Family;
use compactometer_text::suggest::unknown;

use super::ideas::IDEAS;
use super::items::{EXEC, MOST_STAGES, alias_of, stages};
use super::select_error::SelectError;
use super::{ablation, all};
use crate::additions::Addition;
use crate::plan::{Absence, Composition, CustomStrategy, Entrant, EntrantKind, Trigger};

/// The entrants that a user's list names, each once, in the order of [`all`], aliases after their
/// base. An item is a name, `@reference`, `@faithful`, `@controls`, `@all` (all but `recorded`),
/// `@ideas` (one idea changed, each compared with the row that it changes), `@ablation` (published
/// forms and single corrections taken back, each compared with its plain
/// form), `ALIAS=NAME:key=value:key=value`, or `FIRST>SECOND`, which is both, one after the other.
/// `sweeps` are `NAME.key=v1,v2`: each value adds one entrant beside NAME.
///
/// # Errors
/// [`SelectError`] naming what was given and what it may be.
pub fn select<'n>(
    names: impl IntoIterator<Item = &'n str>,
    sweeps: impl IntoIterator<Item = &'n str>,
) -> Result<Vec<Entrant>, SelectError> {
    select_with(names, sweeps, &|command| {
        Err(format!(
            "`exec:{command}` runs a program, which only `-s` may name"
        ))
    })
}

/// As [`select`]. An item may also be a command, `exec:COMMAND` or `NAME=exec:COMMAND`, of which
/// `open` makes a strategy; a command in double quotes may be followed by parameters,
/// `exec:"COMMAND":key=value`.
///
/// # Errors
/// As [`select`], and what `open` says.
pub fn select_with<'n>(
    names: impl IntoIterator<Item = &'n str>,
    sweeps: impl IntoIterator<Item = &'n str>,
    open: Open<'_>,
) -> Result<Vec<Entrant>, SelectError> {
    let mut chosen: Vec<Entrant> = Vec::new();
    for name in names
        .into_iter()
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        let (alias, base) = alias_of(name);
        let found = match stages(base)[..] {
            [_, _, ..] => vec![composed(alias, base, open)?],
            _ if base.starts_with(EXEC) => vec![CommandItem::parse(base).entrant(alias, open)?],
            _ if name == "@ablation" => ablation::entrants().collect(),
            _ if name == "@ideas" => ideas()?,
            _ if name.contains('=') => vec![aliased(alias, base)?],
            _ => all().filter(|entrant| is_named(entrant, name)).collect(),
        };
        if found.is_empty() {
            return Err(unknown_name(name));
        }
        chosen.extend(found);
    }
    for sweep in sweeps {
        chosen.extend(swept(sweep)?);
    }
    let is_same = |one: &Entrant, other: &Entrant| {
        let is_of_kind = match other.family {
            Family::Idea => one.family == Family::Reference,
            family => one.family == family,
        };
        is_of_kind && one.entry_name() == other.entry_name()
    };
    // A strategy of the user's own is in no list, and comes first.
    let place = |entrant: &Entrant| all().position(|known| is_same(&known, entrant));
    chosen.sort_by_key(place);
    let mut seen: Vec<Entrant> = Vec::new();
    for entrant in chosen {
        match seen.iter_mut().find(|other| other.name == entrant.name) {
            Some(other) if does_the_same(other, &entrant) => {
                other.reference = other.reference.take().or(entrant.reference);
            }
            Some(_) => return Err(SelectError::Twice(entrant.name)),
            None => seen.push(entrant),
        }
    }
    if seen.is_empty() {
        Err(unknown_name(""))
    } else {
        Ok(seen)
    }
}

/// Makes a strategy of a command.
pub type Open<'o> = &'o dyn Fn(&str) -> Result<Arc<dyn CustomStrategy>, String>;

/// Strategies one after the other as one row.
fn composed(alias: Option<&str>, base: &str, open: Open<'_>) -> Result<Entrant, SelectError> {
    let mut parts = Vec::new();
    let (mut addition, mut absence, mut trigger) = (None, None, None);
    if stages(base).len() > MOST_STAGES {
        return Err(SelectError::Stages(base.to_owned()));
    }
    for stage in stages(base) {
        if stage.is_empty() {
            return Err(SelectError::Empty(base.to_owned()));
        }
        let mut entrant = match stage {
            command if command.starts_with(EXEC) => {
                CommandItem::parse(command).entrant(None, open)?
            }
            named => match with_parameters(named) {
                Err(SelectError::OfControl(name)) => return Err(SelectError::Stage(name)),
                found => found?,
            },
        };
        if entrant.family == Family::Recorded {
            return Err(SelectError::Stage(entrant.name));
        }
        // What is added to the context, and what the session does, belong to the row.
        let own = (entrant.addition.take(), entrant.absence.take());
        if addition.is_some() && own.0.is_some() {
            return Err(SelectError::Additions(base.to_owned()));
        }
        (addition, absence) = (own.0.or(addition), own.1.or(absence));
        trigger = entrant.trigger.take().or(trigger);
        parts.push(entrant);
    }
    let name = match alias {
        // Such as the names of its programs as they were typed.
        Some(names)
            if names.contains('>')
                && names.split('>').count() == parts.len()
                && names.split('>').all(is_plain) =>
        {
            names.to_owned()
        }
        Some(alias) => plain_name(alias)?,
        None if stages(base)
            .iter()
            .any(|stage| !stage.starts_with(EXEC) && stage.contains(':')) =>
        {
            return Err(SelectError::Nameless(base.to_owned()));
        }
        None => parts
            .iter()
            .map(|part| part.name.as_str())
            .collect::<Vec<_>>()
            .join(">"),
    };
    let entry = EntrantKind::Custom(Arc::new(Composition::new(parts)));
    Ok(Entrant {
        name,
        family: Family::Custom,
        entry,
        addition,
        absence,
        trigger,
        reference: None,
    })
}

/// An item of a list that runs a program.
struct CommandItem<'n> {
    command: &'n str,
    /// Its parameters, each after a colon.
    assigned: &'n str,
}

impl<'n> CommandItem<'n> {
    fn parse(item: &'n str) -> Self {
        let rest = item.strip_prefix(EXEC).unwrap_or(item);
        let quoted = rest.strip_prefix('"').and_then(|rest| rest.split_once('"'));
        let (command, assigned) = quoted.unwrap_or((rest, ""));
        CommandItem {
            command: command.trim(),
            assigned,
        }
    }

    fn entrant(&self, alias: Option<&str>, open: Open<'_>) -> Result<Entrant, SelectError> {
        let custom = open(self.command).map_err(SelectError::Custom)?;
        let name = plain_name(alias.unwrap_or(custom.name()))?;
        let entry = EntrantKind::Custom(custom);
        let mut entrant = Entrant {
            name,
            family: Family::Custom,
            entry,
            addition: None,
            absence: None,
            trigger: None,
            reference: None,
        };
        for part in self.assigned.split(':').filter(|part| !part.is_empty()) {
            let (key, value) = part
                .split_once('=')
                .ok_or_else(|| SelectError::Assignment(part.to_owned()))?;
            assign(&mut entrant, key, value)?;
        }
        Ok(entrant)
    }
}

/// Whether nothing but the name and the reference can differ.
fn does_the_same(one: &Entrant, other: &Entrant) -> bool {
    let custom = |entrant: &Entrant| match &entrant.entry {
        EntrantKind::Custom(custom) => Some(custom.identity()),
        _ => None,
    };
    (one.settings(), one.addition, one.absence, &one.trigger)
        == (
            other.settings(),
            other.addition,
            other.absence,
            &other.trigger,
        )
        && custom(one) == custom(other)
}

fn is_named(entrant: &Entrant, name: &str) -> bool {
    match name {
        // Only suites of transcripts have compactions that a program recorded.
        "@all" => entrant.family != Family::Recorded,
        "@reference" => entrant.family == Family::Reference,
        "@faithful" => entrant.family == Family::Faithful,
        "@controls" => entrant.family == Family::Control,
        _ => entrant.name == name,
    }
}

/// Every row that changes an idea, after the one that it is compared with.
fn ideas() -> Result<Vec<Entrant>, SelectError> {
    let mut rows = Vec::new();
    for [name, row, base] in IDEAS {
        rows.push(with_parameters(base)?);
        rows.push(Entrant {
            name: name.to_owned(),
            family: Family::Idea,
            reference: Some(base.to_owned()),
            ..with_parameters(row)?
        });
    }
    Ok(rows)
}

fn aliased(alias: Option<&str>, base: &str) -> Result<Entrant, SelectError> {
    // A parameter that cannot be used matters more than a name.
    let entrant = with_parameters(base)?;
    let alias = alias.ok_or_else(|| SelectError::Nameless(base.to_owned()))?;
    Ok(Entrant {
        name: plain_name(alias)?,
        ..entrant
    })
}

/// A strategy of the lists with parameters, `NAME:key=value:key=value`.
fn with_parameters(base: &str) -> Result<Entrant, SelectError> {
    let mut parts = base.split(':');
    let mut entrant = strategy(parts.next().unwrap_or_default())?;
    for part in parts {
        let (key, value) = part
            .split_once('=')
            .ok_or_else(|| SelectError::Assignment(part.to_owned()))?;
        assign(&mut entrant, key, value)?;
    }
    Ok(entrant)
}

/// A name that reports can use, if no entry of the lists has it.
fn plain_name(alias: &str) -> Result<String, SelectError> {
    if !is_plain(alias) || all().any(|known| known.name == alias) {
        return Err(SelectError::Alias(alias.to_owned()));
    }
    Ok(alias.to_owned())
}

fn is_plain(name: &str) -> bool {
    name.starts_with(char::is_alphanumeric)
        && name
            .chars()
            .all(|letter| letter.is_alphanumeric() || "-_.".contains(letter))
}

fn swept(sweep: &str) -> Result<Vec<Entrant>, SelectError> {
    let (target, values) = sweep
        .split_once('=')
        .ok_or_else(|| SelectError::Assignment(sweep.to_owned()))?;
    let (name, key) = target
        .split_once('.')
        .ok_or_else(|| SelectError::Assignment(sweep.to_owned()))?;
    let with_value = |value: &str| {
        let mut entrant = strategy(name)?;
        assign(&mut entrant, key, value)?;
        Ok(Entrant {
            name: format!("{name}[{key}={}]", display_value(key, value)),
            ..entrant
        })
    };
    values.split(',').map(str::trim).map(with_value).collect()
}

/// A value as names show it. Of a prompt's path they show only the file, since records and reports
/// hold no place on a machine.
fn display_value<'v>(key: &str, value: &'v str) -> &'v str {
    let file = Path::new(value).file_name().and_then(|file| file.to_str());
    file.filter(|_| key == PROMPT).unwrap_or(value)
}

/// The strategy of that name, corrected, as published or as a program's own.
fn strategy(name: &str) -> Result<Entrant, SelectError> {
    let strategies = || all().filter(|entrant| entrant.family != Family::Control);
    strategies()
        .find(|entrant| entrant.name == name)
        .ok_or_else(|| {
            if all().any(|entrant| entrant.name == name) {
                return SelectError::OfControl(name.to_owned());
            }
            let names = strategies().map(|entrant| entrant.name).collect::<Vec<_>>();
            SelectError::Unknown(unknown("strategy", name, names.iter().map(String::as_str)))
        })
}

/// Sets one parameter; a prompt is given as the path of a file.
fn assign(entrant: &mut Entrant, key: &str, value: &str) -> Result<(), SelectError> {
    if let Some(row) = AddedText::ROWS.iter().find(|row| row.parameter == key) {
        return add(entrant, *row, value);
    }
    if key == Absence::PARAMETER && entrant.family != Family::Recorded {
        let absence = Absence::parse(value);
        entrant.absence = Some(absence.ok_or_else(|| SelectError::Absence(value.to_owned()))?);
        return Ok(());
    }
    if key == Trigger::PARAMETER && entrant.family != Family::Recorded {
        let trigger = Trigger::parse(value);
        entrant.trigger = Some(trigger.ok_or_else(|| SelectError::Trigger(value.to_owned()))?);
        return Ok(());
    }
    if let EntrantKind::Custom(custom) = &entrant.entry {
        let changed = custom.with(key, value).map_err(SelectError::Custom)?;
        entrant.entry = EntrantKind::Custom(changed);
        return Ok(());
    }
    let EntrantKind::Strategy(spec, settings) = &mut entrant.entry else {
        let parameters = AddedText::ROWS.iter().map(|row| row.parameter);
        return Err(SelectError::Unknown(unknown("parameter", key, parameters)));
    };
    let names = || {
        spec.params().map(|param| param.name).chain([
            PROMPT,
            Absence::PARAMETER,
            Trigger::PARAMETER,
        ])
    };
    if !names().any(|name| name == key) {
        return Err(SelectError::Unknown(format!(
            "`{}`: {}",
            spec.name,
            unknown("parameter", key, names())
        )));
    }
    if key != PROMPT {
        return Ok(settings.set(spec, key, value)?);
    }
    let text =
        read_text(Path::new(value), InputKind::PROMPT).map_err(|source| SelectError::Prompt {
            path: value.to_owned(),
            source,
        })?;
    settings
        .set(spec, key, &text)
        .map_err(|why| SelectError::Text {
            path: value.to_owned(),
            base: spec.name,
            why,
        })
}

fn add(
    entrant: &mut Entrant,
    AddedTextRow {
        text, parameter, ..
    }: AddedTextRow,
    value: &str,
) -> Result<(), SelectError> {
    if text != AddedText::Ledger && entrant.family != Family::Recorded {
        return Err(SelectError::OnRecorded {
            name: entrant.entry_name().to_owned(),
            parameter,
        });
    }
    if entrant.addition.is_some_and(|other| other.text != text) {
        return Err(SelectError::Additions(entrant.entry_name().to_owned()));
    }
    let refused = |_| SelectError::Tokens {
        parameter,
        value: value.to_owned(),
    };
    entrant.addition = Some(Addition {
        text,
        tokens: value.trim().parse().map_err(refused)?,
    });
    Ok(())
}

fn unknown_name(name: &str) -> SelectError {
    let all = all().map(|entrant| entrant.name).collect::<Vec<_>>();
    let choices = all.iter().map(String::as_str).chain([
        "@reference",
        "@faithful",
        "@controls",
        "@all",
        "@ideas",
        "@ablation",
    ]);
    SelectError::Unknown(unknown("strategy", name, choices))
}

#[cfg(test)]
mod tests {
    use compactometer_engine::strategies;
    use compactometer_formats::protocol::Protocol;

    use super::*;
    use crate::controls;
    use crate::plan::Sizes;

    #[test]
    fn every_idea_changes_the_row_that_it_is_compared_with() {
        let rows = ideas().expect("every row can be run");
        assert_eq!(rows.len(), 2 * IDEAS.len());
        for pair in rows.chunks(2) {
            let [base, idea] = pair else { panic!("pairs") };
            assert_eq!(idea.reference.as_deref(), Some(base.name.as_str()));
            let differs = idea.settings() != base.settings() || idea.addition != base.addition;
            assert!(differs, "{}", idea.name);
        }
    }

    fn names(list: &[&str], sweeps: &[&str]) -> Result<Vec<String>, String> {
        let chosen = select(list.iter().copied(), sweeps.iter().copied())
            .map_err(|error| error.to_string())?;
        Ok(chosen.into_iter().map(|entrant| entrant.name).collect())
    }

    #[test]
    fn lists_are_resolved_in_order_of_the_registries() {
        assert_eq!(
            names(&["null", "chained", "chained"], &[]),
            Ok(vec!["chained".to_owned(), "null".to_owned()])
        );
        let published = strategies::ALL
            .iter()
            .filter(|spec| spec.published.is_some())
            .count();
        let all = strategies::ALL.len() + published + controls::ALL.len();
        assert_eq!(names(&["@all"], &[]).map(|all| all.len()), Ok(all));
        assert_eq!(
            names(&["@reference"], &[]).map(|all| all.len()),
            Ok(strategies::ALL.len())
        );
    }

    #[test]
    fn a_new_control_needs_its_file_and_its_line_alone() {
        let name = controls::dummy::CONTROL.name;
        assert_eq!(names(&[name], &[]), Ok(vec![name.to_owned()]));
        let controls = names(&["@controls"], &[]).expect("known");
        assert!(
            controls.iter().any(|control| control == name),
            "{controls:?}"
        );
        let listed = all().find(|entrant| entrant.name == name).expect("listed");
        assert_eq!(listed.about(), controls::dummy::CONTROL.about);
        assert!(!listed.source().is_empty() && listed.compacts() && !listed.family.is_tested());
        assert!(
            super::unknown_name("dummy-contrl")
                .to_string()
                .contains("did you mean `dummy-control`")
        );
    }

    #[test]
    fn aliases_and_sweeps_stand_beside_their_base() {
        let chosen = names(
            &["null", "chained", "short=chained:asked=400:tail=5"],
            &["chained.tail=5,20"],
        );
        let expected = [
            "chained",
            "short",
            "chained[tail=5]",
            "chained[tail=20]",
            "null",
        ];
        assert_eq!(chosen, Ok(expected.map(str::to_owned).to_vec()));
        let ledgers = names(
            &["recorded", "ledger=recorded:ledger=1800"],
            &["chained.ledger=900"],
        );
        assert_eq!(
            ledgers,
            Ok(["chained[ledger=900]", "recorded", "ledger"]
                .map(str::to_owned)
                .to_vec())
        );
    }

    #[test]
    fn strategies_can_come_one_after_the_other() {
        let rows = [
            "chained>summarize",
            "x=summarize:tail=900>chained:ledger=300:absence=2",
            "a>b=chained>handoff",
        ];
        let chosen = select(rows, []).expect("known");
        assert_eq!(
            chosen
                .iter()
                .map(|row| row.name.as_str())
                .collect::<Vec<_>>(),
            ["chained>summarize", "x", "a>b"]
        );
        let EntrantKind::Custom(x) = &chosen[1].entry else {
            panic!("a composition")
        };
        let value = |name: &str| {
            x.parameters()
                .into_iter()
                .find(|(own, _)| own == name)
                .map(|(_, value)| value)
        };
        assert_eq!(
            (value("1.tail").as_deref(), value("2.tail").as_deref()),
            (Some("900"), Some("10"))
        );
        assert!(
            chosen[1].addition.is_some() && chosen[1].absence.is_some(),
            "the row has what its strategies were given"
        );
        let identities = chosen.iter().filter_map(|row| match &row.entry {
            EntrantKind::Custom(custom) => Some(custom.identity()),
            _ => None,
        });
        let mut identities = identities.collect::<Vec<_>>();
        identities.sort();
        identities.dedup();
        assert_eq!(identities.len(), 3);
        let sizes = Sizes {
            window: 12_800,
            trigger: 10_240,
            retained: 3_840,
            split: None,
        };
        let (_, resolved) = chosen[0]
            .resolve(Protocol::Matched, sizes, 1.0)
            .expect("holds");
        let EntrantKind::Custom(resolved) = &resolved.entry else {
            panic!("a composition")
        };
        let asked = resolved
            .parameters()
            .into_iter()
            .find(|(name, _)| name == "1.system_reserve");
        assert_eq!(
            asked.map(|(_, value)| value).as_deref(),
            Some("200"),
            "parameters scale with the context window"
        );
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let error = |list: &[&str], sweeps: &[&str]| names(list, sweeps).expect_err("refused");
        assert!(error(&["chaned"], &[]).contains("`chaned` (did you mean `chained`?)"));
        assert!(error(&["x=chaned"], &[]).contains("did you mean `chained`"));
        assert!(error(&["null=chained"], &[]).contains("cannot name a row"));
        assert!(error(&["..=chained"], &[]).contains("cannot name a row"));
        assert!(
            error(&["null>chained"], &[])
                .contains("`null` cannot come before or after another one")
        );
        assert!(error(&["chained>recorded"], &[]).contains("`recorded` cannot come before"));
        assert!(
            error(&["a>b=chained"], &[]).contains("`a>b` cannot name a row"),
            "one strategy is not called two"
        );
        assert!(error(&["a>b>c=chained>handoff"], &[]).contains("cannot name a row"));
        assert!(error(&[&["chained"; 300].join(">")], &[]).contains("has more than 16 strategies"));
        assert!(error(&["chained>"], &[]).contains("`chained>` lacks a strategy"));
        assert!(
            error(&["chained>summarize:tail=5"], &[])
                .contains("write `NAME=chained>summarize:tail=5`")
        );
        assert!(error(&["chained:tail=5>exec:\"x\""], &[]).contains("only `-s` may name"));
        assert!(error(&["x=chained:ledger=9>summarize:ledger=9"], &[]).contains("two additions"));
        assert!(error(&["x=chained:tail"], &[]).contains("`tail` assigns nothing"));
        assert!(error(&["chained:tail=5"], &[]).contains("write `NAME=chained:tail=5`"));
        assert!(error(&["x=chained:tail=5", "x=chained:tail=6"], &[]).contains("`x` names two"));
        assert!(error(&["x=chained:prompt=missing.md"], &[]).contains("`missing.md`"));
        assert!(error(&[], &["chained.threshold=2"]).contains("from 0.01 to 1"));
        assert!(
            error(&["x=chained:ledger=0"], &[])
                .contains("`ledger` is `0`; it must be a number of tokens")
        );
        assert!(error(&[], &["chained.ledger=-3"]).contains("`ledger` is `-3`"));
        assert!(error(&["x=recorded:tail=5"], &[]).contains("unknown parameter `tail`"));
        assert!(
            error(&["x=chained:random_values=9"], &[])
                .contains("`chained` cannot have `random_values`")
        );
        assert!(error(&["x=recorded:ledger=9:newest_text=9"], &[]).contains("two additions"));
        assert!(error(&["x=recorded:random_values=0"], &[]).contains("`random_values` is `0`"));
        for wrong in ["-1", "soon", "NaN", "inf", ""] {
            let said = error(&[&format!("x=chained:absence={wrong}")], &[]);
            assert!(
                said.contains(&format!(
                    "`absence` is `{wrong}`; it must be a number of hours"
                )),
                "{said}"
            );
        }
        let said = error(&["x=chained:when=soon"], &[]);
        assert!(
            said.contains(
                "`when` is `soon`; it must be numbers of `messages`, `turns` or `minutes`"
            ),
            "{said}"
        );
        assert!(error(&["x=recorded:when=9 turns"], &[]).contains("unknown parameter `when`"));
        assert!(error(&["x=chained:when=.5", "x=chained:when=.6"], &[]).contains("`x` names two"));
        assert!(error(&["x=recorded:absence=9"], &[]).contains("unknown parameter `absence`"));
        assert!(
            error(&["x=chained:absence=9", "x=chained:absence=8"], &[]).contains("`x` names two")
        );
        assert!(error(&["x=null:ledger=900"], &[]).contains("`null` is a control"));
        assert!(
            error(&["x=chained:ledger=9", "x=chained:ledger=8"], &[]).contains("`x` names two")
        );
        assert!(error(&[], &["chained"]).contains("assigns nothing"));
        assert!(error(&[" "], &[]).contains("choose from"));
    }

    #[test]
    fn a_sweep_over_prompts_names_their_files_without_their_folder() {
        let prompt = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../engine/src/strategies/chained/prompt.md"
        );
        let chosen = names(&["null"], &[&format!("chained.prompt={prompt}")]);
        assert_eq!(
            chosen,
            Ok(vec![
                "chained[prompt=prompt.md]".to_owned(),
                "null".to_owned()
            ])
        );
    }

    #[test]
    fn limits_scale_with_the_window_and_the_scale() {
        let chained = select(["chained"], []).expect("known").remove(0);
        let sizes = Sizes {
            window: 12_800,
            trigger: 10_240,
            retained: 3_840,
            split: None,
        };
        let (matched, resolved) = chained
            .resolve(Protocol::Matched, sizes, 1.0)
            .expect("holds");
        assert_eq!(
            (matched.window, matched.trigger, matched.retained),
            (12_800, 10_240, Some(3_840))
        );
        assert_eq!(
            resolved
                .settings()
                .map(|settings| settings.value("system_reserve")),
            Some(Some(200.0))
        );
        assert_eq!(
            resolved
                .settings()
                .map(|settings| settings.value("message_limit")),
            Some(Some(2_000.0)),
            "characters stay"
        );
        let (published, _) = chained
            .resolve(Protocol::Published, sizes, 0.1)
            .expect("holds");
        assert_eq!(
            (published.window, published.trigger, published.retained),
            (12_800, 9_360, None)
        );
    }
}
