//! Prints size and height of the pages of the demos next to the goals: `cargo xtask demo`, then
//! `cargo bench -p report-kit --bench pages [-- PAGE...]`.
//!
//! Other pages are given by their paths; what has no goal is printed without one. The height is that in a window 1300 pixels
//! wide, with the sections as they are folded. Nothing is asserted.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a bench takes its pages from the command line and prints its measurements"
)]

use std::path::{Path, PathBuf};

use test_support::browser::{self, Browser};

/// A program, the goal of its page in bytes, and that of its height in pixels.
const GOALS: [(&str, usize, u64); 3] = [
    ("popper", 400_000, 8_000),
    ("zer0gravity", 80_000, 4_500),
    ("logosphere", 350_000, 6_000),
];

fn main() {
    let given: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .map(PathBuf::from)
        .filter(|path| path.is_file())
        .collect();
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/demo");
    let demos = GOALS.map(|(program, ..)| demo.join(program).join("report.html"));
    let pages = if given.is_empty() {
        demos.into()
    } else {
        given
    };
    println!(
        "{:<40} {:>9} {:>9} {:>7} {:>7}",
        "page", "bytes", "goal", "height", "goal"
    );
    for page in pages {
        match std::fs::read_to_string(&page) {
            Ok(html) => measure(&page, &html),
            Err(error) => println!("{}: {error}; `cargo xtask demo` writes it", page.display()),
        }
    }
}

fn measure(page: &Path, html: &str) {
    let name = page.display().to_string();
    let goal = GOALS.iter().find(|(program, ..)| name.contains(program));
    let text = |goal: Option<String>| goal.unwrap_or_else(|| "-".to_owned());
    let bytes = text(goal.map(|(_, bytes, _)| bytes.to_string()));
    let pixels = text(goal.map(|(.., pixels)| pixels.to_string()));
    // Without a browser there is no height.
    let mut height = "-".to_owned();
    browser::run(async |browser| height = height_of(browser, html).await);
    println!(
        "{name:<40} {:>9} {bytes:>9} {height:>7} {pixels:>7}",
        html.len()
    );
}

async fn height_of(browser: &Browser, html: &str) -> String {
    let _site = browser.show(html).await;
    browser.set_width(1300).await;
    let height = browser.eval("document.documentElement.scrollHeight").await;
    height.to_string()
}
