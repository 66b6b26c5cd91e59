//! The layers of ARCHITECTURE.md: a dependency that the picture does not have is a failure.

use std::collections::BTreeSet;
use std::process::Command;

use cargo_metadata::{DependencyKind, MetadataCommand, Package};

use crate::packages::{PREFIX, short_name};

/// Every package, planned or built, and the packages of the workspace it may depend on. A new package, or a new
/// arrow, is a change of the architecture: it goes into ARCHITECTURE.md first.
const PICTURE: &[(&str, &[&str])] = &[
    // Layer 0, and the packages outside of the layers.
    ("atoms", &[]),
    ("durable", &[]),
    ("llm-types", &[]),
    ("visible-text", &[]),
    ("work-queue", &[]),
    ("llm-client", &["durable", "llm-types"]),
    ("report-kit", &["visible-text"]),
    (
        "bin-support",
        &["durable", "llm-client", "llm-types", "visible-text"],
    ),
    ("test-support", &["llm-client"]),
    // Layer 1: they know nothing of models, networks or async.
    ("pscale-blocks", &["durable", "llm-types"]),
    ("popper-harness", &[]),
    // Layer 2: the engines. None knows another.
    (
        "zer0gravity-engine",
        &[
            "atoms",
            "durable",
            "llm-client",
            "llm-types",
            "report-kit",
            "visible-text",
        ],
    ),
    (
        "logosphere-core",
        &[
            "durable",
            "llm-client",
            "llm-types",
            "report-kit",
            "visible-text",
        ],
    ),
    (
        "hermitcrab-kernel",
        &[
            "atoms",
            "durable",
            "llm-client",
            "pscale-blocks",
            "report-kit",
            "visible-text",
        ],
    ),
    (
        "popper-discovery",
        &[
            "llm-client",
            "llm-types",
            "popper-harness",
            "report-kit",
            "work-queue",
        ],
    ),
    ("hermitcrab-migrate", &["pscale-blocks"]),
    // Layer 3.
    (
        "hermitcrab-face",
        &["durable", "hermitcrab-kernel", "pscale-blocks"],
    ),
    (
        "popper-store",
        &[
            "durable",
            "llm-types",
            "popper-discovery",
            "popper-harness",
            "work-queue",
        ],
    ),
    // The binaries.
    (
        "zer0gravity",
        &[
            "bin-support",
            "llm-client",
            "report-kit",
            "zer0gravity-engine",
        ],
    ),
    (
        "logosphere",
        &["bin-support", "llm-client", "logosphere-core", "report-kit"],
    ),
    (
        "hermitcrab",
        &[
            "bin-support",
            "durable",
            "hermitcrab-face",
            "hermitcrab-kernel",
            "hermitcrab-migrate",
            "llm-client",
            "pscale-blocks",
        ],
    ),
    (
        "popper",
        &[
            "bin-support",
            "llm-client",
            "popper-discovery",
            "popper-harness",
            "popper-store",
            "report-kit",
            "work-queue",
        ],
    ),
    ("xtask", &[]),
];

/// The packages that any test may use.
const FOR_TESTS: &[&str] = &["bin-support", "test-support"];

/// Packages that are pure: no network, no async, no database anywhere below them.
const PURE: &[&str] = &[
    "atoms",
    "durable",
    "hermitcrab-migrate",
    "llm-types",
    "popper-harness",
    "pscale-blocks",
    "visible-text",
];

/// Crates by which network, async or a database would come in.
const IMPURE: &[&str] = &[
    "async-std",
    "axum",
    "hyper",
    "mio",
    "reqwest",
    "smol",
    "sqlx",
    "tokio",
    "ureq",
];

/// The engines without models: the feature `llm` of each brings the network in. The kernel asks models in every form.
const ENGINES: &[&str] = &["logosphere-core", "popper-discovery", "zer0gravity-engine"];

/// Crates by which the network would come in. `tokio` and `mio` are there for tasks.
const NETWORK: &[&str] = &["axum", "hyper", "reqwest", "ureq"];

/// Crates of the kernel's features `web` and `files`, by which the network and the files of a person would come in.
const OF_FEATURES: &[&str] = &["cap-std", "htmd", "reqwest"];

/// An arrow between two packages of the workspace.
struct Arrow {
    from: String,
    to: String,
    dev: bool,
}

/// One line for each package the picture does not know, and each arrow it does not have.
fn faults(members: &BTreeSet<String>, arrows: &[Arrow]) -> Vec<String> {
    let allowed = |name: &str| {
        PICTURE
            .iter()
            .find(|(from, _)| *from == name)
            .map(|(_, to)| *to)
    };
    let unknown = members
        .iter()
        .filter(|name| allowed(name).is_none())
        .map(|name| format!("{name} is not in the picture"));
    let wrong = arrows
        .iter()
        .filter(|arrow| {
            let to = arrow.to.as_str();
            let in_picture = allowed(&arrow.from).is_none_or(|allowed| allowed.contains(&to));
            // A package names itself to switch features on for its own tests.
            let for_tests = arrow.dev && (FOR_TESTS.contains(&to) || arrow.from == to);
            !(in_picture || for_tests)
        })
        .map(|arrow| format!("{} must not depend on {}", arrow.from, arrow.to));
    unknown.chain(wrong).collect()
}

