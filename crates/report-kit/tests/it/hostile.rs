//! Hostile texts of a model, in every part that takes a text.

use std::error::Error;

use report_kit::{Page, Section, SpaceTime, visible};
use scraper::Html;

use crate::reading::{filled_with, found, skeleton, texts};

/// Texts that have broken out of other pages.
const HOSTILE: [&str; 22] = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    "</title><svg onload=alert(1)>",
    "\" onmouseover=\"alert(1)\" x=\"",
    "' autofocus onfocus='alert(1)",
    "<!-- <script>",
    "--><script>alert(1)</script>",
    "]]><b>",
    "<![CDATA[<b>]]>",
    "&lt;b&gt; &#60;b&#62; &amp;",
    "<foreignObject><iframe src=https://example.org></iframe></foreignObject>",
    "</svg></figure></main></body></html><h1>mine</h1>",
    "</table></details></section><form action=//example.org>",
    "<base href=//example.org><meta http-equiv=refresh content=0;url=//example.org>",
    "javascript:alert(1) data:text/html,<b> https://example.org/a?b=c",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %>",
    "\0\u{1}\u{1b}[31mred\u{7f}\u{9b}31m",
    "\u{202e}evil\u{2066}a\u{2069}\u{200f}\u{61c}\u{feff}\u{200b}",
    "\u{2028}\u{2029}\u{fffe}\u{e0041}\u{10ffff}",
    "\n leading and trailing \r\n\r\u{c}\t",
    "Z\u{351}\u{36b}a\u{343}\u{329}l\u{321}g\u{322}o \u{5e9}\u{5dc}\u{5d5}\u{5dd} \u{645}\u{631}\u{62d}\u{628}\u{627}",
];

/// With a text of the same length in bytes: lengths are all that may differ.
fn harmless(length: usize) -> String {
    "x".repeat(length)
}

/// Elements that depend on how many words and lines a text has, and its data's size.
fn without_counts(skeleton: Vec<String>) -> Vec<String> {
    let kept = |line: &String| {
        !["del ", "ins ", "span "]
            .iter()
            .any(|start| line.starts_with(start))
            // The joint of a long word has no attribute.
            && line != "wbr "
    };
    skeleton.into_iter().filter(kept).collect()
}

#[test]
fn no_element_and_no_attribute_comes_from_a_text() -> Result<(), Box<dyn Error>> {
    for text in HOSTILE {
        let hostile = Html::parse_document(&filled_with(text).render()?);
        let tame = Html::parse_document(&filled_with(&harmless(text.len())).render()?);
        assert_eq!(
            without_counts(skeleton(&hostile)),
            without_counts(skeleton(&tame)),
            "{text:?}"
        );
        let spans = found(&hostile, "del, ins, span")?;
        let own = ["class", "aria-hidden"];
        for attribute in spans.iter().flat_map(|span| span.value().attrs()) {
            assert!(own.contains(&attribute.0), "{text:?}: {attribute:?}");
            assert!(!attribute.1.contains("alert"), "{text:?}: {attribute:?}");
        }
    }
    Ok(())
}

#[test]
fn a_text_reads_as_it_is_shown() -> Result<(), Box<dyn Error>> {
    for text in HOSTILE {
        let page = Html::parse_document(&filled_with(text).render()?);
        let shown = visible(text).into_owned();
        for place in [
            "h1",
            "header > p.text",
            "section > p.text",
            "div.text.code",
            "dt",
            "caption bdi, th bdi",
            "td code",
            "td a bdi",
            "div.text > del",
            "li b",
            "section section p",
            "nav a bdi",
        ] {
            if place == "caption bdi, th bdi" {
                let rows = texts(&page, "section > .rows tbody th")?;
                assert_eq!(rows.first(), Some(&shown), "{place}");
                continue;
            }
            assert!(texts(&page, place)?.contains(&shown), "{place}: {text:?}");
        }
    }
    Ok(())
}

#[test]
fn links_stay_on_the_page() -> Result<(), Box<dyn Error>> {
    for text in HOSTILE {
        let page = Html::parse_document(&filled_with(text).render()?);
        for link in found(&page, "a")? {
            let href = link.attr("href").unwrap_or_default();
            let target = href.strip_prefix('#').ok_or(href)?;
            assert_eq!(
                found(&page, &format!("[id=\"{target}\"]"))?.len(),
                1,
                "{href}"
            );
        }
        let elsewhere = "[src], [action], [style], [srcset], [formaction], [data], link, base, iframe, object, embed, image, use, form";
        assert!(found(&page, elsewhere)?.is_empty());
    }
    Ok(())
}

#[test]
fn ids_are_unique() -> Result<(), Box<dyn Error>> {
    let page = Html::parse_document(&filled_with("text").render()?);
    let mut ids: Vec<&str> = found(&page, "[id]")?
        .iter()
        .filter_map(|e| e.attr("id"))
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
    // What refers to another element finds it.
    for element in found(&page, "[aria-labelledby], [aria-describedby], [for]")? {
        for name in ["aria-labelledby", "aria-describedby", "for"] {
            assert!(element.attr(name).is_none_or(|id| ids.contains(&id)));
        }
    }
    Ok(())
}

#[test]
fn any_anchor_is_a_place() -> Result<(), Box<dyn Error>> {
    for anchor in HOSTILE {
        let html = Page::new("anchors")
            .section(Section::new("there").anchor(anchor))
            .section(Section::new("s").facts([("to", report_kit::Cell::link("there", anchor))]))
            .render()?;
        let page = Html::parse_document(&html);
        let link = found(&page, "a")?
            .first()
            .and_then(|a| a.attr("href"))
            .ok_or("no link")?;
        let id = found(&page, "section")?
            .first()
            .and_then(|s| s.attr("id"))
            .ok_or("no id")?;
        assert_eq!(link, format!("#{id}"));
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.~".contains(c);
        assert!(id.chars().all(plain), "{id}");
    }
    Ok(())
}

#[test]
fn a_text_of_megabytes_is_cut_and_kept_in_the_data() -> Result<(), Box<dyn Error>> {
    let long = "ab<\u{202e} ".repeat(1_500_000);
    let html = filled_with(&long).render()?;
    assert!(html.len() < 3 * long.len(), "{} bytes", html.len());
    let page = Html::parse_document(&html);
    let notes = texts(&page, ".cut")?;
    assert!(
        notes
            .iter()
            .any(|note| note == "[cut: the first 20000 of 7500000 characters]"),
        "{notes:?}"
    );
    let data = texts(&page, "#data-text")?.concat();
    assert_eq!(serde_json::from_str::<String>(&data)?, long);
    Ok(())
}

#[test]
fn cells_of_any_character_are_drawn() -> Result<(), Box<dyn Error>> {
    let grid = SpaceTime::new("cells", ["<\0&\u{202e}", "\"'", ""])
        .symbol('<', "less")
        .mark(9, 9, "nowhere");
    let page = Html::parse_document(
        &Page::new("grid")
            .section(Section::new("s").grid(grid))
            .render()?,
    );
    assert_eq!(texts(&page, "div.cells")?, ["<⟨U+0000⟩&⟨U+202E⟩\n\"'\n\n"]);
    let letters = texts(&page, ".cells .letter")?;
    assert_eq!(letters, ["?&?", "\"'"]);
    Ok(())
}
