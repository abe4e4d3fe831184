//! What can be stated about a pipeline, a table or an incident.

use compactometer_formats::scenario::Category;
use compactometer_formats::scenario::Speaker::{Assistant, Tool, User};

use crate::generate::domains::{Claim, claim};
use crate::generate::forms::Form;

pub(super) const CLAIMS: &[Claim] = &[
    claim(
        Category::Goal,
        User,
        Form::Seconds,
        &[
            "All of this is about getting {s} done in {v} from start to end.",
            "What management wants to see is {s} done in {v}.",
        ],
        "In what time should {s} be done from start to end?",
    )
    .changing(&[
        "Management has relented, {v} is enough for {s} now.",
        "For {s} we now aim for {v} from start to end.",
    ]),
    claim(
        Category::Goal,
        User,
        Form::Percent,
        &["I want {s} to reach {v} completeness before the audit.", "By the audit, {s} has to be {v} complete."],
        "How complete must {s} be by the audit?",
    ),
    claim(
        Category::PendingTask,
        User,
        Form::Code,
        &[
            "After this somebody has to replay batch {v} of {s}.",
            "Batch {v} of {s} is still to be replayed, do that once we are through.",
        ],
        "Which batch of {s} is still to be replayed?",
    ),
    claim(
        Category::PendingTask,
        Assistant,
        Form::Ticket,
        &["I have yet to close {v} for {s}.", "For {s}, what is left for me to close is {v}."],
        "What does the agent still have to close for {s}?",
    ),
    claim(
        Category::Decision,
        User,
        Form::Word,
        &[
            "We move {s} to cluster {v}, because the old one runs out of disk.",
            "Cluster {v} it is for {s}; nothing else has the disk for it.",
        ],
        "To which cluster does {s} move?",
    )
    .changing(&[
        "Change of plan: {s} goes to cluster {v}, it is nearer to the source.",
        "{person} freed some room, so {s} moves to cluster {v} instead.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Rows,
        &[
            "Let us load {s} in chunks of {v}, as bigger ones lock the table.",
            "Chunks of {v} for {s}, please; bigger ones lock the table.",
        ],
        "In what chunks is {s} loaded?",
    )
    .changing(&[
        "The lock is gone, so load {s} in chunks of {v} from now on.",
        "From tonight on {s} loads in chunks of {v}.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Phrase,
        &[
            "The alert group of {s} is called {v}, so that nobody mixes it up with the old one.",
            "We named the alert group of {s} {v}, the old name was taken.",
        ],
        "What is the alert group of {s} called?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Word,
        &[
            "Whatever you post about {s}, put it into the {v} channel, I read that one.",
            "For {s} I like to get my summaries in the {v} channel.",
        ],
        "In which channel does the user want to read about {s}?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Millis,
        &[
            "When you chart {s}, I like a bucket of {v}, it lines up with my own charts.",
            "Charts of {s} with buckets of {v}, please, as in my own.",
        ],
        "Which bucket width does the user like in charts of {s}?",
    ),
    claim(
        Category::Reference,
        User,
        Form::Path,
        &["The runbook for {s} is {v}.", "For {s} there is a runbook, {v}."],
        "Where is the runbook for {s}?",
    ),
    claim(
        Category::Reference,
        Tool,
        Form::Word,
        &["{s} is written by node {v}", "{s}: writer runs on node {v}"],
        "Which node writes {s}?",
    ),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Code,
        &[
            "The replay of {s} is through batch {v}; the ones after it are open.",
            "I replayed {s} as far as batch {v} and stopped there.",
        ],
        "How far has the replay of {s} come?",
    )
    .changing(&["The replay of {s} has gone on and is through {v}.", "Meanwhile {s} is replayed as far as {v}."]),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Rows,
        &["So far {v} of {s} are checked, the remainder is not.", "I have checked {v} of {s} until now."],
        "How much of {s} has been checked so far?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Megabytes,
        &[
            "Queries on {s} may take {v} each, beyond that the pool kills them.",
            "The pool kills any query on {s} beyond {v}.",
        ],
        "Beyond what size does the pool kill a query on {s}?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Euros,
        &[
            "Scans for {s} have to stay within {v} this month.",
            "This month there is {v} for scans of {s}, and no more.",
        ],
        "What may scans for {s} cost this month?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Word,
        &["Never fail {s} over to {v}, it has no backup.", "Do not fail {s} over to {v}, whatever the page says."],
        "To which place must {s} never fail over?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Path,
        &["While {s} runs, never delete anything from {v}.", "Please do not clean up {v} while {s} runs."],
        "What must not be cleaned up while {s} runs?",
    ),
    claim(
        Category::Negation,
        User,
        Form::Ticket,
        &["The gap in {s} was not caused by {v}, that was a day later.", "It was not {v} that tore the gap into {s}."],
        "Which change did not cause the gap in {s}?",
    ),
    claim(
        Category::Negation,
        Assistant,
        Form::Word,
        &[
            "Host {v} is not the reason for the delay of {s}; it was idle all along.",
            "I looked at host {v}: it does not delay {s}.",
        ],
        "Which machine turned out not to delay {s}?",
    ),
    claim(
        Category::NumberOrId,
        User,
        Form::Ticket,
        &["The contract with the vendor of {s} runs under {v}.", "Our contract number for {s} is {v}."],
        "Under what number does the contract for {s} run?",
    ),
    claim(
        Category::NumberOrId,
        Tool,
        Form::Hash,
        &["{s}: last sealed segment {v}", "last sealed segment of {s} is {v}"],
        "What is the last sealed segment of {s}?",
    ),
    claim(
        Category::TemporalOrder,
        User,
        Form::Code,
        &["Batch {v} failed first, {s} only stopped after it.", "Before {s} stopped, batch {v} had failed already."],
        "Which batch failed before {s} stopped?",
    ),
    claim(
        Category::TemporalOrder,
        Tool,
        Form::Ticket,
        &["{v} closed, then {s} resumed", "{s} resumed after {v} was closed"],
        "What was closed before {s} resumed?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Path,
        &["I exported the late keys of {s} to {v}.", "The late keys of {s} are now in {v}."],
        "Where are the late keys of {s}?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Word,
        &["I created the scratch table {v} for {s}.", "For {s} there is now a scratch table, {v}."],
        "What is the scratch table for {s} called?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Seconds,
        &["I expect {s} to need {v} to catch up.", "My guess is that {s} catches up in {v}."],
        "How long does the agent expect {s} to need to catch up?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Percent,
        &[
            "By my count {v} of the keys in {s} are duplicates.",
            "Of the keys in {s}, {v} are duplicates as far as I see.",
        ],
        "What share of the keys in {s} are duplicates by the agent's count?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Millis,
        &["{s}: peak lag {v}", "peak lag of {s} was {v}"],
        "What was the peak lag of {s}?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Rows,
        &["{s}: rejected {v}", "rejected by {s}: {v}"],
        "How much did {s} reject?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Code,
        &["{s}: open batch {v}", "open batch of {s} is {v}"],
        "Which batch of {s} is open?",
    ),
    claim(
        Category::Distractor,
        User,
        Form::Path,
        &["The drill for {s} has a runbook of its own, {v}.", "There is also {v}, the runbook for the drill of {s}."],
        "Where is the runbook for the drill of {s}?",
    ),
    claim(
        Category::Distractor,
        Tool,
        Form::Millis,
        &["{s} (shadow): peak lag {v}", "peak lag of the shadow of {s} was {v}"],
        "What was the peak lag of the shadow of {s}?",
    ),
];
