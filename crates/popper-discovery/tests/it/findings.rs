//! The findings of a review of earlier pages, as far as they are on the page of a run.

use popper_discovery::report::{DiscoveryReport, page};
use scraper::Html;
use test_support::page::{found, texts};

use crate::page::{html, small_run};

async fn parsed() -> Html {
    let (mut store, run) = small_run().await;
    Html::parse_document(&html(&mut store, &run).await)
}

#[tokio::test]
async fn b2_the_fingerprints_are_in_the_provenance() {
    let page = parsed().await;
    let heads = texts(&page, "#at-laws > .rows thead th");
    assert_eq!(heads, ["Law", "Verdict", "Evidence"]);
    let hashes = texts(&page, "#at-provenance tbody td code");
    assert_eq!(hashes.len(), 34);
    assert!(hashes.iter().all(|hash| hash.len() == 64), "{hashes:?}");
}

#[tokio::test]
async fn b5_the_result_is_before_the_facts() {
    let (mut store, run) = small_run().await;
    let html = html(&mut store, &run).await;
    let page = Html::parse_document(&html);
    let lead = texts(&page, "header > p.text").concat();
    assert!(
        lead.starts_with(
            "34 laws tested: 16 hold (15 proved for every ring size), 10 refuted, 8 undecided."
        ),
        "{lead}"
    );
    assert!(found(&page, "header dl").is_empty());
    assert_eq!(texts(&page, "header .notice").len(), 1);
    assert!(found(&page, "#at-provenance dl > div").len() > 10);
    assert!(!html.contains("No rows."));
}

#[tokio::test]
async fn b10_a_law_is_named_by_its_claim() {
    let page = parsed().await;
    let laws = texts(&page, "#at-laws > .rows tbody th");
    let named = |part: &str| laws.iter().any(|law| law.contains(part));
    assert!(named("commutes with mirror_swap"), "{laws:#?}");
    let shown = texts(&page, "main").concat();
    assert!(shown.contains("every ring size, every step"));
    for gone in ["may change places", "every t\n", "every t ", "every t,"] {
        assert!(!shown.contains(gone), "{gone}");
    }
    for heading in texts(&page, "h2") {
        assert!(heading.split(' ').count() <= 5, "{heading}");
    }
}

#[tokio::test]
async fn the_figure_is_a_minimal_counterexample_with_most_steps_that_fits() {
    let (mut store, run) = small_run().await;
    let report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let refutations = report.laws.iter().filter_map(|law| law.refutation.as_ref());
    let steps = refutations
        .filter(|refutation| refutation.package.minimal)
        .filter(|refutation| refutation.diagrams[0].rows.len() <= 16)
        .map(|refutation| refutation.package.t_fail);
    let most = steps.max().unwrap();
    let page = Html::parse_document(&page(&report).render().unwrap());
    let titles = texts(&page, "header figure .name");
    assert_eq!(titles.len(), 1);
    assert!(
        titles[0].ends_with(&format!(" fails at step {most}")),
        "{titles:?}"
    );
    assert_eq!(found(&page, "header svg.cells").len(), 1);
}

#[tokio::test]
async fn a_late_failure_on_a_wide_ring_is_cut_to_24_cells_and_16_steps() {
    let (mut store, run) = small_run().await;
    let mut report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    report.laws.retain(|law| law.refutation.is_some());
    report.laws.truncate(1);
    let refutation = report.laws[0].refutation.as_mut().unwrap();
    refutation.package.minimal = true;
    let diagram = &mut refutation.diagrams[0];
    diagram.rows = (0..40).map(|_| ".".repeat(96)).collect();
    let failure = diagram.failure.as_mut().unwrap();
    (failure.row, failure.column) = (37, Some(90));
    let page = Html::parse_document(&page(&report).render().unwrap());
    let rows = texts(&page, "header div.cells").concat();
    assert_eq!(rows.lines().count(), 16);
    assert!(rows.lines().all(|row| row.len() == 24));
    assert_eq!(found(&page, "header svg .frame-inner").len(), 1);
    let marked = texts(&page, "header .marked").concat();
    assert!(marked.contains("time 37, cell 90"), "{marked}");
}

#[tokio::test]
async fn a_counterexample_has_the_command_that_shows_it() {
    let (mut store, run) = small_run().await;
    let mut report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let commands = |report: &DiscoveryReport| {
        let page = Html::parse_document(&page(report).render().unwrap());
        texts(&page, "#at-counterexamples .command .text")
    };
    let shown = commands(&report);
    assert_eq!(shown.len(), 10);
    assert!(
        shown.contains(&"popper simulate '..>' -n 2".to_owned()),
        "{shown:#?}"
    );
    let first = report.laws.iter_mut().find(|law| law.refutation.is_some());
    let package = &mut first.unwrap().refutation.as_mut().unwrap().package;
    package.initial_state = "a'b".into();
    assert!(commands(&report)[0].starts_with("popper simulate 'a'\\''b' -n "));
    // What the command line would take for a flag or a file gets no command.
    let first = report.laws.iter_mut().find(|law| law.refutation.is_some());
    let package = &mut first.unwrap().refutation.as_mut().unwrap().package;
    package.initial_state = "-".into();
    assert_eq!(commands(&report).len(), 9);
    report.config.universe = serde_json::json!("other");
    let shown = commands(&report);
    assert!(
        shown
            .iter()
            .all(|line| line.ends_with(" --universe UNIVERSE.json"))
    );
}
