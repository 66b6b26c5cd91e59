//! The layout of a page in a browser.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

use report_kit::{Axis, Bar, Cell, Page, Plot, Section, SpaceTime, Status, Table};
use scraper::Html;
use serde_json::json;
use test_support::browser::{self, Browser};

use crate::reading::{filled_with, texts};

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
            Cell::badge(["even", "odd"][index as usize % 2], Status::Neutral),
        ]
    });
    let columns = ["Measure", "Verdict", "Number", "Hash", "Words", "Parity"];
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
fn no_page_scrolls_sideways() {
    browser::run(async |browser| {
        for html in [page(), filled_with("plain"), filled_with(&"w".repeat(400))] {
            browser
                .assert_no_sideways_scroll(&html.render().unwrap())
                .await;
        }
    });
}

#[test]
fn a_page_keeps_the_rules_of_a_report() {
    browser::run(async |browser| {
        browser
            .assert_report_layout(&page().render().unwrap())
            .await;
    });
}

/// The keys that a person presses.
const TAB: &str = "\u{E004}";
const ENTER: &str = "\u{E007}";
const ESCAPE: &str = "\u{E00C}";

/// The texts of the third column, of the rows that are shown.
async fn numbers(browser: &Browser) -> Vec<String> {
    let numbers = "[...document.querySelectorAll('table.long tbody tr:not([hidden])')].map((row) => row.cells[2].textContent)";
    serde_json::from_value(browser.eval(numbers).await).unwrap()
}

/// Walks with the Tab key to the control with this text and presses Enter.
async fn enter(browser: &Browser, text: &str) {
    let reached = format!("document.activeElement.textContent.trim() === {text:?}");
    for _ in 0..60 {
        if browser.eval(&reached).await == true {
            return browser.type_into(":focus", ENTER).await;
        }
        let at = if browser
            .eval("document.activeElement === document.body")
            .await
            == true
        {
            "body"
        } else {
            ":focus"
        };
        browser.type_into(at, TAB).await;
    }
    panic!("no control {text:?} was reached");
}

#[test]
fn a_long_table_is_sorted_and_filtered_by_the_keyboard() {
    browser::run(async |browser| {
        let html = page().render().unwrap();
        let _site = browser.show(&html).await;
        let all = numbers(browser).await;
        assert_eq!(all.len(), 24);
        enter(browser, "FAIL 8").await;
        assert_eq!(numbers(browser).await.len(), 8);
        enter(browser, "Number").await;
        assert_eq!(numbers(browser).await.len(), 8);
        let sort = "document.querySelector('[aria-sort]').ariaSort";
        assert_eq!(browser.eval(sort).await, "ascending");
        browser.press("all 24").await;
        let sorted = numbers(browser).await;
        assert_eq!((sorted[0].as_str(), sorted[22].as_str()), ("0", "23"));
        assert!(
            sorted[23].contains("none"),
            "a row without a value is last: {sorted:?}"
        );
        browser.press("Number").await;
        assert_eq!(numbers(browser).await[0], "23");
        assert_eq!(browser.eval(sort).await, "descending");
        // Both columns of badges choose.
        browser.press("even 12").await;
        assert_eq!(numbers(browser).await.len(), 12);
        browser.press("FAIL 8").await;
        assert_eq!(numbers(browser).await.len(), 4);
        browser.set_scripts(false).await;
        let _site = browser.show(&html).await;
        assert_eq!(numbers(browser).await, all);
        assert_eq!(
            browser
                .eval("document.querySelectorAll('button').length")
                .await,
            0
        );
    });
}

#[test]
fn an_address_that_is_no_encoded_text_leaves_the_scripts_running() {
    browser::run(async |browser| {
        let _site = browser.show(&page().render().unwrap()).await;
        browser.js("location.hash = '#100%'").await;
        browser.reload().await;
        assert_eq!(browser.eval("location.hash").await, "#100%");
        enter(browser, "FAIL 8").await;
        assert_eq!(numbers(browser).await.len(), 8);
    });
}

