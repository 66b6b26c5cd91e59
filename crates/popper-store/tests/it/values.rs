//! Values from one end of their range to the other, and unexpected texts.

use popper_discovery::store::{
    AttemptFilter, CallRow, LawFilter, LawStatus, ModelCallRow, Query, RunRow, Store as _,
};
use popper_harness::decide::Status;
use popper_store::Access;

use crate::made;
use crate::place::{self, Place};

fn texts() -> Vec<String> {
    vec![
        String::new(),
        "\0".into(),
        "before\0after\0".into(),
        "NUL::as a server stores it: %00 %25".into(),
        "'; DROP TABLE laws; --".into(),
        "\"quoted\" `and` [bracketed] $1 ?1 :name @name %s {}".into(),
        "\u{1F9EA}\u{10FFFF}\u{FEFF}\u{202E}e\u{301}".into(),
        "line\r\nfeed\tand \u{1b}[31mcolour".into(),
        "<script>alert(1)</script>".into(),
        "x".repeat(10 << 20),
    ]
}

#[tokio::test]
async fn every_text_comes_back_as_it_was() {
    texts_come_back(&place::file()).await;
    if let Some(server) = place::server() {
        texts_come_back(&server).await;
    }
}

async fn texts_come_back(place: &impl Place) {
    let mut database = place.open(Access::Write).await;
    let law = made::queue(&mut database, 1).await.remove(0);
    let mut calls = Vec::new();
    for (turn, text) in texts().into_iter().enumerate() {
        let call = CallRow {
            id: turn as i64 + 1,
            run_id: 1,
            iteration_id: 1,
            turn: turn as u32,
            created_at: made::time(),
            call: ModelCallRow {
                model_id: text.chars().take(50).collect(),
                prompt_hash: "hash".into(),
                request_json: text.clone(),
                reply_text: text.clone(),
                usage_json: "{}".into(),
            },
        };
        database.add_call(&call).await.unwrap();
        let mut decision = made::decision(&law, turn as u64, Status::Fail);
        decision.evaluation.notes.clone_from(&text);
        decision
            .counterexample
            .as_mut()
            .unwrap()
            .initial_state
            .clone_from(&text);
        // The name of a law is a hash: an index of a server holds 2 kB of it.
        let fingerprint: String = text.chars().take(500).collect();
        let key = decision.key.as_mut().unwrap();
        key.law_fingerprint.push_str(&fingerprint);
        database.commit(&[decision]).await.unwrap();
        let asked = [law.law_fingerprint.clone() + &fingerprint];
        let known = database.known(&asked, "config", "universe").await;
        assert_eq!(known.unwrap().len(), 1);
        calls.push(call);
    }
    drop(database);
    let mut database = place.open(Access::Read).await;
    assert_eq!(database.calls(1, None).await.unwrap(), calls);
    assert_eq!(place.sound_counts().await[0], texts().len() as i64);
}

#[tokio::test]
async fn every_unsigned_number_comes_back_as_it_was() {
    numbers_come_back(&place::file()).await;
    if let Some(server) = place::server() {
        numbers_come_back(&server).await;
    }
}

async fn numbers_come_back(place: &impl Place) {
    let mut database = place.open(Access::Write).await;
    let laws = made::queue(&mut database, 1).await;
    let numbers = [
        0,
        1,
        i64::MAX as u64,
        i64::MAX as u64 + 1,
        u64::MAX - 1,
        u64::MAX,
    ];
    for number in numbers {
        let mut decision = made::decision(&laws[0], number, Status::Fail);
        decision.evaluation.runtime_ms = number;
        let counterexample = decision.counterexample.as_mut().unwrap();
        (counterexample.t, counterexample.t_fail) = (number, number);
        // A key that is not yet taken, so that each attempt becomes a finding.
        decision.key.as_mut().unwrap().harness_config_hash = format!("config {number}");
        database.commit(&[decision]).await.unwrap();
    }
    let mut reader = place.open(Access::Read).await;
    let made = reader
        .attempts(AttemptFilter::Run {
            run_id: 1,
            law_ids: &[laws[0].id],
            harness_config_hash: "config",
        })
        .await
        .unwrap();
    let seeds: Vec<u64> = made.iter().map(|attempt| attempt.seed).collect();
    assert_eq!(seeds, numbers);
    for number in numbers {
        let run = RunRow {
            id: 1,
            harness_hash: format!("config {number}"),
            ..made::run()
        };
        let finding = reader.findings(Query::all(&run)).await.unwrap().remove(0);
        let counterexample = finding.counterexample.unwrap();
        let evaluation = finding.evaluation;
        assert_eq!(
            [
                evaluation.seed,
                evaluation.runtime_ms,
                counterexample.seed,
                counterexample.t,
                counterexample.t_fail
            ],
            [number; 5]
        );
        assert_eq!(evaluation.started_at, made::time());
    }
}

#[tokio::test]
async fn lists_of_any_length_can_be_asked_for() {
    lists_of_any_length(&place::file()).await;
    if let Some(server) = place::server() {
        lists_of_any_length(&server).await;
    }
}

async fn lists_of_any_length(place: &impl Place) {
    let mut database = place.open(Access::Write).await;
    let laws = made::queue(&mut database, 10_000).await;
    database
        .commit(&made::decisions(&laws[..2345]))
        .await
        .unwrap();
    let fingerprints: Vec<String> = laws.iter().map(|law| law.law_fingerprint.clone()).collect();
    let ids: Vec<i64> = laws.iter().map(|law| law.id).collect();
    let known = database
        .known(&fingerprints, "config", "universe")
        .await
        .unwrap();
    assert_eq!(known.len(), 2345);
    let found = database
        .laws(1, LawFilter::Fingerprints(&fingerprints))
        .await
        .unwrap();
    assert_eq!(found.len(), 10_000);
    assert_eq!(
        database
            .attempts(AttemptFilter::Run {
                run_id: 1,
                law_ids: &ids,
                harness_config_hash: "config"
            })
            .await
            .unwrap()
            .len(),
        2345
    );
    let queued = database
        .laws(
            1,
            LawFilter::Statuses {
                statuses: &[LawStatus::Queued],
                newest: Some(7),
            },
        )
        .await
        .unwrap();
    let last: Vec<i64> = queued.iter().map(|law| law.id).collect();
    assert_eq!(last, [9994, 9995, 9996, 9997, 9998, 9999, 10_000]);
    assert_eq!(place.sound_counts().await, made::expected_counts(2345));
}
