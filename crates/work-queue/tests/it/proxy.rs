//! A relay between clients and a server that stalls or cuts connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};

/// The fault of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Harm {
    /// The answer to a claim is cut off; the server has committed it.
    CutClaim = 1,
    /// The connection is cut when a COMMIT was passed on.
    CutCommit = 2,
    /// An answer is cut in the middle.
    CutWithin = 3,
    /// A connection passes nothing more on, and stays open.
    Stall = 4,
    /// No connection passes anything on.
    Silence = 5,
}

/// The harm of a relay, which happens once for each time that it is set.
#[derive(Debug, Default)]
pub struct Harms {
    next: AtomicU8,
    done: AtomicUsize,
}

impl Harms {
    pub fn set(&self, harm: Harm) {
        self.next.store(harm as u8, Ordering::SeqCst);
    }

    /// The number of harms that happened.
    pub fn done(&self) -> usize {
        self.done.load(Ordering::SeqCst)
    }

    fn is_silent(&self) -> bool {
        self.next.load(Ordering::SeqCst) == Harm::Silence as u8
    }

    /// Takes the harm if it is this one.
    fn take(&self, harm: Harm) -> bool {
        let taken = self
            .next
            .compare_exchange(harm as u8, 0, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok();
        self.done.fetch_add(usize::from(taken), Ordering::SeqCst);
        taken
    }
}

/// A relay to the server of a URL, and the URL to use instead.
pub struct Proxy {
    pub url: String,
    pub harms: Arc<Harms>,
    _folder: tempfile::TempDir,
}

impl Proxy {
    pub fn start(url: &str) -> Self {
        let (base, server) = url.split_once("?host=").unwrap();
        let folder = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).unwrap();
        let harms = Arc::new(Harms::default());
        let server = format!("{server}/.s.PGSQL.5432");
        let this = Self {
            url: format!("{base}?host={}", folder.path().display()),
            harms: Arc::clone(&harms),
            _folder: folder,
        };
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (server, harms) = (server.clone(), Arc::clone(&harms));
                tokio::spawn(async move {
                    if let Ok(server) = UnixStream::connect(server).await {
                        relay(client, server, &harms).await;
                    }
                });
            }
        });
        this
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Passes bytes on until one side closes, or the harm is to cut.
async fn relay(mut client: UnixStream, mut server: UnixStream, harms: &Harms) {
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let Ok(count @ 1..) = read else { return };
                if harms.take(Harm::Stall) || harms.is_silent() {
                    std::future::pending::<()>().await;
                }
                if server.write_all(&up[..count]).await.is_err() {
                    return;
                }
                if has(&up[..count], b"COMMIT") && harms.take(Harm::CutCommit) {
                    // The server gets all of it and answers to no one.
                    let _answer = server.read(&mut down).await;
                    return;
                }
            }
            read = server.read(&mut down) => {
                let Ok(count @ 1..) = read else { return };
                // The row of a claimed job has its payload.
                if has(&down[..count], b"{\"key\":") && harms.take(Harm::CutClaim) {
                    return;
                }
                let is_cut = count > 1 && harms.take(Harm::CutWithin);
                let passed = if is_cut { count / 2 } else { count };
                if client.write_all(&down[..passed]).await.is_err() || is_cut {
                    return;
                }
            }
        }
    }
}
