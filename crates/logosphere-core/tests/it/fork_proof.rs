//! Forks with changes: their journals hold alone, and every altered byte of an event of the fork is named.

use std::collections::BTreeMap;

use logosphere_core::config::{MindEntry, Scheduling};
use logosphere_core::journal::{
    Event, ForkArm, Forked, InterventionChange, JournalError, JournalSink, MemJournal, RunResumed,
};
use logosphere_core::pool::MessageId;
use logosphere_core::study::fork::ForkPoint;
use logosphere_core::verify::leak::LeakCheck;
use logosphere_core::verify::state::RunState;
use logosphere_core::verify::{ResumedRun, verify, verify_to};
use logosphere_core::{
    Mind, MindId, MixedMinds, Orchestrator, RequestTemplate, RunControl, Settings, Transcript,
    local_mind,
};
use serde_json::json;

use crate::desk;

fn settings() -> Settings {
    desk::settings(Scheduling::Sequential).with(|settings| {
        settings.max_rounds = 12;
        settings.m_active_pool = 10;
        settings.model = settings.mind.clone().unwrap();
    })
}

fn minds(settings: &Settings) -> MixedMinds {
    let boxed =
        |spec: &str| -> Box<dyn Mind> { Box::new(local_mind(spec, &settings.prompt()).unwrap()) };
    MixedMinds::new(settings.mind_names().into_iter().map(boxed).collect())
}

fn parent() -> Vec<u8> {
    let settings = settings();
    desk::run(&settings, desk::mind(&settings)).1
}

/// A fork before round 6 with these changes.
fn child(parent: &[u8], changes: Vec<InterventionChange>) -> Vec<u8> {
    let point: ForkPoint = "6".parse().unwrap();
    let length = point.length_in(parent).unwrap() as usize;
    let shared = ResumedRun::read(&parent[..length]).unwrap();
    let mut state = shared.state.clone();
    for change in &changes {
        let event = state.intervention(change.clone());
        state.apply(&Event::Intervention(Box::new(event))).unwrap();
    }
    let mind = minds(state.settings());
    let journal = MemJournal::resumed(&parent[..length], shared.lines, &shared.chain);
    let forked = Forked::new("child", ForkArm::Treated, 1, 12);
    let (clock, control) = (desk::Ticking::default(), RunControl::default());
    let mut run = Orchestrator::fork(shared, forked, mind, journal, clock, control).unwrap();
    for change in changes {
        run.intervene(change).unwrap();
    }
    desk::wait(async { run.run(&mut |_| {}).await }).unwrap();
    run.into_journal().bytes
}

fn template(settings: &Settings) -> RequestTemplate {
    RequestTemplate::of(&minds(settings), settings, "local").unwrap()
}

/// A change of each kind, with the state before it.
fn changes(state: &RunState) -> Vec<(&'static str, InterventionChange)> {
    let inject = |texts: &[&str]| InterventionChange::Inject {
        texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        added_ids: Vec::new(),
    };
    let set = |setting: &str, new: serde_json::Value| {
        let change = |request_template| InterventionChange::Set {
            setting: setting.to_owned(),
            old: json!(null),
            new: new.clone(),
            request_template,
        };
        let after = state.settings_after(&change(None)).unwrap();
        let is_sent = !matches!(setting, "k_samples" | "m_active_pool");
        change(is_sent.then(|| template(&after)))
    };
    let swapped = |request_template| InterventionChange::SwapMind {
        mind_id: MindId(2),
        old: MindEntry::Scripted("copier".to_owned()),
        new: MindEntry::Scripted("silent".to_owned()),
        request_template,
    };
    let after = state
        .settings_after(&swapped(template(state.settings())))
        .unwrap();
    let newest = MessageId(state.pool().len() - 1);
    vec![
        (
            "inject",
            inject(&["an idea from outside", "and another\n\n~init"]),
        ),
        ("ablate", InterventionChange::Ablate { ids: vec![newest] }),
        ("swap", swapped(template(&after).of_entry(2).alone())),
        ("samples", set("k_samples", json!(1))),
        ("smaller", set("m_active_pool", json!(4))),
        ("larger", set("m_active_pool", json!(30))),
        ("limit", set("token_limit", json!(77))),
        ("options", set("options.temperature", json!(0.5))),
        (
            "prompt",
            set("system_prompt", json!("Pass on what you like.")),
        ),
    ]
}

fn shared_state(parent: &[u8]) -> RunState {
    let point: ForkPoint = "6".parse().unwrap();
    let length = point.length_in(parent).unwrap() as usize;
    ResumedRun::read(&parent[..length]).unwrap().state
}

