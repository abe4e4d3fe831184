//! The price table: whether it can be read, has the models, and is recent.

use compactometer_formats::prices::{PriceRow, PriceTable};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Unit};

use super::{DoctorCheck, models};
use crate::arguments::RunArgs;

/// Older prices get a warning. An assumed limit, in days.
const OLD_DAYS: i32 = 180;
/// A table may be dated tomorrow, since its author may be east of UTC.
const AHEAD_DAYS: i32 = 1;

pub(super) fn checks(args: &RunArgs) -> Vec<DoctorCheck> {
    let table = match args.prices.table() {
        Ok((table, _)) => table,
        Err(failure) => return vec![DoctorCheck::problem("prices", failure.words())],
    };
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut checks: Vec<DoctorCheck> = dates(&table, today).into_iter().collect();
    for (_, spec) in models::models_of_run(args).iter() {
        checks.extend(model(&table, spec, today));
    }
    if checks.is_empty() {
        let newest = newest(&table).map_or(String::new(), |date| format!(", the newest of {date}"));
        checks.push(DoctorCheck::ok(
            "prices",
            format!("{} rows{newest}", table.model.len()),
        ));
    }
    checks
}

/// Warns about a table dated in the future: its date or this machine's clock is wrong.
fn dates(table: &PriceTable, today: Date) -> Option<DoctorCheck> {
    let newest = newest(table)?;
    (days(today, newest) > AHEAD_DAYS).then(|| {
        let told = format!(
            "prices are dated {newest} and this machine's clock says {today}; set the clock, or correct the date in the table"
        );
        DoctorCheck::warning("clock", told)
    })
}

fn newest(table: &PriceTable) -> Option<Date> {
    table.model.iter().filter_map(date).max()
}

/// Warns about a model without a price or with an old one.
fn model(table: &PriceTable, spec: &str, today: Date) -> Option<DoctorCheck> {
    let receiver = compactometer_models::receiver(spec).ok().flatten();
    let name = receiver.as_ref().map_or(spec, |receiver| &receiver.name);
    let Some(row) = table.row(name) else {
        let is_billed = receiver.as_ref().is_some_and(|receiver| !receiver.is_here);
        return is_billed.then(|| without_row(name));
    };
    let date = date(row)?;
    let age = days(date, today);
    (age > OLD_DAYS).then(|| {
        let told = format!(
            "prices of `{}` are of {date}, {age} days ago; look them up again ({}) and name your table with `--prices FILE`",
            row.name, row.source
        );
        DoctorCheck::warning("prices", told)
    })
}

fn without_row(model: &str) -> DoctorCheck {
    let told = format!(
        "the table has no row for `{model}`, so its cost is unknown and `--max-cost` is refused; \
         add a row to a table of your own and name it with `--prices FILE`"
    );
    DoctorCheck::warning("prices", told)
}

fn date(row: &PriceRow) -> Option<Date> {
    row.date.parse().ok()
}

/// Days from one date to another.
fn days(from: Date, to: Date) -> i32 {
    from.until((Unit::Day, to))
        .map_or(0, |span| span.get_days())
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn check(spec: &str, today: Date) -> Vec<String> {
        let table = PriceTable::shipped().expect("the shipped table");
        let checks = dates(&table, today)
            .into_iter()
            .chain(model(&table, spec, today));
        checks.map(|check| check.line()).collect()
    }

    #[test]
    fn a_table_is_held_against_the_calendar() {
        let table = PriceTable::shipped().expect("the shipped table");
        let newest = newest(&table).expect("dated");
        let shifted = |days: i32| {
            newest
                .checked_add(jiff::Span::new().days(days))
                .expect("a date")
        };
        assert!(check("mock", newest).is_empty() && check("mock", shifted(-1)).is_empty());
        let future = check("mock", shifted(-2)).concat();
        assert!(
            future.starts_with("warning  clock") && future.contains("set the clock"),
            "{future}"
        );
        let old = check("mock", shifted(OLD_DAYS + 400)).concat();
        assert!(
            old.contains("days ago") && old.contains("--prices FILE"),
            "{old}"
        );
        assert_eq!(days(date(2026, 1, 31), date(2026, 3, 1)), 29);
    }

    #[test]
    fn only_a_billed_model_without_a_row_is_warned_about() {
        let today = newest(&PriceTable::shipped().expect("the shipped table")).expect("dated");
        for known in [
            "mock:weak+empty=0.1",
            "openai:gpt-5.4",
            "openai-compatible:x@http://127.0.0.1:1",
            "cassette:tape",
        ] {
            assert!(check(known, today).is_empty(), "{known}");
        }
        let unknown = check("openai:new", today).concat();
        assert!(
            unknown.contains("no row for `openai:new`") && unknown.contains("--prices"),
            "{unknown}"
        );
    }
}
