//! Minds receive nothing but messages, and every leak is found.

mod planted;
mod unchanged;

use std::sync::Mutex;

use async_trait::async_trait;
use logosphere_core::config::Scheduling;
use logosphere_core::journal::MemJournal;
use logosphere_core::verify::leak::{
    Captured, LeakCheck, LeakKind, LeakReport, Severity, check_start,
};
use logosphere_core::{
    CallContext, ExperimentStart, LocalMind, Mind, MindError, MindInput, MindReply, Orchestrator,
    RunControl, Settings, WireRequest,
};

use crate::desk;

/// A mind that keeps what it would send, altered by `plant`.
struct Sending<P> {
    mind: LocalMind,
    plant: P,
    sent: Mutex<Vec<Captured>>,
}

/// Alters a request of the call `round/mind`.
type Plant = fn(&mut WireRequest, &str);

fn nothing(_: &mut WireRequest, _: &str) {}

#[async_trait]
impl<P: Fn(&mut WireRequest, &str) + Send + Sync> Mind for &Sending<P> {
    fn label(&self) -> &str {
        self.mind.label()
    }

    async fn respond(&self, input: &MindInput, side: &CallContext) -> Result<MindReply, MindError> {
        let mut request = WireRequest::local(input);
        request.headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            ("authorization".to_owned(), "Bearer key".to_owned()),
            ("content-length".to_owned(), request.body.len().to_string()),
        ];
        (self.plant)(&mut request, side.call_key());
        self.keep(request);
        self.mind.respond(input, side).await
    }
}

impl<P> Sending<P> {
    fn keep(&self, request: WireRequest) {
        let mut sent = self.sent.lock().unwrap();
        let name = format!("{:03}.json", sent.len());
        sent.push(Captured::new(
            name,
            Some(request.body),
            Some(request.headers),
        ));
    }
}

/// A run and what it sent.
fn run(settings: &Settings, plant: Plant) -> (Vec<u8>, Vec<Captured>) {
    let sending = Sending {
        mind: desk::mind(settings),
        plant,
        sent: Mutex::default(),
    };
    let (_, journal) = desk::run(settings, &sending);
    (journal, sending.sent.into_inner().unwrap())
}

fn search(journal: &[u8], captured: Vec<Captured>) -> LeakReport {
    let mut check = LeakCheck::read(journal, &["2026-01-02-first-run".to_owned()]).unwrap();
    for request in captured {
        check.captured(request);
    }
    check.finish()
}

/// The leaks that are not also another one's consequence.
fn leaks(report: &LeakReport) -> Vec<(LeakKind, &str)> {
    assert_eq!(
        report.holds,
        report
            .findings
            .iter()
            .all(|finding| finding.severity != Severity::Leak)
    );
    let leaks = report
        .findings
        .iter()
        .filter(|finding| finding.severity == Severity::Leak);
    leaks
        .map(|finding| (finding.kind, finding.detail.as_str()))
        .collect()
}

/// A journal of one event.
fn begun(start: ExperimentStart, settings: &Settings) -> Vec<u8> {
    let (mind, journal) = (desk::mind(settings), MemJournal::default());
    let (clock, control) = (desk::Ticking::default(), RunControl::default());
    let run = Orchestrator::start(start, mind, journal, clock, control).unwrap();
    run.into_journal().bytes
}

#[test]
fn captured_requests_equal_those_made_again_and_the_stamp_is_by_design() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        for system_role in [false, true] {
            let settings =
                desk::settings(scheduling).with(|settings| settings.system_role = system_role);
            let (journal, sent) = run(&settings, nothing);
            let report = search(&journal, sent);
            assert_eq!(leaks(&report), []);
            assert_eq!(
                (
                    report.calls,
                    report.captured,
                    report.equal,
                    report.uncaptured
                ),
                (20, 20, 20, 0)
            );
            let [stamp] = &report.findings[..] else {
                panic!("{:?}", report.findings);
            };
            assert_eq!(
                (stamp.severity, stamp.kind),
                (Severity::ByDesign, LeakKind::Stamp)
            );
            assert_eq!((stamp.times, stamp.place.as_str()), (5, "seed 0"));
            assert!(stamp.detail.contains("~init"), "{}", stamp.detail);
        }
    }
}

