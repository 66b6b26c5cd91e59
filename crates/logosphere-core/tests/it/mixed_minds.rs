//! Runs whose minds are of several kinds.

use std::collections::BTreeSet;

use logosphere_core::config::{MindEntry, ModelEntry, Scheduling, read_config};
use logosphere_core::journal::MemJournal;
use logosphere_core::verify::Comparison;
use logosphere_core::verify::leak::LeakCheck;
use logosphere_core::{
    Mind, MindId, MixedMinds, Orchestrator, RunControl, Settings, Transcript, local_mind,
};
use serde_json::Value;

use crate::desk;

/// Four minds, two of each kind, alternating.
fn settings(scheduling: Scheduling) -> Settings {
    desk::settings(scheduling).with(|settings| {
        let scripted = |spec: &str| MindEntry::Scripted(spec.to_owned());
        settings.mind = None;
        settings.minds = Some(vec![scripted("copier:mu=0"), scripted("mutator:p=0.5")]);
    })
}

fn minds(settings: &Settings) -> MixedMinds {
    let boxed =
        |spec: &str| -> Box<dyn Mind> { Box::new(local_mind(spec, &settings.prompt()).unwrap()) };
    MixedMinds::new(settings.mind_names().into_iter().map(boxed).collect())
}

fn events(journal: &[u8]) -> Vec<Value> {
    let lines = journal
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect()
}

#[test]
fn n12_each_position_is_played_by_its_entry() {
    for scheduling in [Scheduling::Sequential, Scheduling::Snapshot] {
        let settings = settings(scheduling);
        let (_, journal) = desk::run(&settings, minds(&settings));
        logosphere_core::verify::verify(&journal[..]).unwrap();
        let run = Transcript::read(&journal[..]).unwrap();
        assert_eq!(run.calls.len(), 20);
        let mut changed = 0;
        for event in events(&journal)
            .iter()
            .filter(|event| event["type"] == "mind_invocation")
        {
            let copies = event["mind_id"].as_u64().unwrap() % 2 == 0;
            let model = if copies {
                "copier:mu=0"
            } else {
                "mutator:p=0.5"
            };
            assert_eq!(event["model_asked"], model);
            let read: BTreeSet<_> = texts(&event["input_messages"]);
            for text in texts(&event["transmitted"]) {
                let is_copy = read.iter().any(|read| *read == text);
                assert!(is_copy || !copies, "{event}");
                changed += usize::from(!is_copy);
            }
        }
        assert!(changed > 5, "{changed}");
    }
}

/// Texts without their signatures.
fn texts(list: &Value) -> BTreeSet<String> {
    let texts = list.as_array().unwrap().iter();
    let bare = |text: &Value| text.as_str().unwrap().replace("\n\n~init", "");
    texts.map(bare).collect()
}

#[test]
fn n12_requests_depend_on_the_entry_and_not_on_the_position() {
    let settings = settings(Scheduling::Snapshot);
    let start = desk::start(&settings, &minds(&settings));
    assert_eq!(start.request_template.further.len(), 1);
    let (clock, control) = (desk::Ticking::default(), RunControl::default());
    let journal = MemJournal::default();
    let template = start.request_template.clone();
    let run = Orchestrator::start(start, minds(&settings), journal, clock, control).unwrap();
    let state = run.state();
    let filled = |mind| {
        let template = state.template_of(MindId(mind));
        template.fill("the same prompt")
    };
    assert_eq!(filled(0), filled(2));
    assert_eq!(filled(1), filled(3));
    assert_ne!(filled(0), filled(1));
    let plan = state.plan(MindId(2));
    assert_eq!(plan.body, template.fill(plan.input.prompt().user()));
    let (_, journal) = desk::run(&settings, minds(&settings));
    let report = LeakCheck::read(&journal[..], &[]).unwrap().finish();
    assert!(report.holds, "{report:?}");
}

#[test]
fn a_journal_with_another_request_form_of_an_entry_does_not_verify() {
    let settings = settings(Scheduling::Sequential);
    let (_, journal) = desk::run(&settings, minds(&settings));
    let text = String::from_utf8(journal).unwrap();
    for (from, to) in [
        ("\"minds\":[\"copier:mu=0\",", "\"minds\":[\"copier:mu=1\","),
        (
            "\"model\\\":\\\"mutator:p=0.5",
            "\"model\\\":\\\"mutator:p=0.4",
        ),
    ] {
        assert!(text.contains(from), "{from}");
        let changed = text.replacen(from, to, 1);
        assert!(logosphere_core::verify::verify(changed.as_bytes()).is_err());
    }
}

#[test]
fn a_resumed_run_keeps_its_minds() {
    let settings = settings(Scheduling::Sequential);
    let (_, whole) = desk::run(&settings, minds(&settings));
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let begun = lines[..9].concat();
    let (_, resumed) = desk::resume(&begun, Vec::new(), minds(&settings));
    let compared = logosphere_core::verify::compare(&whole[..], &resumed[..]).unwrap();
    assert!(matches!(compared, Comparison::Equal(_)), "{compared:?}");
}

