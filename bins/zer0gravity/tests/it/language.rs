//! The rules of the command line that all programs share, on the commands of zer0gravity.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};
use test_support::program::{ProgramRun, in_terminal};
use test_support::{CompressionStub, StubMode};

use crate::program::{Place, words};

/// A place with a run in `experiments/`, offline, of two encodings on the texts of level 1.
fn made() -> Place {
    let place = Place::new();
    place.file("drop.txt", "DROP VOWELS\n");
    place.file("subs.txt", "MAP 'the' -> 't'\n");
    place.file("note.txt", "Two agents met, and one of them kept a note.\n");
    place.file(
        "cases.json",
        r#"[{"text": "Hello world!", "encodedText": "hlo", "decodedText": "Hello world!", "encodingSystem": "Leave out vowels."}]"#,
    );
    let line = "matrix --level 1 --encoding drop.txt subs.txt";
    place
        .alone(&words(line))
        .exits(0)
        .tells(&["writing to experiments/"]);
    place
}

/// The only run in `experiments/` with this name after the date.
fn run_of(place: &Place, name: &str) -> String {
    let names = place.names("experiments");
    let found: Vec<_> = names.iter().filter(|found| found.ends_with(name)).collect();
    assert_eq!(found.len(), 1, "{names:?}");
    found[0].clone()
}

#[test]
fn bare_zer0gravity_is_a_short_help_and_makes_nothing() {
    let place = Place::new();
    let ran = place.alone(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.lines().count() <= 24, "{}", ran.stderr);
    assert!(ran.stderr.contains("  matrix "), "{}", ran.stderr);
    assert_eq!(place.names("."), Vec::<String>::new());
}

#[test]
fn bad_input_makes_nothing_and_says_what_to_do() {
    for (line, said) in [
        (
            "run",
            "--level N (1, 2 or 3; `zer0gravity levels` lists them) or --all",
        ),
        ("matrix", "give INPUT (files or folders)"),
        ("run nowhere.txt", "nowhere.txt"),
        ("matrix --level 1 --encoding nowhere.txt", "nowhere.txt"),
        ("run --level 1 --min-total 3", "or pass --provider offline"),
        (
            "run --level 1 --model claude-opus-5-5",
            "or pass --provider offline",
        ),
        ("report", "there is no run in experiments/"),
        (
            "status nowhere",
            "nowhere: no such path, and no run in experiments/",
        ),
        ("report -o - --open", "--open and --watch need a file"),
        ("levels 4", "the levels are 1, 2 and 3"),
        ("reprot", "'report'"),
    ] {
        let place = Place::new();
        let ran = place.alone(&words(line));
        assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{line}");
        assert!(ran.stderr.contains(said), "{line}: {}", ran.stderr);
        assert_eq!(place.names("."), Vec::<String>::new(), "{line}");
    }
}

#[test]
fn json_is_one_value_with_its_version() {
    let place = made();
    for line in [
        "matrix --level 1 --run-dir other --json",
        "resume other --json",
        "rescore other --json",
        "status --json",
        "lint --json",
        "compare other matrix --json",
        "estimate --level 1 --json",
        "export other --format json",
        "demo --dir demo --json",
    ] {
        let ran = place.alone(&words(line)).exits(0);
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(!value["schema_version"].is_null(), "{line}: {value}");
    }
    // The requirements ask for an array of results; the texts of levels are an input again.
    for line in [
        "run note.txt --json",
        "score cases.json --json",
        "levels --json",
    ] {
        let ran = place.alone(&words(line)).exits(0);
        assert!(ran.json().is_array(), "{line}");
    }
    let status = || place.alone(&["status", "other", "--json"]).stdout;
    assert_eq!(status(), status());
}

