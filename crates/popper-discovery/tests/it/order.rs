//! The order of a page.

use scraper::Html;
use test_support::page::{check_order, texts};

use crate::layout::large;
use crate::page::{html, small_run};

#[tokio::test]
async fn the_sections_of_a_page() {
    let (mut store, run) = small_run().await;
    let html = html(&mut store, &run).await;
    let page = Html::parse_document(&html);
    check_order(
        &page,
        &[
            "Laws",
            "Counterexamples",
            "Conserved quantities",
            "Discovery curve",
            "Undecided laws",
            "Rejected proposals",
            "Test power",
            "Ranking",
            "Iterations",
            "Research log",
            "Limits",
            "Provenance",
        ],
    );
    let folded = texts(&page, "main > section > details > summary > h2");
    assert_eq!(
        folded,
        [
            "Test power",
            "Ranking",
            "Iterations",
            "Research log",
            "Provenance"
        ]
    );
}

#[tokio::test]
async fn a_page_of_thousands_of_laws_is_limited() {
    let report = large(400).await;
    assert!(report.laws.len() > 10_000);
    let html = popper_discovery::report::page(&report).render().unwrap();
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let page = Html::parse_document(&html);
    let notes = texts(&page, "#at-laws .rows .note").concat();
    assert!(
        notes.starts_with("The table has the first 500 of 13"),
        "{notes}"
    );
    assert_eq!(texts(&page, "#at-laws .command .text"), ["popper export 1"]);
    let data: serde_json::Value =
        serde_json::from_str(&texts(&page, "#data-report").concat()).unwrap();
    assert_eq!(data["laws"].as_array().unwrap().len(), 400);
}
