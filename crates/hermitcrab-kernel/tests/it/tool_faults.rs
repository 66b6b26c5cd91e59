//! Panics, a full disk and corrupt blocks inside a turn: the turn ends as every other one.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use hermitcrab_kernel::ScriptStep;
use hermitcrab_kernel::conversation::window;
use llm_client::{Message, StopReason};
use pscale_blocks::store::{StoreCall, StoreWatch, WatchedStore};
use pscale_blocks::{BlockName, BlockStore, MemStore, StoreError};
use serde_json::{Value, json};

use crate::place::{Setting, call, results};

/// The way in which a store fails.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fails {
    Panic,
    Full,
    Corrupt,
}

/// The calls about some blocks fail.
#[derive(Default)]
struct Faulty {
    on: Mutex<Option<(Fails, &'static str)>>,
}

type FaultyStore = WatchedStore<MemStore, Faulty>;

impl Faulty {
    fn fail(&self, how: Fails, block: &'static str) {
        *self.on.lock().unwrap() = Some((how, block));
    }
}

impl StoreWatch for Faulty {
    fn before(&self, name: &BlockName, call: StoreCall) -> Result<(), StoreError> {
        let writes = call.writes();
        if call == StoreCall::Log {
            return Ok(());
        }
        let on = *self.on.lock().unwrap();
        let path = PathBuf::from(format!("blocks/{name}.json"));
        match on {
            Some((how, block)) if block == name.as_str() => match how {
                Fails::Panic if writes => panic!("a fault of the store"),
                Fails::Full if writes => Err(StoreError::Full { path }),
                Fails::Corrupt => Err(StoreError::Corrupt {
                    path,
                    reason: "not a block".to_owned(),
                }),
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }
}

fn write(id: &str, n: u32) -> llm_client::Block {
    let input = json!({"name": "skills", "path": format!("0.9.{n}"), "content": "x"});
    ScriptStep::tool_use(id, "block_write", &input)
}

fn with(store: &Arc<FaultyStore>) -> Setting {
    Setting {
        store: store.clone(),
        ..Setting::default()
    }
}

fn fault(message: &Message, at: usize) -> Value {
    let (text, is_error) = results(message).swap_remove(at);
    assert!(is_error, "{text}");
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_panic_a_full_disk_and_a_corrupt_block_are_results() {
    for (how, kind) in [
        (Fails::Panic, "bug"),
        (Fails::Full, "full"),
        (Fails::Corrupt, "corrupt"),
    ] {
        let store = Arc::<FaultyStore>::default();
        let read = ScriptStep::tool_use("c", "block_read", &json!({"name": "memory"}));
        let calls = ScriptStep::reply(
            vec![write("a", 1), write("b", 2), read],
            StopReason::ToolUse,
        );
        let steps = [
            calls,
            ScriptStep::text("It failed."),
            ScriptStep::text("Yes."),
        ];
        let (place, brain) = with(&store).script(steps);
        store.watch.fail(how, "skills");
        let report = place.say("Write").await;
        assert_eq!(
            (report.text.as_str(), &report.stopped),
            ("It failed.", &None),
            "{how:?}"
        );
        let asked = brain.asked();
        let answers = &asked[1].messages[2];
        for at in [0, 1] {
            let fault = fault(answers, at);
            assert_eq!(fault["error"], kind);
            assert!(fault["hint"].is_string() && fault["detail"].is_string());
        }
        assert!(!results(answers)[2].1, "the other tools of the reply run");
        assert_eq!(place.say("Still there?").await.text, "Yes.");
        // Nothing of it is in the block.
        *store.watch.on.lock().unwrap() = None;
        assert_eq!(place.text("skills", "0.9.1"), None);
    }
}

#[tokio::test]
async fn a_block_of_the_prompt_that_cannot_be_read_does_not_end_the_turn() {
    for block in ["memory", "capabilities", "keystone", "constitution"] {
        let store = Arc::<FaultyStore>::default();
        let (place, _) = with(&store).script([ScriptStep::text("Here.")]);
        store.watch.fail(Fails::Corrupt, block);
        assert_eq!(place.say("Hello").await.text, "Here.", "{block}");
        // And the next start works, too.
        let setting = with(&store);
        let (place, _) = setting.script([ScriptStep::text("Again.")]);
        assert_eq!(place.say("Hello").await.text, "Again.", "{block}");
    }
}

#[tokio::test]
async fn a_history_that_cannot_be_written_keeps_the_turns_where_they_are() {
    for how in [Fails::Full, Fails::Corrupt, Fails::Panic] {
        let store = Arc::<FaultyStore>::default();
        let steps = (0..16).map(|n| ScriptStep::text(&format!("Answer {n}.")));
        let (place, brain) = with(&store).script(steps);
        let begins = || brain.asked().pop().unwrap().messages[0].content[0].clone();
        store.watch.fail(how, "history");
        for n in 0..14 {
            let answer = place.say(&format!("Question {n}")).await.text;
            assert_eq!(answer, format!("Answer {n}."), "{how:?}");
        }
        assert_eq!(place.kernel.messages().await.len(), 28, "{how:?}");
        // H31: the model is sent to no block that does not hold them.
        assert_eq!(begins().as_text(), Some(window::LEFT_OUT), "{how:?}");
        assert!(place.notices().iter().any(|line| line.contains("history")));
        // Once it can be written everything comes.
        *store.watch.on.lock().unwrap() = None;
        place.say("Question 14").await;
        assert_eq!(begins().as_text(), Some(window::NOTICE), "{how:?}");
        let left = place.kernel.messages().await.len();
        assert!(left <= 20, "{how:?}: {left}");
        let history = store
            .inner
            .load(&BlockName::new("history").unwrap())
            .unwrap();
        assert!(
            history
                .block
                .text(&"0.1".parse().unwrap())
                .unwrap()
                .unwrap()
                .contains("Question 0")
        );
    }
}

#[tokio::test]
async fn a_compiler_or_a_page_that_panics_is_a_result() {
    use hermitcrab_kernel::faces::{CompiledShell, ShellCompiler, ShellError};
    use hermitcrab_kernel::{Kernel, ScriptBrain};

    struct Panics;

    impl ShellCompiler for Panics {
        fn compile(&self, _: &str) -> Result<CompiledShell, Vec<ShellError>> {
            panic!("a fault of the compiler")
        }
    }

    let setting = Setting::default();
    let brain = Arc::new(ScriptBrain::new([
        call("a", "recompile", json!({"jsx": "function App() {}"})),
        ScriptStep::text("No face."),
    ]));
    let kernel = Kernel::builder(setting.store, brain.clone())
        .config(setting.config)
        .compiler(Arc::new(Panics))
        .clock(Arc::new(setting.clock))
        .open();
    let kernel = kernel.unwrap();
    let cancel = tokio_util::sync::CancellationToken::new();
    let turn = kernel.turn(
        "A face".to_owned(),
        hermitcrab_kernel::EventSink::none(),
        cancel,
    );
    assert_eq!(turn.await.unwrap().text, "No face.");
    assert_eq!(fault(&brain.asked()[1].messages[2], 0)["error"], "bug");
}

#[tokio::test]
async fn a_full_disk_that_keeps_no_face_leaves_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::page().in_dir(dir.path()).script([]);
    let first = "function App() { return 1; }";
    place.kernel.recompile(first).await;
    let shells = dir.path().join("shells");
    let parked = dir.path().join("parked");
    std::fs::rename(&shells, &parked).unwrap();
    std::fs::write(&shells, "in the way").unwrap();
    let outcome = place.kernel.recompile("function App() { return 2; }").await;
    assert!(
        outcome.is_error && outcome.content["hint"].is_string(),
        "{outcome:?}"
    );
    std::fs::remove_file(&shells).unwrap();
    std::fs::rename(&parked, &shells).unwrap();
    assert_eq!(place.tool("get_source", json!({})).await.content, first);
    assert!(
        !place
            .kernel
            .recompile("function App() { return 3; }")
            .await
            .is_error
    );
}
