//! A journal that is cut at any byte continues to the same end, and no call is made twice.

use std::fs;

use logosphere_core::config::{Durability, Scheduling};
use logosphere_core::journal::{
    Event, FileJournal, JournalSink as _, PendingReply, RunResumed, read_spool,
};
use logosphere_core::verify::{Comparison, ResumeError, ResumedRun, compare};
use logosphere_core::{MindId, MindReply, Round, Settings};

use crate::desk::{self, Slow};

fn small(scheduling: Scheduling) -> Settings {
    desk::settings(scheduling).with(|settings| {
        settings.n_minds = 2;
        settings.k_samples = 1;
        settings.max_rounds = 2;
    })
}

/// The whole lines of what was written up to `cut`.
fn whole_lines(journal: &[u8], cut: usize) -> &[u8] {
    let end = journal[..cut].iter().rposition(|byte| *byte == b'\n');
    &journal[..end.map_or(0, |end| end + 1)]
}

fn calls_in(journal: &[u8]) -> usize {
    let events = desk::lines(journal).into_iter();
    events
        .filter(|event| event["type"] == "mind_invocation")
        .count()
}

#[test]
fn after_every_byte_behind_the_first_line() {
    let place = tempfile::tempdir().unwrap();
    let journal_path = place.path().join("experiment.jsonl");
    let settings = small(Scheduling::Snapshot);
    let (_, journal) = desk::run(&settings, desk::mind(&settings));
    let first_line = journal.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let mut last: Option<(u64, Vec<u8>)> = None;
    for cut in first_line..journal.len() {
        fs::write(&journal_path, &journal[..cut]).unwrap();
        let resumption = ResumedRun::open(&journal_path, &place.path().join("spool")).unwrap();
        let torn = cut - whole_lines(&journal, cut).len();
        assert_eq!(resumption.torn_bytes, torn as u64);
        let part = resumption.quarantine_torn_tail(&journal_path).unwrap();
        let kept = fs::read(&journal_path).unwrap();
        assert_eq!(kept, whole_lines(&journal, cut), "{cut}");
        assert_eq!(part.is_some(), torn > 0);
        if let Some(part) = part {
            assert_eq!(fs::read(&part).unwrap(), &journal[kept.len()..cut]);
            assert_eq!(
                part.file_name().unwrap(),
                &*format!("torn-{}.part", resumption.lines)
            );
            fs::remove_file(part).unwrap();
        }
        // The lines that are left decide all the rest: they are gone on with once.
        if last
            .as_ref()
            .is_some_and(|(lines, whole)| *lines == resumption.lines && *whole == kept)
        {
            continue;
        }
        last = Some((resumption.lines, kept.clone()));
        let slow = Slow::new(desk::mind(&settings), 3);
        let (_, resumed) = desk::resume(&kept, Vec::new(), &slow);
        let compared = compare(&journal[..], &resumed[..]).unwrap();
        assert!(
            matches!(compared, Comparison::Equal(_)),
            "{cut}: {compared:?}"
        );
        let made = slow.calls.lock().unwrap().len();
        assert_eq!(made, calls_in(&journal) - calls_in(&kept), "{cut}");
        logosphere_core::verify::verify(&resumed[..]).unwrap();
    }
    let (lines, _) = last.unwrap();
    assert_eq!(lines, desk::lines(&journal).len() as u64 - 1);
}

#[test]
fn what_was_set_aside_before_stays() {
    let place = tempfile::tempdir().unwrap();
    let journal = place.path().join("experiment.jsonl");
    let settings = small(Scheduling::Sequential);
    let (_, whole) = desk::run(&settings, desk::mind(&settings));
    let end = whole.len() - 1;
    let mut names = Vec::new();
    for cut in [end, end - 1] {
        fs::write(&journal, &whole[..cut]).unwrap();
        let resumption = ResumedRun::open(&journal, &place.path().join("spool")).unwrap();
        names.push(resumption.quarantine_torn_tail(&journal).unwrap().unwrap());
    }
    let lengths = names.iter().map(|name| fs::metadata(name).unwrap().len());
    let lengths: Vec<_> = lengths.collect();
    assert_eq!(lengths[0], lengths[1] + 1);
    assert_ne!(names[0], names[1]);
}

#[test]
fn one_by_one_too() {
    let settings = small(Scheduling::Sequential);
    let (_, journal) = desk::run(&settings, desk::mind(&settings));
    let ends = (1..=journal.len()).filter(|end| journal[end - 1] == b'\n');
    for end in ends.take_while(|end| *end < journal.len()) {
        let slow = Slow::new(desk::mind(&settings), 3);
        let (_, resumed) = desk::resume(&journal[..end], Vec::new(), &slow);
        assert!(matches!(
            compare(&journal[..], &resumed[..]).unwrap(),
            Comparison::Equal(_)
        ));
        let made = slow.calls.lock().unwrap().len();
        assert_eq!(made, calls_in(&journal) - calls_in(&journal[..end]));
    }
}

