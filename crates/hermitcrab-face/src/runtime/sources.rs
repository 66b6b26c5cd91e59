//! The places where React may be, in the order in which they are asked.

use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;

use super::Runtime;
use super::clients::{NPM, PIP};
use super::error::RuntimeError;
use super::installer::Installer;
use super::react::{self, Installation, SCRIPTS, Script, VERSION};
use super::tried::{TriedClients, TriedFile};

/// The places where React may be: a folder of the person's, the data directory, npm, pip.
///
/// Each file is used only if it has the hash of React 18.3.1, whatever its source.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReactSources {
    /// A folder with both scripts, or with both in `umd/`. With it no other source is asked.
    pub dir: Option<PathBuf>,
    /// The person's npm.
    pub npm: Installer,
    /// The person's Python, which runs its pip.
    pub pip: Installer,
    /// Whether npm and pip are tried also on the day after they failed.
    pub again: bool,
}

impl ReactSources {
    /// The clients `npm` and `python3` of the search path, each with this time limit.
    pub fn new(limit: Duration) -> Self {
        Self {
            dir: None,
            npm: Installer::new("npm", limit),
            pip: Installer::new("python3", limit),
            again: false,
        }
    }

    /// React from the first source that has it, which is then kept in the data directory.
    ///
    /// Kept scripts are checked each time, and installed again if their hashes differ. `show` gets one line before npm
    /// begins. A failure of both clients at the time `now` is noted, and they are not tried again for a day. A
    /// caller that drops the future ends them with all that they started, and no partial file stays.
    ///
    /// # Errors
    /// The folder does not have it; npm and pip are missing, fail, take too long or bring something else, or have failed less than
    /// a day ago; another process installs it; the data directory cannot be written.
    pub async fn find(
        &self,
        data: &Path,
        now: Timestamp,
        show: &(dyn Fn(&str) + Sync),
    ) -> Result<Runtime, RuntimeError> {
        let script = self.script(data, now, show, &SCRIPTS).await?;
        Ok(Runtime::of_react(script))
    }

