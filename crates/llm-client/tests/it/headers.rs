//! Headers of a request: what is sent, what is refused, and what does not depend on them.

use std::sync::Arc;

use futures_util::StreamExt as _;
use llm_client::embed::EmbedRequest;
use llm_client::{
    Anthropic, Auth, Cassette, Client, Endpoint, Error, ErrorKind, Request, SystemClock,
};
use tempfile::tempdir;
use test_support::{Answer, FaultServer, MemoryTransport};

use crate::faults::{BOTH, Wire, hello, no_retries, request, skipping};
use crate::memory::{client, header, nobody, saying};

fn with(headers: &[(&str, &str)]) -> Request {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    request().headers(headers.iter().map(owned).collect())
}

fn asking(wire: Wire) -> (Arc<MemoryTransport>, Client) {
    let transport = saying(wire, &hello());
    let client = client(wire, &transport, &skipping()).build().unwrap();
    (transport, client)
}

fn assert_refused(error: &Error, field: &str, why: &str) {
    let ErrorKind::Refused {
        field: found,
        why: told,
    } = error.kind()
    else {
        panic!("{error:?}");
    };
    assert_eq!(found, field);
    assert!(told.contains(why), "{told}");
}

#[tokio::test]
async fn n17_headers_go_with_their_request_alone_in_every_kind_of_call() {
    for wire in BOTH {
        let (transport, client) = asking(wire);
        let asked = with(&[("X-Trace-7", "a b"), ("traceparent", "00-1")]);
        client.complete(&asked).await.unwrap();
        client.complete(&request()).await.unwrap();
        let mut events = client.stream(&asked).await.unwrap();
        while let Some(event) = events.next().await {
            event.unwrap();
        }
        let sent = transport.requests();
        let traces: Vec<_> = sent.iter().map(|one| header(one, "x-trace-7")).collect();
        let trace = || Some("a b".to_owned());
        assert_eq!(traces, [trace(), None, trace()]);
        assert_eq!(header(&sent[0], "traceparent").as_deref(), Some("00-1"));
        let prepared = client.prepare(&asked).unwrap().headers;
        assert!(prepared.contains(&("x-trace-7".to_owned(), "a b".to_owned())));
    }
}

#[tokio::test]
async fn n17_every_name_that_the_client_sets_is_refused_and_nothing_is_sent() {
    for wire in BOTH {
        let (transport, client) = asking(wire);
        for name in [
            "authorization",
            "Authorization",
            "x-api-key",
            "api-key",
            "proxy-authorization",
            "proxy-x",
            "host",
            "cookie",
            "content-type",
            "content-length",
            "accept",
            "accept-encoding",
            "transfer-encoding",
            "connection",
            "te",
            "upgrade",
            "expect",
            "x-retry-count",
            "user-agent",
        ] {
            let error = client.complete(&with(&[(name, "x")])).await.unwrap_err();
            let field = format!("headers.{}", name.to_lowercase());
            assert_refused(&error, &field, "set by the client");
        }
        assert!(transport.requests().is_empty());
    }
    let (_, client) = asking(Wire::Anthropic);
    let error = client
        .complete(&with(&[("anthropic-version", "2023-06-01")]))
        .await;
    assert_refused(
        &error.unwrap_err(),
        "headers.anthropic-version",
        "set by the client",
    );
}

#[tokio::test]
async fn n17_names_and_values_that_cannot_be_sent_are_refused() {
    let (transport, client) = asking(Wire::Openai);
    let long = "x".repeat(65);
    for name in ["", "a b", "a_b", "a:b", "ä", "a\r\nb", long.as_str()] {
        let error = client.complete(&with(&[(name, "x")])).await.unwrap_err();
        let field = format!("headers.{}", name.escape_debug());
        assert_refused(&error, &field, "a name has 1 to 64");
    }
    let long = "x".repeat(4097);
    for value in [
        "a\r\nx-api-key: k",
        "a\n",
        "a\rb",
        "\0",
        "\t",
        "ä",
        "\u{7f}",
        long.as_str(),
    ] {
        let error = client.complete(&with(&[("x-a", value)])).await.unwrap_err();
        assert_refused(&error, "headers.x-a", "a value has at most 4096");
    }
    let error = client.complete(&with(&[("x-a", "1"), ("X-A", "2")])).await;
    assert_refused(&error.unwrap_err(), "headers.x-a", "given twice");
    let names: Vec<_> = (0..17).map(|n| format!("x-{n}")).collect();
    let many: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
    let error = client.complete(&with(&many)).await.unwrap_err();
    assert_refused(&error, "headers", "17 headers; at most 16");
    assert!(transport.requests().is_empty());
    client.complete(&with(&many[1..])).await.unwrap();
    client
        .complete(&with(&[("x-a", &long[1..])]))
        .await
        .unwrap();
}

