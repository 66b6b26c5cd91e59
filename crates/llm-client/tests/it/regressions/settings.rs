//! Settings that cannot be used show when the client is built.

use std::sync::Arc;

use llm_client::provider::HttpOptions;
use llm_client::{Budget, Client, ConfigError, Limits, Request, RetryPolicy};

use crate::faults::{Wire, skipping};

/// The error of building a client with these options.
fn built(options: HttpOptions) -> Result<(), ConfigError> {
    let provider = Wire::Anthropic.provider_at("http://127.0.0.1:1");
    let client = Client::builder(provider, Arc::new(skipping())).http(options);
    client.build().map(drop)
}

#[test]
fn c30_a_proxy_and_certificates_are_read_when_the_client_is_built() {
    built(HttpOptions::default()).unwrap();
    let own = include_bytes!("../faults/self_signed.pem");
    let both = HttpOptions::default()
        .proxy(Some("http://127.0.0.1:3128".parse().unwrap()))
        .extra_roots(vec![own.to_vec()]);
    built(both).unwrap();
    let proxy = built(HttpOptions::default().proxy(Some("data:nothing".parse().unwrap())));
    let shown = proxy.unwrap_err().to_string();
    assert!(shown.starts_with("proxy: "), "{shown}");
    let cut = own[..own.len() / 2].to_vec();
    for pem in [b"no certificate".to_vec(), cut, Vec::new()] {
        let roots = built(HttpOptions::default().extra_roots(vec![pem]));
        let shown = roots.unwrap_err().to_string();
        assert!(shown.starts_with("extra roots: "), "{shown}");
    }
}

#[tokio::test]
async fn c52_a_budget_holds_whatever_the_order_of_the_settings() {
    let budget = Budget::default().calls(Some(9)).tokens(Some(14));
    for first in [true, false] {
        let provider = Wire::Anthropic.provider_at("http://127.0.0.1:1");
        let mut builder = Client::builder(provider, Arc::new(skipping()));
        if first {
            builder = builder.budget(budget);
        }
        builder = builder
            .limits(Limits::default())
            .retry(RetryPolicy::default())
            .seed(8);
        if !first {
            builder = builder.budget(budget);
        }
        let client = builder.build().unwrap();
        let request = Request::new("model-1", "Hello?");
        let error = client.complete(&request).await.unwrap_err();
        let shown = error.to_string();
        assert!(shown.starts_with("the budget of 14 tokens"), "{shown}");
    }
}
