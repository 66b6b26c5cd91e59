//! Batches of messages at the stub, whose requests it answers as single calls without faults.

use llm_client::{Clock as _, SystemClock};
use serde_json::{Value, json};

use super::role::text;
use super::{CompressionState, StubCall, StubRole};
use crate::{Answer, Received};

/// A batch at the stub.
pub(super) struct StubBatch {
    pub requests: usize,
    created: String,
    /// A line for each request.
    results: String,
}

impl CompressionState {
    /// Answers a request about batches; `path` is what follows `/v1/messages/batches`.
    pub(super) fn batch(&mut self, received: &Received, path: &str) -> Answer {
        let parts: Vec<&str> = path.split('/').skip(1).collect();
        if received.method == "POST" && parts.is_empty() {
            return self.begin_batch(&received.json());
        }
        let batch = parts.first().and_then(|id| id.strip_prefix("batch_"));
        let at = batch.and_then(|number| number.parse().ok());
        match (at, parts.len()) {
            (None, 0) => {
                let rows: Vec<Value> = (0..self.batches.len())
                    .rev()
                    .map(|at| self.row(at))
                    .collect();
                Answer::json(200, json!({"data": rows, "has_more": false}).to_string())
            }
            (Some(at), 1) => Answer::json(200, self.row(at).to_string()),
            (Some(at), _) => {
                Answer::whole(200, "application/x-jsonl", self.batches[at].results.clone())
            }
            _ => Answer::whole(404, "text/plain", "no such batch"),
        }
    }

    fn begin_batch(&mut self, body: &Value) -> Answer {
        let requests = body["requests"].as_array().cloned().unwrap_or_default();
        let mut results = String::new();
        for request in &requests {
            let body = request["params"].clone();
            let role = StubRole::of(&text(&body["system"]));
            let message: Value =
                serde_json::from_str(&self.message(role, &body)).unwrap_or_default();
            let result = json!({"type": "succeeded", "message": message});
            let line = json!({"custom_id": request["custom_id"], "result": result});
            results += &line.to_string();
            results.push('\n');
            self.calls.push(StubCall {
                role,
                status: 200,
                body,
            });
        }
        self.batches.push(StubBatch {
            requests: requests.len(),
            created: jiff::Timestamp::try_from(SystemClock::new().now())
                .unwrap_or_default()
                .to_string(),
            results,
        });
        Answer::json(200, self.row(self.batches.len() - 1).to_string())
    }

    fn row(&self, at: usize) -> Value {
        let batch = &self.batches[at];
        let status = if self.holds_batches {
            "in_progress"
        } else {
            "ended"
        };
        json!({
            "id": format!("batch_{at}"), "type": "message_batch", "processing_status": status,
            "created_at": batch.created, "results_url": null,
            "request_counts": {"processing": 0, "succeeded": batch.requests, "errored": 0, "canceled": 0, "expired": 0},
        })
    }
}