#[tokio::test]
async fn n17_features_of_anthropic_are_added_to_those_of_the_client() {
    for (own, expected) in [(vec!["a-1", "b-2"], "a-1,b-2,c-3"), (vec![], "c-3")] {
        let server = FaultServer::replies([Wire::Anthropic.whole(&hello())]);
        let endpoint = Endpoint::new(&server.url("/"), Auth::None).unwrap();
        let provider = Anthropic::new(endpoint).with_betas(own).unwrap();
        let client = Client::builder(Arc::new(provider), Arc::new(SystemClock::new()));
        let client = client.build().unwrap();
        client
            .complete(&with(&[("Anthropic-Beta", "c-3")]))
            .await
            .unwrap();
        let received = server.requests().remove(0).headers;
        let betas: Vec<_> = received
            .iter()
            .filter(|(name, _)| name == "anthropic-beta")
            .collect();
        assert_eq!(betas, [&("anthropic-beta".to_owned(), expected.to_owned())]);
    }
}

#[tokio::test]
async fn n17_a_recording_knows_the_request_without_its_headers_and_does_not_keep_them() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    for wire in BOTH {
        let recording = client(wire, &saying(wire, &hello()), &skipping());
        let recording = recording.record(Cassette::new(&path)).build().unwrap();
        recording
            .complete(&with(&[("x-trace", "hidden-text")]))
            .await
            .unwrap();
        drop(recording);
        assert!(
            !std::fs::read_to_string(&path)
                .unwrap()
                .contains("hidden-text")
        );
        let replaying = client(wire, &nobody(), &skipping()).replay(Cassette::new(&path));
        let replaying = replaying.build().unwrap();
        replaying
            .complete(&with(&[("x-other", "1")]))
            .await
            .unwrap();
        std::fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn n17_a_redirection_does_not_get_the_headers() {
    let other = FaultServer::replies([Wire::Openai.whole(&hello())]);
    let to = other.url("/v1/chat/completions");
    let server = FaultServer::play(move |_| Answer::json(307, "").header("location", &to));
    let client = Wire::Openai
        .client(&server, &skipping())
        .retry(no_retries());
    let asked = with(&[("x-trace", "1")]);
    client.build().unwrap().complete(&asked).await.unwrap_err();
    assert_eq!((server.requests().len(), other.accepted()), (1, 0));
}

#[tokio::test]
async fn n17_embeddings_have_headers_and_batches_have_none() {
    let transport = crate::memory::server(|_| {
        let answer = r#"{"model": "m", "data": [{"index": 0, "embedding": [1]}], "usage": {"prompt_tokens": 1}}"#;
        Ok(crate::memory::json(200, answer.to_owned()))
    });
    let asking = client(Wire::Openai, &transport, &skipping())
        .build()
        .unwrap();
    let request =
        EmbedRequest::new("m", ["a"]).headers(vec![("x-trace".to_owned(), "1".to_owned())]);
    asking.embed(&request).await.unwrap();
    assert_eq!(
        header(&transport.requests()[0], "x-trace").as_deref(),
        Some("1")
    );
    let folder = tempdir().unwrap();
    let options = llm_client::batch::BatchOptions::new(asking);
    let mut spool = llm_client::batch::Spool::open(&folder.path().join("spool"), options).unwrap();
    let error = spool
        .submit(&[with(&[("x-trace", "1")])])
        .await
        .unwrap_err();
    assert_refused(&error, "headers", "a batch have no headers");
}
