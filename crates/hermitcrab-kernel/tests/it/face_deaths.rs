//! Faces that die after they were shown: which one comes next, what is counted, and that it ends.

use hermitcrab_kernel::ScriptStep;
use hermitcrab_kernel::faces::{FaceRecovery, Mounted, ShellError, ShellInfo};
use proptest::prelude::*;
use serde_json::json;

use crate::place::{Place, Setting, call, crash, results};

fn jsx(n: u64) -> String {
    format!("function App() {{ return <p>face {n}</p>; }}")
}

/// A page with `shells` shells, the newest one on it.
async fn with_shells(shells: u64) -> Place {
    let (place, _) = Setting::page().script([]);
    for n in 1..=shells {
        assert!(!place.kernel.recompile(&jsx(n)).await.is_error);
    }
    place
}

fn error(kind: &str) -> ShellError {
    ShellError {
        kind: kind.to_owned(),
        message: "x is not a function".to_owned(),
        line: Some(4),
        column: Some(9),
        source_line: None,
        truncated: false,
    }
}

fn crashed() -> ShellError {
    error("render")
}

fn hung() -> ShellError {
    error("timeout")
}

fn info(place: &Place, rev: u64) -> ShellInfo {
    let shells = place.kernel.faces().shells();
    shells.into_iter().find(|shell| shell.rev == rev).unwrap()
}

/// The source that the kernel takes for that of the running shell.
async fn running(place: &Place) -> Option<String> {
    let source = place.tool("get_source", json!({})).await;
    source.content.as_str().map(str::to_owned)
}

#[tokio::test]
async fn the_newest_sound_face_before_it_comes_next() {
    let place = with_shells(4).await;
    // The third one does not even mount any longer.
    place.host.mounts.lock().unwrap().push_back(crash());
    assert!(place.kernel.use_shell(3).await.is_error);
    assert_eq!(
        place.kernel.faces().on_face_crash(4, &crashed()),
        FaceRecovery::Shell(2)
    );
    assert_eq!(
        (info(&place, 4).deaths, info(&place, 4).mounted),
        (1, Some(true))
    );
    assert_eq!(running(&place).await, Some(jsx(2)));
    // Nothing was shown by that.
    assert_eq!(place.shown(), [1, 2, 3, 4, 3]);
    assert!(!place.kernel.use_shell(2).await.is_error);
    // A newer one that is sound is not taken: it may be why this one died.
    assert_eq!(
        place.kernel.faces().on_face_crash(2, &crashed()),
        FaceRecovery::Shell(1)
    );
}

#[tokio::test]
async fn the_only_face_gets_one_more_chance_unless_it_hung() {
    let place = with_shells(1).await;
    assert_eq!(
        place.kernel.faces().on_face_crash(1, &crashed()),
        FaceRecovery::Shell(1)
    );
    assert!(!place.kernel.use_shell(1).await.is_error);
    assert_eq!(
        place.kernel.faces().on_face_crash(1, &crashed()),
        FaceRecovery::Safe
    );
    assert_eq!(running(&place).await, None);
    let place = with_shells(1).await;
    assert_eq!(
        place.kernel.faces().on_face_crash(1, &hung()),
        FaceRecovery::Safe
    );
    assert_eq!(info(&place, 1).mounted, Some(false));
}

#[tokio::test]
async fn a_face_that_hung_is_never_restored_also_where_the_person_went_back_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::page().in_dir(dir.path()).script([]);
    for n in 1..=2 {
        place.kernel.recompile(&jsx(n)).await;
    }
    assert_eq!(
        place.kernel.faces().on_face_crash(2, &hung()),
        FaceRecovery::Shell(1)
    );
    // By hand it can be shown again.
    assert!(!place.kernel.use_shell(2).await.is_error);
    assert_eq!(running(&place).await, Some(jsx(2)));
    let (place, brain) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(place.boot().await.restored, Some(1));
    assert!(brain.asked().is_empty());
}

#[tokio::test]
async fn a_death_is_counted_over_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::page().in_dir(dir.path()).script([]);
    for n in 1..=2 {
        place.kernel.recompile(&jsx(n)).await;
    }
    place.kernel.faces().on_face_crash(2, &crashed());
    place.kernel.use_shell(2).await;
    place.kernel.faces().on_face_crash(2, &crashed());
    let (place, _) = Setting::page().after(&place, dir.path()).script([]);
    assert_eq!(info(&place, 2).deaths, 2);
    assert_eq!(place.boot().await.restored, Some(1));
}

#[tokio::test]
async fn a_face_that_is_none_any_longer_changes_nothing() {
    let place = with_shells(3).await;
    assert_eq!(
        place.kernel.faces().on_face_crash(1, &crashed()),
        FaceRecovery::Shell(3)
    );
    assert_eq!(
        place.kernel.faces().on_face_crash(77, &hung()),
        FaceRecovery::Shell(3)
    );
    assert_eq!(running(&place).await, Some(jsx(3)));
    assert_eq!((info(&place, 1).deaths, info(&place, 3).deaths), (1, 0));
}

#[tokio::test]
async fn the_safe_face_is_followed_by_nothing_else() {
    let place = with_shells(1).await;
    place.kernel.faces().on_face_crash(1, &hung());
    assert_eq!(
        place.kernel.faces().on_face_crash(0, &crashed()),
        FaceRecovery::Safe
    );
    // Nor by another page that tells late of a face before.
    let place = with_shells(3).await;
    place.kernel.use_shell(1).await;
    assert_eq!(
        place.kernel.faces().on_face_crash(1, &hung()),
        FaceRecovery::Safe
    );
    assert_eq!(
        place.kernel.faces().on_face_crash(3, &crashed()),
        FaceRecovery::Safe
    );
    let (place, _) = Setting::page().script([]);
    assert_eq!(
        place.kernel.faces().on_face_crash(0, &hung()),
        FaceRecovery::Safe
    );
}

