//! A program without the binary keeps a run in a directory: begins it, resumes it, judges it again.

use std::fs;
use std::path::Path;

use tokio_util::sync::CancellationToken;
use zer0gravity_engine::plan::Plan;
use zer0gravity_engine::prompts::Role;
use zer0gravity_engine::report::RunReport;
use zer0gravity_engine::run::{
    ChangedCalls, DirectoryError, Estimate, RescoreOptions, Rescored, RunDirectory, RunNotes,
};
use zer0gravity_engine::store::StoreError;
use zer0gravity_engine::{FailureKind, RunEvent};

use crate::desk::{Characters, Desk, Still, plan};
use crate::player::{Asked, Player, fails, finish};

fn create(path: &Path, plan: &Plan) -> Result<RunDirectory, DirectoryError> {
    RunDirectory::create(path, plan, RunNotes::default(), &Still::default())
}

/// Resumes to the end.
fn resume(
    directory: &RunDirectory,
    player: &Player,
    changed: ChangedCalls,
) -> Result<RunReport, DirectoryError> {
    let desk = Desk::one_by_one();
    let mut quiet = |_: RunEvent<'_>| ();
    let run = directory.resume(desk.runner(player), changed, &mut quiet);
    finish(run, player)
}

fn rescore(directory: &mut RunDirectory, player: &Player, options: &RescoreOptions) -> Rescored {
    let desk = Desk::one_by_one();
    let rescore = directory.plan_rescore(options).unwrap();
    let mut quiet = |_: RunEvent<'_>| ();
    let run = directory.rescore(rescore, desk.runner(player), &mut quiet);
    finish(run, player).unwrap()
}

fn read(path: &Path, name: &str) -> String {
    fs::read_to_string(path.join(name)).unwrap()
}

fn judges_alone(player: &Player) -> bool {
    let asked = player.asked();
    let judging = [Role::SemanticJudge, Role::ImplementabilityJudge];
    let by_judge =
        |one: &Asked| matches!(one, Asked::Message(asked) if judging.contains(&asked.role));
    !asked.is_empty() && asked.iter().all(by_judge)
}

