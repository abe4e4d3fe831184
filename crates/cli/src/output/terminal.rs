//! The only way to stdout and stderr. Callers print text as it is; this file escapes what a
//! terminal would obey, since most text came from outside: a transcript, a server's message, a
//! path, a setting.
//!
//! Control characters except line ends and tabs become visible escapes, and so do the marks that
//! reorder a line. Colours are added afterwards: by clap for its own messages, field by field for
//! the engine's.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufRead, ErrorKind, IsTerminal, Stderr, Stdout, Write as _};
use std::path::Path;
use std::process::ExitCode;

use indicatif::ProgressDrawTarget;
use serde::Serialize;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::format::debug_fn;

use crate::output::failure::Failure;

/// Writes text to stdout. A reader may close the pipe early, as `head` does; that is not an error.
pub(crate) fn say(text: &str) -> Result<(), Failure> {
    say_while_read(text).map(|_| ())
}

/// Prints to stdout; false if nobody reads it any more.
pub(crate) fn say_while_read(text: &str) -> Result<bool, Failure> {
    match stdout().lock().write_all(escaped(text).as_bytes()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(error)),
    }
}

/// Copies a file to stdout as it is, since it is data for another program; on a terminal, with
/// escapes.
pub(crate) fn pass_on(path: &Path) -> Result<(), Failure> {
    if stdout().is_terminal() {
        return say(&std::fs::read_to_string(path).map_err(Failure::failed)?);
    }
    let copied = File::open(path).and_then(|mut file| io::copy(&mut file, &mut stdout().lock()));
    match copied {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(Failure::failed(error)),
        _ => Ok(()),
    }
}

/// Characters in a line of stdout: what `COLUMNS` gives, else the terminal's width, else 100.
pub(crate) fn terminal_width() -> usize {
    known_width().unwrap_or(100)
}

/// The width if a terminal or `COLUMNS` has one: what goes to another program has a line for each
/// entry.
pub(crate) fn known_width() -> Option<usize> {
    let given = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| *columns > 0);
    given.or_else(|| {
        terminal_size::terminal_size_of(stdout()).map(|(width, _)| usize::from(width.0))
    })
}

/// Writes a value to stdout as a line of JSON. What a terminal would obey is escaped in JSON's way.
pub(crate) fn say_json(value: &impl Serialize) -> Result<(), Failure> {
    let json = serde_json::to_string_pretty(value).map_err(Failure::failed)?;
    say(&(escaped_json(&json) + "\n"))
}

/// The name that files use for a value.
pub(crate) fn name_in_files(value: &impl Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|name| Some(name.as_str()?.to_owned()))
        .unwrap_or_default()
}

/// Writes a line to stderr. If that fails, there is no other place to say so.
pub(crate) fn note(line: &str) {
    let _ = writeln!(stderr().lock(), "{}", escaped(line));
}

/// Writes a failure's message to stderr, and gives its exit code.
pub(crate) fn fail(failure: &Failure) -> ExitCode {
    note(&format!("error: {}", failure.words()));
    failure.code()
}

/// Whether a person can be asked.
pub(crate) fn can_ask() -> bool {
    std::io::stdin().is_terminal() && stderr().is_terminal()
}

/// Asks a question; every answer but yes means no.
pub(crate) fn agrees(question: &str) -> std::io::Result<bool> {
    let answer = answer(&format!("{question} [y/N]"))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

/// Asks a question and reads a line.
pub(crate) fn answer(question: &str) -> std::io::Result<String> {
    let mut asking = stderr().lock();
    write!(asking, "{} ", escaped(question))?;
    asking.flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(answer)
}

/// Whether a progress line is shown.
pub(crate) fn can_show_progress() -> bool {
    stderr().is_terminal()
}

/// Where a progress line goes: nowhere if stderr is not a terminal.
pub(crate) fn progress() -> ProgressDrawTarget {
    if can_show_progress() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    }
}

/// Sends the engine's messages that pass the filter to stderr, without a clock: decisions of a
/// replay have no time.
pub(crate) fn log(filter: EnvFilter) {
    let colours = std::env::var_os("NO_COLOR").is_none() && stderr().is_terminal();
    // The library's own form escapes a message, but no other field.
    let fields = debug_fn(|writer, field, value| {
        let value = format!("{value:?}");
        match (field.name(), writer.has_ansi_escapes()) {
            ("message", _) => writer.write_str(&escaped(&value)),
            (name, true) => write!(
                writer,
                "\u{1b}[3m{name}\u{1b}[0m\u{1b}[2m=\u{1b}[0m{}",
                escaped(&value)
            ),
            (name, false) => write!(writer, "{name}={}", escaped(&value)),
        }
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(stderr)
        .fmt_fields(fields.delimited(" "))
        .with_ansi(colours)
        .without_time()
        .init();
}

/// Prints clap's message (help, or why arguments cannot be used) and ends the program. `plain` is
/// that message without clap's colours: what a terminal would obey in it came from an argument, a
/// setting or a variable. Colours are then left out.
pub(crate) fn exit(error: &clap::Error, plain: &str) -> ! {
    let safe = escaped(plain);
    if safe == plain {
        error.exit();
    }
    let _ = if error.use_stderr() {
        write!(stderr(), "{safe}")
    } else {
        write!(stdout(), "{safe}")
    };
    std::process::exit(error.exit_code())
}

/// The text with a visible escape for everything that a terminal would obey.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, |letter, out| out.extend(letter.escape_default()))
}

/// The same for JSON, which stays JSON: only its strings hold such characters.
fn escaped_json(json: &str) -> Cow<'_, str> {
    replaced(json, |letter, out| {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{:04x}", u32::from(letter));
    })
}

fn replaced(text: &str, replace: impl Fn(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_obeyed(letter) {
            replace(letter, &mut out)
        } else {
            out.push(letter)
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal does more than show the character in its place: control characters and
/// direction marks.
fn is_obeyed(letter: char) -> bool {
    match letter {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        _ => letter.is_control(),
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place")]
fn stdout() -> Stdout {
    std::io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "the one place")]
fn stderr() -> Stderr {
    std::io::stderr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_becomes_visible() {
        assert_eq!(
            escaped("a\u{1b}[2J\n\tb\u{7}é\r"),
            "a\\u{1b}[2J\n\tb\\u{7}é\\r"
        );
        assert_eq!(
            escaped("\u{7f}\u{9b}31m\u{202e}\u{2066}\u{200f}\u{61c}"),
            "\\u{7f}\\u{9b}31m\\u{202e}\\u{2066}\\u{200f}\\u{61c}"
        );
        assert_eq!(
            escaped("a plain line, für alle: 日本語\n"),
            "a plain line, für alle: 日本語\n"
        );
    }

    #[test]
    fn json_keeps_its_value() {
        let value = "a\u{1b}\u{7f}\u{9b}\u{202e}\n";
        let json = serde_json::to_string_pretty(&[value]).expect("JSON");
        let safe = escaped_json(&json);
        assert!(!safe.contains(is_obeyed), "{safe}");
        assert_eq!(
            serde_json::from_str::<Vec<String>>(&safe).expect("still JSON"),
            [value]
        );
    }
}
