//! The command language that all programs share: bare program, JSON, output, width, colour, names, first lines.

use std::path::Path;

use serde_json::Value;

use crate::program::{Place, finish, start, words};
use crate::terminal;

/// A folder with a run in `experiments/2026-01-02-first` and another that equals it.
fn place() -> Place {
    let place = Place::new();
    for name in ["experiments/2026-01-02-first", "other"] {
        place.experiment(name);
        let run = ["run", name, "--rounds", "8", "--seed", "1"];
        place.alone(&run).exits(0);
    }
    place.file("answer.txt", "thought\n---\none\n---\n\n---\n");
    place
}

#[test]
fn bare_prints_help_on_stderr_and_makes_nothing() {
    let place = Place::new();
    let ran = place.alone(&[]).exits(2);
    assert_eq!(ran.stdout, "");
    assert!(ran.stderr.lines().count() <= 25, "{}", ran.stderr);
    assert!(ran.stderr.contains("Usage: logosphere"), "{}", ran.stderr);
    place.alone(&words("--rounds 2")).exits(2);
    assert!(place.names("").is_empty());
}

#[test]
fn json_is_one_value_with_a_version_and_nothing_else_on_stdout() {
    let place = place();
    for (line, code) in [
        ("check-init other", 0),
        ("minds", 0),
        ("minds copier", 0),
        ("estimate other", 0),
        ("estimate --rounds 3", 0),
        ("run --rounds 1", 0),
        ("resume other --rounds 9", 0),
        ("status", 0),
        ("verify first", 0),
        ("check-leaks first", 0),
        ("diff first other", 4),
        ("diff first first", 0),
        ("analyze first", 0),
        ("null-model first", 0),
        ("lineage first", 0),
        ("parse answer.txt", 0),
        ("demo", 0),
    ] {
        let arguments = [&words(line)[..], &["--json"]].concat();
        let told = place.alone(&arguments).exits(code).stdout;
        let value: Value = serde_json::from_str(&told).unwrap();
        assert!(value["schema_version"].is_u64(), "{line}: {told}");
    }
}

#[test]
fn output_is_replaced_as_a_whole_and_json_never_mixes_with_it() {
    let place = place();
    place.file("page.html", "old");
    let both = place.alone(&words("verify first -o - --json")).exits(2);
    assert_eq!(both.stdout, "");
    place.alone(&words("report first -o - --open")).exits(2);
    let page = place.alone(&words("report first -o page.html")).exits(0);
    assert_eq!(page.stdout, "page.html\n");
    assert!(place.read("page.html").starts_with("<!DOCTYPE html>"));
    place.alone(&words("report nowhere -o page.html")).exits(2);
    assert!(place.read("page.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn width_is_kept_on_a_terminal_and_a_pipe_has_a_line_a_row() {
    let place = place();
    for columns in [60, 80, 120] {
        for line in ["analyze first", "lineage first", "run --help"] {
            let arguments = [&words(line)[..], &["--color", "never"]].concat();
            let shown = terminal::shown(&mut place.command(&arguments), columns);
            let widest = shown.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(usize::from(columns)), "{line}\n{shown}");
        }
    }
    let rows = |text: &str| text.lines().filter(|line| line.contains("0 to 1")).count();
    let pipe = place.alone(&words("analyze first")).exits(0).stdout;
    assert_eq!(rows(&pipe), 2, "{pipe}");
    let wide = "Not tested: only ";
    let first = pipe.lines().next().unwrap();
    assert!(first.starts_with(wide) && first.len() > 80, "{pipe}");
}

#[test]
fn colour_is_for_terminals_and_can_be_forced_or_forbidden() {
    let place = place();
    let bold = "\u{1b}[1m";
    let analyze = words("analyze first");
    let piped = |line: &str, variable: &str| {
        let mut command = place.command(&words(line));
        finish(start(command.env(variable, "1"))).exits(0).stdout
    };
    assert!(!piped("analyze first", "UNUSED").contains(bold));
    assert!(piped("analyze first", "CLICOLOR_FORCE").contains(bold));
    assert!(piped("analyze first --color always", "UNUSED").contains(bold));
    assert!(terminal::shown(&mut place.command(&analyze), 80).contains(bold));
    let mut command = place.command(&analyze);
    assert!(!terminal::shown(command.env("NO_COLOR", "1"), 80).contains(bold));
}

#[test]
fn runs_are_named_by_what_they_are_and_bad_input_makes_nothing() {
    let place = Place::new();
    place
        .alone(&words("new x"))
        .exits(0)
        .tells(&["next: logosphere run "]);
    let ran = place.alone(&words("run x --rounds 1")).exits(0);
    let first = ran.stderr.lines().next().unwrap();
    let name = &place.names("experiments")[0];
    assert_eq!(first, format!("writing to experiments/{name}"));
    place
        .alone(&words("run y"))
        .exits(2)
        .tells(&["did you mean x?"]);
    let kinds = "copier, mutator, markov, biased, disobedient, silent, flaky, slow";
    for line in ["run --mind foo", "run --mind foo", "minds foo"] {
        place.alone(&words(line)).exits(2).tells(&[kinds]);
    }
    place
        .alone(&words("minds copyer"))
        .exits(2)
        .tells(&["did you mean copier?"]);
    assert_eq!(place.names("experiments"), [name.as_str()]);
    let status = place.alone(&words("status x")).exits(0);
    assert!(
        status.stdout.starts_with("rounds    1\n"),
        "{}",
        status.stdout
    );
    status.tells(&[&format!("next: logosphere report experiments/{name}")]);
}

#[test]
fn answers_come_first() {
    let place = place();
    let shown = terminal::shown(
        &mut place.command(&words("analyze first --color never")),
        80,
    );
    let lines: Vec<_> = shown.lines().collect();
    assert!(lines[0].starts_with("Not tested: only "));
    let table = lines
        .iter()
        .position(|line| line.starts_with("measure "))
        .unwrap();
    let header: Vec<_> = lines[table].split_whitespace().collect();
    assert_eq!(header, ["measure", "unit", "value"]);
    let measures: Vec<_> = lines[table + 1..table + 5]
        .iter()
        .map(|line| &line[..13])
        .collect();
    let expected = [
        "similarity of",
        "identical pai",
        "new texts in ",
        "similarity to",
    ];
    assert_eq!(measures, expected, "{shown}");
    assert!(!shown.contains("volume: "), "{shown}");
    let all = place.alone(&words("analyze first -v")).exits(0).stdout;
    for words in ["volume: ", "seeds: ", "lineage: ", "tfidf_similarity"] {
        assert!(all.contains(words), "{words}\n{all}");
    }
}

#[test]
fn a_demo_has_at_most_eight_lines_of_eighty_columns_and_its_result_as_json() {
    let place = Place::new();
    let ran = place.alone(&words("demo --dir D --open")).exits(0);
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(lines.len() <= 8, "{}", ran.stdout);
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{}",
        ran.stdout
    );
    assert!(place.path("D/report.html").exists());
    let told: Value = place.alone(&words("demo --dir E --json")).exits(0).json();
    let line = "offline: 30 rounds, 366 messages; journal verified";
    assert_eq!(told["line"], line);
    assert!(Path::new(told["page"].as_str().unwrap()).ends_with("E/report.html"));
}
