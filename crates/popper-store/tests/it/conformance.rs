//! The database remembers what its twin in memory remembers, row by row, and answers as it does.

use std::collections::BTreeMap;

use popper_discovery::store::{
    AttemptFilter, CounterexampleRow, DecisionRow, EvaluationRow, IterationState, IterationStatus,
    LawFilter, LawRow, LawStatus, Pick, Query, RowPage, RunRow, Store, TestedLaw, VerdictKey,
};
use popper_discovery::{
    Discovery, Event, LoopConfig, MemoryStore, Observer, RunEnd, RunSelector, Unobserved,
};
use popper_harness::decide::{Config, Status};
use popper_store::{Access, Address, Database, Server};
use serde_json::{Value, json};
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _};

use crate::{dump, run};

/// Stops after some decisions.
struct StopAfter(u32);

impl Observer for StopAfter {
    fn event(&mut self, event: Event<'_>) {
        if matches!(event, Event::Decided(_)) {
            self.0 -= 1;
        }
    }

    fn stop(&self) -> bool {
        self.0 == 0
    }
}

fn config() -> LoopConfig {
    let mut config = LoopConfig::default();
    config.propose = 13;
    config.test = 7;
    config
}

/// Everything that a store answers about a run.
async fn answers<S: Store>(discovery: &mut Discovery<S>) -> Value {
    let run = discovery.run().clone();
    let store = discovery.store();
    let all = [
        LawStatus::Proposed,
        LawStatus::RejectedSchema,
        LawStatus::Queued,
        LawStatus::Tested,
    ];
    let laws = store.laws(run.id, LawFilter::statuses(&all)).await.unwrap();
    let fingerprints: Vec<String> = laws.iter().map(|law| law.law_fingerprint.clone()).collect();
    let mut asked = vec!["of no law".to_owned()];
    asked.extend(fingerprints.iter().step_by(2).cloned());
    let ids: Vec<i64> = laws.iter().map(|law| law.id).collect();
    let claims = laws.iter().filter_map(|law| law.law().ok());
    let claims: Vec<String> = claims.map(|law| law.normal().claim_fingerprint()).collect();
    let (config, universe) = (&run.harness_hash, &run.sim_hash);
    let mut findings = Vec::new();
    for status in [
        None,
        Some(Status::Pass),
        Some(Status::Fail),
        Some(Status::Unknown),
    ] {
        for newest in [None, Some(0), Some(1), Some(3), Some(1000)] {
            let query = Query::Tested {
                run: &run,
                status,
                newest,
            };
            findings.push(store.findings(query).await.unwrap());
        }
    }
    let mut attempts = Vec::new();
    for law in &fingerprints {
        let made = store
            .attempts(AttemptFilter::Law {
                fingerprint: law,
                harness_config_hash: config,
                sim_hash: universe,
            })
            .await
            .unwrap();
        attempts.push(format!("{made:?}"));
    }
    let proved = store.proved_claims(&claims, config, universe).await;
    let tally = store.tally(&run).await.unwrap();
    let mut pages = Vec::new();
    for (after, limit) in [(0, 1), (0, 1000), (2, 3), (3, 1000), (1_000_000, 5)] {
        let page = RowPage { after, limit };
        pages.push(json!({
            "iterations": store.iteration_page(run.id, page).await.unwrap(),
            "laws": store.law_page(run.id, page).await.unwrap(),
            "calls": store.call_page(run.id, page).await.unwrap(),
            "tested": store.tested_page(&run, page).await.unwrap(),
        }));
    }
    json!({
        "pages": pages,
        "runs": store.runs().await.unwrap(),
        "iterations": store.iterations(run.id, Pick::All).await.unwrap(),
        "the second": store.iterations(run.id, Pick::Index(2)).await.unwrap(),
        "the last": store.iterations(run.id, Pick::Last).await.unwrap(),
        "one that does not exist": store.iterations(run.id, Pick::Index(99)).await.unwrap(),
        "laws": laws,
        "some": store.laws(run.id, LawFilter::Statuses { statuses: &all[..2], newest: Some(3) }).await.unwrap(),
        "none": store.laws(run.id, LawFilter::statuses(&[])).await.unwrap(),
        "by fingerprint": store.laws(run.id, LawFilter::Fingerprints(&fingerprints)).await.unwrap(),
        "fingerprints": store.known_fingerprints(run.id, &asked).await.unwrap(),
        "by beginning": store.laws(run.id, LawFilter::Beginning(&fingerprints[0][..2])).await.unwrap(),
        "all of them": store.laws(run.id, LawFilter::Beginning("")).await.unwrap(),
        "known": store.known(&fingerprints, config, universe).await.unwrap(),
        "calls": store.calls(run.id, None).await.unwrap(),
        "calls of one": store.calls(run.id, Some(2)).await.unwrap(),
        "attempts": attempts,
        "attempts of": format!("{:?}", store.attempts(AttemptFilter::Run { run_id: run.id, law_ids: &ids, harness_config_hash: config }).await.unwrap()),
        "findings": findings,
        "evaluations": store.findings(Query::attempts(&run, 0, 1000)).await.unwrap(),
        "a page of them": store.findings(Query::attempts(&run, 2, 3)).await.unwrap(),
        "proved": proved.unwrap(),
        "tally": format!("{tally:?}"),
    })
}

