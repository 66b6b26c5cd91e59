//! The order of a page.

use std::error::Error;

use report_kit::{Axis, Bar, Cell, Page, Plot, Section, Status};
use scraper::Html;

use crate::reading::{found, texts};

type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn the_result_is_first_and_the_provenance_last() -> Outcome {
    // Whatever the order of the calls.
    let provenance = Section::new("Provenance").facts([("hash", Cell::code("ab".repeat(32)))]);
    let html = Page::new("Title")
        .provenance(provenance)
        .section(Section::new("First"))
        .section(Section::new("Limits").folded())
        .notice(Status::Bad, "Cut short.")
        .origin(Status::Info, "Offline.")
        .lead("Result.")
        .plot(Plot::bars("Figure", Axis::new("a"), [Bar::new("b", 1.0)]))
        .data("numbers", &[1])
        .render()?;
    let place = |part: &str| html.find(part).ok_or_else(|| part.to_owned());
    let hash = "ab".repeat(32);
    let order = [
        "<h1>Title",
        "Result.",
        "Offline.",
        "Cut short.",
        "<figure",
        "<nav",
        "<main>",
        "<h2>First",
        &hash,
        "<footer",
    ];
    let places: Vec<usize> = order.into_iter().map(place).collect::<Result<_, _>>()?;
    assert!(places.is_sorted(), "{places:?}");
    let page = Html::parse_document(&html);
    assert_eq!(texts(&page, "main > section > h2")?, ["First"]);
    assert_eq!(
        texts(&page, "main > section > details h2")?,
        ["Limits", "Provenance"]
    );
    Ok(())
}

#[test]
fn one_notice_is_at_the_top() -> Outcome {
    let page = Page::new("t")
        .notice(Status::Bad, "one")
        .notice(Status::Caution, "two");
    let page = Html::parse_document(&page.render()?);
    assert_eq!(texts(&page, "header .notice bdi")?, ["two"]);
    assert!(
        found(&page, "nav")?.is_empty(),
        "a short page needs no contents"
    );
    Ok(())
}
