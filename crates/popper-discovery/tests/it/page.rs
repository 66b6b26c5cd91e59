//! A run as a page.

use popper_discovery::rank::Candidate;
use popper_discovery::report::{DiscoveryReport, page};
use popper_discovery::store::{IterationStatus, RunRow};
use popper_discovery::{MemoryStore, RunSelector};
use popper_harness::decide::{Config, Harness};
use popper_harness::universe::KineticGrid;
use scraper::Html;
use test_support::page::{found, reading, texts};

use crate::run::{batch, invariant, run_in, run_with};
use crate::scripted::fixture_laws;

/// The page of a run as one file.
pub(crate) async fn html(store: &mut MemoryStore, run: &RunRow) -> String {
    let report = DiscoveryReport::gather(store, run).await.unwrap();
    page(&report).render().unwrap()
}

/// Two iterations: the fixture laws, and proposals of which some are broken or known.
pub(crate) async fn small_run() -> (MemoryStore, RunRow) {
    let mut second = batch([
        invariant("difference", "count('>') - count('<')"),
        fixture_laws().remove(0),
        serde_json::json!({"law_id": "broken", "template": "axiom", "mood": "hopeful"}),
    ]);
    second.candidates.push(Candidate {
        raw: "I think that energy is conserved.".into(),
        law: Err("no JSON in the answer".into()),
    });
    second.research_log = Some("Counts of movers seem to be conserved.\nNext: pairs.".into());
    second.problem = Some("the answer stops in the middle".into());
    run_in(
        MemoryStore::default(),
        vec![batch(fixture_laws()), second],
        RunSelector::Latest,
    )
    .await
}

/// The elements that a reader sees as blocks of text.
const BLOCKS: &str = "h1, h2, h3, h4, header p, section > p, .folded > p, div > dt, dd, caption, thead tr, tbody tr, figcaption, p.note, li";

#[tokio::test]
async fn a_small_run_reads_like_this() {
    let (mut store, run) = small_run().await;
    let html = html(&mut store, &run).await;
    std::fs::write(
        std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("small.html"),
        &html,
    )
    .unwrap();
    insta::assert_snapshot!(reading(&Html::parse_document(&html), BLOCKS));
}

#[tokio::test]
async fn the_same_data_gives_the_same_bytes() {
    let (mut store, run) = small_run().await;
    let once = html(&mut store, &run).await;
    assert_eq!(html(&mut store, &run).await, once);
    let (mut again, run) = small_run().await;
    assert_eq!(html(&mut again, &run).await, once);
}

fn parsed(html: &str) -> Html {
    Html::parse_document(html)
}

#[tokio::test]
async fn a_run_that_has_not_begun() {
    let (mut store, run) = run_in(MemoryStore::default(), vec![], RunSelector::Latest).await;
    let page = parsed(&html(&mut store, &run).await);
    let notices = texts(&page, ".notice bdi");
    assert!(
        notices.contains(&"No iteration has begun.".to_owned()),
        "{notices:?}"
    );
    assert!(texts(&page, "section > p").contains(&"Nothing was refuted.".to_owned()));
    assert!(texts(&page, "section > p").contains(&"No law has a verdict yet.".to_owned()));
}

#[tokio::test]
async fn a_run_under_way_tells_what_was_stored() {
    let (mut store, run) = small_run().await;
    // Killed in the middle of the tests of the second iteration, ..
    let second = &mut store.iterations[1];
    second.status = IterationStatus::Running;
    second.completed_at = None;
    let mut summary: serde_json::Value =
        serde_json::from_str(second.summary_json.as_ref().unwrap()).unwrap();
    summary["verdicts"] = serde_json::Value::Null;
    second.summary_json = Some(summary.to_string());
    let page = parsed(&html(&mut store, &run).await);
    let notices = texts(&page, ".notice bdi").concat();
    assert!(
        notices.contains("Iteration 2 is running or was interrupted"),
        "{notices}"
    );
    let lead = texts(&page, "header p").concat();
    assert!(lead.contains("in 1 complete iteration."), "{lead}");
    // .. or before it had chosen anything, and stopped on request.
    store.iterations[1].summary_json = None;
    store.iterations[1].status = IterationStatus::Aborted;
    let page = parsed(&html(&mut store, &run).await);
    assert!(
        texts(&page, ".notice bdi")
            .concat()
            .contains("Iteration 2 was stopped")
    );
    let rows = texts(&page, "#at-iterations tbody tr");
    assert_eq!(rows.len(), 2);
    assert!(rows[1].contains("aborted"), "{rows:?}");
}

