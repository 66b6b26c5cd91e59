//! `cargo xtask test` on machines with and without a browser, a way to install one, and nextest: every program is a script.

use std::fs;
use std::process::Command;

use crate::gate::program;

/// Builds one program with four tests, two of them for a browser, and one that is ignored.
const CARGO: &str = r#"#!/bin/sh
echo "cargo $*" >> "$PLACE/calls"
case "$*" in
  metadata*) echo "{\"workspace_root\": \"$PLACE\", \"target_directory\": \"$PLACE/target\"}" ;;
  "nextest --version") exit 1 ;;
  *--no-run*) echo "{\"manifest_path\": \"/w/crates/hermitcrab-face/Cargo.toml\", \"profile\": {\"test\": true}, \"executable\": \"$PLACE/tests\"}" ;;
  *--doc*) ;;
  test*)
    [ -e "$PLACE/failing" ] && echo 'test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured' && exit 101
    echo "browser: $ORRERY_BROWSER"
    echo 'test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured' ;;
esac
"#;

const TESTS: &str = r#"#!/bin/sh
case "$*" in
  *--ignored*) echo "other::c: test" ;;
  *) echo "face::a: test"; echo "face::b: test"; echo "other::a: test"; echo "other::b: test"; echo "other::c: test" ;;
esac
"#;

/// Refreshes its lists only if the network is there; installs the packages that the mirror has.
const APT: &str = r#"#!/bin/sh
[ "$1" = --version ] && exit 0
echo "apt-get $*" >> "$PLACE/calls"
for line in 1 2 3 4 5 6; do echo "$1: line $line"; done
[ "$1" = update ] && exit 0
[ -e "$PLACE/broken" ] && exit 100
for name in chromium chromedriver; do
  printf '#!/bin/sh\necho "%s 140.0"\n' "$name" > "$PLACE/$name"
  /bin/chmod +x "$PLACE/$name"
done
"#;

const SUDO: &str = "#!/bin/sh\necho \"sudo $*\" >> \"$PLACE/calls\"\n";

/// The paragraph for two tests.
const MISSING: &str = "xtask: Chromium and chromedriver are missing and this user may not install packages; 2 browser tests are skipped. To run them: sudo apt-get install chromium chromium-driver";

/// The program of the workspace, whose installer brings React only where there is a network.
const HERMITCRAB: &str = r#"#!/bin/sh
echo "hermitcrab $*" >> "$PLACE/calls"
[ -e "$PLACE/network" ] || exit 1
folder="$4/runtime/react-18.3.1"
/bin/mkdir -p "$folder"
: > "$folder/react.production.min.js"
: > "$folder/react-dom.production.min.js"
"#;

/// The paragraph about React that cannot be fetched.
const NO_REACT: &str = "the browser tests run on the built-in runtime only";

/// A machine on whose PATH are cargo, the user and the programs of apt alone.
struct Machine(tempfile::TempDir);

/// The end of a run: exit code, stdout, stderr, and the calls of apt and sudo.
struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    calls: Vec<String>,
}

impl Machine {
    fn new(user: u32) -> Self {
        let machine = Self(tempfile::tempdir().unwrap());
        machine.program("cargo", CARGO);
        machine.program("tests", TESTS);
        machine.program("sudo", SUDO);
        machine.program("id", &format!("#!/bin/sh\necho {user}\n"));
        machine
    }

    fn program(&self, name: &str, text: &str) {
        program(&self.0.path().join(name), text);
    }

    fn with(self, name: &str, text: &str) -> Self {
        self.program(name, text);
        self
    }

    fn test(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let folder = self.0.path();
        fs::write(folder.join("calls"), "").unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .arg("test")
            .args(arguments)
            .env_clear()
            .env("PATH", folder)
            .env("PLACE", folder)
            .envs(variables.to_vec())
            .output()
            .unwrap();
        let calls = fs::read_to_string(folder.join("calls")).unwrap();
        let calls = calls.lines().filter(|line| !line.starts_with("cargo "));
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            calls: calls.map(str::to_owned).collect(),
        }
    }
}

