//! Values that any project may have: bare numbers, paths of the operating system, masked text, and
//! names that a language or its tools bring. Whether a conversation still holds such a value says
//! nothing about what it remembers.
//!
//! Absent on purpose: names of libraries, because no list of them is complete. Where sessions of
//! several projects are read together, values that more than one of them has count as generic too.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::matcher::ValueKind;

/// The words of a list, which are looked up for every value of a conversation.
type GenericWords = LazyLock<HashSet<&'static str>>;

/// Whether a value is one that any project may have.
pub fn is_generic(value: &str, kind: ValueKind) -> bool {
    let is_so: [fn(&str) -> bool; 5] = [
        is_measure,
        is_range,
        is_of_system,
        is_masked,
        is_of_language,
    ];
    kind == ValueKind::Number || is_so.iter().any(|is_so| is_so(value))
}

/// Units that follow a bare number.
static UNITS: GenericWords = LazyLock::new(|| {
    words(
        "b byte bytes bit bits k kb kib m mb mib g gb gib s sec second seconds ms us ns min minute minutes h hour hours \
    day days week weeks month months year years px em rem pt % x line lines char chars character characters word words token \
    tokens item items file files",
    )
});

fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// Whether a value is a number with its unit, such as `16-byte` or `1500ms`.
fn is_measure(value: &str) -> bool {
    let rest = value
        .trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ','));
    // Two dots are those of a version.
    if rest.len() == value.len() || value.matches('.').count() > 1 {
        return false;
    }
    let unit = rest.trim_start_matches(['-', '_']).to_ascii_lowercase();
    unit.is_empty() || UNITS.contains(unit.as_str())
}

/// Folders whose files belong to the operating system.
const SYSTEM_FOLDERS: &[&str] = &[
    "/dev/",
    "/proc/",
    "/sys/",
    "/bin/",
    "/sbin/",
    "/lib/",
    "/lib64/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/lib/",
    "/usr/local/bin/",
    "/usr/share/",
    "/usr/include/",
    "/system/",
    "/library/",
    "c:/windows/",
    "c:/program files/",
];
/// Paths that every system has.
const SYSTEM_PATHS: &[&str] = &[
    "/tmp",
    "/var",
    "/var/log",
    "/etc",
    "/etc/hosts",
    "/etc/passwd",
    "/usr",
    "/usr/local",
    "/opt",
    "/home",
    "/root",
    "/users",
    "/mnt",
];

/// Whether a value is a path of the operating system.
fn is_of_system(value: &str) -> bool {
    let path = value.replace('\\', "/").to_lowercase();
    SYSTEM_FOLDERS.iter().any(|folder| path.starts_with(folder))
        || SYSTEM_PATHS.contains(&path.trim_end_matches('/'))
}

/// Whether a value is nothing but ranges of characters, as in a pattern: `a-z0-9`.
fn is_range(value: &str) -> bool {
    let mut letters = value.chars();
    let mut ranges = std::iter::from_fn(|| {
        let first = letters.next()?;
        Some((first, letters.next(), letters.next()))
    });
    !value.is_empty()
        && ranges
            .all(|(first, dash, last)| dash == Some('-') && last.is_some_and(|last| first < last))
}

/// Whether a value was masked before it was read.
fn is_masked(value: &str) -> bool {
    value.starts_with("masked:")
        || value.contains("[masked")
        || value
            .split(['_', '-', '/', '.'])
            .any(|word| word == "REDACTED")
}

