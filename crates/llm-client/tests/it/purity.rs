//! The crate reads no environment, home directory, terminal or clock by itself: callers pass those in.

use std::fs;
use std::path::{Path, PathBuf};

/// What must not stand in the source.
const FORBIDDEN: [&str; 26] = [
    "std::env",
    "env::var",
    "env::args",
    "env::current_dir",
    "env::temp_dir",
    "option_env!",
    "home_dir",
    "dirs::",
    "SystemTime",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "TimeZone::system",
    "tokio::time",
    "thread::sleep",
    "is_terminal",
    "IsTerminal",
    "io::stdin",
    "io::stdout",
    "io::stderr",
    "print!(",
    "println!(",
    "eprint!(",
    "eprintln!(",
    "dbg!(",
    "std::process",
];

/// The one file that may ask the machine for the time.
const CLOCK: &str = "clock.rs";

/// What of `source` is forbidden, with its line. Comments and unit tests do not count.
fn found(source: &str) -> Vec<(usize, &'static str)> {
    let code = source
        .lines()
        .take_while(|line| !line.starts_with("#[cfg(test)]"));
    code.enumerate()
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
        .flat_map(|(at, line)| {
            let hits = FORBIDDEN.into_iter().filter(move |word| {
                let mut places = line.match_indices(word);
                // `format!(` ends in no word of the list, but `eprint!(` holds `print!(`.
                places.any(|(start, _)| !line[..start].ends_with(char::is_alphanumeric))
            });
            hits.map(move |word| (at + 1, word))
        })
        .collect()
}

/// The Rust files under `folder`.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn no_source_file_reads_environment_home_terminal_or_clock() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = sources(&root);
    assert!(files.len() > 50, "{} files", files.len());
    let mut all = Vec::new();
    for path in files {
        if path == root.join(CLOCK) || path.ends_with("tests.rs") {
            continue;
        }
        let source = fs::read_to_string(&path).unwrap();
        for (line, word) in found(&source) {
            all.push(format!("{}:{line}: {word}", path.display()));
        }
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

#[test]
fn the_scan_finds_what_is_planted() {
    for (line, hits) in [
        ("let key = std::env::var(\"KEY\");", 2),
        ("    use std::env;", 1),
        ("let now = jiff::Timestamp::now();", 1),
        ("let start = Instant::now();", 1),
        ("tokio::time::sleep(wait).await;", 1),
        ("println!(\"hello\");", 1),
        ("if std::io::stdout().is_terminal() {", 2),
        ("std::env::home_dir()", 2),
        ("// println!(\"hello\");", 0),
        ("/// Never calls std::env::var.", 0),
        ("concat!(\"x/\", env!(\"CARGO_PKG_VERSION\"))", 0),
        ("self.clock.now()", 0),
    ] {
        let source = format!("fn f() {{\n{line}\n}}\n");
        let found = found(&source);
        assert_eq!(found.len(), hits, "{line}: {found:?}");
        assert!(found.iter().all(|(at, _)| *at == 2));
        // Nothing counts in a unit test.
        let test = format!("#[cfg(test)]\nmod tests {{\n{line}\n}}\n");
        assert!(self::found(&test).is_empty());
    }
    let clock = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("src")
        .join(CLOCK);
    let source = fs::read_to_string(clock).unwrap();
    assert!(!found(&source).is_empty(), "the real clock is there");
}
