//! The findings of a review of earlier pages, as far as they are on the page of a run.

use logosphere_core::report::{ReportData, page};
use scraper::Html;
use test_support::page::{found, texts};

use crate::report::journal;

fn compared() -> (ReportData, Html) {
    let data = ReportData::read(&journal("mutator:p=0.1", 14)[..], 200).unwrap();
    let html = page(&data).render().unwrap();
    (data, Html::parse_document(&html))
}

#[test]
fn b5_the_answer_and_its_figure_are_first() {
    let (data, page) = compared();
    let sentence = data.analysis.sentence().unwrap();
    assert!(sentence.starts_with("Drift is enough: "), "{sentence}");
    assert!(texts(&page, "header > .text")[0].starts_with(&sentence));
    assert!(
        texts(&page, "header .notice")
            .concat()
            .contains("Offline: no model was asked. The program mutator:p=0.1")
    );
    // A meter that stays at 100 % is a sentence.
    assert!(found(&page, "#at-protocol figure, #at-protocol table").is_empty());
    let meter = texts(&page, "#at-protocol > p").concat();
    assert!(meter.starts_with("56 answers have the form"), "{meter}");
}

#[test]
fn b8_the_null_model_is_named_in_the_title_of_its_figure() {
    let (_, page) = compared();
    let figures = texts(&page, "figure.plot figcaption");
    let title = "Similarity of visible texts by round, with neutral descent";
    assert_eq!(figures[0], title);
    assert_eq!(
        texts(&page, "header .legend bdi"),
        [
            "this run",
            "95 % of the null runs",
            "median of the null runs"
        ]
    );
}

#[test]
fn b9_names_are_words_with_a_unit() {
    let (_, page) = compared();
    let names = texts(&page, "#at-measures > .rows tbody th a");
    for name in [
        "Similarity of visible texts, cosine",
        "Identical pairs, share",
        "Compression ratio",
    ] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
    let ids = texts(&page, "#at-measures > .rows tbody th small");
    assert!(ids.contains(&"tfidf_similarity".to_owned()), "{ids:?}");
    let facts = texts(&page, "#at-provenance > dl > div");
    assert!(
        facts.contains(&"End\u{2713}all rounds done".to_owned()),
        "{facts:?}"
    );
}

#[test]
fn b10_headings_are_short_and_details_are_folded() {
    let (_, page) = compared();
    for heading in texts(&page, "h2, h3") {
        assert!(heading.split(' ').count() <= 5, "{heading}");
    }
    let open = texts(&page, "#at-measures > .columns > section > h3");
    assert_eq!(
        open,
        [
            "Similarity within a round",
            "Similarity to what was read",
            "Identical pairs",
            "New texts in the window"
        ]
    );
    assert_eq!(
        found(&page, "#at-measures details .columns > section").len(),
        13
    );
    // Each measure leads to its definition.
    assert_eq!(
        found(&page, "#at-measures a[href='#at-definitions']").len(),
        17
    );
}
