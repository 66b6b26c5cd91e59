//! The test browser itself.

use test_support::browser::{self, Served, Site};

#[test]
fn a_page_is_driven_photographed_and_read() {
    browser::run(async |browser| {
        let page = "<!doctype html><title>t</title><button onclick='this.textContent=\"pressed\"'>press me</button>
            <iframe src=/inner></iframe><script>console.error('told')</script>";
        let site = Site::new([
            ("/", Served::html(page)),
            ("/inner", Served::html("<p id=deep>deep")),
        ])
        .await;
        browser.open(&site.url("/")).await;
        browser.press("press").await;
        assert_eq!(browser.text("button").await, "pressed");
        browser.enter_frame("iframe").await;
        assert_eq!(browser.text("#deep").await, "deep");
        browser.leave_frame().await;
        assert_eq!(browser.eval("document.title").await, "t");
        let console = browser.console().await;
        assert!(
            console.iter().any(|line| line.contains("told")),
            "{console:?}"
        );
        let seen = browser.accessibility().await;
        assert!(
            seen.contains(&("button".into(), "pressed".into())),
            "{seen:?}"
        );
        let picture = browser.screenshot().await;
        assert_eq!(&picture[1..4], b"PNG");
        assert_eq!(&picture[16..24], &[0, 0, 5, 0, 0, 0, 3, 32]);
        browser.reload().await;
        assert_eq!(browser.text("button").await, "press me");
    });
}

#[test]
fn the_page_has_the_focus_in_every_window() {
    browser::run(async |browser| {
        let site = Site::new([("/", Served::html("<!doctype html><input id=one>"))]).await;
        browser.open(&site.url("/")).await;
        let first = browser.tab().await;
        assert_eq!(browser.eval("document.hasFocus()").await, true);
        browser.new_tab().await;
        browser.open(&site.url("/")).await;
        assert_eq!(browser.eval("document.hasFocus()").await, true);
        browser.switch_tab(first).await;
        assert_eq!(browser.eval("document.hasFocus()").await, true);
    });
}