/// Checks that the tests ran without a browser, and that the last line says so again.
fn check_skipped(ended: &Ended) {
    let stderr = &ended.stderr;
    assert_eq!(ended.code, Some(0), "{stderr}");
    assert_eq!(stderr.matches(MISSING).count(), 2, "{stderr}");
    assert_eq!(stderr.lines().last(), Some(MISSING), "{stderr}");
    let numbers = "4 tests: 2 passed, 1 ignored, 2 skipped";
    assert_eq!(ended.stdout.lines().last(), Some(numbers));
    let sudo = ended.calls.iter().find(|call| call.starts_with("sudo"));
    assert_eq!(sudo, None);
}

#[test]
fn without_a_way_to_install_the_tests_run_and_the_last_line_says_what_is_missing() {
    for machine in [Machine::new(1000).with("apt-get", APT), Machine::new(0)] {
        let ended = machine.test(&[], &[]);
        check_skipped(&ended);
        assert!(ended.calls.is_empty(), "{:?}", ended.calls);
        let steps: Vec<_> = (ended.stderr.lines())
            .filter_map(|line| line.strip_prefix('['))
            .collect();
        let expected = [
            "1/4] browser",
            "2/4] PostgreSQL server",
            "3/4] tests (4, about 1 minutes on two cores)",
            "4/4] documentation examples",
        ];
        assert_eq!(steps, expected);
    }
}

#[test]
fn no_install_calls_no_installer() {
    let machine = Machine::new(0).with("apt-get", APT);
    let ended = machine.test(&["--no-install"], &[]);
    check_skipped(&ended);
    assert!(ended.calls.is_empty(), "{:?}", ended.calls);
}

#[test]
fn a_failed_installation_shows_its_last_lines() {
    let machine = Machine::new(0).with("apt-get", APT).with("broken", "");
    let ended = machine.test(&[], &[]);
    check_skipped(&ended);
    let shown: Vec<_> = (ended.stderr.lines())
        .filter(|line| line.starts_with("install: "))
        .take(5)
        .collect();
    let expected = [2, 3, 4, 5, 6].map(|number| format!("install: line {number}"));
    assert_eq!(shown, expected);
    assert!(!ended.stderr.contains("update: line"), "{}", ended.stderr);
}

#[test]
fn a_browser_that_is_installed_is_required() {
    let ended = Machine::new(0).with("apt-get", APT).test(&[], &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let install = "apt-get install -y -q --no-install-recommends chromium chromium-driver";
    assert_eq!(ended.calls[..2], ["apt-get update -q", install]);
    assert!(ended.stdout.starts_with("browser: required\n"));
    let numbers = "4 tests: 4 passed, 1 ignored, 0 skipped\n";
    assert!(ended.stdout.ends_with(numbers), "{}", ended.stdout);
    assert!(!ended.stderr.contains("are missing"), "{}", ended.stderr);
}

#[test]
fn a_browser_that_must_be_there_is_an_error() {
    for variable in [("CI", "1"), ("ORRERY_BROWSER", "required")] {
        let ended = Machine::new(1000).test(&[], &[variable]);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert_eq!(ended.stderr.lines().last(), Some(MISSING));
        assert_eq!(ended.stdout, "");
    }
}

#[test]
fn a_failed_test_is_counted_and_fails_the_task() {
    let ended = Machine::new(1000).with("failing", "").test(&[], &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let numbers = "4 tests: 1 passed, 1 failed, 1 ignored, 2 skipped\n";
    assert!(ended.stdout.ends_with(numbers), "{}", ended.stdout);
}

#[test]
fn react_is_looked_for_each_time_and_its_want_is_a_line_unless_it_is_required() {
    let machine = Machine::new(1000);
    let debug = machine.0.path().join("target/debug");
    fs::create_dir_all(&debug).unwrap();
    program(&debug.join("hermitcrab"), HERMITCRAB);
    let ended = machine.test(&[], &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches(NO_REACT).count(),
        2,
        "{}",
        ended.stderr
    );
    let ended = machine.test(&[], &[("ORRERY_REACT", "required")]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stderr.contains(NO_REACT), "{}", ended.stderr);

    let machine = machine.with("network", "");
    let ended = machine.test(&[], &[("ORRERY_REACT", "required")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stderr.contains(NO_REACT), "{}", ended.stderr);
    let data = machine.0.path().join("target/react");
    let call = format!("hermitcrab runtime fetch --to {}", data.display());
    assert_eq!(ended.calls, [call.as_str()]);
    // The program checks the files that are there.
    let ended = machine.test(&[], &[]);
    assert_eq!(ended.calls, [call]);
}
