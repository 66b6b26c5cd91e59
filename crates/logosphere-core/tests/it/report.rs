//! The page of a run: what it says is what the journal says.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use llm_types::{ErrorClass, Usd};
use logosphere_core::config::Scheduling;
use logosphere_core::journal::Protocol;
use logosphere_core::measures::metrics::Metric;
use logosphere_core::report::{ReportData, RunEnd, page};
use logosphere_core::{CallContext, Mind, MindError, MindInput, MindReply};
use scraper::{Html, Selector};
use serde_json::Value;
use test_support::page::{found, texts};

use crate::desk;

/// The journal of a run of `mind`.
pub fn journal(mind: &str, rounds: u32) -> Vec<u8> {
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.mind = Some(mind.to_owned());
        settings.max_rounds = rounds;
    });
    desk::run(&settings, desk::mind(&settings)).1
}

pub fn html(journal: &[u8], null_runs: u32) -> String {
    let data = ReportData::read(journal, null_runs).unwrap();
    page(&data).render().unwrap()
}

/// Returns the items of the browser of messages.
pub fn browser(page: &Html) -> Value {
    serde_json::from_str(&texts(page, ".browser script").concat()).unwrap()
}

/// The rows of the table with this caption.
fn rows(page: &Html, caption: &str) -> Vec<Vec<String>> {
    let cells = Selector::parse("th, td").unwrap();
    let tables = found(page, "table").into_iter();
    let named = tables.filter(|table| {
        let caption_of = Selector::parse("caption").unwrap();
        let mut captions = table.select(&caption_of);
        captions.any(|found| found.text().collect::<String>() == caption)
    });
    let rows = Selector::parse("tbody tr").unwrap();
    let table = named.last().unwrap();
    (table.select(&rows))
        .map(|row| {
            row.select(&cells)
                .map(|cell| cell.text().collect())
                .collect()
        })
        .collect()
}

/// The part of a text that an item's place says.
fn part<'a>(browser: &'a Value, item: &Value) -> Option<&'a str> {
    let place = |index: usize| item[2][index].as_u64().map(|place| place as usize);
    let text = browser["texts"][place(0)?][0].as_str()?;
    // These texts are ASCII, so that units are bytes.
    assert!(text.is_ascii());
    Some(&text[place(1)?..place(2)?])
}

#[test]
fn the_meter_is_that_of_the_journal() {
    let journal = journal("disobedient", 12);
    let page = Html::parse_document(&html(&journal, 0));
    let lines = desk::lines(&journal);
    let end: Protocol = serde_json::from_value(lines.last().unwrap()["protocol"].clone()).unwrap();
    assert!(
        texts(&page, "#at-protocol > p")
            .concat()
            .starts_with(&end.to_string())
    );
    let reasons: BTreeMap<String, u64> = rows(&page, "Outcome of each call")
        .into_iter()
        .map(|row| {
            let reason = row[0].trim_start_matches(['\u{2713}', '\u{2717}', '\u{b7}', '!']);
            (reason.to_owned(), row[1].parse().unwrap())
        })
        .collect();
    let expected = end.by_reason.iter();
    let expected = expected
        .map(|(reason, count)| (reason.to_string(), *count))
        .collect();
    assert_eq!(reasons, expected);
    let notices = texts(&page, ".notice").concat();
    assert!(
        notices.contains("of the answers were lost, most often as no_delimiter"),
        "{notices}"
    );
    assert!(notices.contains("signed as the seeds are"));
    assert!(notices.contains("Offline: no model was asked. The program disobedient"));
    assert!(notices.contains("the stamp ~init, by design"));
}

