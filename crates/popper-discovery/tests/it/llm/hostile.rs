//! Replies without the requested form: stored raw, read as far as valid, and the iteration continues.

use std::sync::Arc;

use llm_client::{Auth, Client, Compat, Dialect, Endpoint};
use popper_discovery::llm::{LlmOptions, LlmProposer};
use popper_discovery::store::{IterationStatus, LawRow, LawStatus};
use popper_discovery::{LoopConfig, MemoryStore, Summary, Unobserved};
use serde_json::{Value, json};
use test_support::{CannedReply, FakeClock, MemoryTransport, response};

use super::{Model, blind_law, open, reply};

/// One iteration with a model that gives these answers.
struct Turn {
    store: MemoryStore,
    summary: Summary,
    asked: Vec<Value>,
}

impl Turn {
    async fn of<T: Into<String>>(answers: impl IntoIterator<Item = T>) -> Self {
        Self::wanting(answers, 20).await
    }

    async fn wanting<T: Into<String>>(
        answers: impl IntoIterator<Item = T>,
        propose: usize,
    ) -> Self {
        let model = Model::saying(answers);
        let mut config = LoopConfig::default();
        config.propose = propose;
        let mut discovery = open(MemoryStore::default(), config).await;
        let proposer = model.proposer(LlmOptions::default());
        discovery
            .run_to(1, &proposer, &mut Unobserved)
            .await
            .unwrap();
        let store = discovery.store().clone();
        let iteration = &store.iterations[0];
        assert_eq!(iteration.status, IterationStatus::Completed);
        let summary = serde_json::from_str(iteration.summary_json.as_deref().unwrap()).unwrap();
        Self {
            summary,
            asked: model.bodies(),
            store,
        }
    }

    fn problem(&self) -> &str {
        self.summary.problem.as_deref().unwrap_or_default()
    }

    /// Name, status and reason of each law.
    fn laws(&self) -> Vec<String> {
        let line = |row: &LawRow| {
            let normal: Value = serde_json::from_str(&row.normalized_json).unwrap();
            match row.status {
                LawStatus::RejectedSchema => {
                    let problem = &normal["problems"][0];
                    let (path, why) = (
                        problem["path"].as_str().unwrap(),
                        problem["message"].as_str().unwrap(),
                    );
                    format!("{}: {path}: {why}", row.law_id)
                }
                status => format!("{}: {status:?}", row.law_id),
            }
        };
        self.store.laws.iter().map(line).collect()
    }
}

fn law(id: &str, most: i64) -> Value {
    blind_law(
        id,
        "bound",
        &[("x", "count('X')")],
        &format!("x(t) <= {most}"),
    )
}

#[tokio::test]
async fn what_cannot_be_read_at_all_is_one_rejected_proposal_after_the_repairs() {
    let deep = "[".repeat(1_000_000);
    let deep_object = "{\"candidate_laws\":".repeat(200_000);
    for (text, problem) in [
        (
            "I would rather talk about the weather.",
            "no JSON value was found",
        ),
        ("", "the reply is empty"),
        ("{\"research_log\": \"the laws are", "cut off"),
        (
            "[1, 2]",
            "expected one object with research_log and candidate_laws",
        ),
        (
            "{\"research_log\": \"nothing\"}",
            "candidate_laws is missing",
        ),
        ("{\"candidate_laws\": {}}", "candidate_laws to be an array"),
        (
            "{\"candidate_laws\": [], \"candidate_laws\": []}",
            "occurs twice",
        ),
        (&deep, "cut off"),
        (&deep_object, "cut off"),
    ] {
        let turn = Turn::of([text, text, text]).await;
        assert_eq!(turn.asked.len(), 3);
        assert!(turn.problem().contains(problem), "{}", turn.problem());
        assert_eq!(turn.summary.rejected, 1);
        let law = &turn.store.laws[0];
        assert_eq!(
            (law.status, law.raw_llm_json.as_str()),
            (LawStatus::RejectedSchema, text)
        );
        assert!(
            law.normalized_json.contains(problem) || problem.contains("expected"),
            "{}",
            law.normalized_json
        );
    }
}

