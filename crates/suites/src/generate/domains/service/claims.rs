//! What can be stated about an event, a trip or an order.

use compactometer_formats::scenario::Category;
use compactometer_formats::scenario::Speaker::{Assistant, Tool, User};

use crate::generate::domains::{Claim, claim};
use crate::generate::forms::Form;

pub(super) const CLAIMS: &[Claim] = &[
    claim(
        Category::Goal,
        User,
        Form::Euros,
        &[
            "With {s} we want to end up at {v} all told.",
            "All told, {s} should come out at {v}; that is what I am measured by.",
        ],
        "At what total should {s} come out?",
    )
    .changing(&[
        "The team got more money, so {s} may come out at {v} now.",
        "New total for {s}: {v}, accounting has signed it.",
    ]),
    claim(
        Category::Goal,
        User,
        Form::Phrase,
        &["I want {s} to win people over to {v}, our new line.", "The point of {s} is to show {v}, our new line."],
        "Which new line should {s} show?",
    ),
    claim(
        Category::PendingTask,
        User,
        Form::Ticket,
        &[
            "Somebody still has to countersign {v} for {s}.",
            "For {s}, {v} has to be countersigned when we are done here.",
        ],
        "What still has to be countersigned for {s}?",
    ),
    claim(
        Category::PendingTask,
        Assistant,
        Form::Path,
        &[
            "I have yet to send the guest list of {s}, {v}, to the hotel.",
            "The guest list of {s} is {v}; I still have to send it.",
        ],
        "Which guest list does the agent still have to send for {s}?",
    ),
    claim(
        Category::Decision,
        User,
        Form::Word,
        &[
            "We take {v} as the supplier for {s}, because their terms are milder.",
            "The supplier for {s} is {v}, nobody else lets us cancel late.",
        ],
        "Who supplies {s}?",
    )
    .changing(&[
        "I had a call: {v} takes over {s}, the others are out.",
        "{v} will supply {s} instead, {person} has agreed.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Code,
        &[
            "Book {s} under rate {v}, since it includes the transfers.",
            "Rate {v} is the one for {s}, as it includes the transfers.",
        ],
        "Under which rate is {s} booked?",
    )
    .changing(&[
        "The rate for {s} changes to {v}.",
        "They offer something better, so book {s} under {v} from here on.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Phrase,
        &[
            "{s} gets the {v} hall, because the other one has no daylight.",
            "We chose the {v} hall for {s}, the other has no daylight.",
        ],
        "Which hall does {s} get?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Word,
        &["For {s} I like the {v} menu best.", "If you order food for {s}, take the {v} menu, I like that one."],
        "Which menu does the user like best for {s}?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Path,
        &["Put quotes for {s} into {v}, that is where I look.", "I look for quotes for {s} in {v}."],
        "Where does the user look for quotes for {s}?",
    ),
    claim(
        Category::Reference,
        User,
        Form::Path,
        &["The terms for {s} are in {v}.", "You find the terms for {s} in {v}."],
        "Where are the terms for {s}?",
    ),
    claim(
        Category::Reference,
        Tool,
        Form::Word,
        &["{s}: handled by agency {v}", "agency {v} handles {s}"],
        "Which agency handles {s}?",
    ),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Ticket,
        &[
            "With {s} I have come as far as {v}, what follows is not signed.",
            "For {s} all forms up to {v} are signed, the later ones are not.",
        ],
        "Up to which form are the papers for {s} signed?",
    )
    .changing(&["The papers for {s} are now signed up to {v}.", "By now {v} is signed too, so {s} has moved on."]),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Code,
        &["The approval of {s} is at stage {v}, two more follow.", "{s} has reached stage {v} of the approval."],
        "At which stage is the approval of {s}?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Euros,
        &["A night for {s} may cost {v} and no cent more.", "Nights for {s} are capped at {v}."],
        "What may a night for {s} cost?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Word,
        &[
            "{s} has to run under the {v} permit, the city gives no other.",
            "The city lets us hold {s} under the {v} permit alone.",
        ],
        "Under which permit must {s} be held?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Word,
        &["Never book {v} for {s}, they left us standing once.", "Do not use {v} for {s}, whatever they quote."],
        "Which company must not be used for {s}?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Path,
        &["The figures in {v} must never be shown to anybody at {s}.", "Do not pass on {v} to the people of {s}."],
        "Which paper must not reach the people of {s}?",
    ),
    claim(
        Category::Negation,
        User,
        Form::Ticket,
        &[
            "The surcharge on {s} does not come from {v}, I have checked.",
            "It is not {v} that makes {s} dearer, I have checked.",
        ],
        "Which order turned out not to make {s} dearer?",
    ),
    claim(
        Category::Negation,
        Assistant,
        Form::Code,
        &["Voucher {v} does not apply to {s}.", "I tried voucher {v}, it is not valid for {s}."],
        "Which voucher is not valid for {s}?",
    ),
    claim(
        Category::NumberOrId,
        User,
        Form::Ticket,
        &["The cost centre for {s} is {v}.", "Charge {s} to cost centre {v}."],
        "To which cost centre is {s} charged?",
    ),
    claim(
        Category::NumberOrId,
        Tool,
        Form::Hash,
        &["{s}: transfer {v} booked", "transfer {v} booked for {s}"],
        "Which transfer was booked for {s}?",
    ),
    claim(
        Category::TemporalOrder,
        User,
        Form::Ticket,
        &["We signed {v} first and {s} only after that.", "Before {s} was signed, {v} was."],
        "What was signed before {s}?",
    ),
    claim(
        Category::TemporalOrder,
        Tool,
        Form::Code,
        &["{s}: hold placed after {v} had lapsed", "{v} lapsed, then the hold for {s} was placed"],
        "What had lapsed before the hold for {s} was placed?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Path,
        &["I filed the seating plan of {s} as {v}.", "The seating plan of {s} is done and filed as {v}."],
        "Where is the seating plan of {s} filed?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Ticket,
        &["I placed the hold for {s}, it is {v}.", "The hold for {s} stands now, number {v}."],
        "What is the number of the hold for {s}?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Euros,
        &["I reckon with {v} for the transfers of {s}.", "The transfers of {s} come to {v} by my reckoning."],
        "What do the transfers of {s} come to by the agent's reckoning?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Percent,
        &["We would save {v} on {s} by paying early, by my sums.", "Paying early saves {v} on {s}, by my sums."],
        "How much would paying early save on {s} by the agent's sums?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Euros,
        &["{s}: deposit due {v}", "deposit due for {s} is {v}"],
        "What deposit is due for {s}?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Percent,
        &["{s}: fee for absent guests {v}", "fee for absent guests of {s} is {v}"],
        "What is the fee for absent guests of {s}?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Ticket,
        &["{s}: quote on file {v}", "quote on file for {s} is {v}"],
        "Which quote is on file for {s}?",
    ),
    claim(
        Category::Distractor,
        User,
        Form::Ticket,
        &[
            "The guests of {s} have a cost centre of their own, {v}.",
            "Charge the guests of {s} to {v}, theirs differs from ours.",
        ],
        "To which cost centre are the guests of {s} charged?",
    ),
    claim(
        Category::Distractor,
        Tool,
        Form::Euros,
        &["{s} (last year): deposit was {v}", "last year's deposit for {s} was {v}"],
        "What was last year's deposit for {s}?",
    ),
];
