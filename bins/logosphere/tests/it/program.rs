//! Runs the binary in a temporary folder.

use std::ops::Deref;
use std::process::Child;

use test_support::MindStub;
use test_support::program::ProgramFolder;
pub use test_support::program::{
    ProgramRun as Ran, finish, isolated as clean, signal, start, words,
};

/// A folder that the binary runs in, its home too.
pub struct Place(ProgramFolder);

impl Deref for Place {
    type Target = ProgramFolder;

    fn deref(&self) -> &ProgramFolder {
        &self.0
    }
}

/// Seeds of [`Place::experiment`].
pub const SEEDS: [&str; 8] = [
    "What lasts is what is said again.",
    "A message has no author and no date.",
    "Three of us read this; who knows which three.",
    "Short words travel further than long ones.",
    "The pool forgets from its far end.",
    "Copy this, or improve it, or let it go.",
    "Two lines\nmake one message.",
    "Silence is an answer as well.",
];

impl Place {
    pub fn new() -> Self {
        Self(ProgramFolder::new(env!("CARGO_BIN_EXE_logosphere")))
    }

    /// A directory with [`SEEDS`] in its `init.md`.
    pub fn experiment<'a>(&self, name: &'a str) -> &'a str {
        self.seeded(name, &SEEDS)
    }

    /// A directory with these seeds in its `init.md`.
    pub fn seeded<'a>(&self, name: &'a str, seeds: &[&str]) -> &'a str {
        self.file(&format!("{name}/init.md"), init(seeds));
        name
    }

    /// The binary with this server as its model.
    pub fn asking(&self, stub: &MindStub, arguments: &[&str]) -> Ran {
        finish(self.start_asking(stub, arguments))
    }

    pub fn start_asking(&self, stub: &MindStub, arguments: &[&str]) -> Child {
        start(self.command(arguments).args(server(&stub.url())))
    }

    /// `resume` of an experiment whose server may have moved.
    pub fn resuming(&self, stub: &MindStub, experiment: &str, flags: &[&str]) -> Ran {
        finish(self.start_resuming(stub, experiment, flags))
    }

    pub fn start_resuming(&self, stub: &MindStub, experiment: &str, flags: &[&str]) -> Child {
        let arguments = [&["resume", experiment], flags].concat();
        start(self.command(&arguments).args(["--base-url", &stub.url()]))
    }
}

/// An `init.md` with these seeds.
pub fn init(seeds: &[&str]) -> String {
    let seeds: Vec<_> = seeds.iter().map(|seed| format!("---\n{seed}\n")).collect();
    format!("Notes, never sent.\n{}---\n\n---\n~init\n", seeds.concat())
}

/// The flags that name a server.
pub fn server(url: &str) -> [String; 6] {
    [
        "--provider",
        "openrouter",
        "--model",
        "m",
        "--base-url",
        url,
    ]
    .map(str::to_owned)
}
