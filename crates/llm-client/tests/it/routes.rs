//! The provider encodes a call once, and refuses a route that it lacks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use llm_client::provider::{Answer, Capabilities, HttpRequest, Provider, ProviderCall, Route};
use llm_client::{Cassette, Client, Error, ErrorKind, Request, Target};

use crate::faults::{BOTH, Wire, request, skipping};
use crate::memory::{header, hello_after, server};

/// Counts what another provider is asked to encode.
struct Counting {
    inner: Arc<dyn Provider>,
    encoded: AtomicUsize,
}

impl Provider for Counting {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn capabilities(&self, model: &str) -> Capabilities {
        self.inner.capabilities(model)
    }

    fn encode(
        &self,
        request: &Request,
        target: &Target,
        route: Route,
    ) -> Result<HttpRequest, Error> {
        self.encoded.fetch_add(1, Ordering::Relaxed);
        self.inner.encode(request, target, route)
    }

    fn answer(&self, call: ProviderCall) -> BoxFuture<'static, Result<Answer, Error>> {
        self.inner.answer(call)
    }
}

fn counting(wire: Wire) -> Arc<Counting> {
    Arc::new(Counting {
        inner: wire.provider_at("http://127.0.0.1:1"),
        encoded: AtomicUsize::new(0),
    })
}

/// Three attempts send the same bytes and differ in one header; also when they are recorded.
#[tokio::test]
async fn a_call_is_encoded_once_over_all_attempts() {
    let folder = tempfile::tempdir().unwrap();
    for wire in BOTH {
        for (streams, records) in [(false, false), (true, false), (false, true), (true, true)] {
            let provider = counting(wire);
            let transport = server(hello_after(wire, 2));
            let mut client = Client::builder(provider.clone(), Arc::new(skipping()))
                .transport(transport.clone());
            if records {
                let path = folder.path().join(format!("{wire:?}-{streams}.jsonl"));
                client = client.record(Cassette::new(path));
            }
            let client = client.build().unwrap();
            let reply = if streams {
                client.stream(&request()).await.unwrap().collect().await
            } else {
                client.complete(&request()).await
            };
            let case = format!("{wire:?}, stream {streams}, record {records}");
            assert_eq!(reply.unwrap().attempts.len(), 3, "{case}");
            assert_eq!(provider.encoded.load(Ordering::Relaxed), 1, "{case}");
            let sent = transport.requests();
            assert_eq!(sent.len(), 3, "{case}");
            let count = |n: usize| header(&sent[n], "x-retry-count");
            assert_eq!(
                [count(0), count(1), count(2)],
                [None, Some("1".to_owned()), Some("2".to_owned())],
                "{case}"
            );
            for again in &sent[1..] {
                assert_eq!(again.body, sent[0].body, "{case}");
                assert_eq!(again.headers.len(), sent[0].headers.len() + 1, "{case}");
            }
        }
    }
}

#[tokio::test]
async fn a_count_is_encoded_once() {
    let provider = counting(Wire::Anthropic);
    let transport = server(|_| Ok(crate::memory::json(200, r#"{"input_tokens": 7}"#.into())));
    let client = Client::builder(provider.clone(), Arc::new(skipping())).transport(transport);
    let count = client.build().unwrap().count_tokens(&request()).await;
    assert_eq!(count.unwrap().tokens, 7);
    assert_eq!(provider.encoded.load(Ordering::Relaxed), 1);
}

#[test]
fn a_route_that_a_provider_lacks_is_refused() {
    let provider = Wire::Openai.provider_at("http://127.0.0.1:1");
    let target = Target::new(provider.name(), "m");
    let encoded = provider.encode(&request(), &target, Route::Count);
    let error = encoded.unwrap_err();
    let ErrorKind::Refused { field, why } = error.kind() else {
        panic!("{error:?}")
    };
    let wanted = format!("{} has no count", provider.name());
    assert_eq!((field.as_str(), why), ("route", &wanted));
    for route in [Route::Whole, Route::Stream, Route::Models] {
        assert!(provider.encode(&request(), &target, route).is_ok());
    }
}
