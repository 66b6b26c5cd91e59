use std::ops::Range;
use std::time::Duration;

/// How a [`super::MindStub`] answers. The default is at once, well-formed and without fault.
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
    /// What is said.
    pub mode: MindMode,
    /// Every answer comes so long after its request, by the server's own timer.
    pub latency: Duration,
    /// And up to so much later; how much is fixed by the prompt.
    pub jitter: Duration,
    /// What goes wrong and may go right another time.
    pub faults: Option<MindFaults>,
    /// What goes wrong from some request on, and does not pass.
    pub fatal: Option<(usize, MindFatal)>,
    /// Every so manieth request, by arrival, gets a 500.
    pub fail_every: Option<usize>,
    /// `usage.cost`: dollars for a million tokens of prompt and of answer.
    pub cost: Option<[f64; 2]>,
    /// The answers to these requests (0 is the first) wait for [`super::MindStub::release`].
    pub hold: Range<usize>,
}

/// What a [`super::MindStub`] says. Everything but [`Self::Say`], [`Self::Literal`] and [`Self::Raw`] depends on the prompt and
/// on nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MindMode {
    /// A thought and one or two short messages, ended as told.
    #[default]
    Ok,
    /// So many messages of exactly so many bytes, the same in every answer.
    Literal {
        /// How many.
        texts: usize,
        /// How long each is.
        bytes: usize,
    },
    /// One of [`super::MindForm::all`].
    Mix,
    /// Always this form.
    Form(super::MindForm),
    /// These words.
    Say(String),
    /// These bytes where the JSON text of `content` stands, quotes included: for what no JSON writer would write.
    Raw(Vec<u8>),
}

/// What a share of the calls meets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MindFaults {
    /// Which part of all prompts, 0 to 1.
    pub rate: f64,
    /// How many of the first attempts for such a prompt go wrong. After that it is answered.
    pub attempts: usize,
    /// What happens.
    pub fault: MindFault,
}

impl MindFaults {
    /// This part of the prompts is answered at the second attempt.
    pub fn once(rate: f64) -> Self {
        Self {
            rate,
            attempts: 1,
            fault: MindFault::Any,
        }
    }

    /// This part of the prompts is never answered.
    pub fn always(rate: f64) -> Self {
        Self {
            attempts: usize::MAX,
            ..Self::once(rate)
        }
    }
}

/// Something that may pass.
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

/// Something that does not pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MindFatal {
    /// 401.
    Auth,
    /// 402: nothing left on the account.
    Quota,
    /// 404: no such model.
    NoModel,
    /// 400.
    BadRequest,
}
