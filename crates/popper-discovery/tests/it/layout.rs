//! The page of a run, as a browser lays it out.

use test_support::browser;

use crate::page::{html, small_run};

#[test]
fn the_page_of_a_run_does_not_scroll_sideways() {
    browser::run(async |browser| {
        let (mut store, run) = small_run().await;
        browser
            .assert_no_sideways_scroll(&html(&mut store, &run).await)
            .await;
    });
}
