//! A command with a terminal as its stdout.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The text that a command writes to a terminal of this width.
pub fn shown(command: &mut Command, columns: u16) -> String {
    written(command, (columns, 24), false).replace("\r\n", "\n")
}

/// The text that a command writes to a terminal of these columns and rows, to stdout or also to stderr.
pub fn written(command: &mut Command, size: (u16, u16), with_stderr: bool) -> String {
    let (mut child, mut terminal) = begin(command, size, with_stderr);
    let mut bytes = Vec::new();
    // The end of a terminal is an error of the system.
    let _ = terminal.read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap()
}

/// Starts a command on a terminal of these columns and rows, and returns the other end of the terminal.
pub fn begin(
    command: &mut Command,
    (columns, rows): (u16, u16),
    with_stderr: bool,
) -> (Child, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize {
        ws_row: rows,
        ws_col: columns,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap();
    let slave: OwnedFd =
        rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    command.env("TERM", "xterm");
    command.stdin(Stdio::null()).stderr(Stdio::null());
    if with_stderr {
        command.stderr(slave.try_clone().unwrap());
    }
    let child = command.stdout(slave).spawn().unwrap();
    // The command keeps its end of the terminal until it ends; this process must not.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    (child, File::from(master))
}
