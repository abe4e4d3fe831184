//! What can be stated about a study, its samples or its manuscript.

use compactometer_formats::scenario::Category;
use compactometer_formats::scenario::Speaker::{Assistant, Tool, User};

use crate::generate::domains::{Claim, claim};
use crate::generate::forms::Form;

pub(super) const CLAIMS: &[Claim] = &[
    claim(
        Category::Goal,
        User,
        Form::Percent,
        &[
            "With {s} I want to explain {v} of the variance, less will not be published.",
            "The referees expect {v} of the variance explained by {s}.",
        ],
        "What share of the variance should {s} explain?",
    )
    .changing(&[
        "The referees are content with {v} for {s} now.",
        "I talked to the editor; {v} of the variance is what {s} has to explain now.",
    ]),
    claim(
        Category::Goal,
        User,
        Form::Phrase,
        &["{s} should go to the journal called {v}.", "I would like to see {s} printed in {v}, that journal suits us."],
        "In which journal should {s} appear?",
    ),
    claim(
        Category::PendingTask,
        User,
        Form::Code,
        &[
            "Vial {v} of {s} has yet to be weighed, do that before we close.",
            "Before we close, somebody must weigh vial {v} of {s}.",
        ],
        "Which vial of {s} has yet to be weighed?",
    ),
    claim(
        Category::PendingTask,
        Assistant,
        Form::Ticket,
        &["I still owe the station an answer to {v} about {s}.", "On {s}, {v} waits for an answer from me."],
        "What must the agent still answer about {s}?",
    ),
    claim(
        Category::Decision,
        User,
        Form::Word,
        &[
            "We send {s} to laboratory {v}, because they run blanks with each batch.",
            "Laboratory {v} gets {s}; nobody else runs blanks with each batch.",
        ],
        "Which laboratory gets {s}?",
    )
    .changing(&[
        "Laboratory {v} takes over {s}, the other has lost its mass spectrometer.",
        "Send {s} to laboratory {v} instead, {person} knows them.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Megabytes,
        &[
            "We thin the raw files of {s} to {v}, as the ship's link takes no more.",
            "For the ship's link the raw files of {s} are thinned to {v}.",
        ],
        "To what size are the raw files of {s} thinned?",
    )
    .changing(&[
        "The ship has a better link, so thin {s} to {v} only.",
        "From this leg on the raw files of {s} are thinned to {v}.",
    ]),
    claim(
        Category::Decision,
        User,
        Form::Phrase,
        &[
            "For {s} we fit the {v} model, since the simpler one left a trend.",
            "The {v} model it is for {s}, the simpler one left a trend.",
        ],
        "Which model is fitted for {s}?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Word,
        &[
            "Draw the maps of {s} with the {v} palette, I find it easiest to read.",
            "I like the {v} palette for maps of {s}.",
        ],
        "Which palette does the user like for maps of {s}?",
    ),
    claim(
        Category::Preference,
        User,
        Form::Millis,
        &["I like {s} resampled to {v}, then it lines up with mine.", "Resample {s} to {v} for me, as I do with mine."],
        "To what step does the user like {s} resampled?",
    ),
    claim(
        Category::Reference,
        User,
        Form::Path,
        &["The field notes of {s} are in {v}.", "You find the field notes of {s} under {v}."],
        "Where are the field notes of {s}?",
    ),
    claim(
        Category::Reference,
        Tool,
        Form::Word,
        &["{s}: recorded by sensor {v}", "sensor {v} records {s}"],
        "Which sensor records {s}?",
    ),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Code,
        &[
            "The screening of {s} is done up to vial {v}, the others are on the shelf.",
            "I screened {s} as far as vial {v}.",
        ],
        "How far has the screening of {s} come?",
    )
    .changing(&["The screening of {s} has moved on to vial {v}.", "By now {s} is screened up to vial {v}."]),
    claim(
        Category::WorkflowState,
        Assistant,
        Form::Rows,
        &["Of {s}, {v} have passed the range test so far.", "So far the range test has let {v} of {s} through."],
        "How much of {s} has passed the range test so far?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Euros,
        &[
            "The grant leaves {v} for shipping {s}, not a cent more.",
            "For shipping {s} there is {v} in the grant, that must do.",
        ],
        "What does the grant leave for shipping {s}?",
    ),
    claim(
        Category::ConstraintOnce,
        User,
        Form::Seconds,
        &[
            "Vials of {s} may stay out of the freezer for {v}, then they spoil.",
            "After {v} out of the freezer the vials of {s} are spoiled.",
        ],
        "How long may vials of {s} stay out of the freezer?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Word,
        &[
            "Never calibrate {s} against {v}, that standard has drifted.",
            "Do not use {v} as the standard for {s}, it has drifted.",
        ],
        "Which standard must not be used for {s}?",
    ),
    claim(
        Category::Prohibition,
        User,
        Form::Path,
        &[
            "Nobody may publish {v} from {s}, the landowner has said no.",
            "Do not publish {v}; the landowner of {s} has said no.",
        ],
        "What from {s} must not be published?",
    ),
    claim(
        Category::Negation,
        User,
        Form::Ticket,
        &["The step in {s} does not come from {v}, that was downstream.", "It was not {v} that put the step into {s}."],
        "Which intervention did not cause the step in {s}?",
    ),
    claim(
        Category::Negation,
        Assistant,
        Form::Hash,
        &["Version {v} of the correction is not applied in {s}.", "I looked: {s} was not corrected with version {v}."],
        "Which version of the correction was not applied in {s}?",
    ),
    claim(
        Category::NumberOrId,
        User,
        Form::Ticket,
        &["The permit for {s} is {v}.", "We hold permit {v} for {s}."],
        "What is the number of the permit for {s}?",
    ),
    claim(
        Category::NumberOrId,
        Tool,
        Form::Hash,
        &["{s}: deposited as release {v}", "release {v} holds {s}"],
        "Which release holds {s}?",
    ),
    claim(
        Category::TemporalOrder,
        User,
        Form::Ticket,
        &["First came {v}, and {s} began only afterwards.", "{s} began once {v} was over."],
        "What was over before {s} began?",
    ),
    claim(
        Category::TemporalOrder,
        Tool,
        Form::Code,
        &["{s}: logger restarted after {v} ran empty", "{v} ran empty, then the logger of {s} restarted"],
        "What ran empty before the logger of {s} restarted?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Path,
        &["I wrote the cleaned series of {s} to {v}.", "The cleaned series of {s} now lies in {v}."],
        "Where is the cleaned series of {s}?",
    ),
    claim(
        Category::ArtifactTrail,
        Assistant,
        Form::Word,
        &["I saved the figure on {s} under the name {v}.", "The figure on {s} is saved, its name is {v}."],
        "Under which name is the figure on {s} saved?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Percent,
        &["I put the loss of moisture in {s} at {v}.", "By my estimate {s} lost {v} of the moisture."],
        "How much moisture did {s} lose by the agent's estimate?",
    ),
    claim(
        Category::AssistantSaid,
        Assistant,
        Form::Seconds,
        &["A full run over {s} takes {v} by my count.", "I count on {v} for a full run over {s}."],
        "How long does a full run over {s} take by the agent's count?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Millis,
        &["{s}: clock offset {v}", "clock offset of {s} is {v}"],
        "What is the clock offset of {s}?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Rows,
        &["{s}: flagged {v}", "flagged in {s}: {v}"],
        "How much of {s} was flagged?",
    ),
    claim(
        Category::ToolOutput,
        Tool,
        Form::Code,
        &["{s}: reference vial {v}", "reference vial of {s} is {v}"],
        "Which is the reference vial of {s}?",
    ),
    claim(
        Category::Distractor,
        User,
        Form::Path,
        &[
            "The pilot of {s} has field notes of its own, {v}.",
            "There are field notes of the pilot of {s} too, in {v}.",
        ],
        "Where are the field notes of the pilot of {s}?",
    ),
    claim(
        Category::Distractor,
        Tool,
        Form::Millis,
        &["{s} (spare logger): clock offset {v}", "clock offset of the spare logger of {s} is {v}"],
        "What is the clock offset of the spare logger of {s}?",
    ),
];