#[test]
fn the_head_of_a_long_table_stays() {
    browser::run(async |browser| {
        let _site = browser.show(&page().render().unwrap()).await;
        browser
            .js("document.querySelector('.tall').scrollTop = 400")
            .await;
        let head =
            "(() => { const top = (one) => document.querySelector(one).getBoundingClientRect().top;
            return Math.abs(top('.tall thead th') - top('.tall')); })()";
        assert!(browser.eval(head).await.as_f64() < Some(2.0));
    });
}

#[test]
fn a_command_is_copied_by_the_keyboard_and_shown_without_scripts() {
    let line = "popper simulate '>.<' --steps 2";
    let html = Page::new("p")
        .section(Section::new("s").command("Shows it again", line))
        .data("numbers", &[1, 2, 3])
        .render()
        .unwrap();
    browser::run(async |browser| {
        let grant = json!({"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]});
        browser.devtools("Browser.grantPermissions", grant).await;
        let _site = browser.show(&html).await;
        for (label, copied) in [("Copy command", line), ("Copy data", "[1,2,3]")] {
            enter(browser, label).await;
            browser.wait_until("document.querySelector('.copy') && [...document.querySelectorAll('.copy')].some((one) => one.textContent === 'Copied')").await;
            browser
                .js("window.read = null; navigator.clipboard.readText().then((text) => { window.read = text; })")
                .await;
            assert_eq!(browser.wait_until("window.read").await, copied);
            browser
                .wait_until("[...document.querySelectorAll('.copy')].every((one) => one.textContent !== 'Copied')")
                .await;
        }
        browser.set_scripts(false).await;
        let _site = browser.show(&html).await;
        assert_eq!(browser.text("figure.code .text").await, line);
        assert_eq!(
            browser
                .eval("document.querySelectorAll('button').length")
                .await,
            0
        );
    });
}

#[test]
fn the_contents_stay_in_view_and_lead_into_folds() {
    browser::run(async |browser| {
        let html = page().render().unwrap();
        let _site = browser.show(&html).await;
        let top = "document.querySelector('nav').getBoundingClientRect().top";
        browser.js("scrollTo(0, document.body.scrollHeight)").await;
        assert_eq!(browser.eval(top).await, json!(0), "one line at the top");
        enter(browser, "Contents").await;
        let is_open = "document.querySelector('nav details').open";
        assert_eq!(browser.eval(is_open).await, true);
        browser.type_into(":focus", ESCAPE).await;
        assert_eq!(browser.eval(is_open).await, false);
        enter(browser, "Contents").await;
        browser.press("Provenance").await;
        browser
            .wait_until("document.querySelector('#section-8').checkVisibility()")
            .await;
        assert_eq!(browser.eval(is_open).await, false);
        // In a wide window they are a column at the left, open.
        browser.set_width(1500).await;
        browser.js("scrollTo(0, document.body.scrollHeight)").await;
        let column = "(() => { const nav = document.querySelector('nav').getBoundingClientRect();
            const links = document.querySelectorAll('nav a');
            return links[0].checkVisibility() && nav.top >= 0 && nav.right <= document.querySelector('main').getBoundingClientRect().left; })()";
        assert_eq!(browser.eval(column).await, true);
    });
}

#[test]
fn paper_shows_what_is_folded() {
    browser::run(async |browser| {
        let _site = browser.show(&page().render().unwrap()).await;
        let hash = "document.querySelector('#section-8 code').checkVisibility({contentVisibilityAuto: true})";
        assert_eq!(browser.eval(hash).await, false);
        browser
            .devtools("Emulation.setEmulatedMedia", json!({"media": "print"}))
            .await;
        browser.wait_until(hash).await;
        let gone = "[...document.querySelectorAll('nav, .filter, .copy')].filter((one) => one.checkVisibility()).length";
        assert_eq!(browser.eval(gone).await, 0);
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
