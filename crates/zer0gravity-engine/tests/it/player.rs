//! A port that a test answers: it keeps what it was asked, and can hold every call until the test lets it go.

use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use llm_types::StopReason;
use tokio::sync::oneshot;
use zer0gravity_engine::model::{
    CallFacts, CountRequest, ModelError, ModelLabel, ModelReply, ModelRequest, TokenCount,
};
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::{FailureKind, ModelClient, StageName, TokenUse};

type Reply = Result<ModelReply, ModelError>;
type Answers<Question, Answer> = Box<dyn Fn(&Question) -> Answer + Send + Sync>;

/// Plays all roles.
pub struct Player {
    reply: Answers<ModelRequest, Reply>,
    count: Answers<CountRequest, Result<u64, ModelError>>,
    label: ModelLabel,
    asked: Mutex<Vec<Asked>>,
    holds: bool,
    held: Mutex<Vec<Held>>,
}

/// A call.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    Message(Box<ModelRequest>),
    Count(CountRequest),
}

struct Held {
    asked: Asked,
    go: oneshot::Sender<()>,
}

pub const MODEL: &str = "model-1";

pub fn label() -> ModelLabel {
    ModelLabel::new("anthropic", "models.test")
}

/// The default replies of the judge of the meaning and of the judge of the rules.
pub const SEMANTIC: &str = r#"{"score": 36, "reasoning": "near"}"#;
pub const RULES: &str = r#"{"score": 4, "reasoning": "plain"}"#;

impl Default for Player {
    /// Everything goes well: the encoder halves the text, the decoder says it is decoded.
    fn default() -> Self {
        Self {
            reply: Box::new(|request| Ok(usual(request))),
            count: Box::new(|request| Ok(request.text.chars().count() as u64)),
            label: label(),
            asked: Mutex::default(),
            holds: false,
            held: Mutex::default(),
        }
    }
}