#[test]
fn output_goes_to_a_file_as_a_whole_or_to_stdout() {
    let place = made();
    for line in ["score cases.json", "export matrix", "report matrix"] {
        let to_stdout = place.alone(&words(&format!("{line} -o -"))).exits(0);
        place.file("out", "old");
        place
            .alone(&words(&format!("{line} --output out")))
            .exits(0);
        let timeless = |text: &str| {
            let lines = text.lines().filter(|line| !line.contains("\"timestamp\""));
            lines.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(
            timeless(&place.read("out")),
            timeless(&to_stdout.stdout),
            "{line}"
        );
        assert!(!place.path("-").exists(), "{line}");
    }
    let ran = place.alone(&words("export matrix -o out.json")).exits(0);
    assert!(
        ran.stderr.contains("4 results in out.json"),
        "{}",
        ran.stderr
    );
    assert!(place.read_json("out.json")["results"].is_array());
}

#[test]
fn inputs_are_files_folders_and_stdin_and_absent_ids_are_names() {
    let place = made();
    place.file("texts/b.md", "Some words of a text.");
    place.file("texts/a.jsonl", "{\"text\": \"Hello world!\"}\n");
    let ids = |ran: &ProgramRun| -> Vec<String> {
        let results = ran.results();
        let id = |one: &Value| one["testCaseId"].as_str().unwrap().to_owned();
        results.iter().map(id).collect()
    };
    let ran = place.alone(&words("run note.txt texts --json")).exits(0);
    assert_eq!(ids(&ran), ["note", "line-1", "b"]);
    // The former name.
    let old = place
        .alone(&words("run --dataset note.txt texts --json"))
        .exits(0);
    assert_eq!(ids(&old), ids(&ran));
    for (name, text, expected) in [
        ("a.txt", "Plain words on stdin.", vec!["stdin"]),
        ("d.jsonl", "{\"text\": \"One line.\"}\n", vec!["line-1"]),
        (
            "e.json",
            "{\n \"id\": \"x\",\n \"text\": \"One case.\"\n}",
            vec!["x"],
        ),
        (
            "a.json",
            r#"[{"id": "x", "text": "One."}, {"text": "Two."}]"#,
            vec!["x", "case-2"],
        ),
        (
            "b.jsonl",
            "{\"text\": \"One.\"}\n{\"text\": \"Two.\"}\n",
            vec!["line-1", "line-2"],
        ),
    ] {
        place.file(name, text);
        let mut command = place.command(&["run", "-", "--json"]);
        command.stdin(Stdio::from(fs::File::open(place.path(name)).unwrap()));
        let ran: ProgramRun = command.output().unwrap().into();
        assert_eq!(ids(&ran.exits(0)), expected, "{name}");
    }
    let mut score = place.command(&["score", "-", "--json"]);
    score.stdin(Stdio::from(
        fs::File::open(place.path("cases.json")).unwrap(),
    ));
    let ran: ProgramRun = score.output().unwrap().into();
    assert_eq!(ran.exits(0).results().len(), 1);
}

#[test]
fn runs_are_named_and_the_newest_is_said() {
    let place = made();
    let folder = run_of(&place, "-matrix");
    let newest = format!("run: experiments/{folder} (newest)\n");
    for line in ["status", "resume", "rescore", "export", "report"] {
        let ran = place.alone(&words(line)).exits(0);
        assert!(ran.stderr.starts_with(&newest), "{line}: {}", ran.stderr);
    }
    for name in ["matrix", &folder, &format!("experiments/{folder}")] {
        let ran = place.alone(&["status", name]).exits(0);
        assert!(!ran.stderr.contains("newest"), "{}", ran.stderr);
        let first = ran.stdout.lines().next().unwrap();
        assert!(
            first.starts_with("finished: 4 of 4 scored, 0 failed, 0 not run; mean total "),
            "{first}"
        );
    }
    let ran = place.alone(&["status", "matrxi"]).exits(2);
    assert!(ran.stderr.contains("did you mean matrix"), "{}", ran.stderr);
    // The next one has a folder of its own, and a report its place in it.
    place.alone(&words("matrix --level 2")).exits(0);
    let names = place.names("experiments");
    assert_eq!(names.len(), 2, "{names:?}");
    let ran = place.alone(&["compare", "matrix"]).exits(0);
    let told = format!("run: experiments/{folder}-2 (newest)\n");
    assert!(ran.stderr.starts_with(&told), "{}", ran.stderr);
    let ran = place.alone(&["report", "matrix"]).exits(0);
    assert_eq!(ran.stdout, format!("experiments/{folder}-2/report.html\n"));
}

#[test]
fn a_rule_that_needs_a_model_is_named_before_the_run() {
    let place = made();
    place.file("words.txt", "Be brief.\n");
    let one = place
        .alone(&words("run --level 1 --encoding words.txt"))
        .exits(2);
    assert!(
        one.stderr.contains("line 1 needs a model"),
        "{}",
        one.stderr
    );
    let both = words("matrix --level 1 --encoding drop.txt words.txt --run-dir both");
    let both = place.alone(&both).exits(3);
    let told = "zer0gravity: words: line 1 needs a model";
    assert_eq!(both.stderr.matches(told).count(), 1, "{}", both.stderr);
    let (before, _) = both.stderr.split_once("writing to both\n").unwrap();
    assert!(before.contains(told), "{}", both.stderr);
}

#[test]
fn rules_and_texts_in_the_wrong_place_are_named() {
    let place = made();
    place.file("none.txt", "# only a comment\n");
    let none = words("run --level 1 --provider offline --encoding none.txt");
    let none = place.alone(&none).exits(2);
    assert!(
        none.stderr.contains("none.txt: no rule in it"),
        "{}",
        none.stderr
    );
    let both = words("matrix --level 1 --encoding drop.txt none.txt");
    let both = place.alone(&both).exits(3);
    assert!(
        both.stderr.contains("none: no rule in it"),
        "{}",
        both.stderr
    );
    let taken = place
        .alone(&words("matrix --encoding drop.txt note.txt"))
        .exits(2);
    let told = "no texts: --encoding took note.txt too, as rules; put INPUT before --encoding";
    assert!(taken.stderr.contains(told), "{}", taken.stderr);
    let rules = place
        .alone(&words("run drop.txt --provider offline"))
        .exits(0);
    for told in [
        "drop: this text is in the syntax of rules",
        "\nRules:         built in\n",
    ] {
        assert!(rules.stderr.contains(told), "{told}: {}", rules.stderr);
    }
    let run = words("run note.txt --provider offline --encoding drop.txt");
    let run = place.alone(&run).exits(0);
    assert!(
        run.stderr.contains("\nRules:         drop.txt\n"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("syntax of rules"), "{}", run.stderr);
}

#[test]
fn a_field_of_another_spelling_is_refused() {
    let place = Place::new();
    for found in ["semanticscore", "semantic_score"] {
        let case =
            json!([{"text": "a", "encodedText": "b", "decodedText": "a", found: 12, "note": 1}]);
        place.file("cases.json", case.to_string());
        let ran = place.alone(&["score", "cases.json"]).exits(2);
        let told = format!("cases.json:1: `{found}` is not read; write it `semanticScore`");
        assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    }
}

#[test]
fn money_the_cap_names_both_sums_and_the_command_with_twice_the_cap() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    let line = "matrix --all --trials 9 --run-dir dir --max-usd 0.20 --concurrency 1";
    let ran = place.asking(&stub, &words(line)).exits(130);
    let last = ran.stderr.lines().last().unwrap();
    assert!(
        last.starts_with("zer0gravity: cost cap of $0.20 reached ($0."),
        "{last}"
    );
    assert!(
        last.ends_with("continue with: zer0gravity resume dir --max-usd 0.40"),
        "{last}"
    );
}

#[cfg(unix)]
#[test]
fn answers_come_first_and_a_terminal_gets_the_summary_alone() {
    let place = made();
    let shown = |line: &str, columns: u16| {
        let mut command = place.command(&words(line));
        let ran = in_terminal(command.env("NO_COLOR", "1"), columns);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        ran
    };
    let run = shown("run --level 1", 80);
    assert!(
        run.stdout.starts_with("Zer0 Gr@vity Experiment Results\n"),
        "{}",
        run.stdout
    );
    assert!(
        run.stderr.ends_with("results as JSON: --json or -o FILE\n"),
        "{}",
        run.stderr
    );
    let piped = place.alone(&words("run --level 1")).exits(0);
    assert_eq!(piped.results().len(), 2);
    for columns in [60, 80, 120] {
        let matrix = shown("resume matrix", columns).stdout;
        let lines: Vec<&str> = matrix.lines().collect();
        assert!(lines[0].starts_with("encoding  total"), "{matrix}");
        let totals: Vec<f64> = lines[1..3]
            .iter()
            .map(|line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
            .collect();
        assert!(totals[0] >= totals[1], "{matrix}");
        assert!(lines[3].contains(" points above "), "{matrix}");
        let width = lines[..3].iter().map(|line| line.chars().count()).max();
        assert!(
            width.unwrap() <= usize::from(columns),
            "{columns}: {matrix}"
        );
    }
    let offline = place.alone(&words("resume matrix")).exits(0).stdout;
    let origin = "\noffline (scripted, no model): ";
    assert!(offline.contains(origin), "{offline}");
    let report = format!("experiments/{}/report.json", run_of(&place, "-matrix"));
    place.file("old.json", place.read(&report));
    let compared = shown("compare old.json matrix", 80).stdout;
    assert!(compared.starts_with("drop: "), "{compared}");
    assert!(compared.contains(" → "), "{compared}");
}

#[cfg(unix)]
#[test]
fn colour_is_on_a_terminal_only() {
    let place = made();
    let line = words("resume matrix");
    let bold = "\u{1b}[1mencoding";
    assert!(
        in_terminal(&mut place.command(&line), 80)
            .stdout
            .contains(bold)
    );
    assert!(!place.alone(&line).stdout.contains('\u{1b}'));
    let never = words("resume matrix --color never");
    assert!(
        !in_terminal(&mut place.command(&never), 80)
            .stdout
            .contains('\u{1b}')
    );
}

#[test]
fn rules_that_changed_are_not_comparable() {
    let place = made();
    place.file("drop.txt", "MAP 'the' -> 't'\n");
    place
        .alone(&words("matrix --level 1 --encoding drop.txt --run-dir new"))
        .exits(0);
    let ran = place.alone(&words("compare matrix new")).exits(0);
    let first = ran.stdout.lines().next().unwrap();
    assert_eq!(first, "not comparable: rules of \"drop\" differ");
}

#[test]
fn z46_a_demo_is_eight_lines_and_a_page() {
    let place = Place::new();
    let ran = place.alone(&words("demo --dir d")).exits(0);
    assert!(ran.stdout.lines().count() <= 8, "{}", ran.stdout);
    assert!(
        ran.stdout.lines().all(|line| line.chars().count() <= 80),
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("\noffline: 49.2 of 100 on 4 texts (scripted, no model)\n"),
        "{}",
        ran.stdout
    );
    assert!(place.path("d/report.html").exists());
    place
        .alone(&words("demo --dir d --json"))
        .exits(2)
        .tells(&["d: the folder is not empty"]);
    let again = place.alone(&words("demo --dir e --json")).exits(0);
    assert_eq!(
        again.json()["line"],
        "offline: 49.2 of 100 on 4 texts (scripted, no model)"
    );
    place.alone(&["demo"]).exits(0);
    run_of(&place, "-demo");
}
