//! The README of each package: its name, the text and example of its crate doc, its features.

use std::fmt::Write as _;
use std::fs;

use cargo_metadata::Package;

use crate::packages::{folder, published, short_name};

/// The README that a package must have.
fn readme(package: &Package) -> String {
    let folder = folder(package);
    let source = ["src/lib.rs", "src/main.rs"]
        .iter()
        .find_map(|file| fs::read_to_string(folder.join(file)).ok())
        .unwrap();
    let manifest = fs::read_to_string(&package.manifest_path).unwrap();
    let name = short_name(&package.name);
    let mut text = format!("# {name}\n\n{}", body(&source));
    let features = features(&manifest);
    if !features.is_empty() {
        write!(text, "\n## Features\n\n{features}").unwrap();
    }
    let rust = package.rust_version.as_ref().unwrap();
    let license = package.license.as_ref().unwrap();
    if let Some(library) = package.targets.iter().find(|target| target.is_lib()) {
        write!(
            text,
            "\nThe package is `{}`, its library `{}`.\n",
            package.name, library.name
        )
        .unwrap();
    }
    write!(
        text,
        "\nRust {}.{} or newer. {license}. Before version 1.0 a minor version may change the interface.\n",
        rust.major, rust.minor
    )
    .unwrap();
    text
}

/// The crate doc as Markdown: without the hidden lines of its examples, and with code in the place of links to items.
fn body(source: &str) -> String {
    let mut text = String::new();
    let mut in_code = false;
    for line in source.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.strip_prefix(' ').unwrap_or(line);
        if let Some(language) = line.strip_prefix("```") {
            in_code = !in_code;
            let opened = in_code && language.is_empty();
            text.push_str(if opened { "```rust" } else { line });
        } else if in_code {
            if line == "#" || line.starts_with("# ") {
                continue;
            }
            text.push_str(line);
        } else {
            // The title is the only heading of the first level.
            text.push_str(if line.starts_with('#') { "#" } else { "" });
            text.push_str(&without_item_links(line));
        }
        text.push('\n');
    }
    text
}

/// A line of prose in which ``[`Item`]`` and ``[`item`](path)`` are `` `Item` `` and `` `item` ``; other links stay.
fn without_item_links(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once("[`") {
        let Some((code, after)) = link.split_once("`]") else {
            break;
        };
        let target = after
            .strip_prefix('(')
            .and_then(|after| after.split_once(')'));
        text.push_str(before);
        rest = match target {
            Some((address, after)) if !address.contains("://") => after,
            Some(_) => panic!("{line}: the text of a link to a page is not code"),
            None => after,
        };
        write!(text, "`{code}`").unwrap();
    }
    text + rest
}

/// The features of a manifest with the comment above each, as a list.
fn features(manifest: &str) -> String {
    let Some((_, section)) = manifest.split_once("\n[features]\n") else {
        return String::new();
    };
    let (mut list, mut comment) = (String::new(), String::new());
    let mut defaults = String::new();
    for line in section.lines().take_while(|line| !line.starts_with('[')) {
        if let Some(words) = line.strip_prefix("# ") {
            comment = format!("{comment} {words}");
        } else if let Some(on) = line.strip_prefix("default = ") {
            on.clone_into(&mut defaults);
        } else if let Some((name, _)) = line.split_once(" = ") {
            assert!(!comment.is_empty(), "the feature {name} has no comment");
            let default = defaults.contains(&format!("\"{name}\""));
            let on = if default { ", on by default" } else { "" };
            writeln!(list, "- `{name}`{on}:{comment}").unwrap();
            comment.clear();
        }
    }
    list
}

/// With `ORRERY_WRITE=1` the files are written instead.
#[test]
fn every_readme_is_the_crate_doc() {
    let write = std::env::var_os("ORRERY_WRITE").is_some();
    let mut stale = Vec::new();
    for package in published() {
        let path = folder(&package).join("README.md");
        let readme = readme(&package);
        if write {
            fs::write(&path, &readme).unwrap();
        } else if fs::read_to_string(&path).ok().as_deref() != Some(&readme) {
            stale.push(path.display().to_string());
        }
    }
    let files = stale.join("\n");
    assert!(
        stale.is_empty(),
        "not the crate doc; to write them: ORRERY_WRITE=1 cargo test -p xtask --test it readmes::\n{files}"
    );
}

/// The doc test of the crate runs the example.
#[test]
fn the_kernel_is_embedded_in_eight_lines() {
    let is_kernel = |package: &Package| short_name(&package.name) == "hermitcrab-kernel";
    let readme = readme(&published().into_iter().find(is_kernel).unwrap());
    let (_, example) = readme.split_once("```rust\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let lines = example.lines().filter(|line| !line.trim().is_empty());
    assert!(lines.count() <= 8, "{example}");
}

/// An example that needs a package of this repository's tests cannot be copied.
#[test]
fn every_example_needs_published_packages_only() {
    for package in published() {
        let text = readme(&package);
        let is_program = folder(&package).join("src/main.rs").exists();
        assert!(
            is_program || text.contains("```rust\n"),
            "{}: no example",
            package.name
        );
        assert!(!text.contains("use test_support"), "{}", package.name);
        let own = short_name(&package.name) == "bin-support";
        assert!(own || !text.contains("use bin_support"), "{}", package.name);
    }
}

#[test]
fn a_doc_becomes_a_readme() {
    let source = "//! Links [`A::b`] and [`c`](crate::c), [page](https://example.org).\n//!\n//! ```\n//! # hidden\n//! #\n//! #[shown]\n//! ```\nmod x;\n//! not this\n";
    let expected = "Links `A::b` and `c`, [page](https://example.org).\n\n```rust\n#[shown]\n```\n";
    assert_eq!(body(source), expected);
    let manifest = "[package]\n\n[features]\ndefault = [\"a\"]\n# First.\na = []\n# Second\n# line.\nb = []\n\n[dependencies]\nc = 1\n";
    let expected = "- `a`, on by default: First.\n- `b`: Second line.\n";
    assert_eq!(features(manifest), expected);
}

/// The first page has the beginning of an example that is compiled elsewhere.
#[test]
fn the_example_of_the_first_page_is_that_of_a_crate() {
    let root = crate::packages::root();
    let page = fs::read_to_string(root.join("README.md")).unwrap();
    let compiled = fs::read_to_string(root.join("crates/popper-harness/README.md")).unwrap();
    let mut compiled = compiled.lines();
    let code = page.split("```rust\n").nth(1).unwrap();
    let code = code.split("```").next().unwrap();
    for line in code.lines() {
        assert!(compiled.any(|other| other == line), "{line}");
    }
}