fn workspace() -> cargo_metadata::Result<Vec<Package>> {
    Ok(MetadataCommand::new().no_deps().exec()?.packages)
}

#[test]
fn the_workspace_keeps_to_the_picture() {
    let packages = workspace().unwrap();
    let members: BTreeSet<_> = packages
        .iter()
        .map(|package| short_name(&package.name).to_owned())
        .collect();
    let arrows: Vec<_> = packages
        .iter()
        .flat_map(|package| package.dependencies.iter().map(move |to| (package, to)))
        .filter(|(_, to)| members.contains(short_name(&to.name)))
        .map(|(from, to)| Arrow {
            from: short_name(&from.name).to_owned(),
            to: short_name(&to.name).to_owned(),
            dev: to.kind == DependencyKind::Development,
        })
        .collect();
    assert!(!arrows.is_empty());
    assert_eq!(faults(&members, &arrows), Vec::<String>::new());
}

/// The packages below a library, itself included, with these arguments of `cargo tree`.
fn below(package: &str, args: &[&str]) -> BTreeSet<String> {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--edges", "normal"])
        .args(args)
        .args(["--prefix", "none", "--format", "{p}", "--package"])
        .arg(format!("{PREFIX}{package}"))
        .output()
        .unwrap();
    let lines = String::from_utf8(tree.stdout).unwrap();
    let names = lines.lines().filter_map(|line| line.split(' ').next());
    let names: BTreeSet<_> = names.map(|name| short_name(name).to_owned()).collect();
    assert!(names.contains(package), "{package}: {lines}");
    names
}

/// The crates in `names` that are below a package.
fn reached<'a>(names: &[&'a str], below: &BTreeSet<String>) -> Vec<&'a str> {
    let names = names.iter().copied();
    names.filter(|name| below.contains(*name)).collect()
}

#[test]
fn the_pure_crates_reach_nothing_impure() {
    for package in PURE {
        let found = reached(IMPURE, &below(package, &["--all-features"]));
        assert!(found.is_empty(), "{package} reaches {found:?}");
    }
}

#[test]
fn the_engines_reach_no_network_without_models() {
    for package in ENGINES {
        let found = reached(NETWORK, &below(package, &["--no-default-features"]));
        assert!(found.is_empty(), "{package} reaches {found:?}");
        // With its feature `llm` it does, so a crate that is renamed is seen.
        let with_models = reached(NETWORK, &below(package, &["--all-features"]));
        assert_eq!(with_models, ["hyper", "reqwest"], "{package}");
    }
}

#[test]
fn the_kernel_without_web_and_files_names_none_of_their_crates() {
    let named = |features: &str| {
        let direct = below("hermitcrab-kernel", &[features, "--depth", "1"]);
        reached(OF_FEATURES, &direct)
    };
    let found = named("--no-default-features");
    assert!(found.is_empty(), "hermitcrab-kernel names {found:?}");
    // With them it does, so a crate that is renamed is seen.
    assert_eq!(named("--all-features"), OF_FEATURES);
}

#[test]
fn the_picture_has_no_cycle_and_names_only_what_is_in_it() {
    // Arrows point down: taking away what depends on nothing left must take away all.
    let mut left: Vec<_> = PICTURE.to_vec();
    while !left.is_empty() {
        let names: BTreeSet<_> = left.iter().map(|(name, _)| *name).collect();
        let before = left.len();
        left.retain(|(_, to)| to.iter().any(|to| names.contains(to)));
        assert!(left.len() < before, "a cycle among {names:?}");
    }
    let names: BTreeSet<_> = PICTURE.iter().map(|(name, _)| *name).collect();
    assert!(
        PICTURE
            .iter()
            .all(|(_, to)| to.iter().all(|to| names.contains(to)))
    );
}

fn check(from: &str, to: &str, dev: bool) -> Vec<String> {
    let members = [from, to].map(str::to_owned).into();
    faults(
        &members,
        &[Arrow {
            from: from.to_owned(),
            to: to.to_owned(),
            dev,
        }],
    )
}

#[test]
fn an_arrow_of_the_picture_passes() {
    assert!(check("popper-discovery", "popper-harness", false).is_empty());
    assert!(check("popper", "bin-support", false).is_empty());
}

#[test]
fn a_planted_wrong_arrow_is_found() {
    let up = ["popper-harness must not depend on popper-discovery"];
    assert_eq!(check("popper-harness", "popper-discovery", false), up);
    let across = ["popper-discovery must not depend on logosphere-core"];
    assert_eq!(check("popper-discovery", "logosphere-core", false), across);
    let pure = ["pscale-blocks must not depend on llm-client"];
    assert_eq!(check("pscale-blocks", "llm-client", false), pure);
}

#[test]
fn only_tests_reach_the_crates_for_tests_and_no_test_goes_up() {
    assert!(check("popper-harness", "test-support", true).is_empty());
    let shipped = ["popper-harness must not depend on test-support"];
    assert_eq!(check("popper-harness", "test-support", false), shipped);
    let up = ["popper-harness must not depend on popper-store"];
    assert_eq!(check("popper-harness", "popper-store", true), up);
}

#[test]
fn a_package_outside_the_picture_is_found() {
    assert_eq!(
        check("popper", "common-utils", false).first().unwrap(),
        "common-utils is not in the picture"
    );
}
