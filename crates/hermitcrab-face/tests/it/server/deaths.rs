//! A face that dies after it had mounted.

use std::sync::{Arc, Condvar, Mutex};

use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_kernel::faces::{CompiledShell, ShellCompiler, ShellError};
use hermitcrab_kernel::{ScriptBrain, ScriptStep};
use serde_json::{Value, json};
use tokio::sync::Notify;

use super::page::Page;
use super::stand::{GatedBrain, SHELL, Setting, Stand, face};

async fn recompile(page: &mut Page, n: u64) -> Value {
    let jsx = format!("function App() {{ return <p>{n}</p>; }}");
    page.shell("recompile", json!([jsx])).await.unwrap();
    page.show_of(n).await
}

async fn deaths(page: &mut Page, rev: u64) -> u64 {
    let list = page.bar("shells", json!([])).await.unwrap();
    let shell = list
        .as_array()
        .unwrap()
        .iter()
        .find(|shell| shell["rev"] == rev);
    shell.unwrap()["deaths"].as_u64().unwrap()
}

#[tokio::test]
async fn the_face_before_takes_the_place_of_a_dead_one_and_the_model_hears_of_it() {
    let brain = GatedBrain::new(9, [face("1"), ScriptStep::text("I see.")]);
    let stand = Setting::default().open(brain.clone()).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    let show = recompile(&mut page, 2).await;
    page.fail(&show, "render", "x is undefined").await;
    assert_eq!(page.event("died").await["rev"], 2);
    page.show_of(1).await;
    page.event_of("shells", |data| data["rev"] == 1).await;
    assert_eq!(deaths(&mut page, 2).await, 1);
    page.shell("send", json!(["What happened?"])).await.unwrap();
    let request = brain.asked().pop().unwrap();
    let sent = serde_json::to_string(&request.messages).unwrap();
    assert!(
        sent.contains("face 2 died: render: x is undefined"),
        "{sent}"
    );
    stand.end().await;
}

#[tokio::test]
async fn what_two_pages_tell_of_one_death_counts_once() {
    let stand = Stand::script([face("1")]).await;
    let mut first = stand.booted().await;
    let mut second = stand.page().await;
    second.show_of(1).await;
    let one = recompile(&mut first, 2).await;
    let two = second.show_of(2).await;
    first.fail(&one, "render", "x is undefined").await;
    second.fail(&two, "render", "x is undefined").await;
    for page in [&mut first, &mut second] {
        page.show_of(1).await;
        page.event_of("shells", |data| data["rev"] == 1).await;
    }
    assert_eq!(deaths(&mut first, 2).await, 1);
    let again = |message: &Value| message["type"] == "show" || message["event"] == "died";
    second.event("died").await;
    assert!(!second.has(again).await, "one death, one face in its place");
    stand.end().await;
}

/// Every face dies as soon as it is shown: it ends with the page's own chat, and no face is shown again.
#[tokio::test]
async fn a_page_on_which_everything_dies_ends_with_the_safe_face() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    recompile(&mut page, 2).await;
    let mut last = recompile(&mut page, 3).await;
    let mut shown = vec![3];
    page.mounts = false;
    page.fail(&last, "render", "no").await;
    let next = |message: &Value| message["type"] == "show" || message["type"] == "safe";
    loop {
        last = page.wait("a face or none", next).await;
        if last["type"] == "safe" {
            break;
        }
        shown.push(last["rev"].as_u64().unwrap());
        assert!(shown.len() < 12, "a loop: {shown:?}");
        page.mount(&last).await;
        page.fail(&last, "render", "no").await;
    }
    assert_eq!(shown, [3, 2, 1, 1]);
    assert_eq!(last["reason"], "no kept face can be shown");
    assert_eq!(last["errors"][0]["message"], "no");
    assert!(!page.has(next).await);
    // A page that opens later gets the same, until a face mounts.
    let mut later = stand.page().await;
    assert_eq!(later.safe().await, last);
    assert!(!later.has(next).await);
    later.bar("useShell", json!([2])).await.unwrap();
    let mut newest = stand.page().await;
    newest.show_of(2).await;
    assert!(!newest.has(|message| message["type"] == "safe").await);
    stand.end().await;
}

#[tokio::test]
async fn a_face_that_hung_is_not_restored_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(Arc::new(ScriptBrain::new([face("1")]))).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    let show = recompile(&mut page, 2).await;
    page.fail(&show, "timeout", "three pings without an answer")
        .await;
    page.show_of(1).await;
    page.event_of("shells", |data| data["rev"] == 1).await;
    drop(page);
    stand.end().await;
    let stand = Setting::default().in_dir(dir.path());
    let stand = stand.open(Arc::new(ScriptBrain::new([]))).await;
    let mut page = stand.page().await;
    assert_eq!(page.show().await["rev"], 1);
    stand.end().await;
}

