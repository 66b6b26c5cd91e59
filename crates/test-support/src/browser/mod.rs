//! A real browser for the tests: headless Chromium, driven by fantoccini over chromedriver.
//!
//! ```no_run
//! use test_support::browser::{self, Served, Site};
//!
//! browser::run(async |browser| {
//!     let site = Site::new([("/", Served::html("<p id=hello>hello"))]).await;
//!     browser.open(&site.url("/")).await;
//!     assert_eq!(browser.text("#hello").await, "hello");
//! });
//! ```
//!
//! Without a browser such a test passes with one line on stderr, unless `CI` or `ORRERY_BROWSER=required` is set.
//! `ORRERY_CHROMIUM` and `ORRERY_CHROMEDRIVER` name other programs than those on the PATH.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test looks for the browser, says why it was skipped, and shows what it saw when it failed"
)]

mod driver;
mod layout;
mod listener;
mod session;
mod site;

pub use listener::Listener;
pub use session::Browser;
pub use site::{Served, Site};

use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use driver::{Driver, Programs};
use futures_util::FutureExt as _;

/// The limit for a whole test, since a browser that hangs answers no command.
const PATIENCE: Duration = Duration::from_secs(150);

/// The lock that allows one browser at a time in a process; nextest's test group `browser` does so between processes.
static ONE: Mutex<()> = Mutex::new(());

/// Runs a test with a separate browser, which is always stopped afterwards.
///
/// If the test fails, the console of the page and a picture of it are kept.
pub fn run(test: impl AsyncFnOnce(&Browser)) {
    let programs = match Programs::find() {
        Ok(programs) => programs,
        Err(missing) => return skip(&missing),
    };
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let driver = Driver::start(&programs);
        let browser = Browser::connect(&driver).await;
        let whole = async {
            let ended = tokio::time::timeout(PATIENCE, test(&browser)).await;
            assert!(ended.is_ok(), "the test takes too long");
        };
        let outcome = AssertUnwindSafe(whole).catch_unwind().await;
        if let Err(panic) = outcome {
            browser.say_what_it_shows().await;
            drop(driver);
            std::panic::resume_unwind(panic);
        }
    });
}

/// Reports a test that cannot run, and fails it if a browser is required.
fn skip(missing: &str) {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let must = set("CI") || std::env::var_os("ORRERY_BROWSER").is_some_and(|v| v == "required");
    assert!(!must, "{missing}");
    eprintln!("skipped, no browser: {missing}");
}
