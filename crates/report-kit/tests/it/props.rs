//! Any text and any number.

use proptest::prelude::*;
use report_kit::{Axis, Bar, Page, Plot, Point, Section, Series, TextDiff, visible};
use scraper::Html;

use crate::reading::{filled_with, found, texts};

/// Texts made of what means something to a parser, and of anything else.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,8}",
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "<", ">", "&", "\"", "'", "/", "<!--", "-->", "</", "script", "style", "svg", "title",
            "&lt;", "&#0;", "]]>", "\0", "\r", "\n", "\u{2028}", "\u{202e}", " ",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn failed(error: impl std::fmt::Display) -> TestCaseError {
    TestCaseError::fail(error.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_read_is_what_was_given_made_visible(text in text()) {
        let page = Html::parse_document(&filled_with(&text).render().map_err(failed)?);
        let shown = visible(&text).into_owned();
        for place in ["h1", "header > p.text", "div.text.code", "td code", "li b"] {
            let read = texts(&page, place).map_err(failed)?;
            prop_assert!(read.contains(&shown), "{place}: {read:?}");
        }
        let elements = found(&page, "main *").map_err(failed)?.len();
        let plain = Html::parse_document(&filled_with("x").render().map_err(failed)?);
        // Only the marks of a diff, its lines and the joints of long words depend on the text.
        let marks = |page: &Html| found(page, "del, ins, main wbr, .line, .text > span").map(|m| m.len()).map_err(failed);
        let plain_elements = found(&plain, "main *").map_err(failed)?.len();
        let empty = usize::from(text.is_empty());
        if empty == 0 {
            prop_assert_eq!(elements - marks(&page)?, plain_elements - marks(&plain)?);
        }
        let data = texts(&page, "#data-text").map_err(failed)?.concat();
        prop_assert_eq!(serde_json::from_str::<String>(&data).map_err(failed)?, text);
    }

    #[test]
    fn nothing_hidden_is_left(text in text()) {
        let shown = visible(&text);
        prop_assert!(!shown.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
        prop_assert_eq!(visible(&shown), shown.clone());
    }

    #[test]
    fn a_diff_holds_both_texts(old in text(), new in text()) {
        let section = Section::new("s").diff(TextDiff::words("d", &old, &new));
        let html = Page::new("p").section(section).render().map_err(failed)?;
        let page = Html::parse_document(&html);
        let read = |places: &str| texts(&page, places).map(|texts| texts.concat()).map_err(failed);
        prop_assert_eq!(read(".diff .text span, .diff .text del")?, visible(&old).into_owned());
        prop_assert_eq!(read(".diff .text span, .diff .text ins")?, visible(&new).into_owned());
    }

    #[test]
    fn any_numbers_are_drawn(
        numbers in prop::collection::vec((any::<f64>(), any::<f64>(), any::<f64>()), 0..12),
        log: bool,
    ) {
        let axis = || if log { Axis::new("a").log() } else { Axis::new("a").including(f64::NAN) };
        let points = numbers.iter().map(|&(x, y, z)| Point::new(x, y).interval(y, z));
        let section = Section::new("s")
            .plot(Plot::xy("p", axis(), axis()).with(Series::line("l", points)).with(Series::band("b", numbers.clone())))
            .plot(Plot::bars("b", axis(), numbers.iter().map(|n| Bar::new("b", n.0).interval(n.1, n.2))));
        let html = Page::new("p").section(section).render().map_err(failed)?;
        let page = Html::parse_document(&html);
        for element in found(&page, "svg *").map_err(failed)? {
            for (_, value) in element.value().attrs() {
                prop_assert!(!value.contains("not") && !value.contains("inf"), "{value}");
            }
        }
    }
}
