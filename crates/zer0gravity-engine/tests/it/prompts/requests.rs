//! The requests of the six calls of an experiment.

use std::collections::HashSet;

use serde_json::{Value, json};
use test_support::CannedReply;
use tokio_util::sync::CancellationToken;
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::{ASK_AGAIN, PromptProfile, Role};

use crate::desk::{Desk, plan};
use crate::player::Player;
use crate::wire::{COUNT, MESSAGES, Wire, counts, plays, text};

const TEXT: &str = "A text with \"quotes\",\nlines and a 🦀.";

/// The requests of a run, one call at a time.
async fn sent(plan: &Plan) -> Vec<(String, Value)> {
    let wire = Wire::new(|path, body| match path {
        COUNT => counts(body),
        _ => plays(body, 100, 90),
    });
    let desk = Desk::one_by_one();
    let run = desk.quietly(&wire.client, plan, CancellationToken::new());
    let report = run.await.unwrap();
    for result in &report.results {
        assert!(result.outcome.is_ok(), "{:?}", result.outcome);
    }
    wire.sent()
}

fn keys(body: &Value) -> Vec<&str> {
    let object = body.as_object().unwrap();
    object.keys().map(String::as_str).collect()
}

fn shown(sent: &[(String, Value)]) -> String {
    let shown = sent
        .iter()
        .map(|(path, body)| format!("POST {path}\n{body:#}"));
    shown.collect::<Vec<_>>().join("\n\n")
}

#[tokio::test]
async fn six_requests_of_an_experiment() {
    let sent = sent(&plan(&[TEXT])).await;
    let paths: Vec<_> = sent.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        paths,
        [COUNT, MESSAGES, COUNT, MESSAGES, MESSAGES, MESSAGES]
    );
    for (path, body) in &sent {
        // No temperature, no stop sequence, and nothing else that a model could refuse. Objects are sorted here.
        let expected: &[&str] = if path == COUNT {
            &["messages", "model"]
        } else {
            &["max_tokens", "messages", "model", "system"]
        };
        assert_eq!(keys(body), expected);
        // No prefill: the only turn is the user's.
        let turns = body["messages"].as_array().unwrap();
        assert_eq!(turns.len(), 1);
        assert_eq!(turns[0]["role"], "user");
    }
    let users: Vec<_> = (sent.iter())
        .map(|(_, body)| text(&body["messages"][0]["content"]))
        .collect();
    let expected = [
        TEXT,
        TEXT,
        "shrt",
        "shrt",
        &format!("ORIGINAL:\n{TEXT}\n\nDECODED:\na short text"),
        "drop every second letter",
    ];
    assert_eq!(users, expected);
    insta::assert_snapshot!(shown(&sent));
}

#[tokio::test]
async fn guarded_judges_are_held_to_a_schema() {
    let mut plan = plan(&[TEXT]);
    plan.config.prompt_profile = PromptProfile::Guarded;
    // A model that the table knows to take a schema.
    let model = "claude-sonnet-4-5-20250929";
    plan.config.models.encoder = model.to_owned();
    plan.config.models.decoder = model.to_owned();
    plan.config.models.judges = vec![model.to_owned()];
    let sent = sent(&plan).await;
    assert_eq!(sent.len(), 6);
    insta::assert_snapshot!(shown(&sent[4..]));
}

#[tokio::test]
async fn an_execution_is_a_seventh() {
    let mut plan = plan(&[TEXT]);
    plan.config.execute = true;
    plan.cases[0].case.expected_output = Some("an answer".to_owned());
    let sent = sent(&plan).await;
    assert_eq!(sent.len(), 7);
    let executes =
        |(_, body): &&(String, Value)| text(&body["system"]).starts_with("You carry out");
    let (_, body) = sent.iter().find(executes).unwrap();
    assert_eq!(keys(body), ["max_tokens", "messages", "model", "system"]);
    assert_eq!(text(&body["messages"][0]["content"]), "a short text");
    assert_eq!(body["max_tokens"], 1024);
}

