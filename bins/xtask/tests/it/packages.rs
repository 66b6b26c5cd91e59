//! The contents of a package's archive: its README, the licences, and everything that its sources include.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{MetadataCommand, Package};

/// The largest file that an archive may hold, in bytes.
const MAX_FILE: u64 = 2 << 20;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The packages that may be published: all but the tools of this repository.
pub fn published() -> Vec<Package> {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let mut packages = metadata.packages;
    packages.retain(|package| package.publish.is_none());
    assert!(packages.len() >= 15);
    packages
}

/// The beginning of a library's package name: the plain names belong to others in the public registry.
pub const PREFIX: &str = "orrery-";

/// The name of a package without its prefix: a library's folder, and its name in the documentation.
pub fn short_name(package: &str) -> &str {
    package.strip_prefix(PREFIX).unwrap_or(package)
}

/// The folder of a package.
pub fn folder(package: &Package) -> &Path {
    package.manifest_path.parent().unwrap().as_std_path()
}

/// The files of the package's archive, by their paths in the package.
fn listed(package: &Package) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .args([
            "package",
            "--list",
            "--allow-dirty",
            "--locked",
            "--manifest-path",
        ])
        .arg(&package.manifest_path)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", package.name);
    let made = [".cargo_vcs_info.json", "Cargo.lock", "Cargo.toml.orig"];
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .filter(|line| !made.contains(line))
        .map(str::to_owned)
        .collect()
}

/// The paths that a source file includes, relative to its own folder.
fn included(source: &str) -> impl Iterator<Item = &str> {
    ["include_str!(", "include_bytes!(", "include!("]
        .into_iter()
        .flat_map(|macro_| source.split(macro_).skip(1))
        .filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next())
}

#[test]
fn every_archive_is_whole() {
    let root = root();
    let mut faults = Vec::new();
    for package in published() {
        let files = listed(&package);
        let mut needed = vec!["README.md", "LICENSE-MIT", "LICENSE-APACHE"];
        if short_name(&package.name) == "zer0gravity-engine" {
            // The word list is in its source.
            needed.push("NOTICE");
        }
        for name in needed {
            if !files.iter().any(|file| file == name) {
                faults.push(format!("{}: {name} is missing", package.name));
            } else if name != "README.md"
                && fs::read(folder(&package).join(name)).ok() != fs::read(root.join(name)).ok()
            {
                faults.push(format!("{}: {name} differs from the root's", package.name));
            }
        }
        for file in &files {
            let path = folder(&package).join(file);
            let size = fs::metadata(&path).unwrap().len();
            if size > MAX_FILE {
                faults.push(format!("{}: {file} has {size} bytes", package.name));
            }
            if path.extension().is_some_and(|extension| extension == "rs") {
                let source = fs::read_to_string(&path).unwrap();
                for target in included(&source) {
                    let target = path.parent().unwrap().join(target);
                    let inside = folder(&package).canonicalize().unwrap();
                    let found = target.canonicalize();
                    let held = found.ok().and_then(|found| {
                        let inner = found.strip_prefix(&inside).ok()?.to_str()?.to_owned();
                        files.contains(&inner).then_some(())
                    });
                    if held.is_none() {
                        let target = target.display();
                        faults.push(format!("{}: {file} includes {target}", package.name));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// An archive names its dependencies by version: a path alone cannot be published.
#[test]
fn every_dependency_has_a_version() {
    for package in published() {
        for dependency in &package.dependencies {
            let is_dev = dependency.kind == cargo_metadata::DependencyKind::Development;
            let requirement = dependency.req.to_string();
            assert!(
                is_dev || requirement != "*",
                "{}: {} has no version",
                package.name,
                dependency.name
            );
        }
    }
}

/// The tag of a release and its archives name one version for all.
#[test]
fn every_package_has_the_same_version() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    for package in metadata.packages {
        let version = package.version.to_string();
        assert_eq!(version, env!("CARGO_PKG_VERSION"), "{}", package.name);
    }
}

/// Examples of all packages are built into one folder.
#[test]
fn z21_no_two_examples_have_the_same_name() {
    let metadata = MetadataCommand::new().no_deps().exec().unwrap();
    let targets = metadata.packages.iter().flat_map(|one| &one.targets);
    let examples = targets.filter(|target| target.is_example());
    let mut names: Vec<_> = examples.map(|target| &target.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "{names:?}");
}

#[test]
fn an_include_is_found_in_a_source() {
    let source =
        "a(include_str!(\"x/y.txt\"), include_bytes!(\n    \"../z\"), include_str!(concat!()))";
    assert_eq!(included(source).collect::<Vec<_>>(), ["x/y.txt", "../z"]);
}