#[test]
fn n15_the_journal_of_each_change_holds_alone() {
    let parent = parent();
    for (name, change) in changes(&shared_state(&parent)) {
        let child = child(&parent, vec![change]);
        let mut rebuilt = Vec::new();
        verify_to(&child[..], &mut rebuilt).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert!(rebuilt == child, "{name}");
        let report = LeakCheck::read(&child[..], &[]).unwrap().finish();
        assert!(report.holds, "{name}: {report:?}");
        let stamps = (report.findings.iter()).filter(|found| found.place.starts_with("message"));
        assert_eq!(stamps.count(), usize::from(name == "inject"), "{name}");
        // It can be resumed.
        let run = ResumedRun::read(&child[..]).unwrap();
        assert!(run.ended, "{name}");
    }
}

#[test]
fn n15_each_altered_byte_of_the_own_events_is_named() {
    let parent = parent();
    for (name, change) in changes(&shared_state(&parent)) {
        let child = child(&parent, vec![change]);
        let mut start = 0;
        let lines = child.split_inclusive(|byte| *byte == b'\n');
        for (number, line) in (1..).zip(lines) {
            let kind = [&b"\"type\":\"forked\""[..], b"\"type\":\"intervention\""];
            if kind
                .iter()
                .any(|kind| line.windows(kind.len()).any(|part| part == *kind))
            {
                for at in (0..line.len() - 1).step_by(if line.len() > 600 { 7 } else { 1 }) {
                    let mut altered = child.clone();
                    altered[start + at] ^= 1;
                    let error = verify(&altered[..]).unwrap_err();
                    let told = error.to_string() + &format!("{error:?}");
                    assert!(told.contains(&number.to_string()), "{name} {at}: {told}");
                }
            }
            start += line.len();
        }
    }
}

#[test]
fn a_message_that_is_taken_out_is_never_read_again_and_no_older_one_instead() {
    let parent = parent();
    let state = shared_state(&parent);
    let before: Vec<_> = state.pool().active().collect();
    let ids = vec![before[1], before[8]];
    let child = child(
        &parent,
        vec![InterventionChange::Ablate { ids: ids.clone() }],
    );
    let run = Transcript::read(&child[..]).unwrap();
    let since = run.calls.iter().filter(|call| call.round.0 >= 6);
    let mut read: Vec<_> = since.flat_map(|call| call.sampled.clone()).collect();
    read.sort();
    assert!(ids.iter().all(|id| !read.contains(id)));
    assert!(read[0] >= before[0], "{read:?}");
    let inactive = InterventionChange::Ablate {
        ids: vec![MessageId(0)],
    };
    let event = state.intervention(inactive);
    let refused = state.clone().apply(&Event::Intervention(Box::new(event)));
    let refused = refused.unwrap_err().to_string();
    assert_eq!(
        refused,
        "message 0 cannot be read, so it cannot be taken out"
    );
}

#[test]
fn an_injected_message_is_read_and_analysed_as_one_without_a_call() {
    let parent = parent();
    let texts = vec!["an idea from outside".to_owned()];
    let inject = InterventionChange::Inject {
        texts,
        added_ids: Vec::new(),
    };
    let child = child(&parent, vec![inject]);
    let run = Transcript::read(&child[..]).unwrap();
    let at = run
        .messages
        .iter()
        .position(|message| message.text == "an idea from outside");
    let message = &run.messages[at.unwrap()];
    // It is there when round 6 begins.
    assert_eq!((message.round.0, message.call), (5, None));
    let is_read = |call: &&logosphere_core::verify::MindCall| {
        call.sampled.iter().any(|id| id.index() == at.unwrap())
    };
    assert!(run.calls.iter().filter(is_read).count() > 0);
    // Null runs have it at its place.
    let model = logosphere_core::measures::nulls::DescentModel::new(&run, 7);
    for index in 0..20 {
        assert_eq!(model.null_texts(index)[at.unwrap()], "an idea from outside");
        assert_eq!(model.null_texts(index).len(), run.messages.len());
    }
}

#[test]
fn an_intervention_comes_only_after_a_start() {
    let parent = parent();
    let newest = MessageId(shared_state(&parent).pool().len() - 1);
    let child = child(
        &parent,
        vec![InterventionChange::Ablate { ids: vec![newest] }],
    );
    let text = String::from_utf8(child).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let at = lines
        .iter()
        .position(|line| line.contains("\"type\":\"intervention\""))
        .unwrap();
    let without = [&lines[..at - 1], &lines[at..]].concat().join("\n") + "\n";
    assert!(verify(without.as_bytes()).is_err());
}

