//! The layout of a page in a browser.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

use report_kit::{Axis, Bar, Cell, Page, Plot, Section, SpaceTime, Status, Table};
use scraper::Html;
use serde_json::json;
use test_support::browser::{self, Browser};

use crate::reading::{filled_with, found, texts};

/// A table with a status, a number and a long word in each of its rows.
fn table() -> Table {
    let rows = (0..24_u32).map(|index| {
        let (word, tone) = match index % 3 {
            0 => ("PASS", Status::Good),
            1 => ("FAIL", Status::Bad),
            _ => ("UNKNOWN", Status::Caution),
        };
        [
            Cell::text(format!("within_round_similarity-{index}")),
            Cell::badge(word, tone),
            if index == 5 {
                Cell::Missing
            } else {
                (index * 7 % 24).into()
            },
            Cell::code("0123456789abcdef".repeat(4)),
            Cell::text("telegraphic words that say something about the row at some length"),
            Cell::Missing,
        ]
    });
    let columns = ["Measure", "Verdict", "Number", "Hash", "Words", "Nothing"];
    Table::new("All", columns).rows(rows)
}

fn page() -> Page {
    let bars = ["telegraphic", "a_name_of_some_length_that_is_cut"];
    let bars = Plot::bars(
        "Totals",
        Axis::new("of 100"),
        bars.map(|name| Bar::new(name, 58.25)),
    );
    let page = Page::new("A page")
        .lead("One sentence.")
        .plot(bars)
        .section(Section::new("Rows").table(table()))
        .section(
            Section::new("Grid").grid(SpaceTime::new("Wide", [".".repeat(90), ">".repeat(90)])),
        );
    (3..8)
        .fold(page, |page, index| {
            page.section(Section::new(format!("Part {index}")).text("x"))
        })
        .provenance(
            Section::new("Provenance").facts([("hash", Cell::code("0123456789abcdef".repeat(4)))]),
        )
}

#[test]
fn the_result_is_first_and_the_provenance_last() {
    // Whatever the order of the calls.
    let provenance = Section::new("Provenance").facts([("hash", Cell::code("ab".repeat(32)))]);
    let html = Page::new("t")
        .provenance(provenance)
        .section(Section::new("s"))
        .lead("Result.");
    let html = html.plot(Plot::bars("Figure", Axis::new("a"), [Bar::new("b", 1.0)]));
    let html = html.render().unwrap();
    let place = |part: &str| html.find(part).unwrap();
    let order = ["Result.", "<figure", "<main>", &"ab".repeat(32)].map(place);
    assert!(order.is_sorted(), "{order:?}");
    assert_eq!(
        texts(&Html::parse_document(&html), "details h2").unwrap(),
        ["Provenance"]
    );
}

#[test]
fn the_sections_after_the_fourth_are_folded() {
    let page = Html::parse_document(&page().render().unwrap());
    let open = texts(&page, "main > section > h2").unwrap();
    assert_eq!(open, ["Rows", "Grid", "Part 3", "Part 4"]);
    let folded = texts(&page, "main > section > details > summary > h2").unwrap();
    assert_eq!(folded, ["Part 5", "Part 6", "Part 7", "Provenance"]);
}

#[test]
fn only_a_long_table_brings_its_script() {
    let short = Table::new("t", ["a"]).rows((0..9_u32).map(|n| [n.into()]));
    let short = Page::new("p")
        .section(Section::new("s").table(short))
        .render()
        .unwrap();
    assert!(
        found(&Html::parse_document(&short), "script")
            .unwrap()
            .is_empty()
    );
    let long = Html::parse_document(&page().render().unwrap());
    assert_eq!(found(&long, "table.long").unwrap().len(), 1);
    assert_eq!(found(&long, "script").unwrap().len(), 1);
}

#[test]
fn no_page_scrolls_sideways() {
    browser::run(async |browser| {
        for html in [page(), filled_with("plain"), filled_with(&"w".repeat(400))] {
            browser
                .assert_no_sideways_scroll(&html.render().unwrap())
                .await;
        }
    });
}

/// The texts of the first column, of the rows that are shown.
async fn names(browser: &Browser) -> Vec<String> {
    let names = "[...document.querySelectorAll('table.long tbody tr:not([hidden])')].map((row) => row.cells[2].textContent)";
    serde_json::from_value(browser.eval(names).await).unwrap()
}

#[test]
fn a_long_table_is_sorted_and_filtered_and_whole_without_scripts() {
    browser::run(async |browser| {
        let html = page().render().unwrap();
        let _site = browser.show(&html).await;
        let all = names(browser).await;
        assert_eq!(all.len(), 24);
        browser.press("Number").await;
        let sorted = names(browser).await;
        assert_eq!((sorted[0].as_str(), sorted[22].as_str()), ("0", "23"));
        assert!(
            sorted[23].contains("none"),
            "a row without a value is last: {sorted:?}"
        );
        browser.press("Number").await;
        assert_eq!(names(browser).await[0], "23");
        assert_eq!(
            browser
                .eval("document.querySelector('[aria-sort]').ariaSort")
                .await,
            "descending"
        );
        browser.press("FAIL 8").await;
        assert_eq!(names(browser).await.len(), 8);
        browser.press("all 24").await;
        assert_eq!(names(browser).await.len(), 24);
        browser
            .devtools(
                "Emulation.setScriptExecutionDisabled",
                json!({"value": true}),
            )
            .await;
        let _site = browser.show(&html).await;
        assert_eq!(names(browser).await, all);
        assert_eq!(
            browser
                .eval("document.querySelectorAll('thead button, .filter').length")
                .await,
            0
        );
    });
}

#[test]
fn a_long_name_is_broken_at_its_joints_only_and_copied_whole() {
    let names = [
        "within_round_similarity",
        "telegraphic/with_a_tail",
        "a-name-of-many-short-parts",
    ];
    let table = Table::new("Names", ["Measure_of_a_name", "Fate"])
        .rows(names.map(|name| [Cell::text(name), Cell::text("survived to the last round")]));
    let html = Page::new("p").section(Section::new("Rows").table(table));
    let html = html.render().unwrap();
    let page = Html::parse_document(&html);
    assert_eq!(texts(&page, "tbody th bdi").unwrap(), names);
    browser::run(async |browser| {
        let _site = browser.show(&html).await;
        for width in [240, 390, 800] {
            browser.set_width(width).await;
            // A text without a space lies in one box unless it is broken inside.
            let broken =
                "[...document.querySelectorAll('th bdi')].flatMap((name) => [...name.childNodes])
                .filter((part) => {
                  const range = document.createRange();
                  range.selectNodeContents(part);
                  return part.nodeType === Node.TEXT_NODE && range.getClientRects().length > 1;
                }).map((part) => part.data)";
            assert_eq!(browser.eval(broken).await, json!([]), "{width}");
        }
        browser.set_width(240).await;
        let lines = "(() => { const range = document.createRange();
            range.selectNodeContents(document.querySelector('tbody th bdi'));
            return new Set([...range.getClientRects()].map((box) => box.top)).size; })()";
        assert!(browser.eval(lines).await.as_u64() > Some(1), "it is broken");
        let copied = "[...document.querySelectorAll('tbody th bdi')].map((name) => {
            getSelection().selectAllChildren(name); return getSelection().toString(); })";
        assert_eq!(browser.eval(copied).await, json!(names));
    });
}
