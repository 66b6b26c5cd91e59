//! The findings of a review of earlier pages, as far as they are on the page of a run.

use scraper::Html;
use test_support::page::{found, texts};
use zer0gravity_engine::ExperimentResult;

use super::page::html;
use super::sample::{item, judged, report, small, tokens};

fn parsed(results: Vec<ExperimentResult>) -> Html {
    Html::parse_document(&html(&report(results)))
}

/// Results of an encoding on this number of texts, with other points for each.
fn results(encoding: &str, texts: u8) -> Vec<ExperimentResult> {
    let of = |index: u8| {
        judged(
            item(encoding, &format!("text {index}"), "x"),
            10 + 7 * index,
            4,
        )
    };
    (0..texts).map(of).collect()
}

#[test]
fn b6_the_scale_of_a_total_is_0_to_100_and_three_texts_have_no_interval() {
    for (count, intervals) in [(2, 0), (3, 0), (4, 1)] {
        let page = parsed(results("e", count));
        let ticks = texts(&page, "header svg text");
        assert!(ticks.contains(&"100".to_owned()), "{ticks:?}");
        assert!(
            !ticks
                .iter()
                .any(|tick| tick.starts_with('-') || tick == "120"),
            "{ticks:?}"
        );
        assert_eq!(
            found(&page, "header svg .whisker").len(),
            intervals,
            "{count} texts"
        );
    }
}

#[test]
fn b7_the_front_is_a_step_line_through_what_is_not_dominated() {
    let mut all = Vec::new();
    for (encoding, saved, points) in [("best", 10, 38), ("short", 2, 20), ("beaten", 15, 25)] {
        for case in ["a", "b"] {
            all.push(tokens(
                judged(item(encoding, case, "x"), points, 4),
                20,
                saved,
            ));
        }
    }
    let page = parsed(all);
    let figure = &found(&page, "#at-fidelity figure.plot")[0];
    let figure = Html::parse_fragment(&figure.html());
    let line = found(&figure, "path.line")[0].attr("d").unwrap();
    let kinds: String = line.chars().filter(char::is_ascii_alphabetic).collect();
    assert_eq!(kinds, "MHL", "two systems on the front: {line}");
    let mut labels = texts(&figure, "text.label");
    labels.sort();
    assert_eq!(labels, ["beaten", "best", "short"]);
    let legend = texts(&figure, ".legend bdi");
    assert_eq!(
        legend,
        [
            "on the front: no system is better in both",
            "below the front"
        ]
    );
}

#[test]
fn b10_headings_are_short_and_the_numbers_are_in_the_data() {
    let page = Html::parse_document(&html(&small()));
    for heading in texts(&page, "h2, #at-score h3, #at-fidelity h3, #at-flags h3") {
        assert!(heading.split(' ').count() <= 5, "{heading}");
    }
    assert!(
        texts(&page, "figure.plot summary").len() <= 1,
        "the curve of savings alone is not in the data"
    );
    assert!(found(&page, "figure.plot a[href='#data']").len() >= 3);
    assert_eq!(found(&page, "footer#data").len(), 1);
}
