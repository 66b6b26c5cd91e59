//! The times that a person waits: `cargo test --release -p orrery-hermitcrab-face --test it -- --ignored --nocapture face::speed`.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "it measures, and says what it measured"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use hermitcrab_kernel::OfflineBrain;

use super::home::{FACE, Plan};
use test_support::browser;

const ROUNDS: usize = 10;

fn report(what: &str, limit: u32, mut all: Vec<Duration>) {
    all.sort();
    let ms = |at: usize| all[at].as_millis();
    eprintln!(
        "{what}: median {} ms, slowest {} ms, limit {limit} ms",
        ms(all.len() / 2),
        ms(all.len() - 1)
    );
}

#[test]
#[ignore = "it measures, and nothing asserts on a time"]
fn a_page_and_a_recompile() {
    browser::run(async |browser| {
        let home = Plan::default().open(Arc::new(OfflineBrain)).await;
        browser.open(&home.url).await;
        browser.wait_for(FACE).await;
        let mut pages = Vec::new();
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            browser.reload().await;
            browser
                .in_frame_until(FACE, "document.querySelector('input')")
                .await;
            pages.push(begun.elapsed());
        }
        report("a page with a kept face, to its first field", 700, pages);
        let source = home.kernel.faces().source(1).unwrap().unwrap();
        let mut mounts = Vec::new();
        for round in 0..ROUNDS {
            let jsx = format!("{source}\n// {round}\n");
            let begun = Instant::now();
            let outcome = home.kernel.recompile(&jsx).await;
            mounts.push(begun.elapsed());
            assert!(!outcome.is_error, "{:?}", outcome.content);
        }
        report("recompile to mounted, 210 lines", 300, mounts);
        home.close().await;
    });
}