#[test]
fn z48_an_embedder_stops_a_run_resumes_it_and_judges_it_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("runs/first");
    let plan = plan(&["abcdefghij", "another text"]);
    let notes = RunNotes::default()
        .base_url(Some("http://models.test".to_owned()))
        .left_out(1);

    // The first process is stopped after one experiment of two.
    let directory = RunDirectory::create(&path, &plan, notes, &Still::default()).unwrap();
    assert!(matches!(
        RunDirectory::open(&path),
        Err(DirectoryError::InUse { .. })
    ));
    let (player, desk, stop) = (
        Player::default(),
        Desk::one_by_one(),
        CancellationToken::new(),
    );
    let runner = desk.runner(&player).cancel(stop.clone());
    let mut ended = Vec::new();
    let mut on_event = |event: RunEvent<'_>| {
        if let RunEvent::Ended { done, total, .. } = event {
            ended.push((done, total));
            stop.cancel();
        }
    };
    let run = directory.resume(runner, ChangedCalls::Refuse, &mut on_event);
    let stopped = finish(run, &player).unwrap();
    assert_eq!(ended, [(1, 2), (2, 2)]);
    assert!(stopped.results[0].outcome.is_ok());
    assert_eq!(
        stopped.results[1].outcome.kind,
        Some(FailureKind::Interrupted)
    );
    let early = directory.plan_rescore(&RescoreOptions::default());
    assert!(matches!(early, Err(DirectoryError::Unfinished { .. })));
    drop(directory);

    // The second opens it, knows its plan and notes, and asks only what is missing.
    let mut directory = RunDirectory::open(&path).unwrap();
    assert_eq!(directory.plan(), &plan);
    assert_eq!(
        (directory.base_url(), directory.left_out()),
        (Some("http://models.test"), 1)
    );
    let (first, second) = (player, Player::default());
    let report = resume(&directory, &second, ChangedCalls::Refuse).unwrap();
    assert!(report.results.iter().all(|result| result.outcome.is_ok()));
    assert!(
        second
            .asked()
            .iter()
            .all(|call| !first.asked().contains(call))
    );
    // The report is that of a run that nothing disturbed, but for the file that it names.
    let mut undisturbed = Desk::one_by_one().report(&Player::default(), &plan);
    undisturbed.calls_file.clone_from(&report.calls_file);
    undisturbed.created_at = directory.frozen_at().to_owned();
    assert_eq!(report, undisturbed);
    assert_eq!(
        RunReport::read(&read(&path, "report.json")).unwrap(),
        report
    );

    // A rescore whose judge fails leaves plan and report as they were.
    let before = (read(&path, "run.json"), read(&path, "report.json"));
    let other = RescoreOptions::default().judges(vec!["other".to_owned()]);
    let down = Player::default().replies(|_| Err(fails("overloaded", 529)));
    let rescored = rescore(&mut directory, &down, &other);
    assert_eq!(rescored.unjudged, 2);
    assert_eq!(
        before,
        (read(&path, "run.json"), read(&path, "report.json"))
    );

    // Continued, it asks judges alone and replaces both.
    let up = Player::default();
    let rescored = rescore(&mut directory, &up, &RescoreOptions::default().resume(true));
    assert_eq!(rescored.unjudged, 0);
    assert!(judges_alone(&up));
    for (new, old) in rescored.report.results.iter().zip(&report.results) {
        let previous = new.previous_scores.as_ref().unwrap();
        assert_eq!(previous.judges, old.metadata.models.judges);
        assert_eq!(new.metadata.models.judges, ["other"]);
        assert_eq!(new.decoded_text, old.decoded_text);
    }
    drop(directory);
    let directory = RunDirectory::open(&path).unwrap();
    assert_eq!(directory.plan().config.models.judges, ["other"]);
    assert_eq!(directory.report().unwrap().unwrap(), rescored.report);
    let again = directory.plan_rescore(&RescoreOptions::default().resume(true));
    assert!(matches!(again, Err(DirectoryError::NoRescore { .. })));
}

#[test]
fn z48_a_directory_of_another_plan_or_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    assert!(matches!(
        RunDirectory::open(path),
        Err(DirectoryError::NoRun { .. })
    ));
    let one = plan(&["abc"]);
    drop(create(path, &one).unwrap());
    let mut other = one.clone();
    other.config.trials = 2;
    match create(path, &other) {
        Err(DirectoryError::AnotherPlan { differences, .. }) => {
            assert_eq!(differences, ["config.trials"]);
        }
        other => panic!("{other:?}"),
    }
    // The same plan continues the run.
    let directory = create(path, &one).unwrap();
    let offline = zer0gravity_engine::OfflineModel;
    let desk = Desk::default();
    let mut quiet = |_: RunEvent<'_>| ();
    let run = directory.resume(desk.runner(&offline), ChangedCalls::Refuse, &mut quiet);
    let refused = finish(run, &Player::default());
    assert!(matches!(refused, Err(DirectoryError::AnotherPlan { .. })));
    drop(directory);

    let edited = read(path, "run.json").replace("drop every second", "drop every third");
    fs::write(path.join("run.json"), edited).unwrap();
    assert!(matches!(
        RunDirectory::open(path),
        Err(DirectoryError::Thawed { .. })
    ));
    fs::remove_file(path.join("run.json")).unwrap();
    fs::write(path.join("calls.jsonl"), "{}\n").unwrap();
    assert!(matches!(
        create(path, &one),
        Err(DirectoryError::ForeignCalls { .. })
    ));
}

