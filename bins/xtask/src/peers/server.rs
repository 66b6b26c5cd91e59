use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::Error;

/// The longest time that a server may take until it is healthy.
const PATIENCE: Duration = Duration::from_mins(1);
const POLL: Duration = Duration::from_millis(100);

/// A running server; it is stopped when this is dropped.
pub struct Server {
    child: Child,
    address: SocketAddr,
    log: PathBuf,
}

impl Server {
    /// Starts the server that `command` makes of a folder and a free loopback port, and waits until it is healthy. What it
    /// prints goes to a file in `folder`.
    pub fn start(command: fn(&Path, u16) -> Command, folder: &Path) -> Result<Self, Error> {
        let log = folder.join("server.log");
        let (address, out, err) = prepare(&log).map_err(|source| Error::File {
            path: log.clone(),
            source,
        })?;
        let mut command = command(folder, address.port());
        let child = command
            // Held open as long as the child is: one of them ends when it is closed.
            .stdin(Stdio::piped())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|source| Error::Start {
                command: command.get_program().to_string_lossy().into_owned(),
                source,
            })?;
        let mut server = Self {
            child,
            address,
            log,
        };
        server.wait()?;
        Ok(server)
    }

    /// The server's address without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    fn wait(&mut self) -> Result<(), Error> {
        let start = Instant::now();
        while !is_healthy(self.address) {
            let ended = self.child.try_wait().is_ok_and(|status| status.is_some());
            if ended || start.elapsed() > PATIENCE {
                return Err(Error::NotHealthy {
                    log: self.log.clone(),
                });
            }
            thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A loopback address that is free now, and the log file twice.
fn prepare(log: &Path) -> io::Result<(SocketAddr, File, File)> {
    let out = File::create(log)?;
    let err = out.try_clone()?;
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
    Ok((address, out, err))
}

fn is_healthy(address: SocketAddr) -> bool {
    let ask = || -> io::Result<Vec<u8>> {
        let mut stream = TcpStream::connect_timeout(&address, POLL)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        // In one piece: a server may answer and close after the first it reads.
        let request =
            format!("GET /health HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes())?;
        let mut start = vec![0; "HTTP/1.1 200".len()];
        stream.read_exact(&mut start)?;
        Ok(start)
    };
    ask().is_ok_and(|start| start.ends_with(b" 200"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that answers one request with `status`.
    fn answering(status: &'static str) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || -> io::Result<()> {
            let (mut stream, _) = listener.accept()?;
            let mut request = [0; 512];
            let _ = stream.read(&mut request)?;
            stream.write_all(status.as_bytes())
        });
        Ok(address)
    }

    #[test]
    fn only_a_200_is_healthy() {
        assert!(is_healthy(answering("HTTP/1.1 200 OK\r\n\r\n").unwrap()));
        assert!(!is_healthy(
            answering("HTTP/1.1 503 Loading\r\n\r\n").unwrap()
        ));
    }
}