/// A page on which a face crashes while the kernel is still told that it has mounted.
struct Fragile(std::sync::OnceLock<hermitcrab_kernel::Kernel>);

#[async_trait::async_trait]
impl hermitcrab_kernel::faces::Host for Fragile {
    fn offers(&self) -> hermitcrab_kernel::faces::HostSkills {
        hermitcrab_kernel::faces::HostSkills::default()
    }

    async fn ask(
        &self,
        _: hermitcrab_kernel::faces::HostCall,
    ) -> Result<serde_json::Value, hermitcrab_kernel::faces::HostError> {
        Err(hermitcrab_kernel::faces::HostError::Denied)
    }

    async fn show(
        &self,
        shell: hermitcrab_kernel::faces::Shell,
        _: tokio_util::sync::CancellationToken,
    ) -> Mounted {
        if shell.compiled.source.contains("dies") {
            self.0
                .get()
                .unwrap()
                .faces()
                .on_face_crash(shell.rev, &crashed());
        }
        Mounted::Yes
    }
}

#[tokio::test]
async fn a_face_that_dies_as_soon_as_it_is_shown_did_not_mount() {
    use std::sync::Arc;
    let host = Arc::new(Fragile(std::sync::OnceLock::new()));
    let kernel = hermitcrab_kernel::Kernel::builder(
        Arc::new(pscale_blocks::MemStore::new()),
        Arc::new(hermitcrab_kernel::OfflineBrain),
    )
    .compiler(Arc::new(crate::stub::StubCompiler))
    .host(host.clone())
    .clock(Arc::new(test_support::FakeClock::new()))
    .open();
    let kernel = kernel.unwrap();
    assert!(host.0.set(kernel.clone()).is_ok());
    assert!(!kernel.recompile(&jsx(1)).await.is_error);
    let outcome = kernel.recompile("function App() { dies }").await;
    assert!(outcome.is_error, "{outcome:?}");
    let source = kernel.call_tool(
        "get_source",
        json!({}),
        pscale_blocks::EditAuthor::Person,
        hermitcrab_kernel::EventSink::none(),
        tokio_util::sync::CancellationToken::new(),
    );
    assert_eq!(source.await.content, jsx(1));
}

#[tokio::test]
async fn the_model_hears_of_the_death_with_its_next_result() {
    let (place, brain) = Setting::page().script([
        call("a", "block_list", json!({})),
        ScriptStep::text("I see."),
    ]);
    place.kernel.recompile(&jsx(1)).await;
    place.kernel.recompile(&jsx(2)).await;
    place.say("hello").await;
    // The turn is over: nothing was to be told.
    assert_eq!(brain.asked()[1].messages[2].content.len(), 1);
    place.kernel.faces().on_face_crash(2, &crashed());
    let (place2, brain) = (place, brain);
    let _ = place2.try_say("again").await;
    let said = brain.asked().pop().unwrap().messages;
    let text = said.last().unwrap().content[0]
        .as_text()
        .unwrap()
        .to_owned();
    assert_eq!(
        text,
        "[From the face, not from the person: face 2 died: render: x is not a function, line 4, \
         column 9; face 1 is shown]"
    );
    assert!(results(said.last().unwrap()).is_empty());
}

/// The fate of the face that is shown.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Crash,
    Hang,
    /// A crash while the face is being shown.
    NoMount,
    /// A late report of an earlier face, from another page.
    Late(u64, bool),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        4 => Just(Fate::Crash),
        2 => Just(Fate::Hang),
        2 => Just(Fate::NoMount),
        2 => (0_u64..9, any::<bool>()).prop_map(|(rev, hung)| Fate::Late(rev, hung)),
    ]
}

proptest! {
    /// A page that shows what the kernel says, and reports each crash, reaches the safe face: no face is shown after its
    /// second death, whatever comes in between.
    #[test]
    fn any_deaths_end_in_the_safe_face(
        shells in 1_u64..8,
        fates in prop::collection::vec(fate(), 120),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let place = with_shells(shells).await;
            let mut shown = shells;
            let mut deaths = 0;
            for fate in fates {
                let next = match fate {
                    Fate::Late(rev, late_hung) if rev != shown => {
                        let error = if late_hung { hung() } else { crashed() };
                        let next = place.kernel.faces().on_face_crash(rev, &error);
                        prop_assert_eq!(next, FaceRecovery::Shell(shown));
                        continue;
                    }
                    Fate::Hang => place.kernel.faces().on_face_crash(shown, &hung()),
                    _ => place.kernel.faces().on_face_crash(shown, &crashed()),
                };
                deaths += 1;
                let FaceRecovery::Shell(mut next) = next else {
                    prop_assert!(deaths <= 2 * shells, "{deaths} deaths of {shells} shells");
                    prop_assert_eq!(place.kernel.faces().on_face_crash(0, &crashed()), FaceRecovery::Safe);
                    return Ok(());
                };
                prop_assert!(info(&place, next).deaths < 2);
                if matches!(fate, Fate::NoMount) {
                    place.host.mounts.lock().unwrap().push_back(crash());
                }
                // As the face does: what cannot be shown has died, too.
                while place.kernel.use_shell(next).await.is_error {
                    match place.kernel.faces().on_face_crash(next, &crashed()) {
                        FaceRecovery::Shell(other) => next = other,
                        FaceRecovery::Safe => return Ok(()),
                    }
                }
                shown = next;
            }
            prop_assert!(deaths < 2 * shells, "no end after {deaths} deaths");
            Ok(())
        })?;
    }
}
