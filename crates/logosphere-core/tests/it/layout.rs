//! The page of a run, as a browser lays it out.

use test_support::browser;

use crate::report::{html, journal};

#[test]
fn the_page_of_a_run_does_not_scroll_sideways() {
    let html = html(&journal("mutator:p=0.1", 12), 0);
    browser::run(async |browser| browser.assert_no_sideways_scroll(&html).await);
}
