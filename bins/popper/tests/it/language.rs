//! The rules of the command line that all programs share, on popper's commands.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::Value;
use test_support::program::in_terminal;

use crate::process::{Ran, fresh, words};
use crate::runs::Place;

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A place with a run, a file of laws with each verdict, and its verdicts.
fn made() -> Place {
    let place = Place::new();
    assert_eq!(place.run(&["--iterations", "1"]).code, Some(0));
    let laws = std::fs::read_to_string(test_support::fixture("popper/laws/false.json")).unwrap();
    std::fs::write(place.path().join("laws.json"), laws).unwrap();
    let verdicts = ran(&place, "check laws.json --json").stdout;
    std::fs::write(place.path().join("verdicts.json"), verdicts).unwrap();
    place
}

fn ran(place: &Place, line: &str) -> Ran {
    fresh(place.path(), &words(line)).output().unwrap().into()
}

/// `popper` with arguments that may have blanks, on a terminal.
fn shown(place: &Place, arguments: &[&str], columns: u16) -> Ran {
    in_terminal(&mut plain(fresh(place.path(), arguments)), columns)
}

fn plain(mut command: Command) -> Command {
    command.env_remove("CLICOLOR_FORCE").env("NO_COLOR", "1");
    command
}

#[test]
fn bare_popper_is_a_short_help_and_makes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let ran: Ran = fresh(folder.path(), &[]).output().unwrap().into();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.lines().count() <= 24, "{}", ran.stderr);
    assert!(ran.stderr.contains("  check "), "{}", ran.stderr);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn bad_input_makes_nothing_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, said) in [
        (&["init"] as &[&str], "did you mean `popper new`?"),
        (&["check"], "--conserved EXPR"),
        (
            &["check", "count(\">\")"],
            "give an expression to --conserved",
        ),
        (&["check", "count(\">\")"], "`popper new law`"),
        (
            &["check", "--bound", "count('X')"],
            "as in \"count('X') <= 3\"",
        ),
        (&["run", "--universe", "nowhere.json"], "nowhere.json"),
        (&["run", "--batch", "0"], "propose"),
        (
            &["report", "-o", "-", "--open"],
            "--open and --watch need a file",
        ),
        (&["statu"], "'status'"),
    ] {
        let ran: Ran = fresh(folder.path(), arguments).output().unwrap().into();
        assert_ne!(ran.code, Some(0), "{arguments:?}");
        assert_eq!(ran.stdout, "", "{arguments:?}");
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
        assert_eq!(names(folder.path()), Vec::<String>::new(), "{arguments:?}");
    }
}

