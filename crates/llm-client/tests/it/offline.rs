use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{self, BoxFuture};
use llm_client::provider::{HttpRequest, HttpResponse, Provider as _, Transport};
use llm_client::{
    Block, Budget, Client, Cost, CountSource, Echo, Error, Event, Message, Reply, ReplySource,
    Request, Role, StopReason, Usd,
};
use test_support::FakeClock;

use crate::wire::{count, encoded, send, stream_of};

/// Offline providers reach nothing.
struct NoNetwork;

impl Transport for NoNetwork {
    fn execute(&self, _: HttpRequest) -> BoxFuture<'_, Result<HttpResponse, Error>> {
        Box::pin(future::ready(Err(Error::protocol(
            "the network was reached",
        ))))
    }
}

/// Waits between attempts take no time.
fn clock() -> FakeClock {
    FakeClock::skip_up_to(Duration::from_secs(30))
}

async fn said(echo: &Echo, request: &Request) -> Reply {
    send(echo, request, &Arc::new(NoNetwork)).await.unwrap()
}

async fn events(echo: &Echo, request: Request) -> Vec<Result<Event, Error>> {
    let stream = stream_of(echo, &request, &Arc::new(NoNetwork))
        .await
        .unwrap();
    // The stream's own `collect` gives the reply only.
    StreamExt::collect(stream).await
}

fn pieces(events: &[Result<Event, Error>]) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match event {
            Ok(Event::TextDelta { text, .. }) => Some(text.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn an_echo_is_the_same_over_runs_and_platforms() {
    let echo = Echo::new(7);
    let reply = said(&echo, &Request::new("m", "Grüße, 世界!")).await;
    assert_eq!(reply.text(), "echo:22531d843bdb Grüße, 世界!");
    assert_eq!(reply.id, "echo_22531d843bdbe6c7eef85e73");
    let streamed = events(&echo, Request::new("m", "Grüße, 世界!")).await;
    assert_eq!(
        pieces(&streamed),
        ["echo:22531d843bdb ", "Grüße, ", "世界!"]
    );
    let encoded = encoded(&echo, &Request::new("m", "hi"), "m").unwrap();
    assert_eq!(
        encoded.body,
        r#"{"messages":[{"content":[{"kind":{"text":{"text":"hi"}}}],"role":"user"}],"model":"m","offline_seed":7}"#
    );
    assert_eq!(
        (encoded.url.as_str(), &*encoded.path),
        ("offline:echo", "/offline/echo")
    );
}

#[tokio::test]
async fn an_echo_depends_on_seed_and_request_and_not_on_what_is_never_sent() {
    let text = async |echo: &Echo, request: Request| said(echo, &request).await.text();
    let (one, other) = (Echo::new(1), Echo::new(2));
    let request = Request::new("m", "x");
    let plain = text(&one, request.clone()).await;
    assert_ne!(plain, text(&other, request.clone()).await);
    assert_ne!(plain, text(&one, Request::new("n", "x")).await);
    let mut marked = request;
    marked.labels.insert("run".into(), "1".into());
    marked.replay_key = Some("k".into());
    assert_eq!(plain, text(&one, marked).await);
    assert_eq!(
        plain,
        text(&one.clone().with_name("mine"), Request::new("m", "x")).await
    );
}

#[tokio::test]
async fn an_echo_cuts_the_users_text_at_max_tokens_between_characters() {
    let echo = Echo::new(0);
    let mut request = Request::new("m", "abcä!");
    for (max, rest, stop) in [
        (1, "abc", StopReason::MaxTokens),
        (2, "abcä!", StopReason::EndTurn),
    ] {
        request.max_tokens = Some(max);
        let reply = said(&echo, &request).await;
        assert_eq!(reply.text().split_once(' ').unwrap().1, rest);
        assert_eq!(reply.stop, stop);
    }
    let mut request = Request::new("m", "abää");
    request.max_tokens = Some(1);
    let reply = said(&echo, &request).await;
    assert!(reply.text().ends_with(" ab"));
}

#[tokio::test]
async fn an_echo_answers_the_last_user_text_even_after_results_of_tools() {
    let echo = Echo::new(0);
    let mut request = Request::new("m", "first");
    request.messages.push(Message::user("second"));
    request.messages.push(Message::assistant("no"));
    let result = Block::tool_result("call_1", "result", false);
    request
        .messages
        .push(Message::new(Role::User, vec![result]));
    let reply = said(&echo, &request).await;
    assert!(reply.text().ends_with(" second"));
}

#[tokio::test]
async fn a_stream_gives_the_plain_reply_word_by_word() {
    let echo = Echo::new(3);
    let long = "äb ".repeat(100);
    let plain = said(&echo, &Request::new("m", long.as_str())).await;
    let streamed = events(&echo, Request::new("m", long.as_str())).await;
    let pieces = pieces(&streamed);
    assert_eq!((pieces.len(), pieces.concat()), (101, plain.text()));
    assert!(pieces[1..].iter().all(|piece| piece == "äb "));
    let Some(Ok(Event::Done(done))) = streamed.last() else {
        panic!("no last event: {streamed:?}");
    };
    assert_eq!(**done, plain);
}

#[tokio::test]
async fn replies_say_that_they_are_offline_and_free() {
    let echo = Echo::new(0).with_name("mine");
    let request = Request::new("m", "abc");
    let reply = said(&echo, &request).await;
    assert_eq!(reply.source, ReplySource::Offline("echo".into()));
    assert_eq!(reply.cost, Cost::FREE);
    assert!(!reply.usage.known);
    assert_eq!(reply.usage.input, 13);
    assert_eq!(echo.capabilities("m").offline, Some("echo"));
    assert_eq!(reply.content[0].origin.as_ref().unwrap().provider, "mine");
    let count = count(&echo, &request, &Arc::new(NoNetwork)).await.unwrap();
    assert_eq!(count.tokens, 13);
    let source = CountSource::Estimate {
        method: "bytes3".into(),
        reason: "offline".into(),
    };
    assert_eq!(count.source, source);
}

#[tokio::test]
async fn a_client_of_an_offline_provider_reaches_no_network_and_spends_nothing() {
    let budget = Budget::default().usd(Some(Usd::ZERO));
    let client = Client::builder(Arc::new(Echo::new(0)), Arc::new(clock()))
        .transport(Arc::new(NoNetwork))
        .budget(budget)
        .build()
        .unwrap();
    let request = Request::new("m", "hello");
    let plain = client.complete(&request).await.unwrap();
    let streamed = client
        .stream(&request)
        .await
        .unwrap()
        .collect()
        .await
        .unwrap();
    for reply in [&plain, &streamed] {
        assert_eq!(reply.source, ReplySource::Offline("echo".into()));
        assert_eq!(reply.cost, Cost::FREE);
    }
    assert_eq!(plain.text(), streamed.text());
    let count = client.count_tokens(&request).await.unwrap();
    assert!(matches!(count.source, CountSource::Estimate { .. }));
    assert_eq!(client.spent().usd, Usd::ZERO);
    assert_eq!(client.spent().tokens, 0);
}
