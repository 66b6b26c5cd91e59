//! Servers whose tools write files, or have very long texts.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use hermitcrab_kernel::toolbox::{OfferedTools, ServerTool, ToolSource};
use hermitcrab_kernel::{ScriptBrain, ScriptStep, ToolError};
use pscale_blocks::DirStore;
use pscale_blocks::store::Origin;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::place::{Setting, call, results};

/// A server with these tools. Each writes the text of a call into a block's file, if one is named.
struct FileServer {
    dir: PathBuf,
    tools: Vec<ServerTool>,
}

/// A server with one tool without arguments.
pub(super) fn played(tool: &str, description: &str) -> Arc<dyn ToolSource> {
    let schema = json!({"type": "object", "properties": {}});
    Arc::new(FileServer {
        dir: PathBuf::new(),
        tools: vec![ServerTool::new(tool, description, schema)],
    })
}

#[async_trait]
impl ToolSource for FileServer {
    async fn tools(&self) -> Result<OfferedTools, ToolError> {
        let mut offered = OfferedTools::default();
        offered.tools.clone_from(&self.tools);
        Ok(offered)
    }

    async fn call(&self, _: &str, args: Value, _: &CancellationToken) -> Result<String, ToolError> {
        let path = self.dir.join(args["path"].as_str().unwrap());
        let text = fs::read_to_string(&path).unwrap();
        let mut block: Value = serde_json::from_str(&text).unwrap();
        let head = &mut block["tree"]["0"];
        if head.is_string() {
            *head = json!({"_": head.clone()});
        }
        head["7"] = args["content"].clone();
        fs::write(path, block.to_string()).unwrap();
        Ok("done".to_owned())
    }

    fn end(&self) {}
}

/// A file server writes wherever it may, at the wish of whatever the model has read.
#[tokio::test]
async fn an_edit_of_a_blocks_file_by_a_servers_tool_waits() {
    let dir = tempfile::tempdir().unwrap();
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}});
    let server = FileServer {
        dir: dir.path().to_owned(),
        tools: vec![ServerTool::new("write_file", "Writes.", schema)],
    };
    let input = |block: &str| json!({"path": format!("blocks/{block}.json"), "content": "Obey."});
    let steps = [
        call("tools", "set_tools", json!({"names": ["mcp:fs"]})),
        call("a", "fs__write_file", input("constitution")),
        call("b", "fs__write_file", input("memory")),
        ScriptStep::text("Done."),
    ];
    let mut setting = Setting::default().in_dir(dir.path());
    setting.store = Arc::new(DirStore::open(dir.path()).unwrap());
    setting.servers = vec![("fs".parse().unwrap(), Arc::new(server))];
    let (place, _) = setting.script(steps);
    place.say("Look.").await;
    assert_eq!(place.text("constitution", "0.7"), None);
    assert_eq!(place.text("memory", "0.7").as_deref(), Some("Obey."));
    let waiting = place.kernel.review().list().unwrap().edits;
    assert_eq!(waiting.len(), 1);
    let name = "fs".to_owned();
    assert_eq!(waiting[0].from.listed(), [Origin::Server { name }]);
    let told = place.notices().join("\n");
    assert!(
        told.contains("the file of constitution was edited"),
        "{told}"
    );
    let id = waiting[0].id.clone();
    let at = jiff::Timestamp::UNIX_EPOCH;
    place
        .kernel
        .review()
        .approve(&id, &*place.store, at)
        .unwrap();
    assert_eq!(place.text("constitution", "0.7").as_deref(), Some("Obey."));
}

/// A server with 21 tools, each with this number of arguments of 50 words, and the names that the model chooses them by.
fn talkative(arguments: usize) -> (Arc<dyn ToolSource>, Vec<String>) {
    let words = "word ".repeat(50);
    let rule = json!({"type": "string", "description": words});
    let properties: Map<_, _> = (0..arguments)
        .map(|n| (format!("p{n}"), rule.clone()))
        .collect();
    let schema = json!({"type": "object", "properties": properties});
    let names: Vec<_> = (0..21).map(|n| format!("t{n}")).collect();
    let tools = names.iter();
    let tools = tools.map(|name| ServerTool::new(name, "Does.", schema.clone()));
    let server = FileServer {
        dir: PathBuf::new(),
        tools: tools.collect(),
    };
    let chosen = names.iter().map(|name| format!("big__{name}"));
    (Arc::new(server), chosen.collect())
}

/// Schemas that would fill each request are not chosen.
#[tokio::test]
async fn long_schemas_of_a_server_stop_no_turn() {
    let (server, chosen) = talkative(40);
    let steps = [
        call("tools", "set_tools", json!({"names": chosen})),
        call("one", "set_tools", json!({"names": chosen[..1]})),
        ScriptStep::text("Done."),
        ScriptStep::text("Still here."),
    ];
    let setting = Setting {
        servers: vec![("big".parse().unwrap(), server)],
        ..Setting::default()
    };
    let (place, _) = setting.script(steps);
    place.say("Look.").await;
    let messages = place.kernel.messages().await;
    let answers: Vec<_> = messages.iter().flat_map(results).collect();
    assert!(
        answers[0].0.contains("too_large") && answers[0].1,
        "{answers:?}"
    );
    assert!(!answers[1].1, "{answers:?}");
    place.say("And now?").await;
    let messages = place.kernel.messages().await;
    assert_eq!(messages.last().unwrap().text(), "Still here.");
}

/// Nor are they sent where a server has made them longer since they were chosen.
#[tokio::test]
async fn schemas_that_have_become_long_are_not_sent() {
    let dir = tempfile::tempdir().unwrap();
    let (server, chosen) = talkative(1);
    let steps = [
        call("tools", "set_tools", json!({"names": chosen})),
        ScriptStep::text("Done."),
    ];
    let mut setting = Setting::default().in_dir(dir.path());
    setting.servers = vec![("big".parse().unwrap(), server)];
    let (place, brain) = setting.script(steps);
    place.say("Look.").await;
    let sent = |brain: &ScriptBrain| brain.asked().last().unwrap().tools.len();
    assert_eq!(sent(&brain), 24);

    let mut setting = Setting::default().after(&place, dir.path());
    setting.servers = vec![("big".parse().unwrap(), talkative(40).0)];
    drop(place);
    let (place, brain) = setting.script([ScriptStep::text("Still here.")]);
    place.say("And now?").await;
    assert_eq!(sent(&brain), 3);
    let told = place.notices().join("\n");
    assert!(told.contains("are not sent"), "{told}");
}
