//! Tables, plots, diagrams, diffs and lists.

use std::error::Error;

use report_kit::{
    Axis, Bar, Cell, Entry, Page, Plot, SearchableList, Section, Series, SpaceTime, Status, Table,
    TextDiff,
};
use scraper::Html;

use crate::reading::{found, texts};

type Outcome = Result<(), Box<dyn Error>>;

fn page(section: Section) -> Result<Html, Box<dyn Error>> {
    Ok(Html::parse_document(
        &Page::new("page").section(section).render()?,
    ))
}

fn axes() -> (Axis, Axis) {
    (Axis::new("x"), Axis::new("y"))
}

#[test]
fn numbers_have_their_digits() -> Outcome {
    let table = Table::new("t", ["a", "b", "c", "d", "e"]).row([
        Cell::Integer(i128::from(u64::MAX)),
        Cell::number(-0.001, 2),
        Cell::number(f64::NAN, 2),
        Cell::interval(0.5, 0.25, 0.75, 2),
        None::<u64>.into(),
    ]);
    let page = page(Section::new("s").table(table))?;
    let cells = texts(&page, "tbody th, tbody td")?;
    assert_eq!(
        cells,
        [
            "18446744073709551615",
            "0.00",
            "not a number",
            "0.50 [0.25, 0.75]",
            "–none"
        ]
    );
    assert_eq!(found(&page, "th.number[scope=col]")?.len(), 4);
    Ok(())
}

#[test]
fn points_without_a_place_are_counted() -> Outcome {
    let points = [
        (1.0, 1.0),
        (f64::NAN, 1.0),
        (2.0, f64::INFINITY),
        (0.0, 5.0),
        (-1.0, 5.0),
        (10.0, 2.0),
    ];
    let plot = Plot::points("p", Axis::new("x").log(), Axis::new("y"), points);
    let page = page(Section::new("s").plot(plot))?;
    let notes = texts(&page, ".plot .note")?;
    assert_eq!(
        notes,
        ["4 points left out: not finite, or not positive on a logarithmic axis."]
    );
    assert_eq!(found(&page, "svg.drawing .mark")?.len(), 2);
    // The table has them all.
    assert_eq!(found(&page, "details tbody tr")?.len(), 6);
    Ok(())
}

#[test]
fn a_point_that_is_left_out_breaks_the_line() -> Outcome {
    let (x, y) = axes();
    let plot = Plot::line(
        "p",
        x,
        y,
        [(0.0, 0.0), (1.0, f64::NAN), (2.0, 1.0), (3.0, 2.0)],
    );
    let page = page(Section::new("s").plot(plot))?;
    let path = found(&page, "svg.drawing .line")?
        .first()
        .and_then(|p| p.attr("d"))
        .ok_or("no line")?;
    assert_eq!(path.matches('M').count(), 2);
    assert_eq!(path.matches('L').count(), 1);
    Ok(())
}

#[test]
fn a_plot_of_nothing_is_a_sentence() -> Outcome {
    let none: [(f64, f64); 0] = [];
    let plots = [
        Plot::xy("none", axes().0, axes().1),
        Plot::line("empty", axes().0, axes().1, none),
        Plot::xy("nan", axes().0, axes().1).with(Series::band("b", [(0.0, f64::NAN, 1.0)])),
        Plot::bars("b", axes().0, []),
    ];
    for plot in plots {
        let page = page(Section::new("s").plot(plot))?;
        assert_eq!(texts(&page, ".plot .none")?, ["There is nothing to draw."]);
        assert!(found(&page, "svg.drawing")?.is_empty());
    }
    Ok(())
}

#[test]
fn long_series_are_thinned_and_say_so() -> Outcome {
    let points = (0..10_000).map(|n| (f64::from(n), f64::from(n % 7)));
    let page = page(Section::new("s").plot(Plot::points("p", axes().0, axes().1, points)))?;
    assert_eq!(
        texts(&page, ".plot .note")?,
        [
            "y: one point in 3 is drawn.",
            "The table has the first 1000 of 10000 rows."
        ]
    );
    assert!(found(&page, "svg .mark")?.len() < 4_000);
    Ok(())
}

