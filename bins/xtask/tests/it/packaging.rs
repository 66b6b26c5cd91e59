//! The scripts of the tarball, with a small archive: where they may be called, what they write, and what they remove again.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use crate::gate::program;
use crate::packages::root;

const FILES: [&str; 4] = [
    "bin/hermit crab",
    "bin/popper",
    "share/fish/vendor_completions.d/popper.fish",
    "share/man/man1/popper.1",
];

/// An unpacked archive in the folder `an archive`, and a folder to call from.
struct Scene(tempfile::TempDir);

impl Scene {
    /// `None` without the program that the scripts need.
    fn new() -> Option<Self> {
        if !test_support::has_program("find") {
            return None;
        }
        let scene = Self(tempfile::tempdir().unwrap());
        for name in FILES {
            scene.write(&format!("an archive/{name}"), "new");
        }
        program(&scene.path().join("an archive/bin/popper"), "#!/bin/sh\n");
        for name in ["install.sh", "uninstall.sh"] {
            let script = root().join("packaging").join(name);
            fs::copy(script, scene.path().join("an archive").join(name)).unwrap();
        }
        Some(scene)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Calls a script from the folder of the scene; returns the exit code, stdout and stderr.
    fn call(&self, script: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
        let output = Command::new("sh")
            .arg(script)
            .args(arguments)
            .current_dir(self.path())
            .env("HOME", self.path().join("a home"))
            .env("CDPATH", self.path())
            .output()
            .unwrap();
        let [stdout, stderr] = [output.stdout, output.stderr].map(|text| {
            let text = String::from_utf8(text).unwrap();
            text.replace(self.path().to_str().unwrap(), "HERE")
        });
        (output.status.code(), stdout, stderr)
    }

    fn done(&self, script: &str, arguments: &[&str]) -> String {
        let (code, stdout, stderr) = self.call(script, arguments);
        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{script} {stdout}");
        stdout
    }

    /// The files below a folder.
    fn files(&self, folder: &str) -> Vec<String> {
        let mut find = Command::new("find");
        find.args(["-type", "f"])
            .current_dir(self.path().join(folder));
        let found = String::from_utf8(find.output().unwrap().stdout).unwrap();
        let names = found.lines().map(|name| name.replacen("./", "", 1));
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }
}

#[test]
fn a_removed_installation_leaves_what_was_there() {
    let Some(scene) = Scene::new() else { return };
    scene.write("prefix/bin/other", "foreign");
    scene.write("prefix/share/man/man1/other.1", "foreign");
    scene.write("prefix/bin/popper", "old");
    // A relative folder is one of the caller's.
    let told = scene.done("an archive/install.sh", &["prefix"]);
    let lines: Vec<_> = told.lines().collect();
    assert_eq!(lines[0], "installed into HERE/prefix: hermit crab popper ");
    assert!(lines[1].ends_with("export PATH=\"HERE/prefix/bin:$PATH\""));
    let mut expected: Vec<_> = FILES.map(str::to_owned).into();
    expected.extend(["bin/other", "share/man/man1/other.1"].map(str::to_owned));
    expected.sort();
    assert_eq!(scene.files("prefix"), expected);
    let popper = scene.path().join("prefix/bin/popper");
    assert_eq!(fs::read_to_string(&popper).unwrap(), "#!/bin/sh\n");
    assert!(Command::new(popper).status().unwrap().success());

    scene.done("an archive/uninstall.sh", &["prefix"]);
    let foreign = ["bin/other", "share/man/man1/other.1"];
    assert_eq!(scene.files("prefix"), foreign);
    for name in foreign {
        let text = fs::read_to_string(scene.path().join("prefix").join(name)).unwrap();
        assert_eq!(text, "foreign");
    }
}

#[test]
fn a_new_prefix_is_empty_again() {
    let Some(scene) = Scene::new() else { return };
    for arguments in [&["a prefix/of two"][..], &[]] {
        scene.done("an archive/install.sh", arguments);
        let prefix = arguments.first().unwrap_or(&"a home/.local");
        assert_eq!(scene.files(prefix), FILES);
        scene.done("an archive/uninstall.sh", arguments);
        let mut left = fs::read_dir(scene.path().join(prefix)).unwrap();
        assert!(left.next().is_none(), "{prefix}");
    }
    assert_eq!(scene.files("an archive").len(), FILES.len() + 2);
}

#[test]
fn a_script_finds_its_archive_through_links() {
    let Some(scene) = Scene::new() else { return };
    fs::create_dir(scene.path().join("links")).unwrap();
    for name in ["install.sh", "uninstall.sh"] {
        let link = scene.path().join("links").join(name);
        symlink(format!("../an archive/{name}"), &link).unwrap();
        symlink(&link, scene.path().join(format!("absolute-{name}"))).unwrap();
    }
    for begin in ["links/", "absolute-"] {
        scene.done(&format!("{begin}install.sh"), &["prefix"]);
        assert_eq!(scene.files("prefix"), FILES);
        scene.done(&format!("{begin}uninstall.sh"), &["prefix"]);
        assert_eq!(scene.files("prefix"), [""; 0]);
    }
}

#[test]
fn a_script_outside_of_its_archive_does_nothing() {
    let Some(scene) = Scene::new() else { return };
    for name in ["install.sh", "uninstall.sh"] {
        let script = scene.path().join("an archive").join(name);
        fs::copy(script, scene.path().join(name)).unwrap();
        let (code, _, told) = scene.call(name, &["prefix"]);
        assert_eq!(code, Some(1));
        let expected = format!("{name}: no folders bin and share in HERE: ");
        assert!(told.starts_with(&expected), "{told}");
        // Next to the installed programs it would remove every program there.
        let (code, _, told) = scene.call(&format!("an archive/{name}"), &["an archive"]);
        assert_eq!(code, Some(1));
        let expected = format!("{name}: HERE/an archive is the unpacked archive: ");
        assert!(told.starts_with(&expected), "{told}");
        for wrong in [&["--help"][..], &[""], &["a", "b"]] {
            let (code, _, told) = scene.call(&format!("an archive/{name}"), wrong);
            assert_eq!(
                (code, told),
                (Some(2), format!("{name}: usage: {name} [PREFIX]\n"))
            );
        }
    }
    assert_eq!(scene.files("an archive").len(), FILES.len() + 2);
    assert_eq!(scene.files("").len(), FILES.len() + 4);
}

#[test]
fn a_folder_in_the_place_of_a_program_stops_the_installation() {
    let Some(scene) = Scene::new() else { return };
    scene.write("prefix/bin/popper/kept", "foreign");
    scene.write("prefix/bin/hermit crab", "old");
    let (code, stdout, told) = scene.call("an archive/install.sh", &["prefix"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    let expected = "install.sh: HERE/prefix/bin/popper is a folder: remove it, or choose another PREFIX\ninstall.sh: nothing was installed into HERE/prefix\n";
    assert_eq!(told, expected);
    let kept = ["bin/hermit crab", "bin/popper/kept"];
    assert_eq!(scene.files("prefix"), kept);
    let old = fs::read_to_string(scene.path().join("prefix/bin/hermit crab")).unwrap();
    assert_eq!(old, "old");
}

#[test]
fn a_file_that_cannot_be_removed_does_not_keep_the_others() {
    let Some(scene) = Scene::new() else { return };
    scene.write("prefix/bin/hermit crab/kept", "foreign");
    for name in &FILES[1..] {
        scene.write(&format!("prefix/{name}"), "new");
    }
    let (code, stdout, told) = scene.call("an archive/uninstall.sh", &["prefix"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    let last = "uninstall.sh: not everything could be removed from HERE/prefix\n";
    assert!(
        told.contains("hermit crab") && told.ends_with(last),
        "{told}"
    );
    assert_eq!(scene.files("prefix"), ["bin/hermit crab/kept"]);
}

#[test]
fn an_archive_whose_files_cannot_be_listed_changes_nothing() {
    let Some(scene) = Scene::new() else { return };
    program(&scene.path().join("find"), "#!/bin/sh\nexit 1\n");
    for script in ["an archive/install.sh", "an archive/uninstall.sh"] {
        let path = format!("{}:/usr/bin:/bin", scene.path().display());
        let output = Command::new("sh")
            .args([script, "prefix"])
            .current_dir(scene.path())
            .env("PATH", path)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1));
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            told.ends_with("cannot be listed: nothing was changed\n"),
            "{told}"
        );
        assert!(!scene.path().join("prefix").exists());
    }
}

/// Both find their folders in the same way.
#[test]
fn both_scripts_begin_alike() {
    let begin = |name: &str| {
        let text = fs::read_to_string(root().join("packaging").join(name)).unwrap();
        let (begin, _) = text.split_once("\n\n").unwrap();
        begin.lines().skip(2).map(str::to_owned).collect::<Vec<_>>()
    };
    let lines = begin("install.sh");
    assert!(lines.len() > 10, "{lines:?}");
    assert_eq!(lines, begin("uninstall.sh"));
}

/// A program of a release as far as `dist` asks it.
const PROGRAM: &str = r#"#!/bin/sh
case "$1" in
  man) echo page > "$3/$(basename "$0").1" ;;
  completions) echo "$2 completions" ;;