#[tokio::test]
async fn the_longest_reply_is_set_for_encoder_and_decoder() {
    let mut plan = plan(&[TEXT]);
    plan.config.max_output_tokens = 77;
    let sent = sent(&plan).await;
    let limits: Vec<_> = (sent.iter())
        .filter(|(path, _)| path == MESSAGES)
        .map(|(_, body)| body["max_tokens"].clone())
        .collect();
    assert_eq!(limits, [json!(77), json!(77), json!(512), json!(512)]);
}

/// The requests to the judge of the meaning whose first reply is `said`.
async fn asked_twice(said: &'static str) -> Vec<Value> {
    let mut judged = 0;
    let wire = Wire::new(move |path, body| {
        if path == COUNT {
            return counts(body);
        }
        if text(&body["system"]).contains("semantic preservation") {
            judged += 1;
            if judged == 1 {
                return (200, CannedReply::text(said).anthropic_json());
            }
        }
        plays(body, 100, 90)
    });
    let desk = Desk::one_by_one();
    let plan = plan(&[TEXT]);
    let run = desk.quietly(&wire.client, &plan, CancellationToken::new());
    let report = run.await.unwrap();
    assert!(report.results[0].outcome.is_ok());
    let judges = |(_, body): &(String, Value)| {
        text(&body["system"]).contains("You are evaluating semantic preservation")
    };
    let sent = wire.sent().into_iter().filter(judges);
    sent.map(|(_, body)| body).collect()
}

#[tokio::test]
async fn a_judge_without_a_score_is_asked_once_more() {
    let said = "I would say 35 of 40.";
    let sent = asked_twice(said).await;
    let [first, second] = sent.as_slice() else {
        panic!("{} calls", sent.len());
    };
    assert_eq!(keys(second), keys(first));
    assert_eq!(second["system"], first["system"]);
    let turns = second["messages"].as_array().unwrap();
    assert_eq!(turns[0], first["messages"][0]);
    let said_again: Vec<_> = (turns.iter())
        .map(|turn| (turn["role"].as_str().unwrap(), text(&turn["content"])))
        .collect();
    assert_eq!(said_again[1], ("assistant", said.to_owned()));
    assert_eq!(said_again[2], ("user", ASK_AGAIN.to_owned()));
    assert_eq!(said_again.len(), 3);
    insta::assert_snapshot!(format!("{second:#}"));
}

#[tokio::test]
async fn after_a_blank_reply_the_same_is_asked() {
    let sent = asked_twice(" \n").await;
    assert_eq!(sent.len(), 2);
    assert_eq!(sent[0], sent[1]);
}

#[test]
fn every_guarded_request_has_a_number_of_its_own() {
    let mut plan = plan(&["one text", "another text", "a third text"]);
    plan.config.prompt_profile = PromptProfile::Guarded;
    plan.config.trials = 2;
    plan.config.decodes = 2;
    plan.config.judge_samples = 2;
    let markers = |concurrency: usize| {
        let player = Player::default();
        let desk = Desk {
            concurrency,
            ..Desk::default()
        };
        desk.run(&player, &plan);
        let roles = [
            Role::Encoder,
            Role::Decoder,
            Role::SemanticJudge,
            Role::ImplementabilityJudge,
        ];
        let requests = roles.into_iter().flat_map(|role| player.to(role));
        let mut markers: Vec<_> = requests
            .map(|request| {
                let user = &request.prompt.messages[0].content;
                let line = user.lines().next().unwrap();
                line[line.len() - 17..line.len() - 1].to_owned()
            })
            .collect();
        markers.sort();
        markers
    };
    let drawn = markers(1);
    // 6 encodings, 12 decodings, 24 words of each judge.
    assert_eq!(drawn.len(), 66);
    let different: HashSet<_> = drawn.iter().collect();
    assert_eq!(different.len(), 66);
    // The order of the calls decides nothing.
    assert_eq!(markers(8), drawn);
}