#[test]
fn bars_may_be_negative_or_not_numbers() -> Outcome {
    let bars = [
        Bar::new("a", -2.0),
        Bar::new("b", f64::NAN),
        Bar::new("c", 1e308).interval(f64::NAN, 1.0),
    ];
    let page = page(Section::new("s").plot(Plot::bars("b", axes().0.log(), bars)))?;
    assert_eq!(found(&page, "svg .bar")?.len(), 2);
    assert_eq!(
        texts(&page, ".plot .note")?,
        [
            "1 bar left out: not finite.",
            "1 interval left out: not finite."
        ]
    );
    Ok(())
}

#[test]
fn drawings_have_a_name_and_a_description() -> Outcome {
    let grid = SpaceTime::new("the world", ["..>", ".>."])
        .symbol('.', "empty")
        .symbol('>', "mover")
        .mark(1, 1, "here");
    let section =
        Section::new("s")
            .grid(grid)
            .plot(Plot::line("the plot", axes().0, axes().1, [(1.0, 2.0)]));
    let page = page(section)?;
    assert_eq!(found(&page, "svg[role=img]")?.len(), 2);
    assert_eq!(
        texts(&page, "svg[role=img] > title")?,
        ["the world", "the plot"]
    );
    assert_eq!(
        texts(&page, "svg[role=img] > desc")?,
        [
            "2 rows of 3 cells, time runs downwards. Marked: time 1, cell 1.",
            "y over x: y; 1 point."
        ]
    );
    // Whatever has no name is hidden from those who cannot see it.
    assert!(found(&page, "svg:not([role]):not([aria-hidden])")?.is_empty());
    Ok(())
}

#[test]
fn a_large_world_is_cut_around_its_mark() -> Outcome {
    let rows: Vec<String> = (0..1000).map(|_| ".".repeat(1000)).collect();
    let grid = SpaceTime::new("w", rows)
        .symbol('.', "empty")
        .mark(900, 500, "far away");
    let page = page(Section::new("s").grid(grid))?;
    assert_eq!(found(&page, "svg .frame-inner")?.len(), 1);
    assert!(texts(&page, ".spacetime .note")?.contains(
        &"Cut: 400 of 1000 rows from 600, 240 of 1000 cells from 380 are shown.".to_owned()
    ));
    Ok(())
}

#[test]
fn a_piece_of_a_world_keeps_its_numbers() -> Outcome {
    let grid = SpaceTime::new("w", ["..>", ".>.", ">.."])
        .origin(998, 40)
        .mark_row(1, "here it fails")
        .mark(2, 0, "and this one");
    let page = page(Section::new("s").grid(grid))?;
    let numbers = texts(&page, "svg.cells > text:not(.axis-name)")?;
    assert_eq!(numbers, ["998", "999", "1000", "40"]);
    let frames = found(&page, "svg .frame-inner")?;
    let widths: Vec<_> = frames.iter().map(|frame| frame.attr("width")).collect();
    assert_eq!(widths, [Some("72"), Some("24")]);
    assert_eq!(
        texts(&page, ".marked")?,
        [
            "▢ time 999: here it fails",
            "▢ time 1000, cell 40: and this one"
        ]
    );
    let desc = texts(&page, "desc")?.concat();
    assert!(desc.ends_with("Marked: time 999."), "{desc}");
    Ok(())
}

#[test]
fn marks_outside_of_a_world_are_told_and_not_drawn() -> Outcome {
    let grid = SpaceTime::new("w", ["", "."])
        .origin(u64::MAX, u64::MAX)
        .mark_row(0, "an empty row")
        .mark_row(7, "no row")
        .mark(1, usize::MAX, "no cell");
    let page = page(Section::new("s").grid(grid))?;
    assert!(found(&page, "svg .frame-inner")?.is_empty());
    assert_eq!(texts(&page, ".marked")?.len(), 3);
    Ok(())
}

