//! Checks of a program's help: its form, and that the program takes its examples. `cargo xtask docs` runs them.

use std::path::Path;
use std::process::{Command as Process, Stdio};

use clap::{Arg, Command};

/// The longest line of a help. A usage is never wrapped.
const WIDEST_LINE: usize = 100;

/// The longest summary of a command, in characters.
const LONGEST_SUMMARY: usize = 60;

/// The longest example, which then is one line in a terminal of 80 columns.
const LONGEST_EXAMPLE: usize = 80;

/// Commands that all programs share and that need no examples.
const SHARED: [&str; 1] = ["help"];

/// Checks the help of a program and of each of its commands: lines of at most 100 columns in a terminal of 80 and of 100, the length of summaries, what each
/// argument says, the common options as the last group, two to four examples that the program's own flags accept, and the guide's file.
pub fn check_help(command: &Command) {
    command.clone().debug_assert();
    for width in [80, 100] {
        let mut command = command.clone().term_width(width);
        command.build();
        walk(&command, &mut |command| {
            let mut command = command.clone().term_width(width);
            let helps = [command.render_help(), command.render_long_help()];
            let helps = helps.map(|help| help.to_string());
            for line in helps.iter().flat_map(|help| help.lines()) {
                let name = command.get_name();
                let columns = line.chars().count();
                assert!(columns <= WIDEST_LINE, "{name} at {width}: {line}");
            }
        });
    }
    let mut built = command.clone();
    built.build();
    walk(&built, &mut |inner| {
        check_summary(inner);
        check_arguments(inner);
        check_headings(inner);
        check_end(inner, command);
    });
}

fn walk(command: &Command, visit: &mut impl FnMut(&Command)) {
    visit(command);
    let inner = command.get_subcommands().filter(|one| !one.is_hide_set());
    for command in inner.filter(|one| !SHARED.contains(&one.get_name())) {
        walk(command, visit);
    }
}

fn check_summary(command: &Command) {
    let name = command.get_bin_name().unwrap_or_default();
    let about = command.get_about().expect(name).to_string();
    assert!(
        about.chars().count() <= LONGEST_SUMMARY,
        "{name}: the summary is too long: {about}"
    );
    let ends = about.ends_with('.') || about.contains(". ");
    assert!(!ends, "{name}: a summary has no full stop: {about}");
    assert!(
        about.starts_with(char::is_uppercase),
        "{name}: a summary begins with a capital: {about}"
    );
}

/// Checks that each argument says in one phrase what it is, and its default where it has one.
fn check_arguments(command: &Command) {
    let shown = command.get_arguments().filter(|one| !one.is_hide_set());
    for argument in shown {
        let name = format!("{} {}", command.get_name(), argument.get_id());
        let help = argument.get_help().expect(&name).to_string();
        let phrase = help.split(" [").next().unwrap_or_default();
        assert!(!phrase.ends_with('.'), "{name}: no full stop: {help}");
        let begins = phrase.starts_with(|first: char| !first.is_lowercase());
        assert!(begins, "{name}: begins with a capital: {help}");
        let takes_value = argument.get_action().takes_values();
        let named = argument
            .get_value_names()
            .is_some_and(|all| !all.is_empty());
        assert!(!takes_value || named, "{name}: a value has a name");
        // Clap shows a default; a text that has another one would contradict it.
        let told = help.contains("[default:");
        let defaults = argument.get_default_values();
        let clap_shows = !defaults.is_empty() && !argument.is_hide_default_value_set();
        assert!(defaults.is_empty() || told != clap_shows, "{name}: {help}");
    }
}

fn check_headings(command: &Command) {
    let name = command.get_bin_name().unwrap_or_default();
    let shown = command.get_arguments().filter(|flag| !flag.is_hide_set());
    let mut headings: Vec<_> = shown.map(Arg::get_help_heading).collect();
    headings.dedup();
    assert_eq!(headings.last(), Some(&Some("Common options")), "{name}");
    let common = headings
        .iter()
        .filter(|one| **one == Some("Common options"));
    assert_eq!(common.count(), 1, "{name}: {headings:?}");
}