#[test]
fn every_measure_has_a_row_and_a_plot_beside_its_null_model() {
    let journal = journal("mutator:p=0.1", 14);
    let data = ReportData::read(&journal[..], 200).unwrap();
    let page = Html::parse_document(&page(&data).render().unwrap());
    let table = rows(&page, "All measures");
    let names: Vec<_> = table.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names.len(), Metric::ALL.len());
    for (name, metric) in names.iter().zip(Metric::ALL) {
        // In words, with the identifier below.
        assert!(name.ends_with(&format!(" {metric}")), "{name}");
        assert!(name.starts_with(char::is_uppercase), "{name}");
    }
    for (measure, row) in data.analysis.metrics.iter().zip(&table) {
        let name = measure.name.name();
        let section = format!("#at-measure-{name}");
        assert_eq!(
            found(&page, &format!("{section} svg.drawing")).len(),
            usize::from(measure.n > 0),
            "{name}"
        );
        let legend = texts(&page, &format!("{section} .legend")).concat();
        let test = data.analysis.test(measure.name);
        assert_eq!(test.is_some(), legend.contains("median of"), "{name}");
        assert_eq!(measure.points.len(), 14);
        assert_eq!(row.len(), 4);
    }
    let comparison = data.analysis.comparison.as_ref().unwrap();
    let verdict = comparison.verdict.as_ref().unwrap();
    let lead = texts(&page, "header > .text").concat();
    assert!(lead.starts_with(&verdict.sentence), "{lead}");
    let chance = texts(&page, "#at-chance > p").concat();
    assert!(chance.contains("200 null runs"), "{chance}");
    assert!(chance.contains("One run is one history"), "{chance}");
    // The tests of the verdict are open, the further ones and the bands are folded.
    let shown = |caption: &str| rows(&page, caption);
    let tables = [
        ("Tests of the verdict", 2),
        // The windows of this run have too few words for the share of different ones.
        ("Further tests", 5),
        ("Bands", 2),
    ];
    for (caption, number) in tables {
        let rows = shown(caption);
        assert_eq!(rows.len(), number, "{caption}");
        for row in rows {
            let test = comparison
                .tests
                .iter()
                .find(|test| row[0].ends_with(test.name));
            let test = test.unwrap();
            let p = |p: Option<f64>| p.map(|p| format!("{p:.4}"));
            let is = |cell: &str, p: Option<String>| p.is_none_or(|p| cell == p);
            assert!(
                is(&row[3], p(test.p)) && is(&row[4], p(test.p_holm)),
                "{row:?}"
            );
        }
    }
    assert_eq!(
        shown("Which texts are passed on").len(),
        comparison.features.len()
    );
    // Without null models a page says so.
    let bare = Html::parse_document(&html(&journal, 0));
    assert!(
        texts(&bare, "#at-measures > p")
            .concat()
            .contains("not compared with a null model")
    );
    assert!(!texts(&bare, ".legend").concat().contains("median of"));
}

#[test]
fn every_message_and_every_answer_is_in_the_browser() {
    let journal = journal("disobedient", 12);
    let data = ReportData::read(&journal[..], 0).unwrap();
    let run = &data.transcript;
    let page = Html::parse_document(&page(&data).render().unwrap());
    let browser = browser(&page);
    let items = browser["items"].as_array().unwrap();
    let silent = run
        .calls
        .iter()
        .filter(|call| call.added.is_empty())
        .count();
    assert_eq!(items.len(), run.messages.len() + silent);
    let by_id: BTreeMap<&str, &Value> = (items.iter())
        .map(|item| (item[1].as_str().unwrap(), item))
        .collect();
    assert_eq!(by_id.len(), items.len());
    for (id, message) in run.messages.iter().enumerate() {
        let item = by_id[format!("at-m{id}").as_str()];
        let shown = part(&browser, item).unwrap();
        // A signature stands in another part of the answer.
        assert!(
            message.text.starts_with(shown) && !shown.is_empty(),
            "{shown:?}"
        );
        assert_eq!(item[3][0], message.round.0);
        let names = |value: &Value| -> Vec<String> {
            let places = value.as_array().into_iter().flatten();
            let name = |place: &Value| {
                items[place.as_u64().unwrap() as usize][1]
                    .as_str()
                    .unwrap()
                    .to_owned()
            };
            places.map(name).collect()
        };
        let Some(call) = message.call else { continue };
        let read: Vec<_> = (run.calls[call].sampled.iter())
            .map(|id| format!("at-m{id}"))
            .collect();
        assert_eq!(names(&item[3][4]), read);
        let parents = &data.lineage.nodes()[id].parents;
        let parents: Vec<_> = parents
            .iter()
            .map(|parent| format!("at-m{}", parent.id))
            .collect();
        assert_eq!(names(&item[3][5]), parents);
        if let Some(best) = parents.first() {
            assert!(names(&by_id[best.as_str()][3][6]).contains(&format!("at-m{id}")));
        }
    }
    // Each answer stands there once: those of the calls, and the seeds.
    let answers = browser["texts"].as_array().unwrap().len();
    assert_eq!(answers, run.calls.len() + run.seeds);
}