esac
"#;

/// Python as far as `dist` asks it: it writes down what it gets, and the names of two archives.
const PYTHON: &str = r#"#!/bin/sh
echo "$*" > "$PLACE/called"
[ -e "$PLACE/broken" ] && echo "no objdump here" >&2 && exit 1
echo "  popper 1000"
echo "a.tar.gz 2000000"
echo "a.whl 3000000"
"#;

#[test]
fn a_release_is_packed_from_one_folder_and_an_error_of_the_packer_is_shown() {
    let Some(scene) = Scene::new() else { return };
    let version = env!("CARGO_PKG_VERSION");
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "NOTICE", "README.md"] {
        scene.write(name, name);
    }
    for name in ["install.sh", "uninstall.sh"] {
        scene.write(&format!("packaging/{name}"), name);
    }
    for name in ["popper", "zer0gravity", "hermitcrab", "logosphere"] {
        scene.write(&format!("target/dist/{name}"), "");
        program(&scene.path().join("target/dist").join(name), PROGRAM);
    }
    let place = scene.path().display();
    let folders =
        format!(r#"{{"workspace_root": "{place}", "target_directory": "{place}/target"}}"#);
    let cargo = format!("#!/bin/sh\necho '{folders}'\n");
    program(&scene.path().join("cargo"), &cargo);
    program(&scene.path().join("git"), "#!/bin/sh\necho 1700000000\n");
    program(&scene.path().join("python3"), PYTHON);
    let dist = || {
        let output = Command::new(env!("CARGO_BIN_EXE_xtask"))
            .args(["dist", "--no-build"])
            .env("CARGO", scene.path().join("cargo"))
            .env("PATH", format!("{place}:/usr/bin:/bin"))
            .env("PLACE", scene.path())
            .output()
            .unwrap();
        let [stdout, stderr] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), stdout, stderr)
    };
    let (code, stdout, stderr) = dist();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let lines =
        "  popper         0.0 MB\n  2.0 MB  target/dist/a.tar.gz\n  3.0 MB  target/dist/a.whl\n";
    assert_eq!(stdout, lines);
    let called = fs::read_to_string(scene.path().join("called")).unwrap();
    let [machine, system] = [std::env::consts::ARCH, std::env::consts::OS];
    let stage = format!("target/dist/orrery-{version}-{machine}-{system}");
    let expected = format!(
        "{place}/packaging/pack.py {place}/{stage} {place}/target/dist {version} 1700000000\n"
    );
    assert_eq!(called, expected);
    let files = scene.files(&stage);
    for name in [
        "NOTICE",
        "bin/popper",
        "install.sh",
        "share/bash-completion/completions/popper",
        "share/man/man1/logosphere.1",
        "uninstall.sh",
    ] {
        assert!(files.iter().any(|file| file == name), "{name}: {files:?}");
    }

    scene.write("broken", "");
    let (code, _, stderr) = dist();
    assert_eq!(code, Some(1));
    assert!(
        stderr.starts_with("no objdump here\nxtask: `python3 "),
        "{stderr}"
    );
}
