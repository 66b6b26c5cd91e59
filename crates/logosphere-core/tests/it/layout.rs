//! The pages of runs, as a browser lays them out.

use std::path::Path;

use logosphere_core::report::{ReportData, page};
use test_support::browser;

use crate::report::{html, journal};

#[test]
fn the_page_of_a_small_run() {
    let html = html(&journal("mutator:p=0.1", 12), 200);
    browser::run(async |browser| browser.assert_report_layout(&html).await);
}

#[test]
fn the_page_of_a_large_recorded_run() {
    let kept = "../../experiments/2026-11-22-drift-or-selection/mutator/logs/experiment.jsonl";
    let journal = Path::new(env!("CARGO_MANIFEST_DIR")).join(kept);
    let data = ReportData::read(&std::fs::read(journal).unwrap()[..], 0).unwrap();
    let html = page(&data).render().unwrap();
    browser::run(async |browser| browser.assert_report_layout(&html).await);
}