#[tokio::test]
async fn a_run_of_known_laws_only() {
    let laws = || vec![batch(fixture_laws())];
    let (store, first) = run_in(MemoryStore::default(), laws(), RunSelector::Latest).await;
    let (mut store, second) = run_in(store, laws(), RunSelector::New).await;
    assert_ne!(first.id, second.id);
    let report = DiscoveryReport::gather(&mut store, &second).await.unwrap();
    assert_eq!(report.laws.len(), 33);
    assert!(report.laws.iter().all(|law| !law.own) && report.curve.is_empty());
    assert_eq!(report.recall[0].recall.as_ref().unwrap().found, 2);
    let plan = report.iterations[0].plan.as_ref().unwrap();
    assert_eq!((plan.known, plan.selected), (33, 0));
    let page = parsed(&page(&report).render().unwrap());
    let limits = texts(&page, "#at-limits > p").concat();
    assert!(
        limits.contains("33 verdicts were known from another run"),
        "{limits}"
    );
    assert_eq!(found(&page, "svg.cells").len(), 13);
}

#[tokio::test]
async fn both_ways_of_a_symmetry_are_drawn() {
    let (mut store, run) = small_run().await;
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let law = report
        .laws
        .iter()
        .find(|law| law.law_id == "mirror_only_commutes")
        .unwrap();
    let diagrams = &law.refutation.as_ref().unwrap().diagrams;
    assert_eq!(diagrams.len(), 2);
    assert_eq!(diagrams[0].rows, [">..", ".>.", "..>", ">.."]);
    assert_eq!(diagrams[1].rows, [">..", "..>", ".>.", ">.."]);
    for diagram in diagrams {
        let failure = diagram.failure.as_ref().unwrap();
        assert_eq!((failure.row, failure.column), (1, Some(1)));
    }
}

#[tokio::test]
async fn the_cell_that_a_local_law_is_wrong_about_is_marked() {
    let config = Config::default().extensions(vec!["local_transition".into()]);
    let harness = Harness::new(KineticGrid, config).unwrap();
    let law = serde_json::json!({
        "law_id": "leaves", "template": "local_transition", "quantifiers": {"T": 10}, "claim": "",
        "forbidden": "one that does not", "trigger_symbol": ">", "result_op": "==", "result_symbol": ".",
    });
    let (mut store, run) = run_with(
        harness,
        MemoryStore::default(),
        vec![batch([law])],
        RunSelector::Latest,
    )
    .await;
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let law = &report.laws[0];
    assert_eq!(law.wording.claim, "after `>`: the cell == `.`");
    let refutation = law.refutation.as_ref().unwrap();
    assert_eq!(
        (
            refutation.package.initial_state.as_str(),
            refutation.package.t_fail
        ),
        (">", 0)
    );
    let failure = refutation.diagrams[0].failure.as_ref().unwrap();
    assert_eq!((failure.row, failure.column), (1, Some(0)));
}

#[tokio::test]
async fn a_late_failure_is_drawn_around_its_step() {
    // Two movers in a ring of 101 meet late; whoever says they never do is refuted there.
    let law = serde_json::json!({
        "law_id": "never", "template": "bound", "quantifiers": {"T": 200}, "claim": "x(t) <= 0", "forbidden": "a collision",
        "observables": [{"name": "x", "expr": "count('X')"}],
    });
    let (mut store, run) = run_in(
        MemoryStore::default(),
        vec![batch([law])],
        RunSelector::Latest,
    )
    .await;
    let row = &mut store.counterexamples[0];
    row.initial_state = format!(">{}<{}", ".".repeat(99), ".".repeat(50));
    row.t_fail = 50;
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let diagram = &report.laws[0].refutation.as_ref().unwrap().diagrams[0];
    assert_eq!((diagram.time, diagram.rows.len()), (13, 40));
    let failure = diagram.failure.as_ref().unwrap();
    assert_eq!((failure.row, failure.column), (37, None));
    assert!(diagram.rows[37].contains('X') && !diagram.rows[36].contains('X'));
    let page = parsed(&page(&report).render().unwrap());
    assert!(texts(&page, ".marked").concat().contains("time 50: "));
}

#[tokio::test]
async fn money_and_tokens_are_told_as_far_as_they_are_known() {
    let (mut store, run) = small_run().await;
    let call = |usage: &str| popper_discovery::store::CallRow {
        id: 1,
        run_id: run.id,
        iteration_id: 1,
        turn: 0,
        created_at: run.created_at,
        call: popper_discovery::store::ModelCallRow {
            model_id: "teller".into(),
            prompt_hash: String::new(),
            request_json: "{}".into(),
            reply_text: String::new(),
            usage_json: usage.into(),
        },
    };
    store.calls.push(call(
        r#"{"input_tokens": 1200, "output_tokens": 34, "nano_usd": 1234567890}"#,
    ));
    store.calls.push(call("{}"));
    let page = parsed(&html(&mut store, &run).await);
    let facts = texts(&page, "#at-provenance dl > div");
    for fact in [
        "Modelteller",
        "Calls2",
        "Tokens in1200, 1 calls unknown",
        "Cost$1.234567, 1 calls unknown",
    ] {
        assert!(facts.contains(&fact.to_owned()), "{fact}: {facts:?}");
    }
}
