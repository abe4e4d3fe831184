//! How a strategy works, in the words of the order that its document belongs to.

/// How a strategy works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Approach {
    /// One prompt asks for what replaces the conversation.
    Prompt,
    /// Something watches the conversation, and acts before or beside a summary.
    Middleware,
    /// Each summary takes in the one before it.
    Chain,
    /// Summaries add up, and shrink in levels.
    Levels,
}

impl Approach {
    /// Every approach, in the order of tables.
    pub const ALL: &[Approach] = &[
        Approach::Prompt,
        Approach::Middleware,
        Approach::Chain,
        Approach::Levels,
    ];

    /// The name that tables and files use.
    pub const fn name(self) -> &'static str {
        match self {
            Approach::Prompt => "prompt",
            Approach::Middleware => "middleware",
            Approach::Chain => "chain",
            Approach::Levels => "levels",
        }
    }
}
