//! The findings B1 to B11 of a review of earlier pages, as far as they are the same on every page.
#![expect(
    clippy::unwrap_used,
    reason = "a test stops at the first surprise, and the line says which"
)]

use report_kit::{Axis, Bar, Cell, Page, Plot, Point, Section, Series, Table, Tree};
use scraper::Html;
use serde_json::json;
use test_support::browser;

use crate::reading::{filled_with, found, texts};

fn rendered(section: Section) -> String {
    Page::new("p").section(section).render().unwrap()
}

fn parsed(section: Section) -> Html {
    Html::parse_document(&rendered(section))
}

/// A table that is as wide as those of the programs.
fn wide() -> Table {
    let columns = ["Law", "Verdict", "Evidence", "Begins", "Count", "Share"];
    let words = "words of a claim that is as long as most claims are";
    let row = |index: u32| {
        let law = Cell::text(words).with_id(format!("within_round_similarity_{index}"));
        [
            law,
            "PASS".into(),
            words.into(),
            words.into(),
            1.into(),
            Cell::Missing,
        ]
    };
    Table::new("Rows", columns).rows((0..3).map(row))
}

#[test]
fn b1_nothing_outside_of_its_box_widens_the_page() {
    browser::run(async |browser| {
        // A missing value has a hidden word for screen readers.
        browser
            .assert_no_sideways_scroll(&rendered(Section::new("s").table(wide())))
            .await;
        browser
            .assert_no_sideways_scroll(&filled_with("plain").render().unwrap())
            .await;
    });
}

#[test]
fn b2_a_wide_table_takes_the_room_of_the_window() {
    browser::run(async |browser| {
        let _site = browser
            .show(&rendered(Section::new("s").table(wide())))
            .await;
        for (width, scrolls) in [(390, true), (1300, false), (1500, false)] {
            browser.set_width(width).await;
            let seen = "(() => { const box = document.querySelector('.table-scroll');
                return [box.scrollWidth > box.clientWidth, box.clientWidth > document.querySelector('main').clientWidth]; })()";
            assert_eq!(
                browser.eval(seen).await,
                json!([scrolls, !scrolls]),
                "{width}"
            );
        }
    });
}

#[test]
fn b3_a_name_is_in_words_and_its_identifier_is_small_and_whole() {
    let page = parsed(Section::new("s").table(wide()));
    let ids = texts(&page, "tbody th small.id").unwrap();
    assert_eq!(ids[0], "within_round_similarity_0");
    assert_eq!(
        found(&page, "tbody tr:first-child th wbr").unwrap().len(),
        3
    );
}

#[test]
fn b4_a_drawing_shrinks_with_the_window() {
    let line = Plot::line(
        "l",
        Axis::new("x"),
        Axis::new("y"),
        [(0.0, 0.0), (9.0, 3.0)],
    );
    browser::run(async |browser| {
        let _site = browser.show(&rendered(Section::new("s").plot(line))).await;
        let seen = "(() => { const box = document.querySelector('svg.drawing').getBoundingClientRect();
            const ticks = [...document.querySelectorAll('svg.drawing text')].filter((one) => one.checkVisibility());
            return [box.width <= innerWidth, ticks.length]; })()";
        browser.set_width(1300).await;
        let many = browser.eval(seen).await;
        browser.set_width(320).await;
        let few = browser.eval(seen).await;
        assert_eq!((&many[0], &few[0]), (&json!(true), &json!(true)));
        assert!(few[1].as_u64() < many[1].as_u64(), "{few} of {many}");
    });
}

#[test]
fn b5_a_table_without_rows_is_a_sentence() {
    let page = parsed(Section::new("s").table(Table::new("Laws with a verdict", ["Law"])));
    assert!(found(&page, "table").unwrap().is_empty());
    assert_eq!(
        texts(&page, "p.none").unwrap(),
        ["Laws with a verdict: none."]
    );
}

#[test]
fn b6_an_interval_ends_in_an_arrow_at_the_end_of_the_axis() {
    let axis = || Axis::new("total").range(0.0, 100.0);
    let bars = Plot::bars("b", axis(), [Bar::new("a", 50.0).interval(-50.0, 150.0)]);
    let points = [
        Point::new(1.0, 50.0).interval(-50.0, 60.0),
        Point::new(2.0, 101.0),
    ];
    let points = Plot::points("p", Axis::new("x"), axis(), points);
    for (plot, strokes) in [(bars, 3), (points, 3)] {
        let page = parsed(Section::new("s").plot(plot));
        let ticks = texts(&page, "svg.drawing text").unwrap();
        assert!(
            ticks.contains(&"100".to_owned()) && !ticks.contains(&"150".to_owned()),
            "{ticks:?}"
        );
        assert!(!ticks.iter().any(|tick| tick.starts_with('-')), "{ticks:?}");
        let whiskers = found(&page, "path.whisker").unwrap();
        let path = whiskers[0].attr("d").unwrap();
        // A line and two ends; an arrow has one corner more than a cap.
        assert_eq!(path.matches('M').count(), strokes, "{path}");
        assert!(path.matches('L').count() > strokes, "{path}");
    }
    let beyond = Plot::points("p", Axis::new("x"), axis(), [(1.0, 5.0), (2.0, 101.0)]);
    let page = parsed(Section::new("s").plot(beyond));
    assert_eq!(
        texts(&page, ".plot .note").unwrap(),
        ["1 point left out: beyond 0 to 100."]
    );
}

