//! `cargo xtask dist`: one tarball and one wheel with the four programs, from the same files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::task::Arguments;
use crate::workspace::{PROGRAMS, Workspace, empty, finish, finish_into, output};
use crate::{Error, Exit};

/// The files of the repository that a release contains, and their names in it.
const TEXTS: [(&str, &str); 6] = [
    ("LICENSE-APACHE", "LICENSE-APACHE"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("NOTICE", "NOTICE"),
    ("README.md", "README.md"),
    ("packaging/install.sh", "install.sh"),
    ("packaging/uninstall.sh", "uninstall.sh"),
];

/// The shells with completions, and the file of the program `NAME` in `share`.
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/NAME"),
    ("zsh", "zsh/site-functions/_NAME"),
    ("fish", "fish/vendor_completions.d/NAME.fish"),
];

/// The size that an archive should not reach, and the one that it must not, in bytes.
const GOAL: u64 = 45 << 20;
const LIMIT: u64 = 60 << 20;

/// The archives that are in `target/dist`.
struct Release {
    tarball: PathBuf,
    wheel: PathBuf,
}

/// Builds unless `--no-build` is given, packs, and with `--check` installs and removes both archives.
pub fn run(workspace: &Workspace, arguments: &Arguments) -> Result<Exit, Error> {
    if !arguments.has("--no-build") {
        let mut build = workspace.cargo(&["build", "--locked", "--workspace", "--profile", "dist"]);
        finish(build.args(PROGRAMS.iter().flat_map(|name| ["--bin", name])))?;
    }
    let release = pack(workspace)?;
    if arguments.has("--check") {
        check_wheel(workspace, &release.wheel)?;
        check_tarball(workspace, &release.tarball)?;
    }
    Ok(Exit::Done)
}

fn folder(workspace: &Workspace) -> PathBuf {
    workspace.target.join("dist")
}

/// Writes both archives and `SHA256SUMS`, and prints their sizes.
fn pack(workspace: &Workspace) -> Result<Release, Error> {
    let dist = folder(workspace);
    let version = env!("CARGO_PKG_VERSION");
    let wheel = wheel_version(version).ok_or(Error::Check(
        "a wheel takes a version such as 1.0.0 or 1.0.0-rc.1; alpha, beta and rc are known",
    ))?;
    let (machine, system) = (std::env::consts::ARCH, std::env::consts::OS);
    let stage = dist.join(format!("orrery-{version}-{machine}-{system}"));
    fill(workspace, &dist, &stage)?;
    let mut commit = workspace.git(&["log", "-1", "--format=%ct"]);
    let epoch = output(&mut commit)?;
    let mut python = Command::new("python3");
    python.arg(workspace.root.join("packaging/pack.py"));
    let packed = output(python.arg(&stage).arg(&dist).args([&wheel, epoch.trim()]))?;
    let mut archives = Vec::new();
    for line in packed.lines() {
        let parts = line.trim().rsplit_once(' ');
        let parts = parts.and_then(|(name, size)| Some((name, size.parse::<u64>().ok()?)));
        let (name, size) = parts.ok_or_else(|| Error::Output { path: dist.clone() })?;
        let megabytes = size as f64 / 1e6;
        if line.starts_with(' ') {
            println!("  {name:<12} {megabytes:>5.1} MB");
            continue;
        }
        println!(
            "{megabytes:>5.1} MB  {}",
            workspace.relative(&dist.join(name)).display()
        );
        if size > LIMIT {
            return Err(Error::TooLarge {
                name: name.to_owned(),
                size,
                limit: LIMIT,
            });
        }
        if size > GOAL {
            eprintln!("xtask: {name} has {size} bytes; the goal is {GOAL}");
        }
        archives.push(dist.join(name));
    }
    match <[PathBuf; 2]>::try_from(archives) {
        Ok([tarball, wheel]) => Ok(Release { tarball, wheel }),
        Err(_) => Err(Error::Output { path: dist }),
    }
}

/// A version of Cargo as Python writes it, which a hyphen in the name of a wheel would end.
fn wheel_version(version: &str) -> Option<String> {
    let Some((release, stage)) = version.split_once('-') else {
        return Some(version.to_owned());
    };
    let (name, number) = stage.split_once('.')?;
    let name = match name {
        "alpha" => "a",
        "beta" => "b",
        "rc" => "rc",
        _ => return None,
    };
    let number: u32 = number.parse().ok()?;
    Some(format!("{release}{name}{number}"))
}