#[test]
fn a_limited_table_says_what_it_leaves_out() -> Outcome {
    let rows = |limit| {
        let rows = (0..30_u32).map(|n| [n.into(), Cell::text("row")]);
        Table::new("t", ["n", "what"]).rows(rows).limit(limit)
    };
    let cut = page(Section::new("s").table(rows(10)))?;
    assert_eq!(found(&cut, "tbody tr")?.len(), 10);
    assert_eq!(
        texts(&cut, ".rows > .note")?,
        ["The table has the first 10 of 30 rows."]
    );
    let whole = page(Section::new("s").table(rows(30)))?;
    assert_eq!(found(&whole, "tbody tr")?.len(), 30);
    assert!(found(&whole, ".rows > .note")?.is_empty());
    // A row that is not shown must be right all the same.
    let wrong = rows(10).row([Cell::Missing]);
    assert!(
        Page::new("p")
            .section(Section::new("s").table(wrong))
            .render()
            .is_err()
    );
    Ok(())
}

#[test]
fn a_column_of_words_gets_room() -> Outcome {
    let long = "a claim of more than forty bytes is long enough";
    let table = Table::new("t", ["a", "b", "c", "d"]).row([
        Cell::text("short"),
        Cell::code("a name of middle length"),
        Cell::Several(vec![Cell::badge("proved", Status::Good), Cell::text(long)]),
        Cell::Integer(1),
    ]);
    let page = page(Section::new("s").table(table))?;
    let heads = found(&page, "thead th")?;
    let classes: Vec<_> = heads.iter().map(|head| head.attr("class")).collect();
    assert_eq!(
        classes,
        [None, Some("middle"), Some("long"), Some("number")]
    );
    Ok(())
}

#[test]
fn the_place_of_a_folded_section_is_inside_of_it() -> Outcome {
    let section = Section::new("s")
        .facts([("to", Cell::link("there", "deep"))])
        .section(
            Section::new("folded")
                .folded()
                .section(Section::new("deep").anchor("deep").folded()),
        );
    let page = page(section)?;
    // A browser unfolds every `details` that a link's target lies in.
    assert_eq!(found(&page, "details details > #at-deep")?.len(), 1);
    assert!(found(&page, "section[id] > details")?.is_empty());
    Ok(())
}

#[test]
fn a_word_diff_holds_both_texts() -> Outcome {
    let (old, new) = ("the quick fox", "the slow fox jumps");
    let page = page(Section::new("s").diff(TextDiff::words("d", old, new)))?;
    assert_eq!(texts(&page, ".diff .text del")?, ["quick"]);
    assert_eq!(texts(&page, ".diff .text ins")?, ["slow", " jumps"]);
    assert_eq!(
        texts(&page, ".diff .note")?,
        ["1 passage removed, 2 passages added."]
    );
    Ok(())
}

#[test]
fn a_word_diff_underlines_marks_of_both_texts() -> Outcome {
    let (old, new) = ("do not\0 open it", "do open it now");
    // Beyond the text, within a letter, over another, empty: none of them is drawn, and none moves the others.
    let olds = vec![90..95, 3..7, 4..6, 8..8];
    let diff = TextDiff::words("d", old, new).marked("a difference", olds, vec![3..7, 11..14]);
    let drawn = page(Section::new("s").diff(diff))?;
    assert_eq!(texts(&drawn, ".diff .key u")?, ["a difference"]);
    assert_eq!(texts(&drawn, ".diff .text del u")?, ["not⟨U+0000⟩"]);
    assert_eq!(texts(&drawn, ".diff .text span u")?, ["open"]);
    assert_eq!(texts(&drawn, ".diff .text ins u")?, ["now"]);
    let lines = TextDiff::words("d", "a", "ä").marked("none", vec![0..9, 9..9], vec![1..2, 9..9]);
    let drawn = page(Section::new("s").diff(lines))?;
    assert!(texts(&drawn, ".diff .text u")?.is_empty());
    assert_eq!(texts(&drawn, ".diff .text")?, ["aä"]);
    Ok(())
}

