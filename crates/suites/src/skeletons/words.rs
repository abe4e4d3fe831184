//! Names that any session may have. Skeletons refer to them by number, so only append.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Extensions of files.
const EXTENSIONS: &str = "c cc cfg conf cpp cs csv css db env erl ex exs go gz h hpp html ini java jpg js json jsonl jsx key kt lock log lua md \
    mjs mod out pdf pem php png proto py rb rs rst scss sh sql sqlite sum svg swift tar tmp toml ts tsx txt vue xml yaml yml zig zip bak \
    example local";

/// Folders at the root of a machine.
const ROOTS: &str = "Users home root tmp var etc usr opt mnt private dev bin";

/// Parts of names that languages, systems and units give, and of addresses.
const COMMON: &str = "abc argv asyncio b bool byte bytes char chars classmethod collections console context core cwd d dataclass datetime dict \
    dirname doc document e edit enum errors exec exit f fmt functools g getattr http https import init int io is item items iter itertools \
    json k kb lib lib64 line lines list local logging m main map math max mb meta min ms module modules name node nodes none null number \
    object os override param params path pathlib platform process promise prop property pycache re regexp request response return returns \
    s sbin sec self share size slices sort spec std stderr stdin stdout str strconv string strings subprocess sync sys system t test \
    testing throws time token tokens type typing uint8 uint16 uint32 uint64 url utf8 vec verify version window with words www x com org \
    net localhost github int32 int64 usr8 etc8 Math JSON Object Array Promise Number String Date System Enum Map List Logger Task IO File \
    Status Request Response Background With Fatal Error Helper TempDir Log Run Command Override";

/// The words, by number.
static ALL: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words: Vec<&str> = Vec::new();
    for word in [EXTENSIONS, ROOTS, COMMON]
        .iter()
        .flat_map(|part| part.split_whitespace())
    {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
});

static NUMBERS: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    ALL.iter()
        .enumerate()
        .map(|(number, word)| (*word, number))
        .collect()
});

/// A word of the table.
pub(super) fn word(number: usize) -> Option<&'static str> {
    ALL.get(number).copied()
}

/// The number of a word of the table.
pub(super) fn number_of(word: &str) -> Option<usize> {
    NUMBERS.get(word).copied()
}

/// Whether a word is the extension of a file.
pub(super) fn is_extension(word: &str) -> bool {
    EXTENSIONS.split(' ').any(|known| known == word)
}

/// Whether a word is a scheme, or a part of an address that says nothing of whose it is.
pub(super) fn is_of_addresses(word: &str) -> bool {
    ["http", "https", "www", "com", "org", "net", "localhost"].contains(&word)
}

/// Whether a word is a folder at the root of a machine.
pub(super) fn is_root(word: &str) -> bool {
    ROOTS.split(' ').any(|known| known == word)
}

/// Names of arguments that agents' own tools have.
pub(super) const ARGUMENTS: &[&str] = &[
    "file_path",
    "path",
    "pattern",
    "command",
    "old_string",
    "new_string",
    "content",
    "description",
    "prompt",
    "subject",
    "todos",
    "status",
    "activeForm",
    "offset",
    "limit",
    "glob",
    "type",
    "output_mode",
    "-n",
    "-A",
    "-B",
    "-C",
    "-i",
    "head_limit",
    "multiline",
    "replace_all",
    "timeout",
    "run_in_background",
    "url",
    "query",
    "questions",
    "question",
    "options",
    "label",
    "header",
    "multiSelect",
    "subagent_type",
    "model",
    "skill",
    "args",
    "task_id",
    "taskId",
    "plan",
    "edits",
    "notebook_path",
    "cell_id",
    "new_source",
    "edit_mode",
    "shell_id",
    "bash_id",
    "block",
    "filter",
    "id",
    "addBlockedBy",
    "addBlocks",
    "owner",
    "answers",
    "allowed_domains",
    "resume",
    "metadata",
    "cmd",
    "workdir",
    "input",
    "patch",
    "filePath",
    "oldString",
    "newString",
    "oldText",
    "newText",
    "step",
    "text",
    "justification",
    "session_id",
    "max_output_tokens",
    "yield_time_ms",
    "sandbox_permissions",
    "chars",
];

