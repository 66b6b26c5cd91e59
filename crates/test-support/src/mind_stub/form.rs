use super::digest::Digest;

/// A well-formed or malformed form of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MindForm {
    /// A thought, one or two messages, a blank block.
    Plain,
    /// No text between the last two delimiters.
    Adjacent,
    /// One delimiter ends it.
    LoneCloser,
    /// The last message has no end.
    Unterminated,
    /// As [`Self::Unterminated`], and `finish_reason` is `length`.
    Cut,
    /// Talk without a delimiter.
    NoDelimiter,
    /// Four dashes for every delimiter.
    FourDashes,
    /// The signature `~bard`.
    Signed,
    /// The signature `~init`.
    SignedInit,
    /// The signature `~INIT`.
    SignedLoud,
    /// Every line ends with CR and LF.
    Crlf,
    /// Delimiters followed by blanks.
    Spaced,
    /// Ended, without a message.
    Silent,
    /// Text after the end.
    Chatter,
    /// Markup, escapes for terminals and marks that turn the direction of writing.
    Hostile,
    /// A message holds the tags of a chain of thought.
    Reasoning,
    /// `content` is null.
    Null,
    /// There is no `content`.
    Missing,
    /// `content` is empty.
    Empty,
}

const ALL: [MindForm; 19] = [
    MindForm::Plain,
    MindForm::Adjacent,
    MindForm::LoneCloser,
    MindForm::Unterminated,
    MindForm::Cut,
    MindForm::NoDelimiter,
    MindForm::FourDashes,
    MindForm::Signed,
    MindForm::SignedInit,
    MindForm::SignedLoud,
    MindForm::Crlf,
    MindForm::Spaced,
    MindForm::Silent,
    MindForm::Chatter,
    MindForm::Hostile,
    MindForm::Reasoning,
    MindForm::Null,
    MindForm::Missing,
    MindForm::Empty,
];

impl MindForm {
    /// Every form, in the order of declaration.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ALL.into_iter()
    }

    pub(super) fn drawn(digest: &mut Digest) -> Self {
        ALL[digest.below(ALL.len())]
    }

    /// `parse.end` and `parse.reason` of such an answer in the mode `lenient`.
    pub fn verdict(self) -> (&'static str, &'static str) {
        match self {
            Self::Adjacent => ("adjacent", "ok"),
            Self::LoneCloser => ("lenient", "ok"),
            Self::Unterminated => ("none", "unterminated"),
            Self::Cut => ("none", "truncated"),
            Self::NoDelimiter | Self::FourDashes => ("none", "no_delimiter"),
            Self::Silent => ("blank_block", "silence"),
            Self::Null | Self::Missing | Self::Empty => ("none", "empty_output"),
            _ => ("blank_block", "ok"),
        }
    }

    /// `parse.notes` of such an answer in the mode `lenient`.
    pub fn notes(self) -> &'static [&'static str] {
        match self {
            Self::LoneCloser => &["lenient_end"],
            Self::FourDashes => &["near_delimiter"],
            Self::SignedInit => &["impersonates_init"],
            Self::Crlf | Self::Spaced => &["tolerated_delimiter"],
            Self::Chatter => &["text_after_end"],
            Self::Reasoning => &["reasoning_tag"],
            _ => &[],
        }
    }

    /// The text of an answer.
    pub(super) fn words(self, digest: &mut Digest) -> String {
        let thought = format!("I read it all. {}", digest.sentence());
        let one = digest.sentence();
        match self {
            Self::Plain => {
                let second = digest.below(2) == 1;
                let two = if second {
                    format!("\n---\n{}", digest.sentence())
                } else {
                    String::new()
                };
                format!("{thought}\n---\n{one}{two}\n---\n\n---\n")
            }
            Self::Adjacent => format!("{thought}\n---\n{one}\n---\n---\n"),
            Self::LoneCloser => format!("{thought}\n---\n{one}\n---\n"),
            Self::Unterminated | Self::Cut => format!("{thought}\n---\n{one}"),
            Self::NoDelimiter => format!("{thought}\n\n{one}"),
            Self::FourDashes => format!("{thought}\n----\n{one}\n----\n\n----\n"),
            Self::Signed => format!("{thought}\n---\n{one}\n---\n\n---\n~bard\n"),
            Self::SignedInit => format!("{thought}\n---\n{one}\n---\n\n---\n~init"),
            Self::SignedLoud => format!("{thought}\n---\n{one}\n---\n\n---\n~INIT"),
            Self::Crlf => format!("{thought}\r\n---\r\n{one}\r\n---\r\n\r\n---\r\n"),
            Self::Spaced => format!("{thought}\n--- \n{one}\n---\t\n\n---  \n"),
            Self::Silent => format!("{thought}\n---\n\n---\n"),
            Self::Chatter => format!("{thought}\n---\n{one}\n---\n\n---\nHope this helps!\n"),
            Self::Hostile => format!(
                "{thought}\n---\n<script>alert(1)</script></script>\u{1b}[31m{one}\u{1b}[0m \u{202e}txet\u{202c} &amp; \"q\"\n---\n\n---\n"
            ),
            Self::Reasoning => {
                format!("{thought}\n---\n<think>{one}</think> so be it\n---\n\n---\n")
            }
            Self::Null | Self::Missing | Self::Empty => String::new(),
        }
    }
}