#[test]
fn json_is_one_value_with_its_version() {
    let place = made();
    for line in [
        "verify verdicts.json --json",
        "universe check --json",
        "conserved --json",
        "status --db popper.db --json",
        "resume --db popper.db --json --iterations 2",
        "run --db popper.db --json --config config.json --proposer enumerative --iterations 2",
        "export --db popper.db",
        "estimate --json",
        "estimate --json --proposer enumerative",
        "demo --dir demo --json",
    ] {
        let ran = ran(&place, line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        let value: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(!value["schema_version"].is_null(), "{line}: {value}");
    }
    // The requirements ask for an array of verdicts, and for an array of states.
    for line in ["check laws.json --json", "simulate .>< --json"] {
        let ran = ran(&place, line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        assert!(ran.json().is_array(), "{line}");
    }
    // The same data give the same bytes.
    let status = || ran(&place, "status --db popper.db --json").stdout;
    assert_eq!(status(), status());
}

#[test]
fn output_goes_to_a_file_as_a_whole_or_to_stdout() {
    let place = made();
    for line in [
        "new law",
        "new universe",
        "universe random",
        "export --db popper.db",
        "report --db popper.db",
    ] {
        let to_stdout = ran(&place, &format!("{line} -o -"));
        assert_eq!(to_stdout.code, Some(0), "{line}: {}", to_stdout.stderr);
        std::fs::write(place.path().join("out"), "old").unwrap();
        let to_file = ran(&place, &format!("{line} --output out"));
        assert_eq!(to_file.code, Some(0), "{line}: {}", to_file.stderr);
        let written = std::fs::read_to_string(place.path().join("out")).unwrap();
        assert!(written == to_stdout.stdout, "{line}");
        assert!(!place.path().join("-").exists(), "{line}");
    }
    let export = ran(&place, "export --db popper.db -o out.csv");
    assert!(export.stderr.contains(" laws and "), "{}", export.stderr);
    let sheet = std::fs::read_to_string(place.path().join("out.csv")).unwrap();
    assert!(sheet.starts_with("id,law_id,"), "{sheet}");
}

#[test]
fn a_report_without_a_name_lies_beside_its_database() {
    let place = made();
    std::fs::create_dir(place.path().join("inner")).unwrap();
    let copy = place.path().join("inner/runs.db");
    std::fs::copy(place.db(), copy).unwrap();
    let ran = ran(&place, "report --db inner/runs.db --open");
    assert_eq!(ran.stdout, "inner/popper-run-1.html\n", "{}", ran.stderr);
    assert!(place.path().join("inner/popper-run-1.html").exists());
}

#[cfg(unix)]
#[test]
fn an_opened_page_is_given_to_the_browser_as_an_address() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = made();
    std::fs::create_dir(place.path().join("a #b")).unwrap();
    let browser = place.path().join("browser");
    std::fs::write(
        &browser,
        "#!/bin/sh\necho \"$1\" > opened.new; mv opened.new opened\n",
    )
    .unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let line = [
        "report",
        "--db",
        "popper.db",
        "-o",
        "a #b/page.html",
        "--open",
    ];
    let ran: Ran = fresh(place.path(), &line)
        .env("BROWSER", &browser)
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    // The browser is not waited for.
    let deadline = Instant::now() + Duration::from_mins(1);
    let opened = loop {
        if let Ok(opened) = std::fs::read_to_string(place.path().join("opened")) {
            break opened;
        }
        assert!(Instant::now() < deadline, "{}", ran.stderr);
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(opened.starts_with("file:///"), "{opened}");
    assert!(opened.ends_with("/a%20%23b/page.html\n"), "{opened}");
}

#[cfg(unix)]
#[test]
fn width_decides_what_is_wrapped_and_a_pipe_gets_it_whole() {
    let place = made();
    let piped = ran(&place, "check laws.json").stdout;
    assert!(
        piped.lines().any(|line| line.chars().count() > 60),
        "{piped}"
    );
    let letters = |text: &str| text.split_whitespace().collect::<String>();
    for columns in [60, 80, 120] {
        for arguments in [
            &["check", "laws.json"] as &[&str],
            &["status", "--db", "popper.db"],
        ] {
            let terminal = shown(&place, arguments, columns).stdout;
            let rows = terminal.lines().filter(|line| line.contains("  FAIL  "));
            assert!(rows.clone().count() > 0, "{terminal}");
            for row in rows {
                assert!(
                    row.chars().count() <= usize::from(columns),
                    "{columns}: {row}"
                );
            }
            if arguments[0] == "check" {
                assert_eq!(letters(&terminal).len(), letters(&piped).len());
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn colour_follows_the_terminal_the_flag_and_the_variables() {
    let place = made();
    let check = |flags: &[&str], variables: &[(&str, &str)], is_terminal: bool| {
        let arguments = [&["check", "laws.json"], flags].concat();
        let mut command = fresh(place.path(), &arguments);
        command.env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
        command.envs(variables.to_vec());
        let ran: Ran = if is_terminal {
            in_terminal(&mut command, 80)
        } else {
            command.output().unwrap().into()
        };
        assert!(ran.stdout.contains("FAIL"), "{}", ran.stdout);
        ran.stdout.contains("\u{1b}[31mFAIL")
    };
    assert!(check(&[], &[], true));
    assert!(!check(&[], &[], false));
    assert!(!check(&[], &[("NO_COLOR", "1")], true));
    assert!(check(&[], &[("CLICOLOR_FORCE", "1")], false));
    assert!(check(&["--color", "always"], &[("NO_COLOR", "1")], false));
    assert!(!check(
        &["--color", "never"],
        &[("CLICOLOR_FORCE", "1")],
        true
    ));
}

#[test]
fn runs_are_named_by_number_or_universe_and_the_newest_is_said() {
    let place = made();
    let universe = ran(&place, "universe random --seed 3 -o rule.json");
    assert_eq!(universe.stderr, "next: popper conserved -u rule.json\n");
    let other = place.run(&["--iterations", "1", "-u", "rule.json"]);
    assert_eq!(other.code, Some(0), "{}", other.stderr);
    assert_eq!(other.stderr.lines().next(), Some("writing to popper.db"));
    for command in [
        "status",
        "export",
        "report -o page.html",
        "resume --iterations 1",
    ] {
        let newest = ran(&place, &format!("{command} --db popper.db"));
        let first = newest.stderr.lines().next();
        assert_eq!(first, Some("run: 2 (newest)"), "{command}");
        for name in ["1", "kinetic_grid_v1", "--run-id 1"] {
            let named = ran(&place, &format!("{command} {name} --db popper.db"));
            assert_eq!(named.code, Some(0), "{}", named.stderr);
            assert!(!named.stderr.contains("newest"), "{}", named.stderr);
        }
        let missing = ran(&place, &format!("{command} 7 --db popper.db"));
        assert_eq!(missing.code, Some(2), "{command}");
        let said = "the database has no run 7; its newest are 2 (random_3), 1 (kinetic_grid_v1)";
        assert!(missing.stderr.contains(said), "{}", missing.stderr);
    }
    let json = |name: &str| ran(&place, &format!("status {name} --db popper.db --json")).json();
    assert_eq!(json("kinetic_grid_v1")["run_id"], 1);
    assert_eq!(json("random_3")["run_id"], 2);
    // A run in the built-in universe names the others.
    let first = place.run(&["--iterations", "1"]);
    let said = "popper.db also holds runs of random_3; this run is in kinetic_grid_v1";
    assert!(first.stderr.contains(said), "{}", first.stderr);
}

#[test]
fn old_names_still_work_and_are_not_shown() {
    let place = made();
    for (old, new) in [
        ("replay verdicts.json", "verify verdicts.json"),
        ("span --width 1", "conserved --width 1"),
    ] {
        assert_eq!(ran(&place, old).stdout, ran(&place, new).stdout);
        assert_eq!(ran(&place, old).code, Some(0));
    }
    let flags = "estimate --propose 7 --test 3 --json";
    let basis = ran(&place, flags).json()["basis"].to_string();
    assert!(basis.contains("each of 7 laws"), "{basis}");
    let help = ran(&place, "--help").stdout + &ran(&place, "run --help").stdout;
    assert!(help.contains(" conserved ") && help.contains("--max-tests "));
    for old in [" span ", " init ", "--propose ", "--test "] {
        assert!(!help.contains(old), "{old}: {help}");
    }
}

#[test]
fn money_is_not_spent_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let run: Ran = fresh(folder.path(), &["run", "--model", "claude-opus-5-5"])
        .output()
        .unwrap()
        .into();
    assert_eq!(run.code, Some(2));
    let said = "set POPPER_API_KEY or ANTHROPIC_API_KEY, or pass --provider offline";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    assert_eq!(names(folder.path()), Vec::<String>::new());
}

#[test]
fn an_estimate_tells_calls_and_cost_and_sends_nothing() {
    let place = made();
    let text = |flags: &str| ran(&place, &format!("estimate --db none.db {flags}")).stdout;
    insta::assert_snapshot!(
        text("")
            + &text("--iterations 1 --model claude-sonnet-5-5 --max-usd 0.20")
            + &text("--provider ollama --model m")
            + &text("--provider openrouter --model unknown/one")
            + &text("--proposer enumerative")
    );
    assert!(!place.path().join("none.db").exists());
    // A run without a model is not continued with one, unless it is named and a model is asked for.
    assert_eq!(ran(&place, "estimate --db popper.db").stdout, text(""));
    let named = |flags: &str| {
        ran(
            &place,
            &format!("estimate --db popper.db --run-id 1{flags}"),
        )
        .stdout
    };
    assert_eq!(named(""), named(" --proposer enumerative"));
    assert!(named(" --model claude-sonnet-5-5").contains("claude-sonnet-5-5"));
}

#[cfg(unix)]
#[test]
fn answers_come_first_on_a_terminal() {
    let place = made();
    let readme = [
        "check",
        "--conserved",
        "count('>') + count('X')",
        "--conserved",
        "count('X')",
        "--trace",
    ];
    let bound = ["check", "--bound", "count('X') <= 0", "--trace"];
    let step = ["check", "laws.json", "-v"];
    let text: String = [&readme as &[&str], &bound, &step]
        .iter()
        .map(|arguments| shown(&place, arguments, 80).stdout + "\n")
        .collect();
    insta::assert_snapshot!(text);
    let status = shown(&place, &["status", "--db", "popper.db"], 100).stdout;
    let lead = status.lines().next().unwrap();
    assert_eq!(
        lead,
        "run 1 in kinetic_grid_v1: 4 tested, 1 PASS (1 proved), 3 FAIL"
    );
}

#[test]
fn the_block_of_the_readme_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let readme = [
        "check",
        "--conserved",
        "count('>') + count('X')",
        "--conserved",
        "count('X')",
        "--trace",
    ];
    let ran: Ran = fresh(folder.path(), &readme).output().unwrap().into();
    let expected = "\
count('>') + count('X')  PASS  proved for every ring size
count('X')               FAIL  .<>  N = 3, t = 1 (smallest)
                               t = 0  .<>
                               t = 1  X..
2 laws: 1 PASS, 1 FAIL, 0 UNKNOWN
";
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), expected));
}

#[test]
fn a_demo_is_eight_lines_and_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let ran: Ran = fresh(folder.path(), &["demo", "--dir", "d"])
        .output()
        .unwrap()
        .into();
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stdout.lines().count() <= 8, "{}", ran.stdout);
    assert!(
        ran.stdout.lines().all(|line| line.len() <= 80),
        "{}",
        ran.stdout
    );
    let line = "34 laws: 15 PASS, 10 FAIL, 9 UNKNOWN; discovery: 50 tested";
    assert!(
        ran.stdout.contains(&format!("\n{line}\n")),
        "{}",
        ran.stdout
    );
    assert!(folder.path().join("d/report.html").exists());
    // A second one writes over nothing, and each default folder is a new one.
    let demo = |dir: &str| -> Ran {
        let mut command = fresh(folder.path(), &["demo", "--dir", dir, "--json"]);
        command.output().unwrap().into()
    };
    let again = demo("d");
    assert_eq!(again.code, Some(2));
    assert!(
        again.stderr.contains("d: the folder is not empty"),
        "{}",
        again.stderr
    );
    assert_eq!(demo("e").json()["line"], line);
    std::fs::write(folder.path().join("file"), "").unwrap();
    let over = demo("file");
    assert_eq!(over.code, Some(2));
    assert!(
        over.stderr.contains("file: cannot make the folder"),
        "{}",
        over.stderr
    );
    for _ in 0..2 {
        assert_eq!(
            fresh(folder.path(), &["demo"]).status().unwrap().code(),
            Some(0)
        );
    }
    assert_eq!(names(&folder.path().join("experiments")).len(), 2);
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let place = Place::new();
    std::fs::write(place.path().join("empty.json"), "[]").unwrap();
    std::fs::write(
        place.path().join("verdicts.json"),
        "[{\"status\": \"PASS\"}]",
    )
    .unwrap();
    for (line, code, said) in [
        ("check empty.json", 2, "the files have no law"),
        (
            "check --conserved cars",
            3,
            "law cars: observable `cars` is not known; docs/",
        ),
        (
            "check --conserved count('c')",
            3,
            "--universe names another universe",
        ),
        (
            "check --conserved X --universe kinetic",
            2,
            "there is no universe kinetic: give a file",
        ),
        (
            "check --conserved X --expect verdicts.json",
            2,
            "expected {\"schema_version\"",
        ),
        (
            "check --conserved X --seed -1",
            2,
            "expected a whole number from 0, or `random`",
        ),
        ("check --conserved -count('X')-count('>')", 0, "1 PASS"),
    ] {
        let ran = ran(&place, line);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains(said), "{line}: {told}");
    }
}
