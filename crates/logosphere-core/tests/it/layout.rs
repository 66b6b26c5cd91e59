//! The page of a run, as a browser lays it out.

use serde_json::json;
use test_support::browser;

use crate::report::{html, journal};

#[test]
fn the_page_of_a_run_does_not_scroll_sideways() {
    let html = html(&journal("mutator:p=0.1", 12), 0);
    browser::run(async |browser| browser.assert_no_sideways_scroll(&html).await);
}

#[test]
fn l26_no_column_of_the_measures_is_cut_on_a_wide_screen() {
    let html = html(&journal("mutator:p=0.1", 12), 200);
    browser::run(async |browser| {
        browser.assert_no_sideways_scroll(&html).await;
        browser.set_width(1300).await;
        let cut = "[...document.querySelectorAll('#at-measures .table-scroll')]
            .filter((one) => one.scrollWidth > one.clientWidth).length";
        assert_eq!(browser.eval(cut).await, json!(0));
    });
}
