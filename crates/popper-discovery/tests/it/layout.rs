//! The pages of runs, as a browser lays them out.

use popper_discovery::report::{DiscoveryReport, page};
use test_support::browser;

use crate::page::{html, small_run};

/// A report with 33 laws and proposals again and again, each under another name.
pub(crate) async fn large(times: i64) -> DiscoveryReport {
    let (mut store, run) = small_run().await;
    let mut report = DiscoveryReport::gather(&mut store, &run).await.unwrap();
    let (laws, rejected) = (report.laws.clone(), report.rejected.clone());
    for time in 1..times {
        for mut law in laws.clone() {
            law.id += 1_000 * time;
            law.law_id = format!("{}_{time}", law.law_id);
            report.laws.push(law);
        }
        report.rejected.extend(rejected.clone());
    }
    let verdicts = &mut report.verdicts;
    for count in [
        &mut verdicts.pass,
        &mut verdicts.fail,
        &mut verdicts.unknown,
    ] {
        *count *= times as u64;
    }
    report
}

#[test]
fn the_page_of_a_small_run() {
    browser::run(async |browser| {
        let (mut store, run) = small_run().await;
        let html = html(&mut store, &run).await;
        browser.assert_report_layout(&html).await;
    });
}

#[test]
fn the_page_of_a_large_run() {
    browser::run(async |browser| {
        let html = page(&large(30).await).render().unwrap();
        browser.assert_report_layout(&html).await;
    });
}