/// A life: iterations, an abort, a retest, the same laws again in a second run, another seed near the end of the numbers, and
/// what only decisions made by hand can bring.
async fn life<S: Store>(store: S) -> (S, Vec<Value>) {
    let proposer = run::Scripted(run::laws(), " with a NUL \0 and a quote '");
    let mut said = Vec::new();
    let mut first = run::open(store, 0, config(), RunSelector::Latest).await;
    let ended = first
        .run_to(2, &proposer, &mut StopAfter(10))
        .await
        .unwrap();
    assert_eq!(ended, RunEnd::Stopped);
    said.push(answers(&mut first).await);
    let ended = first.run_to(2, &proposer, &mut Unobserved).await.unwrap();
    assert_eq!(ended, RunEnd::Completed);
    let run = first.run().clone();
    let findings = first.store().findings(Query::all(&run)).await.unwrap();
    let law = findings[0].law.law_fingerprint.clone();
    first.retest(&law).await.unwrap();
    said.push(answers(&mut first).await);

    let mut second = run::open(first.into_store(), 0, config(), RunSelector::New).await;
    second.run_to(2, &proposer, &mut Unobserved).await.unwrap();
    said.push(answers(&mut second).await);

    let later = run::Scripted(run::later_laws(), "");
    let mut third = run::open(second.into_store(), 0, config(), RunSelector::New).await;
    third.run_to(1, &later, &mut Unobserved).await.unwrap();
    let run_of_proofs = third.run().clone();
    let findings = third.store().findings(Query::all(&run_of_proofs)).await;
    let by_proof = findings.unwrap().into_iter();
    let by_proof = by_proof.filter(|finding| finding.evaluation.law_id != finding.law.id);
    assert!(by_proof.count() > 5);
    said.push(answers(&mut third).await);

    let rest = run::Scripted(run::laws().split_off(26), "");
    let mut far = run::open(third.into_store(), u64::MAX - 1, config(), RunSelector::New).await;
    far.run_to(1, &rest, &mut Unobserved).await.unwrap();
    said.push(answers(&mut far).await);
    let law = {
        let run = far.run().clone();
        let findings = far.store().findings(Query::all(&run)).await.unwrap();
        assert!(
            findings
                .iter()
                .any(|finding| finding.evaluation.seed == u64::MAX - 1)
        );
        findings[0].law.law_fingerprint.clone()
    };
    far.retest(&law).await.unwrap();
    said.push(answers(&mut far).await);

    let (store, more) = by_hand(far.into_store(), &run).await;
    said.extend(more);
    let mut first = run::open(store, 0, config(), RunSelector::Id(run.id)).await;
    said.push(answers(&mut first).await);
    (first.into_store(), said)
}

