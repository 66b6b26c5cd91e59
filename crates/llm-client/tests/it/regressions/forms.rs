//! The schema of a reply reaches the model, whatever the table and the server know of it.

use std::sync::Arc;

use llm_client::provider::Provider;
use llm_client::{Client, Compat, Dialect, Endpoint, ModelTable, Request};
use serde_json::{Value, json};

use crate::faults::{Wire, hello, skipping};
use crate::memory::{body, said, server};

/// The body that is sent with a schema, and the warnings of the reply.
async fn sent(wire: Wire, provider: Arc<dyn Provider>, table: &str) -> (Value, Vec<String>) {
    let table = ModelTable::parse(&format!(
        r#"{{"schema_version": 1, "read_on": "2026-11-21", "models": [{table}]}}"#
    ));
    let transport = server(move |sent| Ok(said(wire, &hello(), sent)));
    let client = Client::builder(provider, Arc::new(skipping()))
        .transport(transport.clone())
        .models(ModelTable::embedded().overridden_by(&table.unwrap()));
    let mut asked = Request::new("model-1", "Rate tea.")
        .with_schema(json!({"title": "unheard-of", "type": "object"}));
    asked.system.push(llm_client::Block::text("Be brief."));
    let reply = client.build().unwrap().complete(&asked).await.unwrap();
    let warnings = reply.warnings.iter();
    let warnings = warnings.map(|warning| format!("{}: {}", warning.field, warning.message));
    (body(&transport.requests()[0]), warnings.collect())
}

const WRITTEN: &str = "format: written into the system text (model model-1)";

#[tokio::test]
async fn c20_a_model_without_structured_output_reads_the_schema_in_the_system_text() {
    for (wire, provider) in [(Wire::Anthropic, "anthropic"), (Wire::Openai, "openai")] {
        let row = format!(
            r#"{{"provider": "{provider}", "id": "model-1", "structured": false, "price": {{"in": "1", "out": "2"}}}}"#
        );
        let (body, warnings) = sent(wire, wire.provider_at("http://127.0.0.1:1"), &row).await;
        let (system, format) = match wire {
            Wire::Anthropic => (body["system"].to_string(), &body["output_config"]),
            Wire::Openai => (body["messages"][0].to_string(), &body["response_format"]),
        };
        assert!(
            system.contains("Be brief.") && system.contains("unheard-of"),
            "{body}"
        );
        assert_eq!(format, &Value::Null, "{body}");
        assert_eq!(warnings, [WRITTEN]);
    }
}

#[tokio::test]
async fn c20_a_server_without_a_json_mode_reads_the_schema_in_the_system_text() {
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", llm_client::Auth::None).unwrap();
    let generic = Arc::new(Compat::new(endpoint, Dialect::generic()));
    let (body, warnings) = sent(Wire::Openai, generic, "").await;
    assert!(
        body["messages"][0].to_string().contains("unheard-of"),
        "{body}"
    );
    assert_eq!(body["response_format"], Value::Null, "{body}");
    assert_eq!(warnings, [WRITTEN]);
}

#[tokio::test]
async fn c20_a_model_that_no_table_knows_gets_the_schema_as_its_server_takes_it() {
    for wire in [Wire::Anthropic, Wire::Openai] {
        let (body, warnings) = sent(wire, wire.provider_at("http://127.0.0.1:1"), "").await;
        let format = match wire {
            Wire::Anthropic => &body["output_config"]["format"]["schema"],
            Wire::Openai => &body["response_format"]["json_schema"]["schema"],
        };
        assert_eq!(format["title"], "unheard-of", "{body}");
        assert_eq!(warnings, [""; 0]);
    }
}
