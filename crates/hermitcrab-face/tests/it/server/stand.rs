//! A server on a free port with a kernel.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_face::{
    FaceConfig, FaceServer, HostLimits, Keys, NoKeys, Patience, Runtime, WebHost,
};
use hermitcrab_kernel::faces::ShellCompiler;
use hermitcrab_kernel::{
    Brain, BrainError, BrainInfo, BrainReply, BrainRequest, EventSink, Kernel, KernelConfig,
    ScriptBrain, ScriptStep,
};
use pscale_blocks::{BlockStore, MemStore};
use serde_json::{Value, json};
use test_support::FakeClock;
use tokio::sync::{OnceCell, Semaphore, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::handshake::client::Request as Handshake;
use tokio_util::sync::CancellationToken;

use super::http::{Answer, PATIENCE, Request};
use super::page::Page;

/// A shell that compiles.
pub const SHELL: &str = "function App() { return <p>hello</p>; }";

/// A reply that writes a face.
pub fn face(id: &str) -> ScriptStep {
    ScriptStep::tools(&[(id, "recompile", json!({ "jsx": SHELL }))])
}

/// A brain whose answers wait until a test lets them go.
pub struct GatedBrain {
    script: ScriptBrain,
    /// One permit for each answer.
    pub gate: Semaphore,
}

impl GatedBrain {
    /// The first `free` answers do not wait.
    pub fn new(free: usize, steps: impl IntoIterator<Item = ScriptStep>) -> Arc<Self> {
        Arc::new(Self {
            script: ScriptBrain::new(steps),
            gate: Semaphore::new(free),
        })
    }

    pub fn asked(&self) -> Vec<BrainRequest> {
        self.script.asked()
    }
}

#[async_trait]
impl Brain for GatedBrain {
    fn info(&self) -> BrainInfo {
        self.script.info()
    }

    async fn complete(
        &self,
        request: BrainRequest,
        events: EventSink,
        cancel: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        tokio::select! {
            () = cancel.cancelled() => return Err(BrainError::Cancelled),
            permit = self.gate.acquire() => permit.unwrap().forget(),
        }
        self.script.complete(request, events, cancel).await
    }
}

/// The parts of a [`Stand`] before it is made.
pub struct Setting {
    pub kernel: KernelConfig,
    pub store: Arc<dyn BlockStore>,
    pub limits: HostLimits,
    pub keys: Arc<dyn Keys>,
    pub safe: bool,
    pub patience: Patience,
    pub compiler: Arc<dyn ShellCompiler>,
    /// The result of the search for React, which the test sends. The first face does not wait for it.
    pub search: Option<oneshot::Receiver<Runtime>>,
}

impl Default for Setting {
    fn default() -> Self {
        let mut limits = HostLimits::default();
        limits.load = PATIENCE;
        limits.mount = PATIENCE;
        limits.ask = PATIENCE;
        Self {
            kernel: KernelConfig::default(),
            store: Arc::new(MemStore::new()),
            limits,
            keys: Arc::new(NoKeys),
            safe: false,
            patience: Patience::default(),
            compiler: Arc::new(OxcCompiler),
            search: None,
        }
    }
}

impl Setting {
    /// With the kernel's files in `dir`.
    pub fn in_dir(mut self, dir: &Path) -> Self {
        self.kernel.data = Some(dir.to_owned());
        self
    }

    /// A shell that does not answer fails soon.
    pub fn impatient(mut self) -> Self {
        self.limits.load = Duration::from_secs(1);
        self.limits.mount = Duration::from_secs(1);
        self
    }

    pub async fn open(self, brain: Arc<dyn Brain>) -> Stand {
        let host = WebHost::new(self.limits);
        let kernel = Kernel::builder(self.store, brain)
            .config(self.kernel)
            .compiler(self.compiler)
            .host(Arc::new(host.clone()))
            .clock(Arc::new(FakeClock::new()))
            .open();
        let kernel = kernel.unwrap();
        let mut config = FaceConfig::default();
        config.safe = self.safe;
        "1.2.3".clone_into(&mut config.version);
        config.patience = self.patience;
        let server = FaceServer::bind(kernel.clone(), host.clone(), self.keys, config);
        let server = server.await.unwrap();
        let url = server.url();
        let (_, once) = url.split_once("/#").unwrap();
        let cancel = CancellationToken::new();
        let search = async {
            match self.search {
                Some(search) => search.await.ok(),
                None => None,
            }
        };
        Stand {
            kernel,
            host,
            addr: server.addr(),
            once: once.to_owned(),
            cancel: cancel.clone(),
            running: tokio::spawn(server.run(cancel, search)),
            session: OnceCell::new(),
        }
    }
}

/// A server, and what a test looks at.
pub struct Stand {
    pub kernel: Kernel,
    pub host: WebHost,
    pub addr: SocketAddr,
    /// The token in the printed address.
    pub once: String,
    pub cancel: CancellationToken,
    pub running: JoinHandle<()>,
    session: OnceCell<Session>,
}

/// The answer of `POST /session` to a browser.
#[derive(Debug, Clone)]
pub struct Session {
    /// The cookie as `name=value`.
    pub cookie: String,
    pub token: String,
}

impl Session {
    pub fn of(answer: &Answer) -> Self {
        assert_eq!(answer.status, 200, "{answer:?}");
        let cookie = answer.header("set-cookie").unwrap();
        Self {
            cookie: cookie.split(';').next().unwrap().to_owned(),
            token: answer.json()["token"].as_str().unwrap().to_owned(),
        }
    }
}

impl Stand {
    /// With a brain that answers from a list.
    pub async fn script(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let brain = Arc::new(ScriptBrain::new(steps));
        Setting::default().open(brain).await
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.addr)
    }

    /// A request with the headers that a browser's page sends, and no tokens.
    pub fn bare(&self, method: &str, target: &str) -> Request {
        Request::new(method, target)
            .header("Host", &self.addr.to_string())
            .header("Origin", &self.origin())
    }

    /// A request of the page, with both tokens.
    pub async fn request(&self, method: &str, target: &str) -> Request {
        let session = self.session().await;
        self.bare(method, target)
            .header("Cookie", &session.cookie)
            .header("X-Hermitcrab-Token", &session.token)
    }

    pub async fn get(&self, target: &str) -> Answer {
        self.request("GET", target).await.send(self.addr).await
    }

    pub async fn post(&self, target: &str, body: Value) -> Answer {
        let request = self.request("POST", target).await;
        request.json(&body).send(self.addr).await
    }

    pub async fn open_session(&self) -> Answer {
        let request = self.bare("POST", "/session");
        request
            .json(&json!({"token": self.once}))
            .send(self.addr)
            .await
    }

    /// The browser's session, opened with the token of the printed address.
    pub async fn session(&self) -> Session {
        let open = async || Session::of(&self.open_session().await);
        self.session.get_or_init(open).await.clone()
    }

    /// The upgrade, as a browser asks for it.
    pub async fn handshake(&self) -> Handshake {
        let mut request = format!("ws://{}/ws", self.addr)
            .into_client_request()
            .unwrap();
        let headers = request.headers_mut();
        headers.insert("origin", self.origin().parse().unwrap());
        let cookie = self.session().await.cookie;
        headers.insert("cookie", cookie.parse().unwrap());
        request
    }

    /// A page whose socket is open and that has said nothing yet.
    pub async fn knock(&self) -> Page {
        let request = self.handshake().await;
        let opened = tokio_tungstenite::connect_async(request);
        let (socket, _) = timeout(PATIENCE, opened).await.unwrap().unwrap();
        Page::new(socket)
    }

    pub fn hello(session: &Session) -> Value {
        json!({"type": "hello", "token": session.token, "skills": ["notify"], "visible": true})
    }

    /// A page that has said hello. It mounts every shell.
    pub async fn page(&self) -> Page {
        let mut page = self.knock().await;
        page.tell(Self::hello(&self.session().await)).await;
        page.wait("welcome", |message| message["type"] == "welcome")
            .await;
        page
    }

    /// A page that shows the face, after the boot.
    pub async fn booted(&self) -> Page {
        let mut page = self.page().await;
        page.event_of("busy", |data| data["busy"] == false).await;
        page
    }

    /// Waits until the server has noticed that no page is open any longer.
    pub async fn deserted(&self) {
        let noticed = async { while self.get("/health").await.json()["pages"] != 0 {} };
        timeout(PATIENCE, noticed).await.unwrap();
    }

    /// Ends the server, as Ctrl-C does.
    pub async fn end(self) {
        self.cancel.cancel();
        let ended = timeout(PATIENCE, self.running).await;
        ended.unwrap().unwrap();
    }
}