#[test]
fn b6_points_at_one_place_are_side_by_side() {
    let plot = Plot::points(
        "p",
        Axis::new("x"),
        Axis::new("y"),
        [(1.0, 1.0), (1.0, 1.0), (2.0, 3.0)],
    );
    let page = parsed(Section::new("s").plot(plot));
    let marks = found(&page, "svg.drawing .mark").unwrap();
    let places: Vec<_> = marks.iter().map(|mark| mark.attr("d").unwrap()).collect();
    assert_ne!(places[0], places[1]);
}

#[test]
fn b7_a_step_line_holds_a_value_until_the_next_point() {
    let front = Series::steps("front", [(3.0, 1.0), (2.0, 4.0), (0.0, 5.0)]);
    let plot = Plot::xy("p", Axis::new("x"), Axis::new("y")).with(front);
    let page = parsed(Section::new("s").plot(plot));
    let line = found(&page, "path.line").unwrap()[0].attr("d").unwrap();
    let kinds: String = line.chars().filter(char::is_ascii_alphabetic).collect();
    assert_eq!(kinds, "MHLHL", "{line}");
}

#[test]
fn b7_an_axis_that_does_not_begin_at_zero_is_broken() {
    let breaks = |y: Axis| {
        let plot = Plot::line("p", Axis::new("x"), y, [(0.0, 90.0), (1.0, 95.0)]);
        found(&parsed(Section::new("s").plot(plot)), "path.break")
            .unwrap()
            .len()
    };
    assert_eq!(breaks(Axis::new("y")), 1);
    assert_eq!(breaks(Axis::new("y").including(0.0)), 0);
    assert_eq!(breaks(Axis::new("y").log()), 0);
}

#[test]
fn b7_few_points_have_their_names_beside_them() {
    let points = [("one", 1.0), ("two", 2.0)].map(|(name, x)| Point::new(x, x).named(name));
    let page =
        parsed(Section::new("s").plot(Plot::points("p", Axis::new("x"), Axis::new("y"), points)));
    assert_eq!(
        texts(&page, "svg.drawing text.label").unwrap(),
        ["two", "one"]
    );
}

#[test]
fn b8_a_note_says_why_points_are_left_out() {
    let y = Axis::new("y").missing("too few tokens");
    let points = [(1.0, 1.0), (2.0, f64::NAN), (3.0, f64::NAN)];
    let page = parsed(Section::new("s").plot(Plot::line("p", Axis::new("x"), y, points)));
    assert_eq!(
        texts(&page, ".plot .note").unwrap(),
        ["2 points left out: too few tokens."]
    );
}

#[test]
fn b9_a_share_has_an_axis_from_0_to_100_percent() {
    let plot = Plot::line(
        "p",
        Axis::new("x"),
        Axis::new("share").percent(),
        [(0.0, 0.25)],
    );
    let page = parsed(Section::new("s").plot(plot));
    let ticks = texts(&page, "svg.drawing text[text-anchor=end]").unwrap();
    assert_eq!(ticks[..6], ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
    assert_eq!(texts(&page, ".mark title").unwrap(), ["share: 0, 25 %"]);
}

#[test]
fn b11_a_page_has_one_script_for_order_choice_and_copies() {
    let page = parsed(Section::new("s").table(wide()));
    let script = texts(&page, "script:not([type])").unwrap();
    assert_eq!(script.len(), 1);
    for part in ["aria-sort", "aria-pressed", "clipboard", "nav details"] {
        assert!(script[0].contains(part), "{part}");
    }
}

#[test]
fn lineage_is_a_tree() {
    let mut tree = Tree::new("Lineage", Axis::new("round"));
    let seed = tree.node(None, 0.0, "seed 0");
    let first = tree.node(Some(seed), 1.0, "1");
    tree.size(first, 9);
    tree.pass(first, 2);
    tree.dash(first);
    tree.leave_out(first, 3);
    tree.note(first, "a text");
    let second = tree.node(Some(seed), 2.0, "2");
    tree.link(second, "there");
    let page = parsed(Section::new("s").anchor("there").tree(tree));
    let names = texts(&page, "svg text.tree-name").unwrap();
    assert_eq!(names, ["(2)", "seed 0", "1 +3", "2"]);
    assert_eq!(found(&page, "svg path.edge.dashed").unwrap().len(), 1);
    assert_eq!(
        texts(&page, "svg.drawing > title, svg title").unwrap()[2],
        "1, 3 descendants not drawn: a text"
    );
    assert_eq!(found(&page, "svg path.edge").unwrap().len(), 2);
    let links = found(&page, "svg a[href='#at-there']").unwrap();
    assert_eq!(links.len(), 1);
}
