//! Runs without a key and without a network, which say that they are offline.

use std::process::Command;

use crate::program::{Place, Ran, column, finish, start, timeless, words};

/// Runs in a separate network if the system allows one: no server can be reached, not even on this machine.
fn unplugged(place: &Place, arguments: &[&str]) -> Ran {
    let own_network = ["--user", "--map-root-user", "--net"];
    let possible = Command::new("unshare")
        .args(own_network)
        .arg("true")
        .output()
        .is_ok_and(|output| output.status.success());
    let mut command = place.command(arguments);
    if possible {
        let mut inside = Command::new("unshare");
        inside.args(own_network).arg(command.get_program());
        inside.args(command.get_args()).env_clear();
        for (name, value) in command.get_envs() {
            inside.env(name, value.unwrap());
        }
        inside.current_dir(command.get_current_dir().unwrap());
        inside.stdin(std::process::Stdio::null());
        inside.stdout(std::process::Stdio::piped());
        inside.stderr(std::process::Stdio::piped());
        command = inside;
    }
    finish(start(&mut command))
}

#[test]
fn a_newcomer_gets_four_results_that_say_offline() {
    let place = Place::new();
    let ran = unplugged(&place, &["run", "--all"]).exits(0);
    let results = ran.results();
    assert_eq!(column(&results, "/testCaseId"), ["1a", "1b", "2a", "3a"]);
    assert_eq!(column(&results, "/offline"), ["true"; 4]);
    assert_eq!(column(&results, "/metadata/provider"), ["offline"; 4]);
    assert_eq!(column(&results, "/metadata/model"), ["offline"; 4]);
    assert_eq!(column(&results, "/metadata/tokenSource"), ["local"; 4]);
    assert_eq!(column(&results, "/metadata/totalApiCalls"), ["0"; 4]);
    for pointer in [
        "/details/semanticReasoning",
        "/details/implementabilityReasoning",
    ] {
        let reasons = column(&results, pointer);
        assert!(
            reasons.iter().all(|reason| reason.starts_with("offline:")),
            "{reasons:?}"
        );
    }
    let encoded = column(&results, "/encodedText");
    assert_eq!(
        encoded[..2],
        ["Hll wrld!", "θ qck brwn fox jmps vr θ lzy dog"]
    );
    assert_eq!(column(&results, "/scores/implementability"), ["3"; 4]);
    let lexicons = column(&results, "/metadata/lexiconSha256");
    assert!(lexicons.iter().all(|hash| hash.len() == 64), "{lexicons:?}");

    let notices: Vec<_> = ran
        .stderr
        .lines()
        .take_while(|line| *line != "Zer0 Gr@vity Experiment Results")
        .collect();
    assert_eq!(notices.len(), 1, "{}", ran.stderr);
    assert!(notices[0].contains("offline") && notices[0].contains("ZER0GRAVITY_API_KEY"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let place = Place::new();
    let arguments = ["run", "--all", "--execute", "--provider", "offline"];
    let runs = [(); 2].map(|()| unplugged(&place, &arguments).exits(0));
    let [first, second] = runs.map(|ran| (timeless(ran.json()), ran.stderr));
    assert_eq!(first, second);
    assert!(
        first.1.starts_with("Zer0 Gr@vity"),
        "asked for: no notice\n{}",
        first.1
    );
}

#[test]
fn z42_rules_that_are_no_rules_fail_and_name_their_lines_once() {
    let place = Place::new();
    place.file("style.txt", "Make it short and beautiful.\n'the'→'θ'\n");
    place.file("own.txt", "'the'→'θ'\n");
    let matrix = words("matrix --level 1 --encoding style.txt own.txt");
    let offline = ["--run-dir", "dir", "--provider", "offline", "-v"];
    let ran = place.alone(&[&matrix[..], &offline].concat()).exits(3);
    // Two texts, one sentence.
    assert_eq!(
        ran.stdout.matches("these rules need a model").count(),
        1,
        "{}",
        ran.stdout
    );
    assert!(
        ran.stdout
            .contains("Failed:      unsupported_offline at encode, see above"),
        "{}",
        ran.stdout
    );
    let results = place.read_json("dir/report.json")["results"].clone();
    let results = results.as_array().unwrap();
    let (failed, scored) = results.split_at(results.len() / 2);
    assert_eq!(column(scored, "/outcome/status"), ["ok"; 2]);
    for result in failed {
        assert_eq!(result["outcome"]["status"], "unsupported_offline");
        assert_eq!(result["outcome"]["kind"], "unsupported_offline");
        let detail = result["outcome"]["detail"].as_str().unwrap();
        let named = detail.contains("line 1") && !detail.contains("line 2");
        assert!(named, "{detail}");
    }
}

#[test]
fn mechanical_rules_of_ones_own_work() {
    let place = Place::new();
    place.file("own.txt", "SUBS: 'quick'→'qk', 'brown'→'bn'\n");
    let arguments = words("run --level 1 --encoding own.txt --provider offline");
    let results = place.alone(&arguments).exits(0).results();
    let encoded = column(&results, "/encodedText");
    assert_eq!(encoded[1], "The qk bn fox jumps over the lazy dog");
    assert_eq!(
        column(&results, "/decodedText")[1],
        column(&results, "/originalText")[1]
    );
}

#[test]
fn the_summary_says_so() {
    let ran = Place::new()
        .alone(&["run", "--level", "1", "--provider", "offline"])
        .exits(0);
    let head = "\
Zer0 Gr@vity Experiment Results
================================
Provider:      offline (deterministic rules; no model was asked)
Rules:         built in
Level 1a: \"Hello world!\"
  Compression: ";
    assert!(ran.stderr.starts_with(head), "{}", ran.stderr);
    assert!(
        ran.stderr.ends_with("/100 (2 of 2 scored)\n"),
        "{}",
        ran.stderr
    );
}

#[test]
fn z28_checks_are_not_held_by_an_offline_run_that_was_not_asked_for() {
    let place = Place::new();
    for check in [&["--min-total", "50"][..], &["--fail-on-flag"]] {
        let arguments = [&["run", "--level", "1", "--quiet"][..], check].concat();
        let ran = place.alone(&arguments).exits(2);
        for told in [check[0], "ZER0GRAVITY_API_KEY", "--provider offline"] {
            assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
        }
        let asked_for = [&arguments[..], &["--provider", "offline"]].concat();
        let ran = place.alone(&asked_for);
        assert!(matches!(ran.code, Some(0 | 4)), "{}", ran.stderr);
        assert!(ran.stderr.contains("the checks used offline results"));
    }
}

#[test]
fn z39_prompts_are_shown_with_any_texts_or_none() {
    let place = Place::new();
    let prompts = place.alone(&["run", "--show-prompts"]).exits(0).stdout;
    for texts in [&["--all"][..], &["--level", "2"]] {
        let arguments = [&["run", "--show-prompts"][..], texts].concat();
        assert_eq!(place.alone(&arguments).exits(0).stdout, prompts);
    }
}

#[test]
fn z42_rules_that_need_a_model_are_refused_before_an_offline_run() {
    let place = Place::new();
    place.file("free.txt", "DROP WORDS the, a\nBe brief and witty.\n");
    let arguments = ["run", "--all", "--encoding", "free.txt", "--run-dir", "dir"];
    let ran = place.alone(&arguments).exits(2);
    for told in ["offline mode", "line 2", "Be brief and witty"] {
        assert!(ran.stderr.contains(told), "{told}: {}", ran.stderr);
    }
    assert_eq!(
        (ran.stdout.as_str(), place.path("dir").exists()),
        ("", false)
    );
}

#[test]
fn help_has_the_rule_syntax() {
    let place = Place::new();
    let shown = place.alone(&["rules"]).exits(0).stdout;
    let help = place.alone(&["help", "rules"]).exits(0).stdout;
    for rule in [
        "MAP 'x' -> 'y'",
        "DROP VOWELS",
        "COLLAPSE SPACE",
        "KEEP NUMBERS",
    ] {
        assert!(shown.contains(rule) && help.contains(rule), "{help}");
    }
}