#[tokio::test]
async fn a_face_may_die_while_the_persons_next_one_is_tried() {
    let stand = Stand::script([face("1")]).await;
    let mut page = stand.booted().await;
    let old = page.show_of(1).await;
    page.mounts = false;
    let recompile = |n: u64| {
        let kernel = stand.kernel.clone();
        tokio::spawn(async move {
            let jsx = format!("function App() {{ return <p>{n}</p>; }}");
            kernel.recompile(&jsx).await
        })
    };
    // The new one mounts: it is the face, and nothing else is shown.
    let made = recompile(2);
    let new = page.show_of(2).await;
    page.fail(&old, "render", "died").await;
    page.event("died").await;
    page.mount(&new).await;
    assert_eq!(made.await.unwrap().content["mounted"], true);
    assert!(!page.has(|message| message["type"] == "show").await);
    // The next one fails: the face that died in the meantime has gone, the one before it comes back.
    let made = recompile(3);
    let newer = page.show_of(3).await;
    page.fail(&new, "render", "died").await;
    page.event("died").await;
    page.fail(&newer, "load", "no").await;
    assert_eq!(made.await.unwrap().content["error"], "load");
    let back = page.show().await;
    assert_eq!(back["rev"], 1);
    page.mount(&back).await;
    page.event_of("shells", |data| data["rev"] == 1).await;
    assert_eq!(deaths(&mut page, 2).await, 1);
    stand.end().await;
}

/// A frame for a page that opens is not an attempt: if the face does not mount there it has crashed.
#[tokio::test]
async fn a_face_that_does_not_mount_on_a_later_page_has_died() {
    let brain = Arc::new(ScriptBrain::new([face("1")]));
    let stand = Setting::default().impatient().open(brain).await;
    let mut first = stand.booted().await;
    first.show_of(1).await;
    recompile(&mut first, 2).await;
    let mut second = stand.knock().await;
    second.mounts = false;
    second.tell(Stand::hello(&stand.session().await)).await;
    let show = second.show_of(2).await;
    second.discard(&show).await;
    second.mounts = true;
    first.show_of(1).await;
    first.event_of("shells", |data| data["rev"] == 1).await;
    stand.end().await;
}

/// A compiler that holds the first face until the test lets it go.
#[derive(Default)]
struct SlowCompiler {
    holds: Mutex<bool>,
    freed: Condvar,
    begun: Notify,
}

impl SlowCompiler {
    fn hold(&self, holds: bool) {
        *self.holds.lock().unwrap() = holds;
        self.freed.notify_all();
    }
}

impl ShellCompiler for SlowCompiler {
    fn compile(&self, text: &str) -> Result<CompiledShell, Vec<ShellError>> {
        if text == SHELL {
            let holds = self.holds.lock().unwrap();
            if *holds {
                self.begun.notify_one();
            }
            drop(self.freed.wait_while(holds, |holds| *holds).unwrap());
        }
        OxcCompiler.compile(text)
    }
}

/// The face in place of a dead one takes its time, and the person's next one mounts first: that one stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_face_in_place_of_a_dead_one_does_not_replace_a_newer_one() {
    let compiler = Arc::<SlowCompiler>::default();
    let setting = Setting {
        compiler: compiler.clone(),
        ..Setting::default()
    };
    let stand = setting.open(Arc::new(ScriptBrain::new([face("1")]))).await;
    let mut page = stand.booted().await;
    page.show_of(1).await;
    let show = recompile(&mut page, 2).await;
    compiler.hold(true);
    page.fail(&show, "render", "boom").await;
    compiler.begun.notified().await;
    let kernel = stand.kernel.clone();
    let newer = "function App() { return <p>3</p>; }";
    let made = tokio::spawn(async move { kernel.recompile(newer).await });
    let newest = page.show_of(3).await;
    assert!(!made.await.unwrap().is_error);
    // The end of this one is handled after that of the one before.
    page.fail(&newest, "render", "boom").await;
    compiler.hold(false);
    let next = |message: &Value| {
        message["type"] == "show" || (message["event"] == "died" && message["data"]["rev"] == 3)
    };
    let next = page.wait("a face, or the end of face 3", next).await;
    assert_eq!(next["event"], "died", "{next}");
    page.show_of(2).await;
    stand.end().await;
}
