//! The directory of an experiment.

use std::fs;
use std::path::Path;

use jiff::civil::date;
use logosphere_core::config::Layer;
use logosphere_core::experiment::{Experiment, ExperimentError, INIT_TEMPLATE, Template};
use logosphere_core::format::{ParseMode, parse, sha256_hex};
use logosphere_core::{Effective, Settings};
use tempfile::TempDir;

fn create(root: &Path, name: &str) -> Result<Experiment, ExperimentError> {
    Experiment::create(root, name, date(2026, 1, 2))
}

/// A root and an experiment in it.
fn first() -> (TempDir, Experiment) {
    let root = tempfile::tempdir().unwrap();
    let experiment = create(root.path(), "first").unwrap();
    (root, experiment)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_name_gets_the_day_before_it_and_a_number_when_it_is_taken() {
    let root = tempfile::tempdir().unwrap();
    let experiments = root.path().join("not/there/yet");
    for _ in 0..3 {
        create(&experiments, "first-run").unwrap();
    }
    let expected = [
        "2026-01-02-first-run",
        "2026-01-02-first-run-2",
        "2026-01-02-first-run-3",
    ];
    assert_eq!(names(&experiments), expected);
}

#[test]
fn names_that_every_system_takes_are_taken() {
    let root = tempfile::tempdir().unwrap();
    let longest = "x".repeat(64);
    for name in [
        "a", "0", "-", "_", "a.b_c-d", "console", "com", "com0", "com10", &longest,
    ] {
        create(root.path(), name).unwrap();
    }
}

#[test]
fn other_names_are_refused_and_nothing_is_made() {
    let root = tempfile::tempdir().unwrap();
    let too_long = "x".repeat(65);
    for name in [
        "", ".", "..", ".a", "a..b", "a/b", "../a", "a\\b", "A", "ä", "a b", "a\n", "con",
        "nul.txt", "aux", "prn.a.b", "com1", "lpt9.log", &too_long,
    ] {
        let error = create(root.path(), name).unwrap_err();
        assert!(matches!(error, ExperimentError::Name { .. }), "{name}");
        assert!(error.is_usage());
        assert!(!error.to_string().contains('\n'));
    }
    assert!(names(root.path()).is_empty());
}

#[test]
fn an_experiment_without_seeds_is_given_the_template_once() {
    let (root, experiment) = first();
    assert_eq!(
        experiment.ensure_init_file(root.path()).unwrap(),
        Some(Template::BuiltIn)
    );
    assert_eq!(experiment.read_init().unwrap(), INIT_TEMPLATE.as_bytes());
    assert_eq!(experiment.ensure_init_file(root.path()).unwrap(), None);

    let own = root.path().join("init-template.txt");
    fs::write(&own, "own").unwrap();
    // What is there stays.
    assert_eq!(experiment.ensure_init_file(root.path()).unwrap(), None);
    assert_eq!(experiment.read_init().unwrap(), INIT_TEMPLATE.as_bytes());
    let second = create(root.path(), "second").unwrap();
    assert_eq!(
        second.ensure_init_file(root.path()).unwrap(),
        Some(Template::File(own))
    );
    assert_eq!(second.read_init().unwrap(), b"own");
    assert_eq!(names(second.path()), ["init.md"]);
}

#[test]
fn the_template_is_an_answer_in_the_format() {
    for mode in [ParseMode::Lenient, ParseMode::Strict] {
        let parsed = parse(INIT_TEMPLATE, mode);
        assert!(parsed.completed, "{mode:?}");
        assert_eq!(parsed.messages.len(), 6, "{mode:?}");
    }
    let signed = parse(INIT_TEMPLATE, ParseMode::Lenient);
    assert_eq!(signed.signature, "~init");
}

#[test]
fn seeds_and_settings_are_copied_and_nothing_is_overwritten() {
    let (root, experiment) = first();
    fs::write(experiment.init(), "seeds").unwrap();
    let second = create(root.path(), "second").unwrap();
    second.copy_from(&experiment, false).unwrap();
    assert_eq!(names(second.path()), ["init.md"]);
    fs::write(experiment.config(), " {}").unwrap();
    let third = create(root.path(), "third").unwrap();
    third.copy_from(&experiment, false).unwrap();
    assert_eq!(names(third.path()), ["config.json", "init.md"]);
    assert_eq!(fs::read(third.config()).unwrap(), b" {}");

    fs::write(second.init(), "mine").unwrap();
    let error = second.copy_from(&experiment, false).unwrap_err();
    assert!(matches!(error, ExperimentError::Exists { .. }));
    assert_eq!(fs::read(second.init()).unwrap(), b"mine");
    let empty = create(root.path(), "empty").unwrap();
    let error = third.copy_from(&empty, false).unwrap_err();
    assert!(error.to_string().contains("logosphere new"), "{error}");
}

#[test]
fn settings_of_a_run_are_written_where_none_are_given() {
    let (_root, experiment) = first();
    assert_eq!(experiment.read_config().unwrap(), None);
    let settings = Settings::default().with(|settings| settings.n_minds = 9);
    let sha256 = experiment.write_config(&settings, &["seed"]).unwrap();
    let bytes = fs::read(experiment.config()).unwrap();
    assert_eq!(sha256, sha256_hex(&bytes));
    let read = experiment.read_config().unwrap().unwrap();
    assert_eq!(read.sha256, sha256);
    assert_eq!(read.layer.settings(1).unwrap(), settings);
    let before = fs::read(experiment.config()).unwrap();
    let error = experiment
        .write_config(&Settings::default(), &[])
        .unwrap_err();
    assert!(matches!(error, ExperimentError::Exists { .. }));
    assert_eq!(fs::read(experiment.config()).unwrap(), before);
}

#[test]
fn given_settings_keep_their_bytes_and_mistakes_in_them_name_the_file() {
    let (_root, experiment) = first();
    fs::write(experiment.config(), "\u{feff}{ \"N_MINDS\":4 }\r\n").unwrap();
    let read = experiment.read_config().unwrap().unwrap();
    let expected = Layer::default().with(|layer| layer.n_minds = Some(4));
    assert_eq!(read.layer, expected);
    // Of the bytes as they are: the mark and the line end are part of them.
    assert_eq!(
        read.sha256,
        "845d48a4c620a487fdf8417df5d80459b12934c427af7bd32c8b75b043386d0b"
    );
    fs::write(experiment.config(), "{\"n_minds\": 0}").unwrap();
    let error = experiment.read_config().unwrap_err();
    assert!(error.to_string().ends_with("config.json"), "{error}");
    assert!(error.is_usage());
}

#[test]
fn what_a_run_was_made_by_is_written_anew_each_time() {
    let (_root, experiment) = first();
    for software in ["one", "two"] {
        let mut effective = Effective::new(Settings::default(), software);
        effective.config_sha256 = "c".into();
        effective.system_prompt_sha256 = "p".into();
        effective.init_sha256 = "i".into();
        experiment.write_effective(&effective).unwrap();
        let text = fs::read_to_string(experiment.effective()).unwrap();
        assert_eq!(serde_json::from_str::<Effective>(&text).unwrap(), effective);
    }
    assert_eq!(names(experiment.path()), ["config.effective.json"]);
}

#[test]
fn a_second_lock_names_the_process_that_has_the_first() {
    let (_root, experiment) = first();
    let lock = experiment.lock(4711).unwrap();
    let error = experiment.lock(4712).unwrap_err();
    assert!(matches!(error, ExperimentError::InUse { .. }));
    if cfg!(unix) {
        assert!(error.to_string().contains("process 4711 works"), "{error}");
    }
    assert!(error.is_usage());
    drop(lock);
    // What a killed process left is swept, and nothing else.
    for name in [".draft-x1", ".drafts", "x.draft-"] {
        fs::write(experiment.path().join(name), "half").unwrap();
        fs::write(experiment.logs().join(name), "half").unwrap();
    }
    drop(experiment.lock(5).unwrap());
    assert_eq!(names(experiment.path()), [".drafts", "logs", "x.draft-"]);
    assert_eq!(names(&experiment.logs()), [".drafts", "lock", "x.draft-"]);
    let text = fs::read_to_string(experiment.logs().join("lock")).unwrap();
    assert_eq!(text, "5\n");
}

#[test]
fn a_journal_with_a_whole_line_is_a_run() {
    let (_root, experiment) = first();
    experiment.check_unused().unwrap();
    drop(experiment.lock(1).unwrap());
    fs::write(experiment.journal(), "").unwrap();
    experiment.check_unused().unwrap();
    let long = "x".repeat(100_000);
    fs::write(experiment.journal(), &long).unwrap();
    experiment.check_unused().unwrap();
    fs::write(experiment.journal(), long + "\n").unwrap();
    let error = experiment.check_unused().unwrap_err();
    assert!(error.to_string().contains("logosphere resume"), "{error}");
}

#[test]
fn a_path_is_a_directory_or_a_journal() {
    let (root, experiment) = first();
    let open = |path: &Path| Experiment::open(path);
    assert_eq!(open(experiment.path()).unwrap(), experiment);
    let absent = root.path().join("a/b");
    let error = open(&absent).unwrap_err();
    assert!(error.to_string().contains("logosphere new"), "{error}");
    fs::write(root.path().join("file"), "").unwrap();
    let error = Experiment::open_or_make(&root.path().join("file")).unwrap_err();
    assert!(matches!(error, ExperimentError::NotADirectory { .. }));
    Experiment::open_or_make(&absent).unwrap();
    open(&absent).unwrap();
    assert_eq!(
        Experiment::journal_at(experiment.path()),
        experiment.journal()
    );
    assert_eq!(
        Experiment::journal_at(&root.path().join("file")),
        root.path().join("file")
    );
    assert_eq!(
        experiment.journal(),
        root.path().join("2026-01-02-first/logs/experiment.jsonl")
    );
}

#[test]
fn what_cannot_be_written_is_named() {
    let (root, experiment) = first();
    fs::remove_dir_all(experiment.path()).unwrap();
    let error = experiment.ensure_init_file(root.path()).unwrap_err();
    assert!(matches!(&error, ExperimentError::Write { path, .. } if *path == experiment.init()));
    assert!(!error.is_usage());
    fs::write(root.path().join("file"), "").unwrap();
    let error = create(&root.path().join("file"), "a").unwrap_err();
    assert!(matches!(error, ExperimentError::RootIsFile { .. }));
}