/// A decision on a law, shaped after a stored one.
fn decision(like: &TestedLaw, law: &LawRow, seed: u64, status: Status) -> DecisionRow {
    let mut evaluation = EvaluationRow {
        id: 0,
        run_id: law.run_id,
        law_id: law.id,
        seed,
        status,
        counterexample_id: None,
        ..like.evaluation.clone()
    };
    let verdict_digest = format!("digest of {seed} {status:?}");
    evaluation.artifacts_json =
        json!({"harness_config": Config::default(), "verdict_digest": verdict_digest}).to_string();
    let counterexample = (status == Status::Fail).then(|| CounterexampleRow {
        id: 0,
        run_id: law.run_id,
        seed,
        t: u64::MAX,
        ..like.counterexample.clone().unwrap()
    });
    DecisionRow {
        law_status: LawStatus::Tested,
        claim: None,
        key: Some(VerdictKey {
            law_fingerprint: law.law_fingerprint.clone(),
            harness_config_hash: evaluation.harness_config_hash.clone(),
            sim_hash: "a universe".into(),
            evaluation_id: 0,
            verdict_digest: verdict_digest.clone(),
        }),
        evaluation,
        counterexample,
        law_fingerprint: law.law_fingerprint.clone(),
        verdict_digest,
    }
}

/// Attempts that were cut short, groups with repetitions, keys that move and keys that stay.
async fn by_hand<S: Store>(mut store: S, run: &RunRow) -> (S, Vec<Value>) {
    let refuted = Query::newest(run, Some(Status::Fail), u32::MAX);
    let like = store.findings(refuted).await.unwrap().remove(0);
    let all = [LawStatus::Tested, LawStatus::Proposed, LawStatus::Queued];
    let laws = store.laws(run.id, LawFilter::statuses(&all)).await.unwrap();
    let cut = DecisionRow {
        law_status: LawStatus::Queued,
        key: None,
        ..decision(&like, &laws[0], 1000, Status::Unknown)
    };
    let make = |law: usize, seed, status| decision(&like, &laws[law], seed, status);
    let (pass, fail, unknown) = (Status::Pass, Status::Fail, Status::Unknown);
    let contradiction = DecisionRow {
        verdict_digest: "another".into(),
        ..make(1, 1001, unknown)
    };
    let groups: Vec<Vec<DecisionRow>> = vec![
        vec![],
        vec![cut.clone()],
        vec![cut.clone()],
        vec![make(1, 1001, unknown), make(1, 1002, pass)],
        // A key moves from UNKNOWN to PASS to FAIL, and stays there.
        vec![make(1, 1003, fail)],
        vec![make(1, 1004, pass)],
        // The same within one group, beside what is there already and what comes twice.
        vec![
            make(2, 1001, pass),
            make(2, 1002, fail),
            make(2, 1003, unknown),
            make(3, 1001, fail),
            make(3, 1002, fail),
        ],
        vec![
            make(4, 1, pass),
            make(1, 1003, fail),
            make(4, 1, pass),
            make(4, 2, fail),
            make(4, 3, unknown),
        ],
        // One that disagrees takes the whole group with it.
        vec![make(5, 1, pass), contradiction, make(5, 2, pass)],
        // More than one statement takes.
        (0..100)
            .map(|seed| make(6, seed + 5000, if seed % 3 == 0 { fail } else { pass }))
            .collect(),
    ];
    let mut said = Vec::new();
    for group in groups {
        let answer = store.commit(&group).await;
        said.push(json!(answer.map_err(|error| error.to_string())));
    }
    let contradictions = said
        .iter()
        .filter(|answer| !answer["Err"].is_null())
        .count();
    assert_eq!(contradictions, 1, "{said:?}");
    let ids: Vec<i64> = laws.iter().map(|law| law.id).collect();
    let made = store
        .attempts(AttemptFilter::Run {
            run_id: run.id,
            law_ids: &ids,
            harness_config_hash: &run.harness_hash,
        })
        .await;
    said.push(json!(format!("{made:?}")));
    for (iteration_id, status) in [
        (1, IterationStatus::Aborted),
        (99, IterationStatus::Running),
    ] {
        let state = IterationState::new(status);
        store.set_iteration(iteration_id, &state).await.unwrap();
    }
    (store, said)
}

