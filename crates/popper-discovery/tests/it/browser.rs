//! The page in a real browser: it asks no network for anything, runs nothing it was told by a model, and its links lead somewhere.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::hostile::fill;
use crate::page::{found, html, small_run};

/// Where Chromium is, on the machines where these tests run.
const CHROMIUM: &str = "/usr/bin/chromium";

/// What a browser makes of a page: the document after its scripts have run, and every address that the document
/// asked for.
fn browsed(folder: &Path, address: &str) -> (String, Vec<String>) {
    let log = folder.join("net.json");
    let output = Command::new(CHROMIUM)
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-dev-shm-usage",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
            "--host-resolver-rules=MAP * ~NOTFOUND",
            "--virtual-time-budget=2000",
            "--dump-dom",
        ])
        .arg(format!(
            "--user-data-dir={}",
            folder.join("profile").display()
        ))
        .arg(format!("--log-net-log={}", log.display()))
        .arg(address)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let log = std::fs::read_to_string(log).unwrap();
    let events = log.lines().filter_map(|line| {
        let event: Value = serde_json::from_str(line.trim_end_matches(',')).ok()?;
        let asked = &event["params"];
        // What the browser wants for itself is nobody's wish on the page.
        let of_page = asked["initiator"].as_str()? != "not an origin";
        of_page.then(|| asked["url"].as_str().map(str::to_owned))?
    });
    let asked = events.collect();
    (String::from_utf8(output.stdout).unwrap(), asked)
}

#[expect(
    clippy::disallowed_macros,
    reason = "a test says on its output that it did nothing"
)]
fn skip() {
    eprintln!("skipped: there is no {CHROMIUM}");
}

#[tokio::test]
async fn a_browser_asks_for_nothing_and_runs_nothing() {
    if !Path::new(CHROMIUM).exists() {
        skip();
        return;
    }
    let (mut store, mut run) = small_run().await;
    // Whatever would run changes the document so that it shows.
    let text = "<script>document.title='alert(1)'</script><img src=https://example.org/x.png onerror=\"document.title='alert(1)'\">";
    fill(&mut store, &mut run, text);
    let html = html(&mut store, &run).await;
    let folder = tempfile::tempdir().unwrap();
    // A page that does ask is noticed.
    let asking = folder.path().join("asking.html");
    std::fs::write(&asking, "<img src=http://page.invalid/x.png>").unwrap();
    let (_, asked) = browsed(folder.path(), &format!("file://{}", asking.display()));
    assert!(
        asked.contains(&"http://page.invalid/x.png".to_owned()),
        "{asked:?}"
    );
    let file = folder.path().join("report.html");
    std::fs::write(&file, html).unwrap();
    let first = store
        .evaluations
        .iter()
        .find(|row| row.counterexample_id.is_none())
        .unwrap();
    let address = format!("file://{}#at-law-{}", file.display(), first.law_id);
    let (document, asked) = browsed(folder.path(), &address);
    assert!(asked.is_empty(), "{asked:?}");
    let page = scraper::Html::parse_document(&document);
    let titles = crate::page::texts(&page, "title");
    assert_eq!(titles[0], format!("Laws of {text}"));
    assert!(found(&page, "img").is_empty());
    // The data is whole.
    let data = crate::page::texts(&page, "#data-report").concat();
    let data: Value = serde_json::from_str(&data).unwrap();
    assert_eq!(data["laws"][0]["claim"], text);
    // The search box is shown, so the page's own script ran.
    assert!(!found(&page, ".search:not([hidden])").is_empty());
    // A link into a folded law unfolds it.
    let target = format!("details[open] > #at-law-{}", first.law_id);
    assert_eq!(found(&page, &target).len(), 1);
    assert_eq!(found(&page, "#at-accepted details[open]").len(), 1);
}
