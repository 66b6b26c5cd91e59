//! Lines that cannot be read, and those of a later program.

use std::fs;

use hermitcrab_kernel::{KernelError, ScriptStep};
use serde_json::json;

use super::{FILE, line, marks, numbers};
use crate::place::Setting;

const DAMAGE: [&str; 3] = [
    "\u{0}\u{0}",
    "{\"message\":{\"schema_version\":4,\"n\":4",
    "null",
];

#[tokio::test]
async fn a_line_that_cannot_be_read_is_passed_over_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let damaged = |damage: &[&str]| {
        let damage = damage.join("\n") + "\n";
        format!(
            "{}{}{damage}{}{}",
            line(1, 10),
            line(2, 10),
            line(3, 10),
            line(4, 10)
        )
    };
    let told = [
        "conversation.jsonl: line 3 cannot be read; it was passed over",
        "conversation.jsonl: 3 lines cannot be read, the first is line 3; they were passed over",
    ];
    for (damage, told) in [(&DAMAGE[..1], told[0]), (&DAMAGE[..], told[1])] {
        let before = damaged(damage);
        for read_only in [true, false] {
            fs::write(&path, &before).unwrap();
            let mut setting = Setting::default().in_dir(dir.path());
            setting.config.read_only = read_only;
            let (place, _) = setting.script([ScriptStep::text("<6>")]);
            assert_eq!(
                place.kernel.notices().len(),
                2,
                "{:?}",
                place.kernel.notices()
            );
            assert_eq!(place.kernel.notices()[0], told);
            assert_eq!(fs::read_to_string(&path).unwrap(), before);
            place.say("<5>").await;
            assert_eq!(marks(&place), [1, 2, 3, 4, 5, 6]);
            assert_eq!(numbers(&place).await, [1, 2, 3, 4, 5, 6]);
            let after = fs::read_to_string(&path).unwrap();
            assert!(after.starts_with(&before) && (after.len() > before.len()) != read_only);
        }
    }
    let names = fs::read_dir(dir.path())
        .unwrap()
        .map(|row| row.unwrap().file_name());
    assert!(
        names
            .into_iter()
            .all(|name| !name.to_string_lossy().contains("broken"))
    );
}

#[tokio::test]
async fn a_message_that_cannot_be_read_leaves_a_valid_conversation() {
    let dir = tempfile::tempdir().unwrap();
    let steps = [
        crate::place::call("a", "block_list", json!({})),
        ScriptStep::text("Six."),
    ];
    let (place, _) = Setting::default().in_dir(dir.path()).script(steps);
    place.say("How many?").await;
    let path = dir.path().join(FILE);
    let text = fs::read_to_string(&path).unwrap();
    // The call, and its result is left.
    let lines: Vec<_> = (text.lines().enumerate())
        .map(|(at, line)| if at == 1 { &line[..40] } else { line })
        .collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let (place, brain) =
        (Setting::default().after(&place, dir.path())).script([ScriptStep::text("Here.")]);
    place.boot().await;
    place.say("And now?").await;
    let texts: Vec<_> = brain.asked()[0]
        .messages
        .iter()
        .map(llm_client::Message::text)
        .collect();
    assert_eq!(texts, ["How many?", "Six.", "And now?"]);
    assert_eq!(numbers(&place).await, [1, 3, 4, 5, 6]);
}

#[tokio::test]
async fn a_last_line_without_its_end_is_ignored_and_cut_without_a_notice() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let whole = line(1, 10) + &line(2, 10);
    let torn = whole.clone() + &line(3, 10)[..30];
    for read_only in [true, false] {
        fs::write(&path, &torn).unwrap();
        let mut setting = Setting::default().in_dir(dir.path());
        setting.config.read_only = read_only;
        let (place, _) = setting.script([]);
        let told = place
            .kernel
            .notices()
            .iter()
            .any(|line| line.contains(FILE));
        assert!(!told, "{:?}", place.kernel.notices());
        let left = if read_only { &torn } else { &whole };
        assert_eq!(fs::read_to_string(&path).unwrap(), *left);
        assert_eq!(marks(&place), [1, 2]);
    }
}

#[tokio::test]
async fn what_a_later_program_wrote_is_refused_and_nothing_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE);
    let later = [
        line(2, 10).replace("\"schema_version\":4", "\"schema_version\":5"),
        "{\"forgot\":{\"schema_version\":5,\"all\":true}}\n".to_owned(),
    ];
    for later in later {
        // An old line before it, and a torn one after it: neither is touched.
        let old = "{\"moved\":{\"schema_version\":2,\"messages\":0}}\n";
        let text = format!("{}{old}{later}{{", line(1, 10));
        fs::write(&path, &text).unwrap();
        for read_only in [true, false] {
            let mut setting = Setting::default().in_dir(dir.path());
            setting.config.read_only = read_only;
            let store = setting.store.clone();
            let opened = setting.open(std::sync::Arc::new(hermitcrab_kernel::OfflineBrain));
            match opened.err().unwrap() {
                KernelError::Newer {
                    path: named,
                    found,
                    known,
                } => {
                    assert_eq!((named, found, known), (path.clone(), 5, 4));
                }
                error => panic!("{error}"),
            }
            assert!(store.names().unwrap().is_empty());
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
        }
    }
}
