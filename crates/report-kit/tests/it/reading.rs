//! The page as the parser of a browser reads it.

use std::error::Error;

use report_kit::{
    Axis, Bar, Browser, Cell, Entry, Item, Page, Plot, Point, SearchableList, Section, Series,
    SpaceTime, Status, Table, TextDiff, Tree, Value,
};
use scraper::{Html, Selector};

/// The elements that a selector finds, in order.
pub(crate) fn found<'a>(
    page: &'a Html,
    selector: &str,
) -> Result<Vec<scraper::ElementRef<'a>>, Box<dyn Error>> {
    let selector = Selector::parse(selector).map_err(|error| error.to_string())?;
    Ok(page.select(&selector).collect())
}

/// The texts of those elements.
pub(crate) fn texts(page: &Html, selector: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let elements = found(page, selector)?.into_iter();
    Ok(elements.map(|element| element.text().collect()).collect())
}

/// Every element with its attributes, but for digests: two pages of the same shape have the same skeleton.
pub(crate) fn skeleton(page: &Html) -> Vec<String> {
    let elements = page
        .tree
        .nodes()
        .filter_map(|node| node.value().as_element());
    elements
        .map(|element| {
            let mut attributes: Vec<String> = (element.attrs())
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            attributes.sort();
            format!("{} {}", element.name(), attributes.join(" "))
        })
        .collect()
}

/// A browser that has `text` in every place that takes one.
fn browser_with(text: &str) -> Browser {
    let mut browser = Browser::new(text, [text, text, text]).status(Status::Good, text);
    let source = browser.text(text, [(0..text.len(), Status::Good)]);
    browser.item(Item {
        name: text.to_owned(),
        anchor: Some(format!("item {text}")),
        place: Some((source, 0..text.len())),
        values: vec![
            Value::Text(text.to_owned()),
            Value::Items(vec![0]),
            Value::Missing,
        ],
    });
    browser
}

/// A tree that has `text` in every place that takes one.
fn tree_with(text: &str) -> Tree {
    let mut tree = Tree::new(text, Axis::new(text));
    let node = tree.node(None, 1.0, text);
    tree.note(node, text);
    tree.link(node, "place");
    tree
}

/// A page that has `text` in every place that takes one.
pub(crate) fn filled_with(text: &str) -> Page {
    let axis = || Axis::new(text);
    let point = Point::new(1.0, 2.0).interval(1.0, 3.0).named(text);
    let table = Table::new(text, [text, text, text, text, text]).row([
        Cell::text(text),
        Cell::code(text),
        Cell::badge(text, Status::Good),
        Cell::link(text, "place"),
        Cell::Several(vec![Cell::text(text), Cell::Missing]),
    ]);
    let section = Section::new(text)
        .anchor("place")
        .text(text)
        .code(text, text)
        .notice(Status::Bad, text)
        .facts([(text, Cell::text(text))])
        .table(table)
        .plot(
            Plot::xy(text, axis(), axis())
                .with(Series::points(text, [point]))
                .with(Series::band(text, [(0.0, 1.0, 2.0)])),
        )
        .plot(
            Plot::stacked(text, axis(), axis())
                .with(Series::line(text, [(0.0, 1.0), (1.0, 2.0)]))
                .with(Series::line(text, [(0.0, 0.5), (1.0, 0.5)])),
        )
        .plot(Plot::bars(text, axis(), [Bar::new(text, 1.0)]))
        .diff(TextDiff::words(text, text, "").named(text, text))
        .diff(TextDiff::lines(text, "", text).named(text, text))
        .list(SearchableList::new(
            text,
            [Entry::new(text)
                .fact(text, text)
                .text(Status::Neutral, text)
                .text(Status::Bad, text)],
        ))
        .browser(browser_with(text))
        .command(text, text)
        .tree(tree_with(text))
        .columns([Section::new(text).text(text)])
        .section(Section::new(text).folded().text(text));
    Page::new(text)
        .lead(text)
        .origin(Status::Info, text)
        .notice(Status::Caution, text)
        .plot(Plot::bars(text, axis(), [Bar::new(text, 1.0)]))
        .section(section)
        .section(Section::new(text))
        .section(
            Section::new(text).grid(
                SpaceTime::new(text, ["..", ".>"])
                    .symbol('.', text)
                    .symbol('>', text)
                    .mark(1, 1, text),
            ),
        )
        .provenance(Section::new(text).facts([(text, Cell::text(text))]))
        .data("text", &text)
}
