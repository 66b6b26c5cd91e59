//! Running the binary from the workspace's root, and files for it to read.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};
pub use test_support::program::{ProgramRun as Ran, words};

pub fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_popper"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    command
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null());
    command
}

/// The binary in an empty folder, without any key: what a newcomer has.
pub fn fresh(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_popper"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("POPPER_API_KEY")
        .env_remove("ANTHROPIC_API_KEY")
        .env_remove("POPPER_STORE")
        .stdin(Stdio::null());
    command
}

pub fn popper(arguments: &[&str]) -> Ran {
    command(arguments).output().unwrap().into()
}

/// The same with a text on stdin. A file, not a pipe: the binary may stop reading at any point.
pub fn popper_reads(name: &str, stdin: impl AsRef<[u8]>, arguments: &[&str]) -> Ran {
    let path = file(name, stdin);
    let stdin = File::open(path).unwrap();
    command(arguments).stdin(stdin).output().unwrap().into()
}

/// A file in the tests' own folder. Tests that run at once may write the same one: it is never seen half-written.
pub fn file(name: &str, content: impl AsRef<[u8]>) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("popper");
    fs::create_dir_all(&folder).unwrap();
    let path: PathBuf = folder.join(name);
    let writer = format!("{name}.{}.{:?}", std::process::id(), thread::current().id());
    fs::write(folder.join(&writer), content).unwrap();
    fs::rename(folder.join(&writer), &path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The text without the folder of [`file`], so that snapshots are the same everywhere.
pub fn without_folder(text: &str) -> String {
    let folder = format!("{}/popper/", env!("CARGO_TARGET_TMPDIR"));
    text.replace(&folder, "")
}

/// A law that nothing in a test depends on but its being well formed: right-movers are conserved.
pub fn law(law_id: &str) -> Value {
    json!({
        "schema_version": "1.0.0",
        "law_id": law_id,
        "template": "invariant",
        "quantifiers": {"T": 8},
        "preconditions": [],
        "observables": [{"name": "r", "expr": "count('>') + count('X')"}],
        "claim": "r(t) == r(0)",
        "forbidden": "some t with r(t) != r(0)",
    })
}

/// The same for a law that is false: collisions come and go.
pub fn false_law(law_id: &str) -> Value {
    let mut law = law(law_id);
    law["observables"] = json!([{"name": "r", "expr": "count('X')"}]);
    law
}

/// A configuration with which a law takes little time, for tests that are not about the verdict.
pub fn quick() -> String {
    let config = json!({"exhaustive_n": 5, "minimal_n": 5, "ladder": [8, 16], "generations": 0});
    file("quick.json", config.to_string())
}