#[test]
fn a_line_diff_leaves_out_what_is_equal() -> Outcome {
    let old: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let mut new = old.clone();
    new[50] = "changed".to_owned();
    let page = page(Section::new("s").diff(TextDiff::lines("d", old.join("\n"), new.join("\n"))))?;
    assert_eq!(
        texts(&page, ".skipped")?,
        ["… 47 equal lines\n", "… 46 equal lines\n"]
    );
    assert_eq!(
        texts(&page, ".diff .text del, .diff .text ins")?,
        ["- 50\n", "+ changed\n"]
    );
    Ok(())
}

#[test]
fn equal_texts_are_said_to_be_equal() -> Outcome {
    for diff in [
        TextDiff::words("d", "a b", "a b"),
        TextDiff::lines("d", "a\nb", "a\nb"),
    ] {
        let page = page(Section::new("s").diff(diff))?;
        assert_eq!(texts(&page, ".diff .note")?, ["The texts are equal."]);
        assert!(texts(&page, ".diff .text del, .diff .text ins")?.is_empty());
    }
    let hidden = TextDiff::words("d", "a\0", "a⟨U+0000⟩");
    let page = page(Section::new("s").diff(hidden))?;
    assert_eq!(
        texts(&page, ".diff .note")?,
        ["The texts differ, but not in what is shown here."]
    );
    Ok(())
}

#[test]
fn texts_too_long_to_compare_are_both_shown() -> Outcome {
    let (old, new) = ("a\n".repeat(6_000), "b\n".repeat(6_000));
    let page = page(Section::new("s").diff(TextDiff::words("d", &old, &new)))?;
    assert_eq!(texts(&page, ".diff .text del")?, [old]);
    assert_eq!(texts(&page, ".diff .text ins")?, [new]);
    Ok(())
}

#[test]
fn an_entry_is_cut_as_a_whole() -> Outcome {
    let entry = Entry::new("e")
        .text(Status::Neutral, "a".repeat(15_000))
        .text(Status::Good, "b".repeat(15_000))
        .text(Status::Bad, "c");
    let page = page(Section::new("s").list(SearchableList::new("l", [entry])))?;
    let shown = texts(&page, "li .text")?.concat();
    assert_eq!(shown.matches('b').count(), 5_000);
    assert!(
        shown.ends_with("b [cut: the first 20000 of 30001 characters]"),
        "{}",
        &shown[19_990..]
    );
    Ok(())
}

#[test]
fn ten_thousand_messages_fit() -> Outcome {
    let entries = (0..10_000_u32).map(|n| {
        Entry::new(format!("m{n}"))
            .anchor(format!("m{n}"))
            .fact("round", n / 16)
            .fact(
                "parents",
                Cell::link(format!("m{}", n / 2), format!("m{}", n / 2)),
            )
            .text(Status::Neutral, "o".repeat(150))
            .text(Status::Good, "x".repeat(50))
    });
    let section = Section::new("s").list(SearchableList::new("messages", entries));
    let html = Page::new("page").section(section).render()?;
    assert!(html.len() < 5_000_000, "{} bytes", html.len());
    let page = Html::parse_document(&html);
    assert_eq!(found(&page, ".list li")?.len(), 10_000);
    // The box is there for the script to show, and every entry is shown without it.
    assert_eq!(found(&page, ".search[hidden]")?.len(), 1);
    assert!(found(&page, "li[hidden]")?.is_empty());
    Ok(())
}