#[test]
fn the_parts_of_answers_are_coloured() {
    let journal = journal("disobedient", 12);
    let page = Html::parse_document(&html(&journal, 0));
    let browser = browser(&page);
    let tone = |name: &str| {
        let tones = browser["tones"].as_array().unwrap();
        tones.iter().position(|tone| tone == name).unwrap()
    };
    let mut coloured = BTreeSet::new();
    for text in browser["texts"].as_array().unwrap() {
        let shown = text[0].as_str().unwrap();
        for mark in text[2].as_array().unwrap() {
            let place = |index: usize| mark[index].as_u64().unwrap() as usize;
            coloured.insert((shown[place(0)..place(1)].to_owned(), place(2)));
        }
    }
    let thought = "I pass one on.".to_owned();
    assert!(coloured.contains(&(thought.clone(), tone("tone info"))));
    assert!(coloured.contains(&("I keep silent.".to_owned(), tone("tone info"))));
    assert!(coloured.contains(&("~contrary".to_owned(), tone("tone caution"))));
    let with = |wanted: usize| {
        let coloured = coloured.iter().filter(move |(_, tone)| *tone == wanted);
        coloured.map(|(text, _)| text.as_str()).collect::<Vec<_>>()
    };
    let seed = "a question is a door that walks";
    assert!(
        with(tone("tone good"))
            .iter()
            .any(|text| text.contains(seed))
    );
    // Of the four dashes everything was lost, of the answer without an end its message.
    let lost = with(tone("tone bad"));
    assert!(lost.iter().any(|text| text.contains("----")), "{lost:?}");
    assert!(lost.iter().any(|text| !text.contains('\n')), "{lost:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let page = Html::parse_document(&html(&journal("disobedient", 12), 0));
    let mut places: BTreeSet<String> = (found(&page, "[id]").iter())
        .map(|element| element.attr("id").unwrap().to_owned())
        .collect();
    let browser = browser(&page);
    let items = browser["items"].as_array().unwrap().iter();
    places.extend(items.map(|item| item[1].as_str().unwrap().to_owned()));
    let links = found(&page, "a[href]");
    assert!(links.len() > 30);
    for link in links {
        let to = link.attr("href").unwrap().strip_prefix('#').unwrap();
        assert!(places.contains(to), "{to}");
    }
}

#[test]
fn a_journal_that_ends_anywhere_is_a_page() {
    let journal = journal("mutator", 3);
    let ends: Vec<_> = (journal.iter().enumerate())
        .filter_map(|(place, byte)| (*byte == b'\n').then_some(place + 1))
        .collect();
    for end in &ends {
        let data = ReportData::read(&journal[..*end], 0).unwrap();
        let over = *end == journal.len();
        assert_eq!(data.facts().unwrap().end == RunEnd::Open, !over);
        let page = Html::parse_document(&page(&data).render().unwrap());
        let open = texts(&page, ".notice")
            .concat()
            .contains("The journal has no end");
        assert_eq!(open, !over);
    }
    // A line that was not written to its end is as good as not there.
    let (whole, torn) = (ends[4], ends[4] + 40);
    assert_eq!(html(&journal[..torn], 0), html(&journal[..whole], 0));
    // A journal that was altered is none.
    let mut altered = journal.clone();
    altered[ends[2] - 60] ^= 1;
    assert!(ReportData::read(&altered[..], 0).is_err());
}

/// A mind that asks for money and fails when it has none left.
struct Dear;

#[async_trait]
impl Mind for Dear {
    fn label(&self) -> &'static str {
        "dear"
    }

    async fn respond(&self, _: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        if side.call_key() == "2/1" {
            return Err(MindError::new(ErrorClass::Overloaded, "too many"));
        }
        let text = "t\n---\nsaid by two models\n---\n\n---\n";
        let mut reply = MindReply::new(text, format!("model-{}", side.nonce()[0] % 2));
        reply.cost = Some(Usd(1_500_000));
        Ok(reply)
    }
}

