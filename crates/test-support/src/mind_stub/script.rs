use std::ops::Range;
use std::time::Duration;

/// The script of a [`super::MindStub`]. By default answers are immediate, well-formed and without faults.
///
/// ```
/// use std::time::Duration;
/// use test_support::{MindFaults, MindMode, MindScript};
///
/// let script = MindScript {
///     mode: MindMode::Mix,
///     latency: Duration::from_millis(5),
///     faults: Some(MindFaults::once(0.2)),
///     ..MindScript::default()
/// };
/// assert!(script.fatal.is_none());
/// ```
#[derive(Clone, Debug, Default)]
pub struct MindScript {
    /// The content of the answers.
    pub mode: MindMode,
    /// The delay of every answer, by the server's own timer.
    pub latency: Duration,
    /// The maximum additional delay, determined by the prompt.
    pub jitter: Duration,
    /// Faults that pass when the call is repeated.
    pub faults: Option<MindFaults>,
    /// A fault that persists from a request on.
    pub fatal: Option<(usize, MindFatal)>,
    /// The interval between requests, by arrival, that get a 500.
    pub fail_every: Option<usize>,
    /// `usage.cost`: dollars for a million tokens of prompt and of answer.
    pub cost: Option<[f64; 2]>,
    /// The answers to these requests (0 is the first) wait for [`super::MindStub::release`].
    pub hold: Range<usize>,
}

/// The content of a [`super::MindStub`]'s answers. All but [`Self::Say`], [`Self::Literal`] and [`Self::Raw`] depend on the
/// prompt alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MindMode {
    /// A thought and one or two short messages with the required end.
    #[default]
    Ok,
    /// Messages of a fixed number and size, the same in every answer.
    Literal {
        /// The number of messages.
        texts: usize,
        /// The size of each message in bytes.
        bytes: usize,
    },
    /// One of [`super::MindForm::all`].
    Mix,
    /// Always this form.
    Form(super::MindForm),
    /// The given text.
    Say(String),
    /// The given bytes as the JSON text of `content`, quotes included, for text that no JSON writer would write.
    Raw(Vec<u8>),
}

/// A fault of a share of the calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MindFaults {
    /// The share of all prompts, 0 to 1.
    pub rate: f64,
    /// The number of first attempts of such a prompt that fail; later ones are answered.
    pub attempts: usize,
    /// The kind of fault.
    pub fault: MindFault,
}

impl MindFaults {
    /// A fault of this share of the prompts at their first attempt.
    pub fn once(rate: f64) -> Self {
        Self {
            rate,
            attempts: 1,
            fault: MindFault::Any,
        }
    }

    /// A fault of this share of the prompts at every attempt.
    pub fn always(rate: f64) -> Self {
        Self {
            attempts: usize::MAX,
            ..Self::once(rate)
        }
    }
}

/// A fault that may pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MindFault {
    /// 429 with a short wish for patience.
    TooMany,
    /// 500, as well.
    Server,
    /// The connection is reset.
    Reset,
    /// One of the others, fixed by prompt and attempt.
    Any,
}

/// A fault that does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MindFatal {
    /// The status 401.
    Auth,
    /// 402: nothing left on the account.
    Quota,
    /// 404: no such model.
    NoModel,
    /// The status 400.
    BadRequest,
}
