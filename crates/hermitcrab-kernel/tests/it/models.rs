//! The choice of the model, and of the next one: acceptance row 21.

use std::sync::{Arc, Mutex};

use hermitcrab_kernel::config::{ModelSpec, Settings, ThinkingMode};
use hermitcrab_kernel::{Brain as _, BrainError, BrainRequest, Event, EventSink, LlmBrain, Tier};
use llm_client::{
    Anthropic, AnthropicVersion, Auth, Block, Client, Compat, Dialect, Endpoint, Message,
    RetryPolicy,
};
use serde_json::{Value, json};
use test_support::{Answer, CannedReply, FakeClock, FaultServer};
use tokio_util::sync::CancellationToken;

/// A brain at a server.
pub struct Rig {
    pub brain: LlmBrain,
    pub server: FaultServer,
    pub events: Arc<Mutex<Vec<Event>>>,
}

impl Rig {
    pub fn new(server: FaultServer, settings: &Settings) -> Self {
        let endpoint = Endpoint::new(&server.url(""), Auth::None).unwrap();
        let old = AnthropicVersion::V2023_06_01;
        let provider = Anthropic::new(endpoint).with_version_for("claude-opus-5", old);
        let client = Client::builder(
            Arc::new(provider),
            Arc::new(FakeClock::skip_up_to(std::time::Duration::from_secs(30))),
        )
        .retry(RetryPolicy::default().retries(1))
        .build()
        .unwrap();
        Self {
            brain: LlmBrain::new(client, "anthropic", settings),
            server,
            events: Arc::default(),
        }
    }

    /// A server that answers each request by its model.
    pub fn by_model(answer: impl Fn(&str) -> Answer + Send + 'static) -> Self {
        let server =
            FaultServer::play(move |received| answer(received.json()["model"].as_str().unwrap()));
        Self::new(server, &Settings::default())
    }

    pub async fn ask(&self, request: BrainRequest) -> Result<(String, String), BrainError> {
        let events = self.events.clone();
        let sink = EventSink::new(move |event| events.lock().unwrap().push(event));
        let answer = self
            .brain
            .complete(request, sink, CancellationToken::new())
            .await?;
        Ok((answer.model, answer.reply.text()))
    }

    /// The models that were asked so far, in order.
    fn asked(&self) -> Vec<String> {
        let requests = self.server.requests();
        let models = requests
            .iter()
            .map(|request| request.json()["model"].as_str().unwrap().to_owned());
        models.collect()
    }

    fn events(&self) -> Vec<Event> {
        std::mem::take(&mut self.events.lock().unwrap())
    }
}

pub fn request() -> BrainRequest {
    let mut request = BrainRequest::default();
    request.system = vec![Block::text("you live in blocks")];
    request.messages = vec![Message::user("hello")];
    request
}

pub fn answer(text: &str) -> Answer {
    Answer::sse(CannedReply::text(text).anthropic_events())
}

fn fault(status: u16, kind: &str) -> Answer {
    Answer::json(status, CannedReply::anthropic_error(kind, "so it is"))
}

fn not_found() -> Answer {
    fault(404, "not_found_error")
}

#[tokio::test]
async fn a_model_that_is_not_served_is_followed_by_the_next_which_stays() {
    let rig = Rig::by_model(|model| match model {
        "claude-opus-5-5" => not_found(),
        _ => answer("here"),
    });
    let (model, text) = rig.ask(request()).await.unwrap();
    assert_eq!((model.as_str(), text.as_str()), ("claude-opus-5", "here"));
    let changed = Event::ModelChanged {
        from: "claude-opus-5-5".to_owned(),
        to: "claude-opus-5".to_owned(),
        why: "claude-opus-5-5 is not served here (HTTP 404)".to_owned(),
    };
    let delta = |text: &str| Event::Delta {
        text: text.to_owned(),
    };
    assert_eq!(rig.events(), [changed.clone(), delta("he"), delta("re")]);

    // Later calls begin with the model that answered.
    rig.ask(request()).await.unwrap();
    assert_eq!(
        rig.asked(),
        ["claude-opus-5-5", "claude-opus-5", "claude-opus-5"]
    );
    assert!(!rig.events().contains(&changed));
}

