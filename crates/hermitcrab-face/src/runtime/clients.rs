//! The two clients that can bring React: npm by a lock file, and pip by the wheel of a Python package that contains it.

use std::path::{Path, PathBuf};

use super::installer::Recipe;
use super::react::{Script, VERSION};

const PACKAGE: &str = include_str!("npm/package.json");
/// Pins every package by its integrity. It names no address: npm asks the registry that the person has set.
const LOCK: &str = include_str!("npm/package-lock.json");

pub(super) const NPM: Recipe = Recipe {
    client: "npm",
    files: &[("package.json", PACKAGE), ("package-lock.json", LOCK)],
    runs: &[&[
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--no-update-notifier",
        "--loglevel=error",
    ]],
    brought: |script| {
        let package = Path::new("node_modules").join(script.package);
        package.join("umd").join(script.file)
    },
};

/// The wheel of this package has React's two scripts, byte for byte.
const REQUIREMENTS: &str = "dash==4.4.1 \
    --hash=sha256:72120a91b10ee4d73f9446efd5d6a4ec218086feed7b1b479d2259844d1f658f\n";
const WHEEL: &str = "wheels/dash-4.4.1-py3-none-any.whl";

pub(super) const PIP: Recipe = Recipe {
    client: "pip",
    files: &[("requirements.txt", REQUIREMENTS)],
    runs: &[
        &[
            "-m",
            "pip",
            "download",
            "--no-deps",
            "--only-binary=:all:",
            "--require-hashes",
            "--disable-pip-version-check",
            "--no-input",
            "--dest=wheels",
            "-r",
            "requirements.txt",
        ],
        &["-m", "zipfile", "-e", WHEEL, "unpacked"],
    ],
    brought: in_wheel,
};

fn in_wheel(script: &Script) -> PathBuf {
    let name = format!("{}@{VERSION}.min.js", script.package);
    Path::new("unpacked/dash/deps").join(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_pins_everything_and_names_no_address() {
        let lock: serde_json::Value = serde_json::from_str(LOCK).unwrap();
        let packages = lock["packages"].as_object().unwrap();
        assert_eq!(packages.len(), 6);
        for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
            let integrity = package["integrity"].as_str().unwrap();
            assert!(integrity.starts_with("sha512-"), "{name}");
        }
        for text in [LOCK, PACKAGE] {
            assert!(!text.contains("resolved") && !text.contains("://"));
        }
    }
}
