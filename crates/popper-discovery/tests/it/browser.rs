//! The page in a real browser: it asks no network for anything, runs nothing it was told by a model, and its links lead somewhere.

use serde_json::Value;
use test_support::browser::{self, Listener, Served, Site};

use crate::hostile::fill;
use crate::page::{html, small_run};

#[test]
fn a_browser_asks_for_nothing_and_runs_nothing() {
    browser::run(async |browser| {
        let listener = Listener::open().await;
        let (mut store, mut run) = small_run().await;
        // Anything that runs changes the title; anything that loads reaches the listener.
        let text = format!(
            "<script>document.title='alert(1)'</script><img src=http://{}/x.png onerror=\"document.title='alert(1)'\">",
            listener.place()
        );
        fill(&mut store, &mut run, &text);
        let html = html(&mut store, &run).await;
        let first = store
            .evaluations
            .iter()
            .find(|row| row.counterexample_id.is_none())
            .unwrap();
        let target = format!("at-law-{}", first.law_id);
        let site = Site::new([("/", Served::html(html))]).await;
        browser.open(&site.url(&format!("/#{target}"))).await;
        // A link into a folded law unfolds it, and the page's own script shows the search box.
        let unfolded = format!("document.querySelector('#at-accepted details[open] > #{target}')");
        browser.wait_until(&format!("{unfolded} !== null")).await;
        (browser.wait_until("document.querySelector('.search:not([hidden])') !== null")).await;
        let title = format!("Laws of {text}");
        assert_eq!(browser.eval("document.title").await, title);
        assert_eq!(browser.eval("document.images.length").await, 0);
        // The data is whole.
        let data = browser
            .eval("document.querySelector('#data-report').textContent")
            .await;
        let data: Value = serde_json::from_str(data.as_str().unwrap()).unwrap();
        assert_eq!(data["laws"][0]["claim"], text);
        assert_eq!(listener.heard(), Vec::<String>::new());
        // A page that does ask is noticed.
        let asking = format!("<img src=http://{}/y.png>", listener.place());
        let _asking = browser.show(&asking).await;
        let asked = async || {
            listener
                .heard()
                .contains(&"GET /y.png".to_owned())
                .then_some(())
        };
        browser.until("the request of the other page", asked).await;
    });
}