#[tokio::test]
async fn an_overloaded_model_is_followed_after_the_clients_retries() {
    let rig = Rig::by_model(|model| match model {
        "claude-opus-5-5" => fault(529, "overloaded_error"),
        _ => answer("here"),
    });
    let (model, _) = rig.ask(request()).await.unwrap();
    assert_eq!(model, "claude-opus-5");
    assert_eq!(
        rig.asked(),
        ["claude-opus-5-5", "claude-opus-5-5", "claude-opus-5"]
    );
}

#[tokio::test]
async fn no_other_failure_asks_the_next_model() {
    let cases = [
        (
            400,
            "invalid_request_error",
            "the request was refused: HTTP 400 invalid_request_error: so it is",
        ),
        (
            401,
            "authentication_error",
            "key refused (HTTP 401): give another one",
        ),
        (
            402,
            "billing_error",
            "the account has nothing left (HTTP 402): add credit or use another key",
        ),
        (
            403,
            "permission_error",
            "key refused (HTTP 403): give another one",
        ),
        (
            429,
            "rate_limit_error",
            "too many requests (HTTP 429): wait a minute, then ask again",
        ),
        (
            500,
            "api_error",
            "the provider failed (HTTP 500): ask again",
        ),
    ];
    for (status, kind, plain) in cases {
        let rig = Rig::by_model(move |_| fault(status, kind));
        let error = rig.ask(request()).await.unwrap_err();
        assert_eq!(error.plain(), plain);
        assert_eq!(error.is_key_refused(), [401, 403].contains(&status));
        assert!(
            rig.asked().iter().all(|model| model == "claude-opus-5-5"),
            "{status}"
        );
        assert_eq!(rig.events(), []);
    }
}

/// A server without a field for thinking is not told to leave it out.
#[tokio::test]
async fn thinking_is_left_unset_where_the_provider_has_none() {
    let server = FaultServer::play(|_| Answer::sse(CannedReply::text("here").openai_events()));
    let endpoint = Endpoint::new(&server.url(""), Auth::None).unwrap();
    let provider = Compat::new(endpoint, Dialect::generic());
    let client = Client::builder(Arc::new(provider), Arc::new(FakeClock::new()));
    let settings = Settings::default();
    let brain = LlmBrain::new(client.build().unwrap(), "generic", &settings);
    for tier in [Tier::Default, Tier::Fast] {
        let mut asked = request();
        asked.tier = tier;
        let answer = brain.complete(asked, EventSink::none(), CancellationToken::new());
        let reply = answer.await.unwrap().reply;
        assert_eq!(reply.warnings, [], "{tier:?}");
    }
}

#[tokio::test]
async fn every_model_fails() {
    let rig = Rig::by_model(|_| not_found());
    let error = rig.ask(request()).await.unwrap_err();
    assert_eq!(
        error.plain(),
        "claude-sonnet-5-5 is not served here (HTTP 404)"
    );
    assert_eq!(rig.asked().len(), 3);
    assert_eq!(rig.events().len(), 2);
}

#[tokio::test]
async fn a_broken_stream_is_an_error_and_no_reply() {
    let pieces = CannedReply::text("half a sentence").anthropic_events();
    let half = pieces[..pieces.len() - 2].to_vec();
    let rig = Rig::by_model(move |_| Answer::sse(&half));
    let error = rig.ask(request()).await.unwrap_err();
    assert_eq!(
        error.plain(),
        "the answer was interrupted, and nothing of it is kept: ask again"
    );
}

#[tokio::test]
async fn an_overload_in_the_midst_of_an_answer_does_not_begin_it_again() {
    let mut pieces = CannedReply::text("half a sentence").anthropic_events();
    pieces.truncate(pieces.len() - 2);
    pieces.push(format!(
        "event: error\ndata: {}\n\n",
        CannedReply::anthropic_error("overloaded_error", "so it is")
    ));
    let rig = Rig::by_model(move |_| Answer::sse(&pieces));
    let error = rig.ask(request()).await.unwrap_err();
    assert!(
        error.plain().starts_with("claude-opus-5-5 is overloaded"),
        "{}",
        error.plain()
    );
    assert_eq!(rig.asked(), ["claude-opus-5-5"]);
    assert!(
        rig.events()
            .iter()
            .all(|event| matches!(event, Event::Delta { .. }))
    );
}

