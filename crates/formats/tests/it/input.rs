//! Which files are read when somebody names them, and which are refused before they are opened.

use std::path::Path;

use compactometer_disk::input::{InputKind, open, read_text};
use compactometer_formats::prices::{PriceTable, SHIPPED};
use compactometer_formats::suite::Suite;

fn refusal(path: &Path) -> String {
    read_text(path, InputKind::PROMPT).unwrap_err().to_string()
}

#[test]
fn a_folder_and_what_is_missing_say_so() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(refusal(dir.path()), "it is a folder; name a file in it");
    assert_eq!(
        open(&dir.path().join("none")).unwrap_err().kind(),
        std::io::ErrorKind::NotFound
    );
}

#[test]
fn a_file_has_at_most_what_its_kind_may_have() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    for (kind, most, told) in [
        (
            InputKind::PROMPT,
            1 << 20,
            "it is larger than 1 MiB, the limit for a prompt; check that it is the file you mean",
        ),
        (
            InputKind::PRICES,
            4 << 20,
            "it is larger than 4 MiB, the limit for a price table; check that it is the file you mean",
        ),
    ] {
        std::fs::write(&path, "a".repeat(most)).unwrap();
        assert_eq!(read_text(&path, kind).unwrap().len(), most);
        std::fs::write(&path, "a".repeat(most + 1)).unwrap();
        assert_eq!(read_text(&path, kind).unwrap_err().to_string(), told);
    }
}

#[test]
fn what_is_no_text_is_named_by_its_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    std::fs::write(&path, b"one\ntwo\nthr\xffee\n").unwrap();
    assert_eq!(
        refusal(&path),
        "line 3 is not UTF-8; save the file as UTF-8"
    );
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_sockets_are_never_opened() {
    let dir = tempfile::tempdir().unwrap();
    let (pipe, link, socket) = (
        dir.path().join("pipe"),
        dir.path().join("link"),
        dir.path().join("socket"),
    );
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    std::os::unix::fs::symlink(&pipe, &link).unwrap();
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let told = |what| {
        format!("it is {what}, which may never end; write its content to a file and name the file")
    };
    for (path, what) in [
        (pipe.as_path(), "a named pipe"),
        (&link, "a named pipe"),
        (&socket, "a socket"),
        (Path::new("/dev/zero"), "a device"),
    ] {
        assert_eq!(refusal(path), told(what), "{}", path.display());
        let suite = with_cause(&Suite::read(path).unwrap_err());
        assert!(
            suite.ends_with(&told(what)) && suite.starts_with("cannot read `"),
            "{suite}"
        );
        let prices = with_cause(&PriceTable::read(path).unwrap_err());
        assert!(prices.ends_with(&told(what)), "{prices}");
    }
    let file = dir.path().join("prices.toml");
    std::fs::write(&file, SHIPPED).unwrap();
    assert_eq!(PriceTable::read(&file).unwrap().1, SHIPPED);
}

/// An error with its cause.
fn with_cause(error: &dyn std::error::Error) -> String {
    format!(
        "{error}: {}",
        error.source().map(ToString::to_string).unwrap_or_default()
    )
}