    async fn script(
        &self,
        data: &Path,
        now: Timestamp,
        show: &(dyn Fn(&str) + Sync),
        scripts: &[Script],
    ) -> Result<String, RuntimeError> {
        let folder = react::folder(data);
        let note = TriedFile::of(data);
        if let Some(dir) = &self.dir {
            let texts = react::given(dir, scripts)?;
            let source = dir.display().to_string();
            let script = Installation::begin(&folder)?.keep(scripts, &texts, &source)?;
            note.remove();
            return Ok(script);
        }
        if let Ok(script) = react::kept(&folder, scripts) {
            return Ok(script);
        }
        if let Some(tried) = note.read()
            && !self.again
            && tried.counts(now)
        {
            return Err(tried.into_error());
        }
        show(&format!(
            "installing React {VERSION} with npm or pip, once, in {}",
            folder.display()
        ));
        let npm = match NPM.install(&self.npm, &folder, scripts).await {
            Err(error) if !matches!(error, RuntimeError::Busy { .. }) => error,
            done => return done.inspect(|_| note.remove()),
        };
        let pip = match PIP.install(&self.pip, &folder, scripts).await {
            Err(error) if !matches!(error, RuntimeError::Busy { .. }) => error,
            done => return done.inspect(|_| note.remove()),
        };
        note.write(&TriedClients::new(now, &npm, &pip));
        let (npm, pip) = (Box::new(npm), Box::new(pip));
        Err(RuntimeError::NotBrought { npm, pip })
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    const SMALL: [Script; 2] = [
        Script {
            package: "react",
            file: "a.js",
            bytes: 6,
            sha256: "ac1bc6b81949c06305e0ef4aee37eaaeeac80552254200063b395fc2e20d7b60",
        },
        Script {
            package: "react-dom",
            file: "b.js",
            bytes: 6,
            sha256: "4108eb108c460a19d8838593f10465ce158ca026fa1ad62a9bdfead39521e0c4",
        },
    ];
    const BOTH: &str = "let a\n\nlet b\n\n";
    /// The hash of `let c` and a line end.
    const CHANGED: &str = "dc190d2b19aa9e9a";

    /// A data directory, and clients that are not there until a test writes them.
    struct Place {
        root: TempDir,
        sources: ReactSources,
    }

    impl Place {
        fn new() -> Self {
            let root = TempDir::new().unwrap();
            let mut sources = ReactSources::new(Duration::from_mins(1));
            sources.npm.program = root.path().join("npm");
            sources.pip.program = root.path().join("python3");
            Self { root, sources }
        }

        fn data(&self) -> PathBuf {
            self.root.path().join("data")
        }

        fn program(&self, name: &str, script: &str) {
            let program = self.root.path().join(name);
            fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }

        /// An npm that brings these two texts.
        fn npm(&self, a: &str, b: &str) {
            let script = format!(
                "mkdir -p node_modules/react/umd node_modules/react-dom/umd
                echo '{a}' > node_modules/react/umd/a.js; echo '{b}' > node_modules/react-dom/umd/b.js"
            );
            self.program("npm", &script);
        }

        /// A Python whose pip downloads a wheel, which its zipfile unpacks.
        fn pip(&self, a: &str, b: &str) {
            let script = format!(
                "case \"$*\" in
                '-m pip download --no-deps --only-binary=:all: --require-hashes '*' -r requirements.txt')
                    grep -q '^dash==4.4.1 --hash=sha256:72120a91' requirements.txt || exit 4
                    mkdir wheels; echo '{a}+{b}' > wheels/dash-4.4.1-py3-none-any.whl;;
                '-m zipfile -e wheels/dash-4.4.1-py3-none-any.whl unpacked')
                    mkdir -p unpacked/dash/deps; IFS=+ read a b < \"$4\"
                    echo \"$a\" > unpacked/dash/deps/react@18.3.1.min.js
                    echo \"$b\" > unpacked/dash/deps/react-dom@18.3.1.min.js;;
                *) echo \"unknown: $*\" >&2; exit 5;;
                esac"
            );
            self.program("python3", &script);
        }

        async fn find(&self, now: Timestamp) -> Result<String, RuntimeError> {
            self.sources
                .script(&self.data(), now, &|_| {}, &SMALL)
                .await
        }

        fn source(&self) -> Option<String> {
            react::source(&react::folder(&self.data()))
        }

        /// The names of what is kept, without the lock.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(react::place(&self.data())).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = names.filter(|name| name != "lock").collect();
            names.sort();
            names
        }
    }

    fn write(folder: &Path, a: &str, b: &str) {
        fs::create_dir_all(folder).unwrap();
        fs::write(folder.join("a.js"), format!("{a}\n")).unwrap();
        fs::write(folder.join("b.js"), format!("{b}\n")).unwrap();
    }

    fn at(hour: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + hour * 3600).unwrap()
    }

    fn names_both_hashes(error: &RuntimeError, file: &str) {
        let text = error.to_string();
        for part in [file, CHANGED, SMALL[1].sha256] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[tokio::test]
    async fn a_folder_of_the_persons_is_enough() {
        for below in ["", "umd"] {
            let mut place = Place::new();
            let dir = place.root.path().join("mine");
            place.sources.dir = Some(dir.clone());
            write(&dir.join(below), "let a", "let b");
            assert_eq!(place.find(at(0)).await.unwrap(), BOTH, "{below}");
            assert_eq!(place.source(), Some(dir.display().to_string()));
            // One changed byte is an error, also when React is kept.
            write(&dir.join(below), "let a", "let c");
            names_both_hashes(&place.find(at(0)).await.unwrap_err(), "b.js");
            fs::remove_dir_all(&dir).unwrap();
            let error = place.find(at(0)).await.unwrap_err();
            assert!(matches!(error, RuntimeError::File { .. }), "{error}");
        }
    }

    #[tokio::test]
    async fn the_data_directory_is_enough() {
        let place = Place::new();
        write(&react::folder(&place.data()), "let a", "let b");
        assert_eq!(place.find(at(0)).await.unwrap(), BOTH);
        write(&react::folder(&place.data()), "let a", "let c");
        let error = react::kept(&react::folder(&place.data()), &SMALL).unwrap_err();
        names_both_hashes(&error, "b.js");
        assert!(place.find(at(0)).await.is_err());
    }

    #[tokio::test]
    async fn npm_is_enough_and_nothing_else_of_its_work_is_kept() {
        let place = Place::new();
        place.npm("let a", "let c");
        let error = place.find(at(0)).await.unwrap_err();
        names_both_hashes(&error, "node_modules/react-dom/umd/b.js");
        assert_eq!(place.names(), ["tried.json"]);
        place.npm("let a", "let b");
        assert_eq!(place.find(at(24)).await.unwrap(), BOTH);
        assert_eq!(place.names(), ["react-18.3.1"]);
        assert_eq!(place.source().as_deref(), Some("npm"));
        // A torn file is replaced.
        for torn in ["let", "let a\nlet c"] {
            write(&react::folder(&place.data()), torn, "let b");
            assert_eq!(place.find(at(24)).await.unwrap(), BOTH);
        }
    }

    #[tokio::test]
    async fn pip_is_enough_and_nothing_else_of_its_work_is_kept() {
        let place = Place::new();
        place.pip("let a", "let c");
        let error = place.find(at(0)).await.unwrap_err();
        names_both_hashes(&error, "unpacked/dash/deps/react-dom@18.3.1.min.js");
        place.pip("let a", "let b");
        assert_eq!(place.find(at(24)).await.unwrap(), BOTH);
        assert_eq!(place.names(), ["react-18.3.1"]);
        assert_eq!(place.source().as_deref(), Some("pip"));
    }

    #[tokio::test]
    async fn a_failure_counts_for_a_day_unless_it_is_to_be_tried_again() {
        let mut place = Place::new();
        place.program("npm", "echo npm >> \"$(dirname \"$0\")/asked\"; exit 1");
        place.program("python3", "echo pip >> \"$(dirname \"$0\")/asked\"; exit 1");
        let asked = place.root.path().join("asked");
        let count = || {
            fs::read_to_string(&asked)
                .unwrap_or_default()
                .lines()
                .count()
        };
        for (hour, again, asks) in [
            (0, false, 2),
            (1, false, 0),
            (23, false, 0),
            (24, false, 2),
            (30, true, 2),
            (31, false, 0),
            // The clock was set back.
            (2, false, 2),
        ] {
            let before = count();
            place.sources.again = again;
            let error = place.find(at(hour)).await.unwrap_err();
            assert_eq!(count() - before, asks, "{hour}: {error}");
            assert!(
                error.to_string().contains("pip could not install React"),
                "{error}"
            );
            let is_noted = matches!(error, RuntimeError::TriedBefore { .. });
            assert_eq!(is_noted, asks == 0, "{error}");
        }
    }

    #[tokio::test]
    async fn a_note_that_cannot_be_read_does_not_count_and_a_newer_one_stays() {
        let newer = r#"{"schema_version": 2, "when": "later"}"#;
        for (note, stays) in [("", false), ("no JSON", false), (newer, true)] {
            let place = Place::new();
            let path = react::place(&place.data()).join("tried.json");
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, note).unwrap();
            let error = place.find(at(0)).await.unwrap_err();
            assert!(matches!(error, RuntimeError::NotBrought { .. }), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap() == note, stays, "{note}");
            place.npm("let a", "let b");
            place.find(at(24)).await.unwrap();
            assert_eq!(path.exists(), stays, "{note}");
        }
    }

    #[tokio::test]
    async fn two_processes_do_not_install_in_one_place() {
        let place = Place::new();
        let other = Installation::begin(&react::folder(&place.data())).unwrap();
        let error = place.find(at(0)).await.unwrap_err();
        assert!(matches!(error, RuntimeError::Busy { .. }), "{error}");
        assert!(other.work().is_dir());
        drop(other);
        place.npm("let a", "let b");
        assert_eq!(place.find(at(0)).await.unwrap(), BOTH);
    }
}
