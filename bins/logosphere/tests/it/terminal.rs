//! A command with a terminal as its stdout.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// The text that a command writes to a terminal of this width.
pub fn shown(command: &mut Command, columns: u16) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize {
        ws_row: 24,
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
    let mut child = command.stdout(slave).spawn().unwrap();
    // The command keeps its end of the terminal until it ends; this process must not.
    command.stdout(Stdio::null());
    let mut bytes = Vec::new();
    // The end of a terminal is an error of the system.
    let _ = File::from(master).read_to_end(&mut bytes);
    assert!(child.wait().unwrap().success());
    String::from_utf8(bytes).unwrap().replace("\r\n", "\n")
}