/// Words that agents' own tools let a model choose from.
pub(super) const CHOICES: &[&str] = &[
    "pending",
    "in_progress",
    "completed",
    "deleted",
    "content",
    "files_with_matches",
    "count",
    "replace",
    "insert",
    "delete",
];

/// What a tool does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolKind {
    Read,
    Edit,
    Create,
    Search,
    Run,
    Plan,
    Other,
}

/// Tools of known agents.
pub(super) const TOOLS: &[(&str, ToolKind)] = &[
    ("Read", ToolKind::Read),
    ("Edit", ToolKind::Edit),
    ("MultiEdit", ToolKind::Edit),
    ("Write", ToolKind::Create),
    ("NotebookEdit", ToolKind::Edit),
    ("Grep", ToolKind::Search),
    ("Glob", ToolKind::Search),
    ("LS", ToolKind::Search),
    ("Bash", ToolKind::Run),
    ("BashOutput", ToolKind::Run),
    ("TaskOutput", ToolKind::Run),
    ("KillShell", ToolKind::Run),
    ("TodoWrite", ToolKind::Plan),
    ("TaskCreate", ToolKind::Plan),
    ("TaskUpdate", ToolKind::Plan),
    ("TaskList", ToolKind::Plan),
    ("EnterPlanMode", ToolKind::Plan),
    ("ExitPlanMode", ToolKind::Plan),
    ("AskUserQuestion", ToolKind::Other),
    ("Task", ToolKind::Other),
    ("Skill", ToolKind::Other),
    ("WebFetch", ToolKind::Search),
    ("WebSearch", ToolKind::Search),
    ("read", ToolKind::Read),
    ("edit", ToolKind::Edit),
    ("write", ToolKind::Create),
    ("bash", ToolKind::Run),
    ("grep", ToolKind::Search),
    ("glob", ToolKind::Search),
    ("shell", ToolKind::Run),
    ("apply_patch", ToolKind::Edit),
    ("update_plan", ToolKind::Plan),
    ("exec_command", ToolKind::Run),
    ("write_stdin", ToolKind::Run),
    ("todowrite", ToolKind::Plan),
];

/// The number of the first tool that no table names. Seven kinds take turns from there on.
pub(super) const FIRST_UNNAMED: u32 = 1_000;

const KINDS: [(ToolKind, &str); 7] = [
    (ToolKind::Read, "read"),
    (ToolKind::Edit, "edit"),
    (ToolKind::Create, "write"),
    (ToolKind::Search, "search"),
    (ToolKind::Run, "run"),
    (ToolKind::Plan, "plan"),
    (ToolKind::Other, "helper"),
];

/// What a tool that no table names does, by its name.
pub(super) fn unnamed_kind(name: &str) -> u32 {
    let name = name.to_lowercase();
    let words: [&[&str]; 6] = [
        &["read", "view", "open", "cat"],
        &["edit", "replace", "patch", "update", "insert"],
        &["write", "create"],
        &["search", "grep", "find", "glob", "list", "fetch"],
        &["bash", "run", "exec", "shell", "command"],
        &["todo", "plan", "task"],
    ];
    let has = |words: &&[&str]| words.iter().any(|word| name.contains(word));
    words.iter().position(has).unwrap_or(6) as u32
}

/// What the tool with this number does.
pub(super) fn kind_of(tool: u32) -> ToolKind {
    match tool.checked_sub(FIRST_UNNAMED) {
        Some(number) => KINDS[number as usize % KINDS.len()].0,
        None => TOOLS
            .get(tool as usize)
            .map_or(ToolKind::Other, |(_, kind)| *kind),
    }
}

/// The name that the tool with this number gets.
pub(super) fn tool_name(tool: u32) -> String {
    match tool.checked_sub(FIRST_UNNAMED) {
        Some(number) => format!(
            "{}_{}",
            KINDS[number as usize % KINDS.len()].1,
            number as usize / KINDS.len()
        ),
        None => TOOLS
            .get(tool as usize)
            .map_or("helper", |(name, _)| name)
            .to_owned(),
    }
}

/// Words of filler, which have no value's form and are no cue of a summary: by their length.
pub(super) static FILLER: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let mut by_length = vec![Vec::new(); LONGEST + 1];
    for word in include_str!("filler.txt").split_whitespace() {
        by_length[word.len().min(LONGEST)].push(word);
    }
    by_length
});

/// The length of the longest words of filler.
pub(super) const LONGEST: usize = 8;
