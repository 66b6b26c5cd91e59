//! The order of a page.

use scraper::Html;
use test_support::page::{check_order, texts};

use super::page::html;
use super::sample::small;

#[test]
fn the_sections_of_a_page() {
    let page = Html::parse_document(&html(&small()));
    check_order(
        &page,
        &[
            "Score",
            "Meaning against compression",
            "Score by text length",
            "Limits",
            "Flags",
            "Failed calls",
            "Judges",
            "Texts",
            "Texts side by side",
            "Provenance",
        ],
    );
    let folded = texts(&page, "main > section > details > summary > h2");
    assert_eq!(folded, ["Texts side by side", "Provenance"]);
}