/// The reply of a model that does its task.
pub fn usual(request: &ModelRequest) -> ModelReply {
    let text = request.inputs.texts.first().map_or("", String::as_str);
    match request.role {
        Role::Encoder => says(text.chars().step_by(2).collect::<String>()),
        Role::Decoder => says(format!("decoded {text}")),
        Role::SemanticJudge => says(SEMANTIC),
        Role::ImplementabilityJudge => says(RULES),
        Role::OwnJudge => says(r#"{"score": 7, "reasoning": "kept"}"#),
        Role::OwnProgram => says(r#"{"score": 2.5, "reasoning": "counted"}"#),
        Role::Executor => says("an answer"),
        Role::MeasureEncoder | Role::MeasureDecoder => says("b"),
    }
}

/// A whole reply of one request, with 10 tokens of prompt and 5 of reply.
pub fn says(text: impl Into<String>) -> ModelReply {
    ModelReply::new(text)
        .usage(Some(TokenUse::new(10, 5)))
        .call(once())
}

/// The same, ended in another way.
pub fn stops(text: &str, stop: StopReason) -> ModelReply {
    says(text).stop(stop)
}

/// The kind of failure that results call `word`.
pub fn kind_of(word: &str) -> FailureKind {
    word.parse().unwrap()
}

/// A failure that a server answered with.
pub fn fails(kind: &str, status: u16) -> ModelError {
    ModelError::unsent(kind_of(kind), format!("HTTP {status}, {kind}"))
        .status(Some(status))
        .call(once())
}

fn once() -> CallFacts {
    CallFacts::default().attempts(1)
}

impl Player {
    /// Answers messages in another way.
    pub fn replies(
        mut self,
        reply: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        self.reply = Box::new(reply);
        self
    }

    /// Answers one role in another way.
    pub fn role(self, role: Role, reply: impl Fn() -> Reply + Send + Sync + 'static) -> Self {
        let other = self.reply;
        Self {
            reply: Box::new(move |request| {
                if request.role == role {
                    reply()
                } else {
                    other(request)
                }
            }),
            ..self
        }
    }

    /// Answers one role as before, with a change.
    pub fn role_with(
        self,
        role: Role,
        change: impl Fn(&mut ModelReply) + Send + Sync + 'static,
    ) -> Self {
        let usual = self.reply;
        Self {
            reply: Box::new(move |request| {
                let mut reply = usual(request)?;
                if request.role == role {
                    change(&mut reply);
                }
                Ok(reply)
            }),
            ..self
        }
    }

    /// Counts in another way.
    pub fn counts(
        mut self,
        count: impl Fn(&CountRequest) -> Result<u64, ModelError> + Send + Sync + 'static,
    ) -> Self {
        self.count = Box::new(count);
        self
    }

    /// Answers no call before [`Self::release`].
    pub fn holding(mut self) -> Self {
        self.holds = true;
        self
    }

    /// Every call so far, in the order they came.
    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }

    /// The questions to one role.
    pub fn to(&self, role: Role) -> Vec<ModelRequest> {
        let of_role = |asked| match asked {
            Asked::Message(request) if request.role == role => Some(*request),
            _ => None,
        };
        self.asked().into_iter().filter_map(of_role).collect()
    }

    /// The texts that were to be counted.
    pub fn counted(&self) -> Vec<String> {
        let count = |asked| match asked {
            Asked::Count(request) => Some(request.text),
            Asked::Message(_) => None,
        };
        self.asked().into_iter().filter_map(count).collect()
    }

    /// The requests that wait for their answer, the oldest first.
    pub fn held(&self) -> Vec<Asked> {
        let mut held = self.held.lock().unwrap();
        // Who was dropped waits no more.
        held.retain(|call| !call.go.is_closed());
        held.iter().map(|call| call.asked.clone()).collect()
    }

    /// Lets one of [`Self::held`] have its answer.
    pub fn release(&self, index: usize) {
        let held = self.held.lock().unwrap().remove(index);
        held.go.send(()).unwrap();
    }

    async fn wait(&self, asked: Asked) {
        self.asked.lock().unwrap().push(asked.clone());
        if self.holds {
            let (go, come) = oneshot::channel();
            self.held.lock().unwrap().push(Held { asked, go });
            come.await.unwrap();
        }
    }
}

impl ModelClient for Player {
    fn complete(&self, request: ModelRequest) -> BoxFuture<'_, Reply> {
        async move {
            self.wait(Asked::Message(Box::new(request.clone()))).await;
            (self.reply)(&request)
        }
        .boxed()
    }

    fn count_tokens(&self, request: CountRequest) -> BoxFuture<'_, Result<TokenCount, ModelError>> {
        async move {
            self.wait(Asked::Count(request.clone())).await;
            let tokens = (self.count)(&request)?;
            Ok(TokenCount::new(tokens).call(once()))
        }
        .boxed()
    }

    fn label(&self) -> ModelLabel {
        self.label.clone()
    }
}

impl Asked {
    /// The stage it belongs to, as far as it tells: both counts are the first.
    pub fn stage(&self) -> StageName {
        match self {
            Self::Count(_) => StageName::CountOriginal,
            Self::Message(request) => match request.role {
                Role::Encoder => StageName::Encode,
                Role::Decoder => StageName::Decode,
                Role::SemanticJudge => StageName::JudgeSemantic,
                Role::ImplementabilityJudge => StageName::JudgeImplementability,
                Role::OwnJudge | Role::OwnProgram => StageName::JudgeOwn,
                Role::Executor => StageName::Execute,
                // They belong to the count that failed.
                Role::MeasureEncoder | Role::MeasureDecoder => StageName::CountEncoded,
            },
        }
    }
}

/// Runs a future that waits for nothing but a [`Player`]. Whenever it can do no more, `step` lets something happen; it is
/// dropped when that says no. No timer and no second thread: the same steps make the same run.
pub fn drive<T>(
    run: impl Future<Output = T>,
    player: &Player,
    mut step: impl FnMut(&Player) -> bool,
) -> Option<T> {
    const QUIET: u32 = 4;
    let mut run = pin!(run);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        // A future may give way though it could go on.
        let mut quiet = 0;
        while quiet < QUIET {
            let before = player.asked.lock().unwrap().len();
            if let Poll::Ready(value) = run.as_mut().poll(&mut context) {
                return Some(value);
            }
            let asked = player.asked.lock().unwrap().len();
            quiet = if asked == before { quiet + 1 } else { 0 };
        }
        if !step(player) {
            return None;
        }
    }
}

/// The same to its end, with a player that holds nothing.
pub fn finish<T>(run: impl Future<Output = T>, player: &Player) -> T {
    drive(run, player, |_| panic!("nobody holds it, yet it waits")).unwrap()
}
