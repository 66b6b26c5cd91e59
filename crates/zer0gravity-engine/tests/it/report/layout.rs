//! The page of a run, as a browser lays it out.

use test_support::browser;

use super::page::html;
use super::sample::small;

#[test]
fn the_page_of_a_run_does_not_scroll_sideways() {
    browser::run(async |browser| browser.assert_no_sideways_scroll(&html(&small())).await);
}
