//! Checks of a page of a report: what a reader sees, and that no text became a part of it.

use std::collections::BTreeSet;

use scraper::{ElementRef, Html, Selector};

/// Returns the elements that a selector finds, in order.
pub fn found<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

/// Returns the texts of the elements that a selector finds.
pub fn texts(page: &Html, selector: &str) -> Vec<String> {
    let elements = found(page, selector).into_iter();
    elements.map(|element| element.text().collect()).collect()
}

/// Returns the text that a reader sees: a line for each of the elements `blocks`, without navigation and the tables of plots.
pub fn reading(page: &Html, blocks: &str) -> String {
    let hidden = |element: &ElementRef<'_>| {
        let mut parents = element.ancestors().filter_map(ElementRef::wrap);
        parents.any(|parent| {
            let name = parent.value().name();
            name == "figure" && element.value().name() == "tr" || name == "nav"
        })
    };
    let line = |element: ElementRef<'_>| {
        let children = element.children().filter_map(ElementRef::wrap);
        let cells: Vec<String> = children
            .filter(|cell| matches!(cell.value().name(), "td" | "th"))
            .map(|cell| cell.text().collect())
            .collect();
        let text = if cells.is_empty() {
            element.text().collect()
        } else {
            cells.join(" | ")
        };
        format!("{}: {}", element.value().name(), text.trim())
    };
    let elements = found(page, blocks).into_iter();
    let lines: Vec<String> = elements
        .filter(|element| !hidden(element))
        .map(line)
        .collect();
    lines.join("\n")
}

/// Returns the names of all elements, and of all attributes with the elements that have them.
fn kinds(page: &Html) -> BTreeSet<String> {
    let nodes = page.tree.nodes();
    let elements = nodes.filter_map(|node| node.value().as_element());
    let named = elements.flat_map(|element| {
        let attributes = std::iter::once("").chain(element.attrs().map(|(name, _)| name));
        attributes.map(|attribute| format!("{} {attribute}", element.name()))
    });
    named.collect()
}

/// Fails the test if a page with a hostile text has an element, an attribute or a script that the `tame` page lacks. The text
/// has the word `alert`.
#[track_caller]
pub fn check_nothing_comes_from_a_text(page: &Html, tame: &Html, text: &str) {
    let new: Vec<_> = kinds(page).difference(&kinds(tame)).cloned().collect();
    assert_eq!(new, Vec::<String>::new(), "{text:?}");
    assert_eq!(found(page, "script").len(), found(tame, "script").len());
    let nodes = page.tree.nodes();
    let elements = nodes.filter_map(|node| node.value().as_element());
    for (name, value) in elements.flat_map(scraper::node::Element::attrs) {
        assert!(!value.contains("alert"), "{text:?}: {name}={value}");
    }
}

/// Fails the test if the sections of a page differ from these, if the last one is not the provenance, or if a hash of 64 digits is
/// shown above it.
#[track_caller]
pub fn check_order(page: &Html, sections: &[&str]) {
    assert_eq!(texts(page, "main > section h2"), sections);
    assert_eq!(sections.last(), Some(&"Provenance"));
    let is_hash =
        |word: &str| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let sections = found(page, "main > section");
    let shown = found(page, "header")
        .into_iter()
        .chain(sections.into_iter().rev().skip(1));
    for part in shown {
        let text: String = part.text().collect::<Vec<_>>().join(" ");
        let hash = text
            .split(|letter: char| !letter.is_ascii_alphanumeric())
            .find(|word| is_hash(word));
        assert_eq!(hash, None, "a hash above the provenance");
    }
}

/// Fails the test if a page refers to anything but itself, or if its policy lets it.
#[track_caller]
pub fn check_refers_to_no_network(page: &Html) {
    for attribute in [
        "src",
        "srcset",
        "srcdoc",
        "action",
        "formaction",
        "data",
        "poster",
        "background",
        "ping",
        "style",
    ] {
        let with = found(page, &format!("[{attribute}]"));
        assert!(with.is_empty(), "{attribute}");
    }
    assert!(found(page, "link, base, iframe, object, embed, img, form").is_empty());
    for link in found(page, "[href]") {
        assert!(link.attr("href").unwrap().starts_with('#'));
    }
    let policy = found(page, "meta[http-equiv='Content-Security-Policy']");
    let policy = policy[0].attr("content").unwrap();
    assert!(policy.starts_with("default-src 'none'"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
}
