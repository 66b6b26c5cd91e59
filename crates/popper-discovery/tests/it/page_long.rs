//! The report of a run that has more laws than a page shows.

use popper_discovery::MemoryStore;
use popper_discovery::recall::Recall;
use popper_discovery::report::{DiscoveryReport, page};
use popper_discovery::store::{
    CounterexampleRow, EvaluationRow, Iteration, LawRow, LawStatus, Query, RunRow, Store as _,
    VerdictKey,
};
use popper_harness::conserved::span;
use popper_harness::universe::{KineticGrid, Tabulated};
use scraper::Html;
use test_support::page::texts;

use crate::page::small_run;

/// More than four pages of laws, of which more than 500 state a conserved quantity.
const COPIES: usize = 4_600;

/// The small run with copies of its laws, which are decided in the opposite order, and of its iterations and invalid proposals.
async fn long_run() -> (MemoryStore, RunRow) {
    let (mut store, run) = small_run().await;
    let findings = store.findings(Query::all(&run)).await.unwrap();
    let first = store.laws.len();
    for index in 0..COPIES {
        let like = &findings[index % findings.len()];
        store.laws.push(LawRow {
            id: (first + index + 1) as i64,
            law_id: format!("copy_{index}"),
            law_fingerprint: format!("{index:064x}"),
            ..like.law.clone()
        });
    }
    for index in (0..COPIES).rev() {
        let like = &findings[index % findings.len()];
        let id = store.evaluations.len() as i64 + 1;
        let counterexample = like.counterexample.as_ref().map(|row| CounterexampleRow {
            id: store.counterexamples.len() as i64 + 1,
            law_evaluation_id: id,
            ..row.clone()
        });
        store.evaluations.push(EvaluationRow {
            id,
            law_id: (first + index + 1) as i64,
            counterexample_id: counterexample.as_ref().map(|row| row.id),
            ..like.evaluation.clone()
        });
        store.counterexamples.extend(counterexample);
        let key = VerdictKey {
            law_fingerprint: format!("{index:064x}"),
            harness_config_hash: run.harness_hash.clone(),
            sim_hash: run.sim_hash.clone(),
            evaluation_id: id,
            verdict_digest: String::new(),
        };
        let triple = (
            key.law_fingerprint.clone(),
            key.harness_config_hash.clone(),
            key.sim_hash.clone(),
        );
        store.keys.insert(triple, key);
    }
    let broken = store.laws.iter();
    let mut broken = broken.filter(|law| law.status == LawStatus::RejectedSchema);
    let broken = broken.next().unwrap().clone();
    for index in 0..600_u32 {
        store.laws.push(LawRow {
            id: store.laws.len() as i64 + 1,
            law_fingerprint: format!("broken {index}"),
            ..broken.clone()
        });
        store.iterations.push(Iteration {
            id: i64::from(index) + 3,
            iteration_index: index + 3,
            ..store.iterations[0].clone()
        });
    }
    (store, run)
}

#[tokio::test]
async fn the_newest_are_shown_and_all_are_counted() {
    let (mut store, run) = long_run().await;
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let findings = store.findings(Query::all(&run)).await.unwrap();
    assert_eq!(report.laws.len(), 500);
    assert!(!report.has_all_laws());
    assert_eq!(report.tested(), findings.len() as u64);
    let oldest = findings[findings.len() - 500].law.id;
    assert!(report.laws.iter().all(|law| law.id >= oldest));
    let drawn = report.laws.iter().filter_map(|law| law.refutation.as_ref());
    let drawn = drawn.filter(|refutation| !refutation.diagrams.is_empty());
    assert_eq!(drawn.count(), 100);
    let rejected = store.laws.iter();
    let rejected = rejected.filter(|law| law.status == LawStatus::RejectedSchema);
    assert_eq!(report.invalid, rejected.count() as u64);
    assert_eq!(report.rejected.len(), 500);
    assert_eq!(report.rejected[499].id, store.laws.len() as i64);
    assert_eq!((report.completed, report.iterations.len()), (602, 500));
    assert_eq!(report.iterations[499].index, 602);

    let html = page(&report).render().unwrap();
    let html = Html::parse_document(&html);
    let laws = texts(&html, "#at-laws > p").concat();
    let told = format!("the newest 500 of {} laws", findings.len());
    assert!(laws.contains(&told), "{laws}");
    let lead = texts(&html, "header p").concat();
    let told = format!("{} laws tested: ", findings.len());
    assert!(
        lead.contains(&told) && lead.contains("in 602 complete iterations"),
        "{lead}"
    );
    assert!(!lead.contains("proved"), "{lead}");
    let rejected = texts(&html, "#at-rejected > p").concat();
    assert!(
        rejected.contains(&format!("{} proposals are invalid", report.invalid)),
        "{rejected}"
    );
    assert!(rejected.contains("of the newest 500"), "{rejected}");
    let iterations = texts(&html, "#at-iterations p").concat();
    assert!(
        iterations.contains("the newest 500 of 602 iterations"),
        "{iterations}"
    );
}

#[tokio::test]
async fn recall_and_curve_are_about_all_laws_in_the_order_of_time() {
    let (mut store, run) = long_run().await;
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let mut findings = store.findings(Query::all(&run)).await.unwrap();
    findings.sort_by_key(|finding| finding.evaluation.id);
    let universe = Tabulated::of(&KineticGrid).unwrap();
    for reach in &report.recall {
        let space = span(&universe, reach.width).unwrap();
        let all = Recall::measure(&space, &universe, &findings).unwrap();
        let recall = reach.recall.as_ref().unwrap();
        assert_eq!(reach.laws, all.inside.len() as u64);
        assert!(reach.laws > 500);
        assert_eq!(recall.inside, all.inside[..500]);
        assert_eq!(recall.inside.iter().filter(|law| law.new).count(), 2);
        assert_eq!(
            (recall.found, &recall.quantities),
            (all.found, &all.quantities)
        );
        assert_eq!(recall.outside, all.outside);
    }
    assert_eq!(report.curve.last().unwrap().verdicts, report.verdicts);
    assert_eq!(report.curve.last().unwrap().found, 2);
    assert!(report.curve.len() < 2_100, "{}", report.curve.len());
}
