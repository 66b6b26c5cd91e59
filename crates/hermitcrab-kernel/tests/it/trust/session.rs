//! An instance with folders that outlive its sessions, and the blocks that say who the model is.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use hermitcrab_kernel::ToolError;
use hermitcrab_kernel::config::Grant;
use hermitcrab_kernel::prompt::CoreBlock;
use hermitcrab_kernel::toolbox::{OfferedTools, ServerTool, ToolSource};
use pscale_blocks::{Block, BlockStore, MemStore};
use serde_json::{Value, json};
use tempfile::TempDir;
use test_support::{Answer, FaultServer};
use tokio_util::sync::CancellationToken;

use super::brain::{Call, ObedientBrain};
use crate::place::{Place, Setting, results};

/// The tools that the person chose: as many as there may be, with the three that always stay.
const TOOLS: [&str; 20] = [
    "block_write",
    "block_append",
    "block_create",
    "block_move",
    "block_remove",
    "block_search",
    "block_log",
    "block_undo",
    "block_redo",
    "web_fetch",
    "fs_read",
    "fs_write",
    "idb_get",
    "idb_put",
    "get_source",
    "recompile",
    "patch_source",
    "conversation_read",
    "get_datetime",
    "block_grow",
];

/// The file with the words of the page.
pub const FILE: &str = "notes.txt";

/// The file with the description of the server's tool, if it is not the usual one.
const DESCRIPTION: &str = "description.txt";

/// A server with one tool, which reads a file.
struct FileSource(PathBuf);

#[async_trait]
impl ToolSource for FileSource {
    async fn tools(&self) -> Result<OfferedTools, ToolError> {
        let mut offered = OfferedTools::default();
        let schema = json!({"type": "object", "properties": {}});
        let words = fs::read_to_string(self.0.with_file_name(DESCRIPTION));
        let words = words.unwrap_or_else(|_| "Reads the notes.".to_owned());
        offered.tools = vec![ServerTool::new("read", words, schema)];
        Ok(offered)
    }

    async fn call(&self, _: &str, _: Value, _: &CancellationToken) -> Result<String, ToolError> {
        Ok(fs::read_to_string(&self.0).unwrap())
    }

    fn end(&self) {}
}

pub struct Session {
    pub place: Place,
    pub brain: Arc<ObedientBrain>,
    store: Arc<dyn BlockStore>,
    dir: TempDir,
    /// The folder that the person granted.
    folder: TempDir,
    page: FaultServer,
}

impl Session {
    /// A first session, in which the person wrote a line into each of the four blocks, and a page and a file wait.
    pub async fn begin(brain: Arc<ObedientBrain>, pages: &[String]) -> Self {
        let store: Arc<dyn BlockStore> = Arc::new(MemStore::new());
        let folder = tempfile::tempdir().unwrap();
        let text = |page: &String| {
            let html = page.replace('<', "&lt;").replace('\n', "<br>");
            let html = format!("<html><body><p>{html}</p></body></html>");
            Answer::whole(200, "text/html", html)
        };
        let empty = pages.is_empty().then(|| text(&String::new()));
        let page = FaultServer::replies(pages.iter().map(text).chain(empty));
        fs::write(folder.path().join(FILE), pages.join("\n")).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let place = open(&brain, &store, &dir, &folder, &page);
        let session = Self {
            place,
            brain,
            store,
            dir,
            folder,
            page,
        };
        session.choose_tools().await;
        for core in CoreBlock::REVIEWED {
            let name = core.name();
            for text in ["The person's line.", "The person's own line."] {
                let input = json!({"name": name, "path": "0.5.9", "content": text});
                let written = session.place.tool("block_write", input).await;
                assert!(!written.is_error, "{written:?}");
            }
        }
        session
    }

    /// The next session; with a new conversation nothing of the last one is in the window.
    pub async fn next(self, with_new_conversation: bool) -> Self {
        let Self {
            place,
            brain,
            store,
            dir,
            folder,
            page,
        } = self;
        drop(place);
        if with_new_conversation {
            fs::remove_file(dir.path().join("conversation.jsonl")).ok();
        }
        let place = open(&brain, &store, &dir, &folder, &page);
        let session = Self {
            place,
            brain,
            store,
            dir,
            folder,
            page,
        };
        session.choose_tools().await;
        session
    }

    /// The model may use the tool of the server, whose description says this.
    pub async fn choose_server(&self, description: Option<&str>) {
        if let Some(words) = description {
            fs::write(self.folder.path().join(DESCRIPTION), words).unwrap();
        }
        let mut names = TOOLS.to_vec();
        names.push("notes__read");
        let chosen = self
            .place
            .tool("set_tools", json!({ "names": names }))
            .await;
        assert!(!chosen.is_error, "{chosen:?}");
    }

    async fn choose_tools(&self) {
        let chosen = self.place.tool("set_tools", json!({"names": TOOLS})).await;
        assert!(!chosen.is_error, "{chosen:?}");
    }

    /// A turn in which the model makes these calls; returns the number of results that are errors.
    pub async fn turn(&self, calls: &[Call]) -> usize {
        let calls: Vec<_> = calls.iter().map(|call| self.resolved(call)).collect();
        self.brain.plan(&calls);
        self.place.say("Go ahead.").await;
        let said = self.place.kernel.messages().await;
        let turn = said
            .iter()
            .rposition(|message| message.text() == "Go ahead.");
        let results = said[turn.unwrap_or_default()..].iter().flat_map(results);
        results.filter(|(_, is_error)| *is_error).count()
    }

    /// A call with the address of the page and the name of the folder in it.
    fn resolved(&self, (tool, input): &Call) -> Call {
        let mut input = input.clone();
        for value in input
            .as_object_mut()
            .into_iter()
            .flat_map(|map| map.values_mut())
        {
            if value == "PAGE" {
                *value = Value::from(self.page.url("/page"));
            } else if value == "FOLDER" {
                *value = Value::from("r1");
            }
        }
        (tool.clone(), input)
    }

    /// The four blocks.
    pub fn own_blocks(&self) -> BTreeMap<&'static str, Block> {
        let block = |core: CoreBlock| {
            let found = self.store.load(core.name()).unwrap();
            (core.name().as_str(), Block::clone(&found.block))
        };
        CoreBlock::REVIEWED.map(block).into()
    }

    /// A call by the model in the words of the test.
    pub async fn model(&self, tool: &str, input: Value) {
        self.turn(&[(tool.to_owned(), input)]).await;
    }
}

fn open(
    brain: &Arc<ObedientBrain>,
    store: &Arc<dyn BlockStore>,
    dir: &TempDir,
    folder: &TempDir,
    page: &FaultServer,
) -> Place {
    let mut setting = Setting::page().in_dir(dir.path());
    let source = FileSource(folder.path().join(FILE));
    setting.servers = vec![("notes".parse().unwrap(), Arc::new(source))];
    setting.store = store.clone();
    setting.config.grants = vec![Grant {
        dir: folder.path().to_owned(),
        write: true,
        delete: false,
    }];
    let url = page.url("/");
    let address = url
        .strip_prefix("http://")
        .and_then(|rest| rest.split('/').next());
    let address = address.unwrap().parse().unwrap();
    setting.config.web.granted = vec![address];
    setting.config.web.allow_hosts = vec![address.to_string()];
    setting.open(brain.clone()).unwrap()
}
