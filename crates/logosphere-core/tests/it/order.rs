//! The order of a page.

use logosphere_core::report::{ReportData, page};
use scraper::Html;
use test_support::page::{check_order, texts};

use crate::report::journal;

#[test]
fn the_sections_of_a_page() {
    for mind in ["mutator:p=0.1", "disobedient"] {
        let data = ReportData::read(&journal(mind, 8)[..], 200).unwrap();
        let page = Html::parse_document(&page(&data).render().unwrap());
        check_order(
            &page,
            &[
                "Is it chance?",
                "Seeds that survived",
                "Lineage",
                "Measures",
                "Parse success",
                "Cost",
                "Messages",
                "Definitions",
                "Limits",
                "Provenance",
            ],
        );
        let folded = texts(&page, "main > section > details > summary > h2");
        assert_eq!(folded, ["Messages", "Definitions", "Provenance"]);
    }
}