#[test]
fn money_models_and_failures_are_told() {
    let settings = desk::settings(Scheduling::Snapshot).with(|settings| {
        settings.provider = "openrouter".into();
        settings.mind = None;
    });
    let (_, journal) = desk::run(&settings, Dear);
    let page = Html::parse_document(&html(&journal, 0));
    let models = rows(&page, "By model");
    let names: Vec<_> = models.iter().map(|row| row[0].as_str()).collect();
    // The call that failed is that of the model that was asked.
    assert_eq!(names, ["local", "model-0", "model-1"]);
    assert_eq!(models[0][5], "1");
    let answers: u64 = models
        .iter()
        .map(|row| row[1].parse::<u64>().unwrap())
        .sum();
    assert_eq!(answers, 19);
    let notices = texts(&page, ".notice").concat();
    assert!(
        notices.contains("1 call failed for good (overloaded 1)"),
        "{notices}"
    );
    assert!(!notices.contains("Offline"));
    let cost = texts(&page, "#at-cost dd").concat();
    assert!(cost.contains("0.028500"), "{cost}");
    assert!(
        texts(&page, "#at-cost figcaption")
            .concat()
            .contains("Dollars so far")
    );
    let columns = browser(&page)["columns"].clone();
    assert!(columns.as_array().unwrap().contains(&Value::from("model")));
}

#[test]
fn l26_each_figure_has_one_null_model_and_each_formula_its_place() {
    let data = ReportData::read(&journal("mutator:p=0.1", 8)[..], 200).unwrap();
    let page = Html::parse_document(&page(&data).render().unwrap());
    for figure in found(&page, "figure.plot") {
        let text: String = figure.text().collect();
        let models = ["random-copy", "shuffle", "permutation"];
        let named = models.iter().filter(|null| text.contains(*null)).count();
        assert!(named <= 1, "{text}");
        assert!(!text.contains("interval of the run's mean"));
    }
    let definitions = texts(&page, "#at-definitions").concat();
    assert!(definitions.contains("Mean cosine of all pairs of texts of the window"));
    assert!(!texts(&page, "#at-measures").concat().contains("ean cosine"));
}

#[test]
fn l26_what_says_nothing_is_not_drawn_and_what_is_missing_has_a_reason() {
    let page = Html::parse_document(&html(&journal("copier", 4), 0));
    // The meter is at 100 % in every round, and no answer has a note.
    assert!(found(&page, "#at-protocol figure").is_empty());
    assert!(
        texts(&page, "table caption")
            .iter()
            .all(|caption| caption != "Parser notes")
    );
    assert!(found(&page, "table").iter().all(|table| {
        let rows = Selector::parse("tbody tr").unwrap();
        table.select(&rows).next().is_some()
    }));
    let page = Html::parse_document(&html(&journal("disobedient", 12), 0));
    assert!(!found(&page, "#at-protocol figure").is_empty());
    let lost = texts(&page, "#at-measure-lost_share svg").concat();
    assert!(!lost.contains("-1") && lost.contains('1'), "{lost}");
    // There is nothing that a first round could be compared with.
    let near = texts(&page, "#at-measure-near_similarity .note").concat();
    assert_eq!(
        near,
        "1 point left out: no texts so far apart.The numbers are in the data of this page."
    );
    let far = texts(&page, "#at-measure-far_similarity").concat();
    assert!(
        far.contains("nothing to measure in any round: no texts so far apart"),
        "{far}"
    );
}
