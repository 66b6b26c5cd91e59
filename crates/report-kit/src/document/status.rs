/// What a value means to the reader. Shown as a colour and as a sign, so that colour is never the only signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Tone {
    /// Nothing in particular.
    #[default]
    Neutral,
    /// As hoped for: passed, kept, compliant.
    Good,
    /// Failed, refuted, lost.
    Bad,
    /// Undecided, tolerated, to be looked at.
    Caution,
    /// A remark.
    Info,
}

impl Tone {
    /// The class of an element with this tone.
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
