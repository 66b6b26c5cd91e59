//! A program in a repository whose `.env` its user did not write. No check reaches a network: each command ends before it
//! would send anything, or asks a listener of the test.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

use crate::{Answer, FaultServer};

/// Text in the form of a key.
const KEY: &str = "sk-not-a-real-key-0123456789";

/// A program under test, and two of its command lines.
#[derive(Debug, Clone, Copy)]
pub struct EnvFileProgram {
    /// The program's file.
    pub program: &'static str,
    /// The variable of its key, such as `POPPER_API_KEY`.
    pub key_name: &'static str,
    /// Arguments with which it asks a model of Anthropic.
    pub ask: &'static [&'static str],
    /// Arguments with which it works without a model and ends with 0.
    pub work: &'static [&'static str],
    /// Creates the files that both need in the program's working directory.
    pub prepare: fn(&Path),
}

/// A repository with a `.env`; programs run in its folder `inner`.
#[derive(Debug)]
pub struct PlantedEnvFile {
    root: TempDir,
    program: EnvFileProgram,
}

impl EnvFileProgram {
    /// Makes a repository whose `.env` has this text.
    pub fn plant(self, text: &str) -> PlantedEnvFile {
        let root = tempfile::tempdir().unwrap();
        for folder in [".git", "inner"] {
            fs::create_dir(root.path().join(folder)).unwrap();
        }
        let file = root.path().join(".env");
        fs::write(&file, text).unwrap();
        fs::set_permissions(file, fs::Permissions::from_mode(0o600)).unwrap();
        (self.prepare)(&root.path().join("inner"));
        let program = self;
        PlantedEnvFile { root, program }
    }

    /// Makes a listener for requests, and a repository whose `.env` has its address and then this text.
    pub fn plant_address(self, more: &str) -> (FaultServer, PlantedEnvFile) {
        let server = FaultServer::play(|_| Answer::json(500, "{}"));
        let text = format!("ANTHROPIC_BASE_URL={}\n{more}", server.url(""));
        let planted = self.plant(&text);
        (server, planted)
    }

    fn name(self) -> &'static str {
        crate::documentation::name(Path::new(self.program))
    }

    /// The listener needs no key, the provider does: without the address the program ends before it asks.
    pub fn check_a_found_address_moves_no_request(self) {
        let (server, planted) = self.plant_address("");
        let stderr = planted.refuses(self.ask, &[]);
        for told in [
            format!(
                "{}: .env in {}: ignored ANTHROPIC_BASE_URL (a file that was found gives keys only; \
                 --env-file FILE takes addresses too)\n",
                self.name(),
                planted.folder()
            ),
            "no API key for anthropic".to_owned(),
        ] {
            assert!(stderr.contains(&told), "{told}\n{stderr}");
        }
        assert_eq!(server.requests().len(), 0);
    }

    /// A key of the environment and an address of a file do not belong together.
    pub fn check_a_real_key_is_not_sent_to_the_address_of_a_file(self) {
        let (server, planted) = self.plant_address("");
        let arguments = [self.ask, &["--env-file", "../.env"]].concat();
        let stderr = planted.refuses(&arguments, &[(self.key_name, KEY)]);
        let told = format!(
            "ANTHROPIC_BASE_URL is from ../.env and {} from the environment: the key is not sent there; \
             put both into one file or give --base-url\n",
            self.key_name
        );
        assert!(stderr.contains(&told), "{stderr}");
        assert_eq!(server.requests().len(), 0);
    }

    /// A bad line of a file that was found costs that line; a file that was named must be good.
    pub fn check_a_bad_line_is_told_and_the_work_is_done(self) {
        let planted = self.plant("# keys\nsk-secret and more\n");
        let output = planted.command(self.work).output().unwrap();
        let stderr = text(&output);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let told = format!(
            "{}: .env in {}: line 2 is not NAME=value, ignored\n",
            self.name(),
            planted.folder()
        );
        assert!(stderr.starts_with(&told), "{stderr}");
        assert!(!stderr.contains("secret"), "{stderr}");
        let arguments = [self.work, &["--env-file", "../.env"]].concat();
        let stderr = planted.refuses(&arguments, &[]);
        let told = "../.env: line 2 is not NAME=value";
        assert!(stderr.contains(told), "{stderr}");
    }

    /// A key that was found is used, and a line says from which file; a cap below the price of one call ends the program
    /// before it asks.
    pub fn check_a_found_key_is_named(self, cap: &[&str]) {
        let more = format!("{}={KEY}\n", self.key_name);
        let (server, planted) = self.plant_address(&more);
        let arguments = [self.ask, cap].concat();
        let output = planted.command(&arguments).output().unwrap();
        let stderr = text(&output);
        assert_eq!(output.status.code(), Some(130), "{stderr}");
        let told = format!(
            "{}: requests go to api.anthropic.com (from the default), key {} from .env in {}\n",
            self.name(),
            self.key_name,
            planted.folder()
        );
        assert!(stderr.contains(&told), "{stderr}");
        assert!(!stderr.contains(KEY), "{stderr}");
        assert_eq!(server.requests().len(), 0);
    }
}

impl PlantedEnvFile {
    /// The repository.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The repository's path as shown in messages.
    fn folder(&self) -> String {
        self.root().canonicalize().unwrap().display().to_string()
    }

    /// The program without the machine's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.program.program);
        command
            .args(arguments)
            .current_dir(self.root().join("inner"))
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.root())
            .stdin(Stdio::null());
        command
    }

    /// Runs the program, which ends with 2, and returns its stderr.
    pub fn refuses(&self, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let mut command = self.command(arguments);
        let output = command.envs(variables.iter().copied()).output().unwrap();
        let stderr = text(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        stderr
    }
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
