//! A file that an import reads: a regular file or a pipe, whose reads end with the first signal.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use bin_support::{Failure, Interrupt};

use crate::error::Error;
use crate::journal_file::is_endless;

/// The size in bytes of the parts that a pipe is read in.
const PART: usize = 1 << 16;

/// The path of stdin.
const STDIN: &str = "-";

/// A file of an import.
pub struct ImportFile {
    bytes: FileBytes,
    interrupt: Interrupt,
}

enum FileBytes {
    File(File),
    Pipe(PipeReader),
}

/// The parts of a pipe, which a thread reads: a read of a pipe lasts until another process writes.
struct PipeReader {
    parts: Receiver<io::Result<Vec<u8>>>,
    part: Cursor<Vec<u8>>,
    is_ended: bool,
}

impl ImportFile {
    /// Opens a file, a pipe, or stdin for `-`. Reads fail once a signal came.
    pub fn open(path: &Path, interrupt: &Interrupt) -> Result<Self, Failure> {
        let failed = |source| {
            let path = path.to_owned();
            Failure::usage(Error::Read { path, source })
        };
        if is_endless(path) {
            let path = path.to_owned();
            return Err(Failure::usage(Error::Device { path }));
        }
        let bytes = if is_stdin(path) {
            FileBytes::Pipe(PipeReader::start(|| Ok(io::stdin()), interrupt).map_err(failed)?)
        } else if fs::metadata(path).map_err(failed)?.is_file() {
            FileBytes::File(File::open(path).map_err(failed)?)
        } else {
            // A named pipe opens when both ends do.
            let path = path.to_owned();
            let opened = PipeReader::start(move || File::open(path), interrupt);
            FileBytes::Pipe(opened.map_err(failed)?)
        };
        Ok(Self {
            bytes,
            interrupt: interrupt.clone(),
        })
    }
}

/// Returns whether a path is that of stdin.
pub fn is_stdin(path: &Path) -> bool {
    path == Path::new(STDIN)
}

impl PipeReader {
    fn start<R: Read>(
        open: impl FnOnce() -> io::Result<R> + Send + 'static,
        interrupt: &Interrupt,
    ) -> io::Result<Self> {
        let (sender, parts) = sync_channel(1);
        let stop = sender.clone();
        // If the channel is full, the import is not waiting.
        interrupt.then(move || drop(stop.try_send(Err(stopped()))));
        let thread = thread::Builder::new().name("pipe".to_owned());
        thread.spawn(move || {
            let read = open().and_then(|pipe| send_parts(pipe, &sender));
            if let Err(error) = read {
                // An import that has ended needs no more.
                let _ = sender.send(Err(error));
            }
        })?;
        Ok(Self {
            parts,
            part: Cursor::default(),
            is_ended: false,
        })
    }
}

/// Sends all parts; an empty one is the end.
fn send_parts(mut pipe: impl Read, parts: &SyncSender<io::Result<Vec<u8>>>) -> io::Result<()> {
    let mut buffer = vec![0; PART];
    loop {
        let read = match pipe.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read?,
        };
        if parts.send(Ok(buffer[..read].to_vec())).is_err() || read == 0 {
            return Ok(());
        }
    }
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.part.position() == self.part.get_ref().len() as u64 && !self.is_ended {
            let part = self.parts.recv().unwrap_or_else(|_| Ok(Vec::new()))?;
            self.is_ended = part.is_empty();
            self.part = Cursor::new(part);
        }
        self.part.read(buffer)
    }
}

impl Read for ImportFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.interrupt.is_raised() {
            return Err(stopped());
        }
        match &mut self.bytes {
            FileBytes::File(file) => file.read(buffer),
            FileBytes::Pipe(pipe) => pipe.read(buffer),
        }
    }
}

fn stopped() -> io::Error {
    io::Error::other("stopped by a signal")
}