#[test]
fn without_a_stamp_nothing_is_reported() {
    let settings = desk::settings(Scheduling::Sequential);
    let mut start = desk::start(&settings, &desk::mind(&settings));
    for seed in &mut start.seeds {
        seed.text.truncate(seed.text.find("\n\n").unwrap());
    }
    assert_eq!(check_start(&start, &[]), []);
}

#[test]
fn calls_without_a_captured_request_are_counted() {
    let settings = desk::settings(Scheduling::Snapshot);
    let (journal, mut sent) = run(&settings, nothing);
    sent.truncate(15);
    let report = search(&journal, sent);
    assert_eq!(leaks(&report), []);
    assert_eq!((report.captured, report.equal), (15, 15));
    assert!(
        (1..=5).contains(&report.uncaptured),
        "{}",
        report.uncaptured
    );
    let none = search(&journal, Vec::new());
    assert_eq!((none.holds, none.captured, none.uncaptured), (true, 0, 0));
}

#[test]
fn a_journal_that_ends_anywhere_is_searched_as_far_as_it_goes() {
    let settings = desk::settings(Scheduling::Sequential);
    let (journal, _) = run(&settings, nothing);
    let first = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in [first, first + 1, journal.len() / 2, journal.len() - 1] {
        let report = search(&journal[..cut], Vec::new());
        assert_eq!(leaks(&report), []);
    }
    assert!(LeakCheck::read(&journal[..first - 1], &[]).is_err());
    let mut altered = journal;
    altered[first - 5] ^= 1;
    assert!(LeakCheck::read(&altered[..], &[]).is_err());
}

#[test]
fn what_minds_write_about_the_run_is_no_leak() {
    let settings = desk::settings(Scheduling::Sequential)
        .with(|settings| settings.model = "maker/model-7b".into());
    let saying =
        desk::Saying("---\nThis is round 3, and I am model-7b, mind 2 of 4 minds.\n---\n---\n");
    let (_, journal) = desk::run(&settings, saying);
    let report = search(&journal, Vec::new());
    assert_eq!(leaks(&report), []);
    let minded: Vec<_> = (report.findings.iter())
        .filter(|finding| finding.severity == Severity::WrittenByMind)
        .map(|finding| (finding.kind, finding.place.as_str(), finding.times))
        .collect();
    // It is by its requests, not by its numbers, that a leak is known.
    assert_eq!(minded, [(LeakKind::Model, "message 5", 20)]);
}

#[test]
fn l34_seeds_may_speak_of_numbers_and_days_but_not_of_the_run_itself() {
    let settings = desk::settings(Scheduling::Sequential)
        .with(|settings| settings.model = "maker/model-7b".into());
    let of = |text: &str| {
        let mut start = desk::start(&settings, &desk::mind(&settings));
        start.seeds[1].text = text.to_owned();
        let report = search(&begun(start, &settings), Vec::new());
        let about =
            |finding: &&logosphere_core::verify::leak::Finding| finding.kind != LeakKind::Stamp;
        let found = report.findings.iter().find(about);
        found.map(|finding| (finding.severity, finding.kind))
    };
    for text in [
        "Round 3 of the fight.",
        "We are 4 minds.",
        "Written on 2026-01-02, at 3:04.",
        "[1] is the first message.",
    ] {
        assert_eq!(of(text), None, "{text}");
    }
    assert_eq!(
        of("You are Model-7B, they say."),
        Some((Severity::Leak, LeakKind::Model))
    );
    assert_eq!(of("You are Model-7Bx, they say."), None);
    assert_eq!(
        of("In 2026-01-02-first-run"),
        Some((Severity::Leak, LeakKind::Name))
    );
}
