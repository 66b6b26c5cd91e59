//! Thousands of items: what the script is given.

use std::error::Error;

use report_kit::{Browser, Cell, Item, Page, Section, Status, Value, visible};
use scraper::Html;
use serde_json::{Value as Json, json};

use crate::reading::{found, texts};

type Outcome = Result<(), Box<dyn Error>>;

fn item(name: &str, text: usize, part: std::ops::Range<usize>) -> Item {
    Item {
        name: name.to_owned(),
        place: Some((text, part)),
        ..Item::default()
    }
}

fn rendered(browser: Browser) -> Result<String, Box<dyn Error>> {
    Ok(Page::new("page")
        .section(Section::new("s").browser(browser))
        .render()?)
}

/// The data that the script reads.
fn data(browser: Browser) -> Result<Json, Box<dyn Error>> {
    let page = Html::parse_document(&rendered(browser)?);
    let json = texts(&page, ".browser script[type='application/json']")?.concat();
    Ok(serde_json::from_str(&json)?)
}

/// The part of a text between two places that a script counts.
fn slice(data: &Json, text: usize, start: &Json, end: &Json) -> String {
    let units: Vec<u16> = (data["texts"][text][0].as_str().unwrap_or_default())
        .encode_utf16()
        .collect();
    let place = |place: &Json| place.as_u64().unwrap_or(u64::MAX) as usize;
    String::from_utf16_lossy(&units[place(start)..place(end)])
}

#[test]
fn places_are_those_of_what_is_shown() -> Outcome {
    let parts = [
        "\u{1f422}thinks\u{202e}\r\n",
        "---\r\n",
        "sent \u{1b}[31m\u{e9}",
        "\r\n---\n",
        "too",
    ];
    let mut bounds = vec![0];
    for part in parts {
        bounds.push(bounds[bounds.len() - 1] + part.len());
    }
    let range = |part: usize| bounds[part]..bounds[part + 1];
    let mut browser = Browser::new("b", Vec::<String>::new());
    let marks = [
        (range(0), Status::Info),
        (range(2), Status::Good),
        (range(4), Status::Bad),
    ];
    let text = browser.text(parts.concat(), marks);
    for part in [2, 4] {
        browser.item(item("i", text, range(part)));
    }
    let data = data(browser)?;
    assert_eq!(data["texts"][0][0], visible(&parts.concat()).as_ref());
    let marks = data["texts"][0][2].as_array().ok_or("no marks")?;
    let shown: Vec<(String, &Json)> = (marks.iter())
        .map(|mark| {
            (
                slice(&data, 0, &mark[0], &mark[1]),
                &data["tones"][mark[2].as_u64().unwrap_or(9) as usize],
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (visible(parts[0]).into_owned(), &json!("tone info")),
            (visible(parts[2]).into_owned(), &json!("tone good")),
            ("too".to_owned(), &json!("tone bad")),
        ]
    );
    for (item, part) in [(0, 2), (1, 4)] {
        let place = &data["items"][item][2];
        assert_eq!(slice(&data, 0, &place[1], &place[2]), visible(parts[part]));
    }
    Ok(())
}

#[test]
fn a_long_text_is_cut_and_places_behind_the_cut_are_at_its_end() -> Outcome {
    let mut browser = Browser::new("b", Vec::<String>::new());
    let long = "é".repeat(30_000);
    let text = browser.text(
        long,
        [(10..20, Status::Good), (50_000..50_002, Status::Bad)],
    );
    browser.item(item("i", text, 39_990..50_000));
    // Neither the start of a mark nor a part need be between two characters.
    browser.item(item("j", text, 11..13));
    let data = data(browser)?;
    assert_eq!(data["texts"][0][1], 30_000);
    assert_eq!(data["texts"][0][2], json!([[5, 10, 1]]));
    assert_eq!(data["items"][0][2], json!([0, 19_995, 20_000]));
    assert_eq!(data["items"][1][2], json!([0, 5, 6]));
    Ok(())
}

#[test]
fn marks_that_overlap_are_left_out() -> Outcome {
    let mut browser = Browser::new("b", Vec::<String>::new());
    browser.text(
        "abcdef",
        [
            (0..3, Status::Good),
            (2..4, Status::Bad),
            (3..3, Status::Bad),
            (3..6, Status::Info),
        ],
    );
    assert_eq!(data(browser)?["texts"][0][2], json!([[0, 3, 1], [3, 6, 4]]));
    Ok(())
}

#[test]
fn links_lead_to_items() -> Outcome {
    let mut browser = Browser::new("b", ["parents"]);
    for n in 0..2_usize {
        browser.item(Item {
            name: format!("m{n}"),
            anchor: Some(format!("m{n}")),
            place: None,
            values: vec![Value::Items((0..n).collect())],
        });
    }
    let html = Page::new("page")
        .section(Section::new("t").facts([("first", Cell::link("m0", "m0"))]))
        .section(Section::new("s").browser(browser))
        .render()?;
    let page = Html::parse_document(&html);
    assert_eq!(found(&page, "a[href='#at-m0']")?.len(), 1);
    let json = texts(&page, ".browser script")?.concat();
    let data: Json = serde_json::from_str(&json)?;
    assert_eq!(
        data["items"],
        json!([["m0", "at-m0", null, [[]]], ["m1", "at-m1", null, [[0]]]])
    );
    // Without the script there is a sentence, and no box that does nothing.
    assert_eq!(found(&page, ".search[hidden]")?.len(), 1);
    assert_eq!(found(&page, ".unscripted:not([hidden])")?.len(), 1);
    Ok(())
}

#[test]
fn what_does_not_fit_is_refused() {
    let refused = |item: Item| {
        let mut browser = Browser::new("b", ["column"]);
        browser.text("text", []);
        browser.item(item);
        rendered(browser)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let of = |place, values| Item {
        place,
        values,
        ..Item::default()
    };
    let missing = || vec![Value::Missing];
    assert_eq!(refused(of(Some((0, 0..4)), missing())), "");
    for wrong in [
        of(Some((0, 0..4)), vec![]),
        of(Some((1, 0..4)), missing()),
        of(None, vec![Value::Items(vec![1])]),
    ] {
        assert_eq!(
            refused(wrong),
            "browser \"b\", item 1: its values or its text are not those of this browser"
        );
    }
}

#[test]
fn ten_thousand_messages_and_their_answers_fit() -> Outcome {
    let mut browser = Browser::new(
        "messages",
        ["round", "mind", "reason", "read", "parents", "children"],
    );
    for n in 0..10_000_usize {
        let answer = format!("I pass one on.\n---\n{}\n---\n\n---\n", "x".repeat(200));
        let text = browser.text(answer, [(0..14, Status::Info), (19..219, Status::Good)]);
        let before: Vec<usize> = (n.saturating_sub(3)..n).collect();
        browser.item(Item {
            name: format!("message {n}"),
            anchor: Some(format!("m{n}")),
            place: Some((text, 19..219)),
            values: vec![
                Value::Number(n as i64 / 3),
                Value::Number(n as i64 % 3),
                Value::Text("ok".to_owned()),
                Value::Items(before.clone()),
                Value::Items(before.into_iter().take(1).collect()),
                Value::Items((n + 1..10_000.min(n + 3)).collect()),
            ],
        });
    }
    let html = rendered(browser)?;
    assert!(html.len() < 4_500_000, "{} bytes", html.len());
    Ok(())
}
