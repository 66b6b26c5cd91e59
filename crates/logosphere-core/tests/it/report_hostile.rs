//! Texts that want to be more than text, and runs that want to be more than a page.

use async_trait::async_trait;
use llm_types::ErrorClass;
use logosphere_core::config::Scheduling;
use logosphere_core::journal::MemJournal;
use logosphere_core::measures::nulls::NullBand;
use logosphere_core::report::{ReportData, page};
use logosphere_core::{
    CallContext, ExperimentStart, Mind, MindError, MindInput, MindReply, Orchestrator, RunControl,
};
use scraper::Html;
use test_support::page::{check_nothing_comes_from_a_text, check_refers_to_no_network, texts};

use crate::desk;
use crate::population;
use crate::report::{browser, html};

const HOSTILE: [&str; 6] = [
    "</script><script>alert(1)</script><img src=https://example.org/x.png onerror=alert(1)>",
    "<script>alert(1)</script>",
    "\" onmouseover=\"alert(1)\" ' autofocus onfocus='alert(1) --><!-- ]]><![CDATA[<svg onload=alert(1)>",
    "\u{202e}live\u{2066}\u{200b}\u{feff} \u{1b}[31mred\u{1b}[0m \0\u{7f} line\u{2028}line\r\nline\tline",
    "javascript:alert(1) https://example.org/?q=<base href=//example.org> {{constructor}} ${alert(1)}",
    "</title></style></textarea><iframe srcdoc='<script>alert(1)</script>'></iframe>",
];

/// A mind that says `text` in every place that takes one.
struct Hostile<'a>(&'a str);

#[async_trait]
impl Mind for Hostile<'_> {
    fn label(&self) -> &str {
        self.0
    }

    async fn respond(&self, _: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        let text = self.0;
        let error = MindError::new(ErrorClass::Server, text);
        let said = match side.call_key() {
            "2/0" => format!("{text}\n---\n{text}\n"),
            "2/1" => text.to_owned(),
            "2/2" => return Err(error),
            "3/2" => return Err(error.fatal()),
            _ => format!(
                "{text}\n---\n{text} {}\n---\n\n---\n~<b>{text}",
                side.call_key()
            ),
        };
        let mut reply = MindReply::new(said, text);
        reply.finish_reason = Some(text.to_owned());
        Ok(reply)
    }
}

/// The journal of a run that has `text` wherever it can be.
fn journal(text: &str) -> Vec<u8> {
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.provider = text.into();
        settings.model = text.into();
        settings.mind = Some(text.to_owned());
        settings.system_prompt = text.into();
        settings.init_signature = "~</script><b>".into();
        settings.api_base_url = Some(text.to_owned());
    });
    let ExperimentStart {
        effective,
        request_template,
        ..
    } = desk::start(&settings, &Hostile(text));
    let seeds = (0..3).map(|n| format!("{text} {n}\n\n~</script><b>"));
    let start = ExperimentStart::new(effective, text.to_owned(), seeds, request_template);
    let (clock, control) = (desk::Ticking::default(), RunControl::default());
    let journal = MemJournal::default();
    let mut run = Orchestrator::start(start, Hostile(text), journal, clock, control).unwrap();
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    run.into_journal().bytes
}

#[test]
fn no_element_and_no_attribute_comes_from_a_text() {
    let tame = Html::parse_document(&html(&journal("plain words of nobody"), 0));
    for text in HOSTILE {
        let html = html(&journal(text), 0);
        let page = Html::parse_document(&html);
        check_nothing_comes_from_a_text(&page, &tame, text);
        // Nothing that hides or turns text around is left, in what is drawn and in what a script will draw.
        let hidden = [
            '\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}', '\0', '\u{1b}', '\u{2028}',
        ];
        assert!(!html.contains(hidden), "{text:?}");
        assert!(!browser(&page).to_string().contains(hidden), "{text:?}");
    }
}

#[test]
fn hostile_texts_are_there_to_be_read() {
    for text in HOSTILE {
        let page = Html::parse_document(&html(&journal(text), 0));
        let shown = report_kit::visible(text);
        let messages = browser(&page)["texts"].clone();
        let all = messages.as_array().unwrap();
        let with = all
            .iter()
            .filter(|message| message[0].as_str().unwrap().contains(&*shown));
        // Three seeds and every answer but the failed ones.
        assert_eq!(with.count(), 12, "{text:?}");
        let seeds = texts(&page, "#at-seeds td").concat();
        assert!(seeds.contains(&*shown), "{text:?}");
        let prompt = texts(&page, "#at-settings .text.code");
        assert_eq!(prompt[0], shown);
        let notices = texts(&page, ".notice").concat();
        assert!(notices.contains("failed for good (server 2)"), "{notices}");
        assert!(notices.contains(&format!("server: {shown}")), "{notices}");
        assert!(notices.contains("The run was interrupted before mind 2 of round 3"));
    }
}

