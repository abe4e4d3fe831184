//! What can be stated about a component of the code base.

use compactometer_formats::scenario::Category;
use compactometer_formats::scenario::Speaker::{Assistant, Tool, User};

use crate::generate::domains::{Claim, claim};
use crate::generate::forms::Form;

pub(super) const CLAIMS: &[Claim] = &[
    claim(
        Category::Goal,
        User,
        Form::Millis,
        &[
            "What I am after is {s} answering in under {v} at the tail.",
            "We are done here once {s} stays below {v} at the tail.",
        ],
        "Which tail latency must {s} stay below for the work to count as done?",
    )
    .changing(&[
        "I got new numbers from sales: for {s} anything below {v} at the tail is fine now.",
        "The bar moved, {s} has to stay under {v} at the tail from today on.",
    ]),
    claim(
        Category::Goal,
        User,
        Form::Rows,
        &[
            "By the end of the week {s} should get through {v} in one pass.",
            "In the end {s} has to take {v} in a single pass.",
        ],
        "How much should {s} get through in a single pass?",
    ),
    claim(
        Category::PendingTask,
        User,
        Form::Ticket,
        &[
            "Once this is merged, {s} still needs the clean-up from {v}.",
            "There is a leftover clean-up for {s}, filed as {v}; take it after the current work.",
        ],
        "Under which number is the leftover clean-up of {s} filed?",
    ),
    claim(
        Category::PendingTask,
        Assistant,
        Form::Path,
        &["I still have to move the helpers of {s} into {v}.", "Left to do for {s}: its helpers belong in {v}."],
        "Where do the helpers of {s} still have to be moved?",
    ),
    claim(
        Category::Decision,
        User,
        Form::Word,
        &[
            "For {s} we settled on the {v} codec, because the old one cannot stream.",
            "Let us use the {v} codec in {s}; it is the only one that streams.",
        ],
        "Which codec does {s} use?",
    )
    .changing(&[
        "I talked to {person}: {s} goes with the {v} codec after all.",
        "Forget the earlier codec, {s} gets {v}, the licence is simpler.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Phrase,
        &[
            "{person} and I agreed to run {s} behind the {v} toggle, so that we can turn it off at night.",
            "We went with the {v} toggle for {s}, since support can flip it.",
        ],
        "Behind which toggle does {s} run?",
    ),
    claim(
        Category::Decision,
        User,
        Form::Megabytes,
        &[
            "We fix the buffer of {s} at {v}, since larger ones made the pauses worse.",
            "The buffer of {s} will be {v}; anything larger made the pauses worse.",
        ],
        "How large is the buffer of {s}?",
    )
    .changing(&[
        "After the load test, the buffer of {s} becomes {v}.",
        "The buffer of {s} did not survive the load test, it is {v} now.",
    ]),
    claim(
        Category::Preference,
        User,
        Form::Word,
        &[
            "When you write samples about {s}, call the dummy user {v}, please.",
            "In samples about {s} I like to see the dummy user {v}.",
        ],
        "What should the dummy user be called in samples about {s}?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Path,
        &["Drafts about {s} go to {v}, I read them there.", "I read drafts about {s} in {v}, so put them there."],
        "Where does the user read drafts about {s}?",
    ),
    claim(
        Category::Reference,
        User,
        Form::Path,
        &["The contract of {s} is written down in {v}.", "If in doubt about {s}, its contract is in {v}."],
        "In which file is the contract of {s} written down?",
    ),
    claim(
        Category::Reference,
        Tool,
        Form::Word,
        &["{s} reads from stream {v}", "{s}: consumer bound to stream {v}"],
        "From which stream does {s} read?",
    ),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Hash,
        &[
            "The rollout of {s} has reached commit {v}; the later steps are still open.",
            "{s} is rolled out up to commit {v}, what comes after it is not.",
        ],
        "Up to which commit has {s} been rolled out?",
    )
    .changing(&["The rollout of {s} moved on and now stands at {v}.", "{s} is now rolled out up to {v}."]),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Ticket,
        &[
            "I am going down the checklist of {s} and stand at {v}.",
            "On the checklist of {s}, all before {v} is ticked, so that one is next.",
        ],
        "At which entry of its checklist does the work on {s} stand?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Millis,
        &[
            "Keep a single call into {s} within {v}, the proxy hangs up after that.",
            "The proxy hangs up on {s} after {v}, so stay within that.",
        ],
        "After what time does the proxy hang up on a call into {s}?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Megabytes,
        &[
            "Builds of {s} have to fit into {v}, the runner has no more.",
            "The runner gives builds of {s} {v} and no more.",
        ],
        "How much room does the runner leave for builds of {s}?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Path,
        &[
            "Please do not touch {v} while you work on {s}; another team owns it.",
            "Whatever happens in {s}, never edit {v}.",
        ],
        "Which file must stay as it is during work on {s}?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Word,
        &["Never restart {s} through the {v} script.", "Do not use the {v} script to restart {s}, it drops sessions."],
        "Which script is off limits for restarting {s}?",
    ),
    claim(
        Category::Negation,
        User,
        Form::Ticket,
        &[
            "The crash in {s} is not the one from {v}, I compared the traces.",
            "I compared the traces: {v} is not what crashes {s}.",
        ],
        "Which ticket turned out to be unrelated to the crash in {s}?",
    ),
    claim(
        Category::Negation,
        Assistant,
        Form::Hash,
        &[
            "Commit {v} did not cause the slowdown of {s}; it was there before.",
            "I ruled out commit {v} for the slowdown of {s}, it is not the cause.",
        ],
        "Which commit was cleared of causing the slowdown of {s}?",
    ),
    claim(
        Category::NumberOrId,
        User,
        Form::Code,
        &["The licence key for the staging copy of {s} is {v}.", "For staging, {s} has licence key {v}."],
        "What is the licence key of {s} on staging?",
    ),
    claim(
        Category::NumberOrId,
        Tool,
        Form::Rows,
        &["{s}: backfill left the table at {v}", "{s} table after backfill: {v}"],
        "How large was the table of {s} after the backfill?",
    ),
    claim(
        Category::TemporalOrder,
        User,
        Form::Ticket,
        &["First {v} was merged, and only then did anyone change {s}.", "Before {s} was changed at all, {v} went in."],
        "Which ticket was merged before {s} was changed?",
    ),
    claim(
        Category::TemporalOrder,
        Tool,
        Form::Word,
        &["{s}: started after migration {v} completed", "migration {v} completed, then {s} started"],
        "After which migration did {s} start?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Path,
        &["I saved the trace analysis of {s} as {v}.", "The trace analysis of {s} now lies in {v}."],
        "Where was the trace analysis of {s} saved?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Hash,
        &["The fix for {s} is committed as {v}.", "I committed the fix for {s} as {v}."],
        "What is the commit of the fix for {s}?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Seconds,
        &["My estimate for a full soak test of {s} is {v}.", "I would plan {v} for a full soak test of {s}."],
        "How long would a full soak test of {s} take by the agent's estimate?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Percent,
        &[
            "By my reading, {s} spends {v} of its time in retries.",
            "As far as I can tell, {v} of the time of {s} goes into retries.",
        ],
        "What share of its time does {s} spend in retries, by the agent's reading?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Millis,
        &["{s}: slowest request {v}", "slowest request of {s} took {v}"],
        "How slow was the slowest request of {s}?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Hash,
        &["{s}: built from revision {v}", "image of {s} built from revision {v}"],
        "From which revision was {s} built?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Code,
        &["{s}: lease {v} acquired", "lease {v} now belongs to {s}"],
        "Which lease did {s} acquire?",
    ),
    claim(
        Category::Distractor,
        User,
        Form::Millis,
        &[
            "In the sandbox the proxy gives {s} {v}, unlike the live one.",
            "The sandbox proxy hangs up on {s} after {v}, the live one does not.",
        ],
        "How long does the sandbox proxy give {s}?",
    ),
    claim(
        Category::Distractor,
        Tool,
        Form::Word,
        &["rehearsal copy of {s} reads from stream {v}", "{s} (rehearsal): consumer bound to stream {v}"],
        "From which stream does the rehearsal copy of {s} read?",
    ),
];