/// Fills the folder that the archives are made of.
fn fill(workspace: &Workspace, built: &Path, stage: &Path) -> Result<(), Error> {
    let used = |path: &Path| {
        let path = path.to_owned();
        |source| Error::File { path, source }
    };
    empty(stage.to_owned())?;
    let copy = |from: PathBuf, to: PathBuf| {
        let parent = to.parent().unwrap_or(stage);
        fs::create_dir_all(parent).map_err(used(parent))?;
        fs::copy(&from, &to).map_err(used(&from)).map(drop)
    };
    for (from, to) in TEXTS {
        copy(workspace.root.join(from), stage.join(to))?;
    }
    for name in PROGRAMS {
        let program = stage.join("bin").join(name);
        copy(built.join(name), program.clone())?;
        let pages = stage.join("share/man/man1");
        fs::create_dir_all(&pages).map_err(used(&pages))?;
        finish(Command::new(&program).args(["man", "-q"]).arg(&pages))?;
        for (shell, file) in COMPLETIONS {
            let file = stage.join("share").join(file.replace("NAME", name));
            let parent = file.parent().unwrap_or(stage);
            fs::create_dir_all(parent).map_err(used(parent))?;
            finish_into(&file, Command::new(&program).args(["completions", shell]))?;
        }
    }
    Ok(())
}

/// Installs the wheel into a fresh Python environment without Rust, asks for a verdict, runs every program, removes it.
fn check_wheel(workspace: &Workspace, wheel: &Path) -> Result<(), Error> {
    let venv = empty(folder(workspace).join("check/venv"))?;
    let bin = venv.join("bin");
    finish(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    let start = Instant::now();
    let pip = |words: &[&str]| {
        let mut pip = bare(&bin, "pip");
        pip.args(words)
            .args(["--quiet", "--disable-pip-version-check"]);
        pip
    };
    finish(pip(&["install", "--no-index", "--no-deps"]).arg(wheel))?;
    let work = empty(folder(workspace).join("check/work"))?;
    let law = "count('>') + count('X')";
    let mut check = bare(&bin, "popper");
    let verdict = output(check.args(["check", "--conserved", law]).current_dir(&work))?;
    println!(
        "a verdict {:.1} s after the start of pip",
        start.elapsed().as_secs_f64()
    );
    if !verdict.contains("PASS") {
        return Err(Error::Check("the installed popper did not prove the law"));
    }
    for name in PROGRAMS {
        finish(bare(&bin, name).arg("--version").current_dir(&work))?;
        finish(
            bare(&bin, name)
                .args(["demo", "--dir", name])
                .current_dir(&work),
        )?;
    }
    finish(&mut pip(&["uninstall", "--yes", "orrery_programs"]))?;
    if PROGRAMS.iter().any(|name| bin.join(name).exists()) {
        return Err(Error::Check("pip uninstall left a program"));
    }
    Ok(())
}

/// Installs the tarball into an empty folder and removes it; nothing may be left.
fn check_tarball(workspace: &Workspace, tarball: &Path) -> Result<(), Error> {
    let unpacked = empty(folder(workspace).join("check/tarball"))?;
    let prefix = empty(folder(workspace).join("check/prefix"))?;
    finish(
        Command::new("tar")
            .arg("-xzf")
            .arg(tarball)
            .arg("-C")
            .arg(&unpacked)
            .arg("--strip-components=1"),
    )?;
    finish(Command::new(unpacked.join("install.sh")).arg(&prefix))?;
    for name in PROGRAMS {
        finish(bare(&prefix.join("bin"), name).arg("-V"))?;
    }
    finish(Command::new(unpacked.join("uninstall.sh")).arg(&prefix))?;
    let mut left = fs::read_dir(&prefix).map_err(|source| Error::File {
        path: prefix.clone(),
        source,
    })?;
    if left.next().is_some() {
        return Err(Error::Check("uninstall.sh left files"));
    }
    Ok(())
}

/// A program of `bin` with nothing of this machine's environment but the system's programs.
fn bare(bin: &Path, name: &str) -> Command {
    let mut command = Command::new(bin.join(name));
    command
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    command.stdin(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_has_the_version_that_python_writes() {
        for (version, wheel) in [
            ("0.1.0", Some("0.1.0")),
            ("1.0.0-rc.1", Some("1.0.0rc1")),
            ("1.0.0-alpha.12", Some("1.0.0a12")),
            ("1.0.0-beta.2", Some("1.0.0b2")),
            ("1.0.0-rc", None),
            ("1.0.0-rc.1.2", None),
            ("1.0.0-x.1", None),
        ] {
            assert_eq!(wheel_version(version).as_deref(), wheel, "{version}");
        }
    }
}
