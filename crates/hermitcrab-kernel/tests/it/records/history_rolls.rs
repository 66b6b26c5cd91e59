//! The history of years: when a block of older turns is full the next one begins, and no turn is lost on the way.

use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hermitcrab_kernel::conversation::window;
use hermitcrab_kernel::{BrainError, BrainInfo, BrainReply, BrainRequest, EventSink, ScriptStep};
use llm_client::{Block as Text, Reply, StopReason};
use pscale_blocks::store::{StoreCall, StoreWatch, WatchedStore};
use pscale_blocks::{
    Block, BlockError, BlockName, BlockStore, DirStore, EditAuthor, MemStore, Path, Stamp,
    StoreError,
};
use tokio_util::sync::CancellationToken;

use crate::place::{Place, Setting};

/// Counts the readings of logs; the first block of history takes this number of entries.
struct Counting {
    logs: AtomicUsize,
    takes: AtomicUsize,
}

impl Counting {
    fn over<S: BlockStore>(inner: S) -> Arc<WatchedStore<S, Self>> {
        let watch = Self {
            logs: AtomicUsize::new(0),
            takes: AtomicUsize::new(usize::MAX),
        };
        Arc::new(WatchedStore { inner, watch })
    }
}

impl StoreWatch for Counting {
    fn before(&self, name: &BlockName, call: StoreCall) -> Result<(), StoreError> {
        if call == StoreCall::Log {
            self.logs.fetch_add(1, Ordering::Relaxed);
        }
        if name.as_str() == "history" && call == StoreCall::Edit {
            let left = self.takes.load(Ordering::Relaxed);
            if left == 0 {
                return Err(BlockError::TooLarge {
                    what: "file",
                    size: 5,
                    limit: 4,
                }
                .into());
            }
            self.takes.store(left - 1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn question(n: usize) -> String {
    format!(
        "Question number {n}, {}",
        "and a few words more, ".repeat(12)
    )
}

fn answers(range: std::ops::Range<usize>) -> impl Iterator<Item = ScriptStep> {
    range.map(|n| ScriptStep::text(&format!("Answer number {n}. {}", "It is so. ".repeat(20))))
}

fn block(store: &dyn BlockStore, number: usize) -> Option<Arc<Block>> {
    let name = if number == 1 {
        "history".to_owned()
    } else {
        format!("history-{number}")
    };
    let found = store.load(&BlockName::new(&name).unwrap());
    found.ok().map(|found| found.block)
}

/// The entries of each block, oldest first.
fn entries(store: &dyn BlockStore) -> Vec<Vec<String>> {
    let blocks = (1..).map_while(|number| block(store, number));
    let entries = blocks.map(|block| {
        let nodes = block.subtree(&Path::root(), None).unwrap();
        let entries = nodes.into_iter();
        let entries = entries.filter(|node| block.pscale(&node.path) == -1);
        entries.filter_map(|node| node.text).collect()
    });
    entries.collect()
}

async fn all_there(place: &Place, questions: usize) {
    let moved = entries(&*place.store).into_iter().flatten();
    let said = place.kernel.messages().await;
    let shown = said.iter().map(llm_client::Message::text);
    let texts = moved.chain(shown);
    let texts: Vec<_> = texts.filter(|text| text.contains("Question")).collect();
    assert_eq!(texts.len(), questions);
    for (n, text) in texts.iter().enumerate() {
        assert!(
            text.contains(&format!("Question number {n},")),
            "{n}: {text}"
        );
    }
}

fn setting(dir: &FilePath, store: Arc<dyn BlockStore>, bytes: usize) -> Setting {
    let mut setting = Setting::default().in_dir(dir);
    setting.store = store;
    setting.config.history_bytes = bytes;
    setting
}

#[tokio::test]
async fn full_blocks_are_followed_by_the_next_one_which_names_them() {
    const TURNS: usize = 130;
    let dir = tempfile::tempdir().unwrap();
    let store = Counting::over(DirStore::open(dir.path()).unwrap().without_fsync());
    let (place, brain) = setting(dir.path(), store.clone(), 10_000).script(answers(0..TURNS));
    for n in 0..TURNS {
        place.say(&question(n)).await;
        place.clock.advance(std::time::Duration::from_hours(5));
    }
    all_there(&place, TURNS).await;
    assert_eq!(place.notices(), [""; 0]);
    let entries = entries(&*store);
    assert!(entries.len() >= 4, "{} blocks", entries.len());
    for (before, number) in entries.iter().zip(2..).take(entries.len() - 1) {
        // A block ends with a whole group, and the next one says which days it has.
        assert_eq!(before.len() % 9, 0, "{number}");
        let block = block(&*store, number).unwrap();
        let head = block.head_text().unwrap();
        let [first, last] = [before.first(), before.last()].map(|entry| &entry.unwrap()[..10]);
        let name = if number == 2 {
            "history".to_owned()
        } else {
            format!("history-{}", number - 1)
        };
        let days = format!("Block \"{name}\" has {first} to {last}.");
        assert!(head.ends_with(&days), "{head}");
        assert!(block.file_bytes() < 16_000);
    }
    // Each request names the block that was written to last.
    let names: Vec<_> = (brain.asked().iter())
        .filter_map(|request| {
            let text = request.messages[0].content[0].as_text().unwrap().to_owned();
            let (_, name) = text.split_once("The exact words are in block \"")?;
            Some(
                name.trim_end_matches("\".]")
                    .trim_end_matches("\".")
                    .to_owned(),
            )
        })
        .collect();
    assert!(names.is_sorted_by_key(|name| name.rsplit('-').next().unwrap().parse().unwrap_or(1)));
    assert_eq!(names[0], "history");
    assert_eq!(*names.last().unwrap(), format!("history-{}", entries.len()));
    let first = brain.asked().iter().find_map(|request| {
        let text = request.messages[0].content[0].as_text()?;
        text.starts_with("[Earlier").then(|| text.to_owned())
    });
    assert_eq!(first.unwrap(), window::NOTICE);
    // One log was asked once for its last entry; moving a turn reads none.
    assert_eq!(store.watch.logs.load(Ordering::Relaxed), 1);

    // The next start finds the last block, and the preview names it.
    let logs = store.watch.logs.load(Ordering::Relaxed);
    let mut again = Setting::default().after(&place, dir.path());
    again.config.history_bytes = 10_000;
    let (place, _) = again.script(answers(TURNS..TURNS + 10));
    for n in TURNS..TURNS + 10 {
        place.say(&question(n)).await;
    }
    all_there(&place, TURNS + 10).await;
    let read = store.watch.logs.load(Ordering::Relaxed) - logs;
    assert_eq!(read, 1);
}

#[tokio::test]
async fn a_block_that_takes_no_more_is_followed_at_once() {
    let store = Counting::over(MemStore::new());
    store.watch.takes.store(5, Ordering::Relaxed);
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = setting(dir.path(), store.clone(), usize::MAX).script(answers(0..25));
    for n in 0..25 {
        place.say(&question(n)).await;
    }
    all_there(&place, 25).await;
    assert_eq!(place.notices(), [""; 0]);
    let entries = entries(&*store);
    assert_eq!((entries.len(), entries[0].len()), (2, 5));
}

/// A model that keeps nothing, unlike a script.
struct Forgetful;

#[async_trait::async_trait]
impl hermitcrab_kernel::Brain for Forgetful {
    fn info(&self) -> BrainInfo {
        BrainInfo::new("script", "script", "script")
    }

    async fn complete(
        &self,
        _: BrainRequest,
        _: EventSink,
        _: CancellationToken,
    ) -> Result<BrainReply, BrainError> {
        let text = "It is so. ".repeat(40);
        let reply = Reply::new("script", vec![Text::text(text)], StopReason::EndTurn);
        Ok(BrainReply::new(reply, "script"))
    }
}

/// The memory of this process in bytes.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[tokio::test]
#[ignore = "12,000 turns take some 17 minutes"]
async fn twelve_thousand_turns_leave_memory_flat() {
    const TURNS: usize = 12_000;
    let dir = tempfile::tempdir().unwrap();
    let store = Arc::new(DirStore::open(dir.path()).unwrap().without_fsync());
    let setting = setting(dir.path(), store.clone(), 2 << 20);
    let place = setting.open(Arc::new(Forgetful)).unwrap();
    let mut early = 0;
    for n in 0..TURNS {
        place.say(&question(n)).await;
        place.clock.advance(std::time::Duration::from_hours(1));
        if n == 1_000 {
            early = resident();
        }
        place
            .events
            .lock()
            .unwrap()
            .retain(|event| matches!(event, hermitcrab_kernel::Event::Notice { .. }));
    }
    assert_eq!(place.notices(), [""; 0]);
    let late = resident();
    assert!(
        late as f64 <= 1.3 * early as f64,
        "{early} bytes, then {late}"
    );
    all_there(&place, TURNS).await;
}

/// A person may have given a block the name that comes next.
#[tokio::test]
async fn a_block_of_a_person_is_passed_over() {
    const TURNS: usize = 60;
    let dir = tempfile::tempdir().unwrap();
    let store = Counting::over(DirStore::open(dir.path()).unwrap().without_fsync());
    let own = BlockName::new("history-2").unwrap();
    let stamp = Stamp::new(jiff::Timestamp::UNIX_EPOCH, EditAuthor::Person);
    store
        .create(&own, &Block::new("my own plans"), &stamp)
        .unwrap();
    let (place, _) = setting(dir.path(), store.clone(), 10_000).script(answers(0..TURNS));
    for n in 0..TURNS {
        place.say(&question(n)).await;
    }
    assert_eq!(place.notices(), [""; 0]);
    all_there(&place, TURNS).await;
    let (own, next) = (block(&*store, 2).unwrap(), block(&*store, 3).unwrap());
    assert_eq!(own.subtree(&Path::root(), None).unwrap().len(), 1);
    let head = next.head_text().unwrap();
    assert!(head.contains("Block \"history\" has"), "{head}");
}