#[test]
fn z48_changed_calls_are_refused_or_the_report_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let directory = create(path, &plan(&["abcdef"])).unwrap();
    resume(&directory, &Player::default(), ChangedCalls::Refuse).unwrap();
    let calls = read(path, "calls.jsonl").replace("near", "far!");
    fs::write(path.join("calls.jsonl"), calls).unwrap();
    let refused = resume(&directory, &Player::default(), ChangedCalls::Refuse);
    assert!(matches!(refused, Err(DirectoryError::CallsChanged { .. })));
    let accepted = resume(&directory, &Player::default(), ChangedCalls::Accept).unwrap();
    assert!(accepted.calls_file.unwrap().changed);
}

#[test]
fn z48_a_cap_is_kept_and_a_torn_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mut directory = create(path, &plan(&["abcdef"])).unwrap();
    assert_eq!((directory.cap(), RunDirectory::cap_in(path)), (None, None));
    let cap = llm_types::Usd::from_dollars(0.5);
    directory.keep_cap(cap).unwrap();
    directory.keep_cap(None).unwrap();
    assert_eq!((directory.cap(), RunDirectory::cap_in(path)), (cap, cap));
    assert!(read(path, "run.json").contains("\"maxUsd\": 0.5\n"));

    fs::write(path.join("calls.jsonl"), "{\"sche").unwrap();
    let mut torn = Vec::new();
    let mut on_event = |event: RunEvent<'_>| {
        if let RunEvent::CutOff { line, .. } = event {
            torn.push((line.line, line.bytes));
        }
    };
    let (player, desk) = (Player::default(), Desk::default());
    let run = directory.resume(desk.runner(&player), ChangedCalls::Refuse, &mut on_event);
    finish(run, &player).unwrap();
    assert_eq!(torn, [(1, 6)]);
}

#[test]
fn z48_an_embedder_estimates_a_run_and_then_one_like_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let plan = plan(&["abcdefghij", "another text"]);

    // The estimate has the calls that the run then makes.
    let estimate = Estimate::of(&plan, &Characters);
    let directory = create(&path, &plan).unwrap();
    let player = Player::default();
    resume(&directory, &player, ChangedCalls::Refuse).unwrap();
    let asked = player.asked();
    let of_role = |role| {
        let of_it = |one: &&Asked| matches!(one, Asked::Message(asked) if asked.role == role);
        asked.iter().filter(of_it).count() as u64
    };
    let calls = estimate.calls;
    assert_eq!(calls.encode, of_role(Role::Encoder));
    assert_eq!(calls.decode, of_role(Role::Decoder));
    assert_eq!(calls.judge_semantic, of_role(Role::SemanticJudge));
    let counted = |one: &&Asked| matches!(one, Asked::Count(_));
    assert_eq!(calls.count, asked.iter().filter(counted).count() as u64);
    assert_eq!(estimate.experiments, 2);

    // Replies of the finished run had five tokens each.
    let like = estimate.clone().like(&path).unwrap();
    let replies = like.tokens(|call| call.expected).reply;
    assert_eq!(replies, 5 * (calls.total - calls.count));
    assert_ne!(replies, estimate.tokens(|call| call.expected).reply);
    assert_eq!(
        like.tokens(|call| call.at_most),
        estimate.tokens(|call| call.at_most)
    );

    // A line that is still being written is left out; one of a newer version is refused.
    let calls = RunDirectory::calls_in(&path);
    let written = fs::read_to_string(&calls).unwrap();
    fs::write(&calls, format!("{written}{{\"schema_ver")).unwrap();
    assert_eq!(estimate.clone().like(&path).unwrap(), like);
    fs::write(&calls, format!("{written}{{\"schema_version\": 99}}\n")).unwrap();
    assert!(matches!(
        estimate.clone().like(&path),
        Err(DirectoryError::Calls(StoreError::SchemaVersion {
            found: 99,
            ..
        }))
    ));
    fs::write(&calls, "").unwrap();
    assert!(matches!(
        estimate.like(&path),
        Err(DirectoryError::NoReplies { .. })
    ));
}