#[test]
fn a_list_of_minds_is_read_from_a_file_and_wrong_ones_are_refused() {
    let read = |minds: &str| read_config(format!("{{\"minds\": {minds}}}").as_bytes());
    let layer = read(r#"["copier", "biased:s=0.5,type=moon"]"#).unwrap();
    let settings = layer.settings(0).unwrap();
    assert!(settings.is_offline());
    assert_eq!(settings.mind_names(), ["copier", "biased:s=0.5,type=moon"]);
    assert_eq!(
        [0, 1, 2].map(|position| settings.entry_of(position)),
        [0, 1, 0]
    );
    let layer = read(
        r#"[{"model": "a/b", "options": {"temperature": 0.5}}, {"model": "c", "provider": "ollama"}]"#,
    );
    let settings = layer.unwrap().settings(0).unwrap();
    assert!(!settings.is_offline());
    let entries = settings.entries();
    assert_eq!(
        (entries[0].model.as_str(), entries[0].options.temperature),
        ("a/b", Some(0.5))
    );
    assert_eq!(
        (entries[1].entry, entries[1].options.temperature),
        (1, None)
    );
    assert_eq!(
        settings.minds.unwrap()[0].name(),
        ModelEntry::new("a/b").model
    );
    for (minds, error) in [
        (
            "[]",
            "minds: expected a list of at least one mind, found a list",
        ),
        (
            "\"copier\"",
            "minds: expected a list of at least one mind, found a text",
        ),
        (
            "[1]",
            "minds[0]: expected a scripted mind such as \"copier\", or a table with a model, found a number",
        ),
        (
            "[\" \"]",
            "minds[0]: expected a text that is not blank, found a blank text",
        ),
        (
            r#"[{"model": "a"}, {"modle": "b"}]"#,
            "minds[1].modle: no such key of a mind; it has provider, model, api_base_url, options",
        ),
        (r#"[{"provider": "ollama"}]"#, "minds[0]: model is missing"),
        (
            r#"[{"model": "a", "provider": "offline"}]"#,
            "minds[0].provider: a model has another provider",
        ),
        (
            r#"[{"model": "a", "options": {"temprature": 1}}]"#,
            "minds[0].options.temprature: no such setting; the nearest is options.temperature",
        ),
        (
            r#"[{"model": "a", "options": {"temperature": 3}}]"#,
            "minds[0].options.temperature: expected a number from 0 to 2, found 3",
        ),
        (
            r#"[{"model": "a", "api_base_url": "http://u:p@h"}]"#,
            "minds[0].api_base_url: expected http://",
        ),
    ] {
        let found = read(minds).unwrap_err().to_string();
        assert!(found.starts_with(error), "{found}");
    }
    for (minds, error) in [
        (
            r#"["copier", {"model": "a"}]"#,
            "minds: scripted minds and models play in no run together",
        ),
        (
            r#"["copier", "copier", "copier", "copier"]"#,
            "minds: 4 entries for 3 minds",
        ),
        (
            r#"["copier"], "mind": "copier""#,
            "minds: mind and minds both name the minds",
        ),
        (
            r#"["copier"], "provider": "ollama""#,
            "minds: scripted minds play only offline",
        ),
    ] {
        let layer = read_config(format!("{{\"minds\": {minds}}}").as_bytes()).unwrap();
        let found = layer.settings(0).unwrap_err().to_string();
        assert!(found.starts_with(error), "{found}");
    }
}

#[test]
fn an_altered_journal_with_an_empty_list_or_too_many_minds_is_an_error_and_no_panic() {
    let settings = settings(Scheduling::Sequential);
    let (_, journal) = desk::run(&settings, minds(&settings));
    let text = String::from_utf8(journal).unwrap();
    let first = text.lines().next().unwrap();
    for (from, to) in [
        (
            "\"minds\":[\"copier:mu=0\",\"mutator:p=0.5\"]",
            "\"minds\":[]",
        ),
        ("\"n_minds\":4", "\"n_minds\":4294967295"),
    ] {
        assert!(first.contains(from), "{first}");
        let mut start: logosphere_core::ExperimentStart =
            serde_json::from_str(&first.replace(from, to)).unwrap();
        start.run_id = "other".to_owned();
        let mut journal = MemJournal::default();
        let event = logosphere_core::journal::Event::ExperimentStart(Box::new(start));
        logosphere_core::journal::JournalSink::append(
            &mut journal,
            "2026-01-02T03:04:05.678Z",
            &event,
        )
        .unwrap();
        assert!(logosphere_core::verify::verify(&journal.bytes[..]).is_err());
        let run = logosphere_core::verify::ResumedRun::read(&journal.bytes[..]).unwrap();
        assert_eq!(run.state.plan(MindId(1)).sampled.len(), 3);
        let swap = logosphere_core::journal::InterventionChange::SwapMind {
            mind_id: MindId(1),
            old: MindEntry::Scripted("copier".to_owned()),
            new: MindEntry::Scripted("silent".to_owned()),
            request_template: run.state.template_of(MindId(0)).clone(),
        };
        assert_eq!(run.state.settings_after(&swap).is_ok(), to.ends_with("[]"));
        let _ = LeakCheck::read(&journal.bytes[..], &[]).map(LeakCheck::finish);
    }
}
