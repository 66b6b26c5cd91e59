/// The reason why faces run on the built-in runtime.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuiltinReason {
    /// React could not be had; the text says why.
    NoNpm(String),
    /// The search for React is under way.
    Installing,
    /// A second program was still installing React when the search ended; the text says where, and what to do.
    Busy(String),
    /// The person or the program asked for the built-in runtime.
    Chosen,
}

impl BuiltinReason {
    /// The word of the bar.
    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::NoNpm(_) => "no npm",
            Self::Installing | Self::Busy(_) => "being installed",
            Self::Chosen => "asked for",
        }
    }

    /// The line in the panel of faces.
    pub(super) fn detail(&self) -> &str {
        match self {
            Self::NoNpm(why) | Self::Busy(why) => why,
            Self::Installing => {
                "React is being looked for; the next face uses it when it is there."
            }
            Self::Chosen => "The program was started with the built-in runtime.",
        }
    }
}