#[tokio::test]
async fn a_whole_life_leaves_the_same_rows_and_answers() {
    let (memory, expected) = life(MemoryStore::default()).await;
    let expected_rows = dump::of_memory(&memory);
    for (table, rows) in &expected_rows {
        assert!(rows.len() > 1, "{table} is hardly tested");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    let (database, said) = life(Database::open(&path, Access::Write).await.unwrap()).await;
    for (index, (said, expected)) in said.iter().zip(&expected).enumerate() {
        assert_eq!(said, expected, "answer {index}");
    }
    assert_eq!(said.len(), expected.len());
    assert_eq!(dump::of_file(&path).await, expected_rows);
    database.close().await.unwrap();
    assert_eq!(dump::of_file(&path).await, expected_rows);

    let Some(place) = test_support::postgres::database() else {
        return;
    };
    let address = Address::parse(place.url()).unwrap();
    let server = Server::open(&address, "test", Access::Write).await.unwrap();
    let (server, mut said) = Box::pin(life(server)).await;
    for answer in &mut said {
        rank(answer, &server_ranks(place.url()).await);
    }
    for (index, (said, expected)) in said.iter().zip(&expected).enumerate() {
        assert_eq!(said, expected, "answer {index} of the server");
    }
    assert_eq!(said.len(), expected.len());
    assert_eq!(dump::of_server(place.url()).await, expected_rows);
    // Two laws begin so: the one that has a NUL, and the one that looks like it.
    let marked = "SELECT count(*) FROM popper.laws WHERE raw_llm_json LIKE 'NUL::%'";
    let marked = test_support::postgres::Database::query(place.url(), marked);
    assert_eq!(marked, 2);
    server.close().await.unwrap();
}

/// The ranks of the keys of attempts and counterexamples, the only tables in which a group can be rolled back.
async fn server_ranks(url: &str) -> [BTreeMap<i64, i64>; 2] {
    let options: PgConnectOptions = url.parse().unwrap();
    let mut conn = options.connect().await.unwrap();
    let mut ranks = [BTreeMap::new(), BTreeMap::new()];
    for (table, ranks) in ["law_evaluations", "counterexamples"]
        .iter()
        .zip(&mut ranks)
    {
        let sql = format!("SELECT id FROM popper.{table} ORDER BY id");
        let ids: Vec<i64> = sqlx::query_scalar(AssertSqlSafe(sql))
            .fetch_all(&mut conn)
            .await
            .unwrap();
        *ranks = ids.into_iter().zip(1..).collect();
    }
    ranks
}

/// Replaces the keys in an answer by their ranks.
fn rank(answer: &mut Value, ranks: &[BTreeMap<i64, i64>; 2]) {
    let [evaluations, counterexamples] = ranks;
    match answer {
        Value::Array(items) => items.iter_mut().for_each(|item| rank(item, ranks)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match name.as_str() {
                    "evaluation_id" | "law_evaluation_id" => replace(value, evaluations),
                    "counterexample_id" => replace(value, counterexamples),
                    "evaluation" => replace(&mut value["id"], evaluations),
                    "counterexample" if !value.is_null() => {
                        replace(&mut value["id"], counterexamples);
                    }
                    _ => {}
                }
                rank(value, ranks);
            }
        }
        _ => {}
    }
}

fn replace(id: &mut Value, ranks: &BTreeMap<i64, i64>) {
    if let Some(number) = id.as_i64() {
        *id = ranks[&number].into();
    }
}