#[tokio::test]
async fn ten_megabytes_are_read_and_end() {
    let size = 10 << 20;
    let noise = "a b c \"'{[ ".repeat(size / 11);
    let elements = format!("{{\"candidate_laws\": [{}{{}}]}}", "{},".repeat(size / 3));
    let one_law = format!(
        "{{\"candidate_laws\": [{{\"law_id\": \"{}\"}}]}}",
        "x".repeat(size)
    );
    let log = reply(&"é".repeat(size / 2), &[law("a", 1)]);
    let key = format!("{{\"{}\": 1, \"candidate_laws\": []}}", "k".repeat(size));
    let turn = Turn::of([noise.as_str(), &noise, &noise]).await;
    assert_eq!(turn.store.laws[0].raw_llm_json.len(), noise.len());
    // A repair does not send the megabytes back.
    assert!(turn.asked[2].to_string().len() < 300_000);
    let turn = Turn::of([elements]).await;
    assert!(
        turn.problem().contains("more than the 200 that are read"),
        "{}",
        turn.problem()
    );
    assert_eq!(turn.summary.proposed, 200);
    let turn = Turn::of([one_law]).await;
    assert!(
        turn.laws()[0].contains("the limit is 262144"),
        "{}",
        turn.laws()[0]
    );
    let turn = Turn::of([log]).await;
    assert_eq!(turn.laws(), ["a: Tested"]);
    assert_eq!(turn.summary.research_log.unwrap().len(), 16 << 10);
    assert!(Turn::of([key]).await.laws().is_empty());
}

#[tokio::test]
async fn a_broken_law_does_not_spoil_the_others() {
    let nested = |depth| {
        let tree = (0..depth).fold(
            json!({"const": 1}),
            |tree, _| json!({"op": "not", "arg": tree}),
        );
        let mut law = law(&format!("nested_{depth}"), 1);
        law["claim_ast"] = tree;
        law.to_string()
    };
    let with = |id: &str, from: &str, to: &str| {
        let text = law(id, 1).to_string();
        assert!(text.contains(from));
        text.replacen(from, to, 1)
    };
    let laws = [
        law("good_1", 1).to_string(),
        "17".into(),
        "null".into(),
        "[[]]".into(),
        "\"a law\"".into(),
        with("twice", "\"claim\":", "\"claim\":\"x(t) <= 9\",\"claim\":"),
        with("huge", "\"T\":20", "\"T\":1e999"),
        with("negative", "\"T\":20", "\"T\":-3"),
        with("long", "\"T\":20", "\"T\":1000000001"),
        with("fraction", "\"T\":20", "\"T\":2.5"),
        with("word", "\"template\":\"bound\"", "\"template\":\"axiom\""),
        with("key", "\"novelty_claim\":null", "\"because\":1"),
        with("surrogate", "a step that breaks it", "\\ud800"),
        law("url", 3).to_string().replace(
            "a step that breaks it",
            "see https://example.test/?a='b'&c=\\\"d\\\"",
        ),
        with("<script>alert(1)</script>", "20", "21"),
        with("blank", "a step that breaks it", "  "),
        with("claim", "x(t) <= 1", "x(t) is small"),
        nested(60),
        nested(100),
        nested(1000),
        law("good_2", 2).to_string(),
    ];
    let text = format!(
        "{{\"research_log\": 5, \"candidate_laws\": [{}]}}",
        laws.join(", ")
    );
    let turn = Turn::of([text]).await;
    assert_eq!(turn.asked.len(), 1);
    insta::assert_snapshot!("broken_laws", turn.laws().join("\n"));
    assert_eq!(
        turn.problem(),
        "research_log: invalid type: integer `5`, expected a string at line 1 column 1"
    );
    // Each is kept as it was written.
    for (row, raw) in turn.store.laws.iter().zip(&laws) {
        assert_eq!(row.raw_llm_json, *raw);
    }
}