#[tokio::test]
async fn after_a_refusal_only_later_models_are_asked_and_nothing_is_remembered() {
    let rig = Rig::by_model(|_| answer("I will"));
    let after = |model: &str| {
        let mut request = request();
        request.after = Some(model.to_owned());
        request
    };
    assert_eq!(
        rig.ask(after("claude-opus-5-5")).await.unwrap().0,
        "claude-opus-5"
    );
    assert_eq!(rig.ask(request()).await.unwrap().0, "claude-opus-5-5");
    let error = rig.ask(after("claude-sonnet-5-5")).await.unwrap_err();
    assert!(error.plain().contains("no model comes after"), "{error}");
}

#[tokio::test]
async fn the_fast_model_does_small_work_and_the_chain_stands_behind_it() {
    let fast = || {
        let mut request = request();
        request.tier = Tier::Fast;
        request
    };
    let rig = Rig::by_model(|_| answer("quick"));
    assert_eq!(rig.ask(fast()).await.unwrap().0, "claude-haiku-5-5");
    assert_eq!(rig.brain.info().fast, "claude-haiku-5-5");

    let rig = Rig::by_model(|model| match model {
        "claude-haiku-5-5" => not_found(),
        _ => answer("slow"),
    });
    assert_eq!(rig.ask(fast()).await.unwrap().0, "claude-opus-5-5");
}

#[tokio::test]
async fn thoughts_go_back_to_their_own_model_only() {
    let mut thoughtful = CannedReply::text("I thought");
    thoughtful.thinking = Some("hm".to_owned());
    let rig = Rig::by_model(move |_| Answer::sse(thoughtful.anthropic_events()));
    let first = rig
        .brain
        .complete(request(), EventSink::none(), CancellationToken::new())
        .await
        .unwrap();
    let again = |after: Option<&str>| {
        let mut request = request();
        request.messages = vec![
            Message::user("hello"),
            first.reply.to_message(),
            Message::user("and?"),
        ];
        request.after = after.map(str::to_owned);
        request
    };
    rig.ask(again(None)).await.unwrap();
    rig.ask(again(Some("claude-opus-5-5"))).await.unwrap();
    let sent: Vec<Value> = rig
        .server
        .requests()
        .iter()
        .map(|request| request.json()["messages"][1]["content"].clone())
        .collect();
    assert_eq!(sent[1][0]["type"], "thinking");
    assert_eq!(sent[1][0]["signature"], "sig");
    assert_eq!(sent[2], json!([{ "type": "text", "text": "I thought" }]));
}

#[tokio::test]
async fn each_model_is_told_to_think_in_its_own_way() {
    let spec = |id: &str, thinking, effort: Option<&str>, max_tokens| {
        let mut spec = ModelSpec::new(id);
        spec.thinking = thinking;
        spec.effort = effort.map(str::to_owned);
        spec.max_tokens = max_tokens;
        spec
    };
    let mut settings = Settings::default();
    settings.models = vec![
        spec("claude-opus-5-5", ThinkingMode::Always, Some("high"), None),
        spec("claude-opus-5", ThinkingMode::Adaptive, None, Some(2_000)),
        spec(
            "claude-haiku-4-5",
            ThinkingMode::Budget(4_000),
            None,
            Some(1_000),
        ),
        spec("a-model-nobody-knows", ThinkingMode::Off, None, None),
    ];
    let server = FaultServer::play(|_| not_found());
    let rig = Rig::new(server, &settings);
    rig.ask(request()).await.unwrap_err();
    let shown: Vec<Value> = rig
        .server
        .requests()
        .iter()
        .map(|request| {
            let mut body = request.json();
            for field in ["messages", "system"] {
                body.as_object_mut().unwrap().remove(field);
            }
            json!({ "version": request.header("anthropic-version"), "body": body })
        })
        .collect();
    insta::assert_json_snapshot!(shown);
}
