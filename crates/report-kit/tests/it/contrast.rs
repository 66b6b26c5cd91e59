//! Colours that can be told apart, in light and in dark (WCAG 2: 4.5 for text, 3 for marks).

use std::collections::HashMap;
use std::error::Error;

use report_kit::Page;
use scraper::Html;

use crate::reading::texts;

type Colours = HashMap<String, [f64; 3]>;

/// The colours of every `:root` block of the style: light first, then dark.
fn schemes() -> Result<Vec<Colours>, Box<dyn Error>> {
    let page = Html::parse_document(&Page::new("colours").render()?);
    let style = texts(&page, "style")?.concat();
    let blocks = style.split(":root {").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split('}').next());
    blocks.map(colours).collect()
}

fn colours(block: &str) -> Result<Colours, Box<dyn Error>> {
    let mut colours = Colours::new();
    for declaration in block.split(';') {
        let Some((name, value)) = declaration.split_once(": #") else {
            continue;
        };
        let part = |at: usize| u8::from_str_radix(&value[at..at + 2], 16).map(f64::from);
        let name = name.trim().trim_start_matches('-').to_owned();
        colours.insert(name, [part(0)?, part(2)?, part(4)?]);
    }
    Ok(colours)
}

fn luminance(colour: [f64; 3]) -> f64 {
    let [red, green, blue] = colour.map(|part| {
        let part = part / 255.0;
        if part <= 0.03928 {
            part / 12.92
        } else {
            ((part + 0.055) / 1.055).powf(2.4)
        }
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

#[test]
fn text_and_marks_stand_out() -> Result<(), Box<dyn Error>> {
    let schemes: Vec<Colours> = schemes()?
        .into_iter()
        .filter(|colours| !colours.is_empty())
        .collect();
    assert_eq!(schemes.len(), 2);
    for (index, colours) in schemes.iter().enumerate() {
        let mut pairs = Vec::new();
        for text in ["ink", "soft", "link"] {
            pairs.extend([
                (text.to_owned(), "ground".to_owned(), 4.5),
                (text.to_owned(), "raised".to_owned(), 4.5),
            ]);
        }
        for tone in ["good", "bad", "caution", "info"] {
            pairs.push((tone.to_owned(), format!("{tone}-ground"), 4.5));
        }
        pairs.extend((0..8).map(|cell| ("letter".to_owned(), format!("cell-{cell}"), 4.5)));
        pairs.extend((0..6).map(|hue| (format!("hue-{hue}"), "ground".to_owned(), 3.0)));
        pairs.push(("frame-inner".to_owned(), "frame-outer".to_owned(), 3.0));
        for (over, under, wanted) in pairs {
            let measured = contrast(colours[&over], colours[&under]);
            assert!(
                measured >= wanted,
                "scheme {index}: {over} on {under}: {measured:.2}"
            );
        }
    }
    Ok(())
}
