//! A child program with all that it starts.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::process::{Child, Command};

/// A program that this one started, and the processes that it started itself, unless they left its group. It is killed when
/// this is dropped.
#[derive(Debug)]
pub struct ProcessGroup {
    #[cfg(unix)]
    leader: Option<rustix::process::Pid>,
    has_ended: AtomicBool,
}

impl ProcessGroup {
    /// Starts a program as the leader of a new group: Ctrl-C at the terminal is for this program, which ends the other one.
    ///
    /// # Errors
    /// Those of the system.
    pub fn spawn(command: &mut Command) -> io::Result<(Child, Self)> {
        command.kill_on_drop(true);
        #[cfg(unix)]
        command.process_group(0);
        let child = command.spawn()?;
        let group = Self {
            #[cfg(unix)]
            leader: (child.id().and_then(|id| i32::try_from(id).ok()))
                .and_then(rustix::process::Pid::from_raw),
            has_ended: AtomicBool::new(false),
        };
        Ok((child, group))
    }

    /// Kills the processes. The second call does nothing: another group may have the number by then.
    pub fn end(&self) {
        if self.has_ended.swap(true, Ordering::SeqCst) {
            return;
        }
        #[cfg(unix)]
        if let Some(leader) = self.leader {
            // A group that has ended is not there any more.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.end();
    }
}