#[test]
fn a_page_refers_to_no_network() {
    let journal = journal("plain words of nobody");
    let tame = html(&journal, 200);
    assert!(!tame.contains("http://") && !tame.contains("https://"));
    for text in HOSTILE {
        let page = Html::parse_document(&html(&self::journal(text), 0));
        check_refers_to_no_network(&page);
    }
}

#[test]
fn the_same_journal_gives_the_same_bytes() {
    let journal = journal(HOSTILE[0]);
    assert_eq!(html(&journal, 200), html(&journal, 200));
}

/// A run of copiers with 20 messages of 200 bytes a round, each in an answer with some thinking.
fn large(rounds: u32) -> ReportData {
    let small = journal("plain words of nobody");
    let facts = ReportData::read(&small[..], 0).unwrap();
    let facts = facts.facts().unwrap().clone();
    let settings = population::settings("copier:mu=0.5", 20, 15, rounds, 1);
    let mut run = population::run(&settings, &vec!["x".repeat(200); 5]);
    for (id, message) in run.messages.iter_mut().enumerate() {
        let words = format!(
            "{} the tide {id} returns & what \"it\" forgot ",
            message.text
        );
        message.text = words.chars().cycle().take(200).collect();
    }
    for call in &mut run.calls {
        let text = &run.messages[call.added[0].index()].text;
        call.raw = format!("I read them, and I pass one on.\n---\n{text}\n---\n\n---\n");
    }
    let mut data = ReportData::of(facts, run, 0);
    // Null runs would take long here; what matters is that every curve has a band.
    let band = |value: f64| NullBand::new(vec![value / 3.0, value / 2.0, value]);
    for measured in &mut data.analysis.metrics {
        for point in &mut measured.points {
            point.null = point.value.and_then(band);
        }
    }
    data
}

#[test]
fn ten_thousand_messages_are_a_page_of_less_than_six_megabytes() {
    let html = page(&large(499)).render().unwrap();
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let page = Html::parse_document(&html);
    let browser = browser(&page);
    assert_eq!(browser["items"].as_array().unwrap().len(), 9_985);
    assert!(!html.contains("are left out here"));
    // 499 rounds are more than a screen shows.
    assert!(html.contains("show one round in 5"));
    let legend = texts(&page, "#at-measure-tfidf_similarity .legend").concat();
    assert!(legend.contains("this run"), "{legend}");
    // The data has every round.
    let measures: serde_json::Value =
        serde_json::from_str(&texts(&page, "#data-measures").concat()).unwrap();
    assert_eq!(measures[0]["points"].as_array().unwrap().len(), 499);
}

#[test]
fn of_more_messages_the_first_two_thousand_are_shown() {
    let html = page(&large(500)).render().unwrap();
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let page = Html::parse_document(&html);
    let browser = browser(&page);
    let items = browser["items"].as_array().unwrap();
    assert!((2_000..2_100).contains(&items.len()), "{}", items.len());
    assert_eq!(items[0][0], "seed 0");
    let left_out = 10_005 - items.len();
    let told = texts(&page, "#at-messages > p").concat();
    let told_of = format!("{left_out} messages and answers are left out here");
    assert!(told.contains(&told_of), "{told}");
    assert_eq!(
        texts(&page, "#at-messages .command .text"),
        ["logosphere export messages DIR"]
    );
}

#[test]
fn a_run_that_is_too_long_shows_its_beginning_and_its_end() {
    let mut data = large(100);
    for call in &mut data.transcript.calls {
        call.raw.push_str(&"behind the end ".repeat(300));
    }
    let html = page(&data).render().unwrap();
    assert!(html.len() < 6_000_000, "{} bytes", html.len());
    let page = Html::parse_document(&html);
    let browser = browser(&page);
    let items = browser["items"].as_array().unwrap();
    assert_eq!(items[0][0], "seed 0");
    assert_eq!(items.last().unwrap()[0], "message 2004");
    let left_out = 2_005 - items.len();
    assert!((800..1_500).contains(&left_out), "{left_out}");
    let told = texts(&page, "#at-messages > p").concat();
    assert!(
        told.contains(&format!(
            "{left_out} messages and answers are left out here"
        )),
        "{told}"
    );
}
