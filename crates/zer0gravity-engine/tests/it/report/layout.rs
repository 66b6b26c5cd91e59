//! The pages of runs, as a browser lays them out.

use test_support::browser;

use super::page::{html, many};
use super::sample::small;

#[test]
fn the_page_of_a_small_run() {
    browser::run(async |browser| browser.assert_report_layout(&html(&small())).await);
}

#[test]
fn the_page_of_a_large_run() {
    let html = html(&many(1_000));
    browser::run(async |browser| browser.assert_report_layout(&html).await);
}
