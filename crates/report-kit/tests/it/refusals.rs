//! Mistakes of the program that fills a page.

use report_kit::{Cell, Entry, Error, Page, SearchableList, Section, Status, Table};

fn refused(page: &Page) -> String {
    page.render()
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn a_row_has_a_cell_for_each_column() {
    let table = Table::new("laws", ["a", "b"])
        .row([Cell::text("1"), Cell::text("2")])
        .row([Cell::text("3")]);
    let page = Page::new("p").section(Section::new("s").table(table));
    assert_eq!(
        refused(&page),
        "table \"laws\", row 2: 1 cells for 2 columns"
    );
}

#[test]
fn an_anchor_is_one_place() {
    let list = SearchableList::new("l", [Entry::new("e").anchor("x").text(Status::Good, "t")]);
    let page = Page::new("p").section(Section::new("s").anchor("x").list(list));
    assert_eq!(refused(&page), "anchor \"x\" stands for two places");
    let page = Page::new("p").section(Section::new("s").facts([("to", Cell::link("there", "y"))]));
    assert_eq!(
        refused(&page),
        "a link leads to \"y\", which is not on this page"
    );
}

#[test]
fn data_has_a_name_and_is_json() {
    for name in ["", "A", "a b", "\"><script>"] {
        let page = Page::new("p").data(name, &1);
        assert!(
            matches!(page.render(), Err(Error::DataName { .. })),
            "{name}"
        );
    }
    let page = Page::new("p").data("a", &1).data("a", &2);
    assert_eq!(refused(&page), "data name \"a\" is used twice");
    let keys = std::collections::BTreeMap::from([((1, 2), 3)]);
    let page = Page::new("p").data("a", &keys);
    assert_eq!(refused(&page), "data \"a\" is not JSON");
    assert_eq!(refused(&page), "data \"a\" is not JSON");
}
