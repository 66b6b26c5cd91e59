/// The meaning of a value, shown as a colour and a sign, so that colour is never the only signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Status {
    /// No particular meaning.
    #[default]
    Neutral,
    /// A good result: passed, kept, compliant.
    Good,
    /// A bad result: failed, refuted, lost.
    Bad,
    /// A result that needs attention: undecided, tolerated.
    Caution,
    /// A remark.
    Info,
}

impl Status {
    /// The CSS class of an element with this status.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Neutral => "tone neutral",
            Self::Good => "tone good",
            Self::Bad => "tone bad",
            Self::Caution => "tone caution",
            Self::Info => "tone info",
        }
    }

    /// The sign before a badge or a notice.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            Self::Neutral => "·",
            Self::Good => "✓",
            Self::Bad => "✗",
            Self::Caution => "!",
            Self::Info => "i",
        }
    }
}