#[test]
fn a_journal_without_a_whole_line_has_nothing_to_go_on_with() {
    let place = tempfile::tempdir().unwrap();
    let journal = place.path().join("experiment.jsonl");
    fs::write(&journal, "{\"type\":\"experiment_start\"").unwrap();
    assert!(matches!(
        ResumedRun::open(&journal, &journal),
        Err(ResumeError::NothingWhole { .. })
    ));
}

#[test]
fn an_answer_in_the_spool_is_not_asked_for_again() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = small(scheduling);
        let (_, journal) = desk::run(&settings, desk::mind(&settings));
        // Up to the first round_start; then the answer of mind 0, and of mind 1 to another question.
        let kept: Vec<u8> = journal
            .split_inclusive(|byte| *byte == b'\n')
            .take(2)
            .collect::<Vec<_>>()
            .concat();
        let calls: Vec<_> = desk::lines(&journal)
            .into_iter()
            .filter(|event| event["type"] == "mind_invocation")
            .collect();
        let spooled = |mind: usize, hash: &str| {
            let call = &calls[mind];
            let [text, model] =
                ["raw_output", "model_answered"].map(|name| call[name].as_str().unwrap());
            let mut reply = MindReply::new(text, model);
            reply.finish_reason = Some("end_turn".to_owned());
            reply.tokens = serde_json::from_value(call["tokens"].clone()).unwrap();
            PendingReply {
                round: Round(1),
                mind_id: MindId(mind as u32),
                request_sha256: hash.to_owned(),
                latency_ms: 5,
                reply,
                attempts: Vec::new(),
            }
        };
        let waiting = vec![
            spooled(0, calls[0]["request_sha256"].as_str().unwrap()),
            spooled(1, "another"),
        ];
        let slow = Slow::new(desk::mind(&settings), 3);
        let (_, resumed) = desk::resume(&kept, waiting, &slow);
        assert!(matches!(
            compare(&journal[..], &resumed[..]).unwrap(),
            Comparison::Equal(_)
        ));
        assert_eq!(desk::lines(&resumed)[2]["reused_calls"], 1);
        let asked = slow.calls.lock().unwrap();
        assert!(!asked.contains(&"1/0".to_owned()) && asked.contains(&"1/1".to_owned()));
    }
}

#[test]
fn an_answer_behind_a_torn_one_is_not_lost() {
    let place = tempfile::tempdir().unwrap();
    let (journal, spool) = (place.path().join("journal"), place.path().join("spool"));
    let answer = |mind_id| PendingReply {
        round: Round(1),
        mind_id,
        request_sha256: "hash".to_owned(),
        latency_ms: 1,
        reply: MindReply::default(),
        attempts: Vec::new(),
    };
    let open = || FileJournal::open(&journal, &spool, Durability::Flush, 0, String::new()).unwrap();
    open().spool(&answer(MindId(0))).unwrap();
    let whole = fs::read(&spool).unwrap();
    for cut in 0..whole.len() {
        fs::write(&spool, [&whole[..], &whole[..cut]].concat()).unwrap();
        open().spool(&answer(MindId(1))).unwrap();
        let kept: Vec<_> = read_spool(&spool)
            .unwrap()
            .iter()
            .map(|answer| answer.mind_id)
            .collect();
        assert_eq!(kept, [MindId(0), MindId(1)], "{cut}");
    }
}

#[test]
fn a_journal_that_somebody_else_touches_takes_nothing_more() {
    let place = tempfile::tempdir().unwrap();
    let (journal, spool) = (place.path().join("journal"), place.path().join("spool"));
    let resumed = RunResumed::new("test", std::collections::BTreeMap::new());
    let event = Event::RunResumed(resumed);
    let touched: [fn(&std::path::Path); 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "short").unwrap(),
        |path| fs::write(path, [fs::read(path).unwrap(), b"x\n".to_vec()].concat()).unwrap(),
        |path| {
            let copy = path.with_extension("copy");
            fs::copy(path, &copy).unwrap();
            fs::rename(copy, path).unwrap();
        },
    ];
    for touch in touched {
        let mut file = FileJournal::create(&journal, &spool, Durability::Flush).unwrap();
        file.append("t", &event).unwrap();
        touch(&journal);
        let before = fs::read(&journal).ok();
        let error = file.append("t", &event).unwrap_err();
        assert_eq!(error.path, journal);
        assert_eq!(fs::read(&journal).ok(), before, "it was written to");
    }
}