/// Checks what the help says last: examples, of the whole program and of each command in it, and the guide.
fn check_end(command: &Command, program: &Command) {
    let name = command.get_bin_name().unwrap_or_default();
    let end = command.get_after_help().expect(name).to_string();
    let guide = end
        .lines()
        .last()
        .and_then(|line| line.strip_prefix("Guide: "));
    let guide = guide.unwrap_or_else(|| panic!("{name}: {end}"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(guide);
    assert!(file.is_file(), "{name}: {guide}");

    let examples = examples(&end);
    // The group of a command may show its examples.
    let least = if name.matches(' ').count() < 2 { 2 } else { 0 };
    let wanted = least..=4;
    assert!(wanted.contains(&examples.len()), "{name}: {end}");
    for example in examples {
        let length = example.chars().count() + 2;
        assert!(length <= LONGEST_EXAMPLE, "{name}: {length}: {example}");
        let calls = calls(&example, program.get_name());
        assert!(!calls.is_empty(), "{name}: {example}");
        for call in calls {
            let parsed = program.clone().try_get_matches_from(&call);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }
}

/// Returns the commands under `Examples:` in a help.
fn examples(help: &str) -> Vec<String> {
    let (_, rest) = help.split_once("Examples:\n").unwrap_or_default();
    let shown = rest.lines().take_while(|line| line.starts_with("  "));
    shown.map(|line| line.trim().to_owned()).collect()
}

/// Returns the words of each call of the program in a line for a shell. Quotes are single ones around a whole word.
fn calls(example: &str, program: &str) -> Vec<Vec<String>> {
    let (example, _) = example.split_once(" # ").unwrap_or((example, ""));
    let quoted = example.split('\'').enumerate();
    let words = quoted.flat_map(|(place, part)| match place % 2 {
        0 => part.split_whitespace().map(str::to_owned).collect(),
        _ => vec![part.to_owned()],
    });
    let words: Vec<_> = words.collect();
    let calls = words.split(|word| word == "|" || word == "&&");
    let calls = calls.map(|call| {
        call.split(|word| word == ">" || word == "<")
            .next()
            .unwrap()
    });
    let own = calls.filter(|call| call.first().is_some_and(|word| word == program));
    own.map(<[String]>::to_vec).collect()
}

fn inner_commands(help: &str) -> Vec<String> {
    let (_, rest) = help.split_once("Commands:\n").unwrap_or_default();
    let lines = rest.lines().take_while(|line| line.starts_with("  "));
    let names = lines.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names
        .filter(|name| !SHARED.contains(name))
        .map(str::to_owned)
        .collect()
}

pub(crate) fn name(program: &Path) -> &str {
    program.file_stem().unwrap().to_str().unwrap()
}

/// Runs a line with nothing of the machine's environment but the programs, and returns the exit code, stdout and stderr.
fn in_shell(program: &Path, folder: &Path, line: &str) -> (Option<i32>, String, String) {
    let programs = program.parent().unwrap().display();
    let mut shell = Process::new("/bin/sh");
    shell.args(["-c", line]).stdin(Stdio::null()).env_clear();
    shell.env("PATH", format!("{programs}:/usr/bin:/bin"));
    shell.env("HOME", folder).env("COLUMNS", "100");
    let ran = shell.current_dir(folder).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

/// Checks `completions`, `man`, `--version` and `paths` of a program of this version. The line `made` writes to one of its places.
pub fn check_shared_commands(program: &Path, version: &str, made: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let name = name(program);
    let shell = |line: &str| in_shell(program, folder.path(), line);
    let done = |line: &str| {
        let (code, stdout, stderr) = shell(line);
        assert_eq!(code, Some(0), "{line}: {stderr}");
        stdout
    };
    let here = || std::fs::read_dir(folder.path()).unwrap().count();

    // A debug build does not know its commit.
    let version = format!("{name} {version}\n");
    assert_eq!(done(&format!("{name} -V")), version);
    assert_eq!(done(&format!("{name} --version")), version);

    let paths = done(&format!("{name} paths"));
    let absent = paths.lines().filter(|line| line.ends_with(" (absent)"));
    assert_eq!(absent.count(), paths.lines().count(), "{paths}");
    assert_eq!(here(), 0, "a look writes nothing");
    assert_eq!(paths.is_empty(), made.is_none(), "{paths}");

    let all = inner_commands(&done(&format!("{name} --help")));
    for kind in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = done(&format!("{name} completions {kind}"));
        for command in all.iter().chain([&name.to_owned()]) {
            assert!(script.contains(command.as_str()), "{kind}: {command}");
        }
    }
    done(&format!(
        "{name} completions bash > script && bash -n script"
    ));
    assert_eq!(shell(&format!("{name} completions csh")).0, Some(2));

    let page = done(&format!("{name} man"));
    assert!(page.contains(&format!(".TH {name} 1")), "{page}");
    assert!(page.contains(".SH EXAMPLES\n.nf\n"), "{page}");
    done(&format!("{name} man pages"));
    let mut commands = vec![String::new()];
    let mut pages = vec![format!("{name}-help.1")];
    while let Some(command) = commands.pop() {
        pages.push(format!("{name}{}.1", command.replace(' ', "-")));
        let inner = inner_commands(&done(&format!("{name}{command} --help")));
        commands.extend(inner.iter().map(|inner| format!("{command} {inner}")));
    }
    pages.sort();
    let entries = std::fs::read_dir(folder.path().join("pages")).unwrap();
    let file_name = |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().file_name();
    let mut written: Vec<_> = entries
        .map(|entry| file_name(entry).into_string().unwrap())
        .collect();
    written.sort();
    assert_eq!(written, pages);
    if Path::new("/usr/bin/groff").exists() {
        for page in &pages {
            let (code, text, faults) =
                shell(&format!("groff -man -Tascii -P-cbou -ww pages/{page}"));
            assert_eq!((code, faults.as_str()), (Some(0), ""), "{page}");
            assert!(text.contains("SYNOPSIS"), "{page}");
        }
        let text = done(&format!("groff -man -Tascii -P-cbou pages/{name}.1"));
        for example in examples(&done(&format!("{name} -h"))) {
            assert!(text.contains(&example), "{example}: {text}");
        }
    }
    assert_eq!(shell(&format!("{name} man script/pages")).0, Some(1));

    if let Some(made) = made {
        done(made);
        let paths = done(&format!("{name} paths"));
        let found = paths
            .lines()
            .find_map(|line| line.strip_suffix(" (exists)"));
        let (_, path) = found.and_then(|line| line.split_once(": ")).expect(&paths);
        assert!(Path::new(path).starts_with(folder.path()) && Path::new(path).exists());
    }
}