/// Names that languages and their tools bring.
static NAMES: GenericWords = LazyLock::new(|| {
    words(
        "\
    is_nil is_map is_list is_binary is_atom is_integer is_float is_tuple is_function is_struct is_boolean is_bitstring is_pid \
    is_number is_port is_reference is_exception @type @typep @spec @doc @moduledoc @impl @behaviour @callback @enforce_keys \
    @derive __MODULE__ __CALLER__ __STACKTRACE__ \
    __init__ __main__ __name__ __file__ __dict__ __class__ __repr__ __str__ __call__ __enter__ __exit__ __all__ __future__ \
    __doc__ __new__ __len__ __iter__ __next__ __eq__ __hash__ __getitem__ __setitem__ __pycache__ __version__ __slots__ \
    @property @staticmethod @classmethod @dataclass @abstractmethod @override @functools.wraps \
    module.exports import.meta import.meta.env import.meta.url process.env process.argv process.cwd process.exit process.stdout \
    process.stderr process.platform __dirname __filename node_modules \
    size_t ssize_t ptrdiff_t uint8_t uint16_t uint32_t uint64_t int8_t int16_t int32_t int64_t uintptr_t wchar_t time_t \
    unwrap_or unwrap_or_else unwrap_or_default expect_err as_ref as_mut as_str as_bytes to_string to_owned to_vec into_iter \
    iter_mut is_some is_none is_ok is_err is_empty ok_or ok_or_else and_then or_else map_err filter_map flat_map take_while \
    skip_while partial_cmp total_cmp from_str read_to_string write_all \
    instance_of instanceof set_time_limit json_encode json_decode file_get_contents file_put_contents array_map array_filter \
    array_merge in_array is_array is_string is_numeric is_null \
    attr_reader attr_writer attr_accessor frozen_string_literal \
    @Override @Deprecated @Nullable @NotNull @Test @ts-ignore @ts-expect-error @param @returns @return @throws @see @example \
    in_progress files_with_matches output_mode \
    --no-verify --no-edit",
    )
});

/// What names of a language's own modules and objects begin with.
const MODULES: &[&str] = &[
    "console.",
    "Math.",
    "JSON.",
    "Object.",
    "Array.",
    "Promise.",
    "Number.",
    "String.",
    "Date.",
    "window.",
    "document.",
    "process.",
    "fmt.",
    "strings.",
    "strconv.",
    "filepath.",
    "errors.",
    "context.Context",
    "context.Background",
    "context.With",
    "os.",
    "io.",
    "time.",
    "sync.",
    "bytes.",
    "bufio.",
    "json.",
    "http.Status",
    "http.Request",
    "http.Response",
    "testing.T",
    "t.Run",
    "t.Fatal",
    "t.Error",
    "t.Helper",
    "t.TempDir",
    "t.Log",
    "exec.Command",
    "regexp.",
    "sort.",
    "slices.",
    "maps.",
    "sys.",
    "re.",
    "pathlib.",
    "subprocess.",
    "datetime.",
    "collections.",
    "itertools.",
    "functools.",
    "typing.",
    "logging.",
    "argparse.",
    "asyncio.",
    "unittest.",
    "std::",
    "core::",
    "alloc::",
    "java.lang.",
    "java.util.",
    "System.out.",
    "System.",
    "Enum.",
    "Map.",
    "List.",
    "String.",
    "Keyword.",
    "GenServer.",
    "Process.",
    "Logger.",
    "Regex.",
    "Task.",
    "IO.",
    "File.",
];

/// Endings of files, by which `errors.go` is not a member of the module `errors`.
static ENDINGS: GenericWords = LazyLock::new(|| {
    words(
        "c cc cfg conf cpp cs css csv env erl ex exs go h hpp html ini java js json jsonl jsx kt lock log lua md mjs mod \
    php proto py rb rs rst scss sh sql sum swift toml ts tsx txt vue xml yaml yml zig",
    )
});

/// Whether a value is a name that a language or its tools bring.
fn is_of_language(value: &str) -> bool {
    let is_file = || {
        value
            .rsplit_once('.')
            .is_some_and(|(_, end)| ENDINGS.contains(end))
    };
    NAMES.contains(value)
        || (!value.contains('/')
            && MODULES.iter().any(|module| value.starts_with(module))
            && !is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_any_project_may_have_is_generic() {
        for value in [
            "16-byte",
            "a-z0-9",
            "1500ms",
            "/dev/null",
            "/usr/bin/env",
            "/tmp",
            "REDACTED_EMAIL",
            "is_nil",
            "@type",
            "fmt.Errorf",
        ] {
            assert!(is_generic(value, ValueKind::Id), "{value}");
        }
        assert!(is_generic("120000", ValueKind::Number));
        for value in [
            "/tmp/ledger-4711.json",
            "KX-4711",
            "3.10.2",
            "src/time.rs",
            "errors.go",
            "logging.conf",
            "process.ex",
            "os/exec_shop.go",
            "4f2c-16",
            "ann.session_id",
            "config/dev.exs",
        ] {
            assert!(!is_generic(value, ValueKind::Id), "{value}");
        }
    }
}