#[tokio::test]
async fn whole_laws_before_a_cut_are_kept_without_another_call() {
    let whole = reply("noted", &[law("a", 1), law("b", 2), law("c", 3)]);
    let cut = |behind: &str| &whole[..whole.find(behind).unwrap() + behind.len()];
    // Keys are sorted, so a cut text holds the laws but not the log.
    let inside = cut("\"law_id\":\"c\"");
    for text in [
        inside.to_owned(),
        format!("Here they are:\n```json\n{inside}"),
        format!("Laws: {inside}"),
    ] {
        let turn = Turn::of([text]).await;
        assert_eq!(turn.laws(), ["a: Tested", "b: Tested"]);
        assert_eq!(turn.asked.len(), 1);
        assert_eq!(
            turn.problem(),
            "the JSON is cut off; 2 whole laws before that are kept"
        );
    }
    let first = cut("\"law_id\":\"a\"");
    let turn = Turn::of([first, &whole]).await;
    assert_eq!((turn.asked.len(), turn.problem()), (2, ""));
    assert_eq!(turn.laws().len(), 3);
}

#[tokio::test]
async fn what_is_broken_in_the_middle_is_repaired_and_else_salvaged() {
    let whole = reply("noted", &[law("a", 1), law("b", 2), law("c", 3)]);
    let broken = whole.replacen("\"law_id\":\"b\"", "\"law_id\":b", 1);
    let turn = Turn::of([broken.as_str(), &whole]).await;
    assert_eq!((turn.laws().len(), turn.problem()), (3, ""));
    let turn = Turn::of([broken.as_str(), "I am sorry.", "I am very sorry."]).await;
    let laws = turn.laws();
    assert_eq!(laws.len(), 2);
    assert_eq!(laws[0], "a: Tested");
    let rest = &turn.store.laws[1].raw_llm_json;
    assert!(
        rest.contains("\"law_id\":b") && rest.contains("\"law_id\":\"c\""),
        "{rest}"
    );
    assert!(
        turn.problem()
            .ends_with("1 whole laws before that are kept"),
        "{}",
        turn.problem()
    );
}

#[tokio::test]
async fn a_surplus_is_counted_and_not_read() {
    let laws: Vec<Value> = (0..25)
        .map(|most| law(&format!("law_{most}"), most))
        .collect();
    let turn = Turn::wanting([reply("", &laws)], 2).await;
    assert_eq!(turn.summary.proposed, 20);
    assert_eq!(turn.problem(), "5 laws more than the 20 that are read");
    assert!(turn.store.calls[0].call.reply_text.contains("law_24"));
}

#[tokio::test]
async fn a_server_without_structured_output_gets_the_schema_as_text() {
    let transport = MemoryTransport::new(|_| {
        let canned = CannedReply::text(format!(
            "Of course:\n```\n{}\n```",
            reply("", &[law("a", 1)])
        ));
        Ok(response(
            200,
            &[("content-type", "application/json")],
            canned.openai_json(),
        ))
    });
    let transport = Arc::new(transport);
    let endpoint = Endpoint::new("http://127.0.0.1:1/v1", Auth::None).unwrap();
    let provider = Arc::new(Compat::new(endpoint, Dialect::generic()));
    let client = Client::builder(provider, Arc::new(FakeClock::new())).transport(transport.clone());
    let proposer = LlmProposer::new(
        client.build().unwrap(),
        "local-model",
        LlmOptions::default(),
    );
    let mut discovery = open(MemoryStore::default(), LoopConfig::default()).await;
    discovery
        .run_to(1, &proposer, &mut Unobserved)
        .await
        .unwrap();
    assert_eq!(discovery.store().laws.len(), 1);
    let sent = transport.requests()[0].body.clone();
    let body: Value = serde_json::from_slice(&sent).unwrap();
    assert!(body.get("response_format").is_none());
    let system = body["messages"][0].to_string();
    assert!(
        system.contains("JSON Schema") && system.contains("capability_requirements"),
        "{system}"
    );
    assert!(discovery.store().calls[0].call.request_json.as_bytes() == sent);
}