#[test]
fn measures_of_a_window_are_those_of_the_messages_that_can_be_read() {
    use logosphere_core::measures::metrics::Metric;
    use logosphere_core::measures::{Analysis, AnalysisPlan};

    let parent = parent();
    let state = shared_state(&parent);
    let ids: Vec<_> = state.pool().active().take(7).collect();
    let set = |new| InterventionChange::Set {
        setting: "m_active_pool".to_owned(),
        old: json!(null),
        new: json!(new),
        request_template: None,
    };
    for (changes, window) in [
        (vec![InterventionChange::Ablate { ids: ids.clone() }], 10),
        (vec![set(4)], 4),
        (vec![set(30)], 30),
    ] {
        let child = child(&parent, changes.clone());
        let run = Transcript::read(&child[..]).unwrap();
        let mut plan = AnalysisPlan::default();
        plan.null = None;
        let found = Analysis::of(&run, &plan);
        let measured = &found.metric(Metric::PairIdentity).unwrap().points;
        let is_ablated = matches!(changes[0], InterventionChange::Ablate { .. });
        for round in &run.rounds {
            let since = round.round.0 >= 6;
            let size = if since { window } else { 10 };
            let newest = round.pool_size.saturating_sub(size)..round.pool_size;
            let first = state.pool().active().next().unwrap().index();
            let there: Vec<&str> = newest
                .filter(|id| !since || *id >= first)
                .filter(|id| !(since && is_ablated && ids.iter().any(|gone| gone.index() == *id)))
                .map(|id| run.messages[id].text.trim_end_matches("\n\n~init"))
                .collect();
            let mut pairs = (0, 0);
            for (at, text) in there.iter().enumerate() {
                for other in &there[..at] {
                    pairs = (pairs.0 + u32::from(text == other), pairs.1 + 1);
                }
            }
            let expected = f64::from(pairs.0) / f64::from(pairs.1);
            let found = measured
                .iter()
                .find(|point| point.round == round.round)
                .unwrap();
            assert!(
                (found.value.unwrap() - expected).abs() < 1e-9,
                "{window} {round:?} {found:?} {expected}"
            );
        }
    }
}

#[test]
fn a_setting_that_is_sent_changes_with_its_template_only() {
    let parent = parent();
    let state = shared_state(&parent);
    let change = |setting: &str, request_template| InterventionChange::Set {
        setting: setting.to_owned(),
        old: json!(null),
        new: json!(5),
        request_template,
    };
    for (setting, template) in [
        ("token_limit", None),
        ("k_samples", Some(template(state.settings()))),
    ] {
        let event = state.intervention(change(setting, template));
        let refused = state.clone().apply(&Event::Intervention(Box::new(event)));
        let refused = refused.unwrap_err().to_string();
        assert!(
            refused.starts_with(&format!("the change of {setting} does not have")),
            "{refused}"
        );
    }
}

/// A journal that counts its writes.
#[derive(Default)]
struct CountedWrites {
    events: Vec<usize>,
}

impl JournalSink for CountedWrites {
    fn append(&mut self, timestamp: &str, event: &Event) -> Result<(), JournalError> {
        self.append_all(timestamp, std::slice::from_ref(event))
    }

    fn append_all(&mut self, _: &str, events: &[Event]) -> Result<(), JournalError> {
        self.events.push(events.len());
        Ok(())
    }
}

#[test]
fn several_changes_are_made_in_one_write_or_none_is() {
    let parent = parent();
    let shared = ResumedRun::read(&parent[..]).unwrap();
    let resumed = RunResumed::new(
        "test",
        BTreeMap::from([("max_rounds".into(), [json!(12), json!(14)])]),
    );
    let mind = minds(shared.state.settings());
    let (clock, control) = (desk::Ticking::default(), RunControl::default());
    let journal = CountedWrites::default();
    let mut run = Orchestrator::resume(shared, resumed, mind, journal, clock, control).unwrap();
    let inject = |text: &str| InterventionChange::Inject {
        texts: vec![text.to_owned()],
        added_ids: Vec::new(),
    };
    let newest = MessageId(run.state().pool().len());
    let gone = InterventionChange::Ablate {
        ids: vec![MessageId(9_999)],
    };
    let before = run.state().pool().len();
    assert!(run.intervene_all(vec![inject("one"), gone]).is_err());
    assert_eq!(run.state().pool().len(), before);
    // The second change is about the message of the first.
    let second = InterventionChange::Ablate { ids: vec![newest] };
    run.intervene_all(vec![inject("one"), second, inject("two")])
        .unwrap();
    assert_eq!(run.state().pool().len(), before + 2);
    assert_eq!(run.into_journal().events, [1, 3]);
}
