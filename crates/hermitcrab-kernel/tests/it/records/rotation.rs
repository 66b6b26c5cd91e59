//! A long file moves what has moved to an archive.

use std::fs;

use hermitcrab_kernel::ScriptStep;
use serde_json::json;

use super::{FILE, archives, live, marks, numbers, range, unpacked, write_file};
use crate::place::Setting;

#[tokio::test]
async fn messages_have_numbers_from_one_on_and_keep_them() {
    let dir = tempfile::tempdir().unwrap();
    let (place, _) = Setting::default()
        .in_dir(dir.path())
        .script([ScriptStep::text("<2>"), ScriptStep::text("<4>")]);
    place.say("<1>").await;
    place.say("<3>").await;
    let ns: Vec<_> = (live(dir.path()).iter())
        .map(|line| {
            (
                line["message"]["schema_version"].clone(),
                line["message"]["n"].clone(),
            )
        })
        .collect();
    assert_eq!(ns, [1, 2, 3, 4].map(|n| (json!(4), json!(n))));
    assert_eq!(numbers(&place).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn a_file_over_a_mebibyte_moves_what_has_moved_to_an_archive() {
    let dir = tempfile::tempdir().unwrap();
    write_file(dir.path(), 2_000, 600, 1_980);
    let setting = Setting::default().in_dir(dir.path());
    let (place, _) = setting.script([ScriptStep::text("<2002>"), ScriptStep::text("<2004>")]);
    assert_eq!(place.kernel.messages().await.len(), 20);
    place.say("<2001>").await;
    assert_eq!(place.notices(), [""; 0]);
    let [archive] = &archives(dir.path())[..] else {
        panic!("{:?}", archives(dir.path()));
    };
    let (first, last) = range(archive);
    assert_eq!((first, last), (1, 1_982));
    let lines = live(dir.path());
    let begin = &lines[0]["begin"];
    let begun = (&begin["schema_version"], &begin["n"], &begin["moved"]);
    assert_eq!(begun, (&json!(4), &json!(last + 1), &json!(last)));
    assert_eq!(lines[1]["message"]["n"], last + 1);
    assert!(unpacked(archive).len() > 1 << 20);
    assert!(fs::metadata(dir.path().join(FILE)).unwrap().len() < 64 << 10);
    let all: Vec<_> = (1..=2_002).collect();
    assert_eq!((marks(&place), numbers(&place).await), (all.clone(), all));

    // The next start reads the file alone.
    fs::write(archive, "no archive").unwrap();
    let view = place.kernel.messages().await;
    let (place, brain) =
        (Setting::default().after(&place, dir.path())).script([ScriptStep::text("<2004>")]);
    assert_eq!(place.kernel.notices(), [""; 0]);
    assert_eq!(place.kernel.messages().await, view);
    place.say("<2003>").await;
    assert_eq!(
        brain.asked()[0].messages[0].content[0].as_text(),
        Some(hermitcrab_kernel::conversation::window::NOTICE)
    );
    assert_eq!(live(dir.path()).last().unwrap()["message"]["n"], 2_004);
    assert!(place.kernel.record().is_err());
}

/// The window has only a turn that alone is too large: some words of the turn before it are shown, also after a start.
#[tokio::test]
async fn the_last_turn_that_moved_outlives_the_file_that_had_it() {
    let dir = tempfile::tempdir().unwrap();
    write_file(dir.path(), 2_000, 600, 1_980);
    let long = "tide ".repeat(11_000);
    let (place, _) = (Setting::default().in_dir(dir.path()))
        .script([ScriptStep::text("<2002>"), ScriptStep::text("So long.")]);
    place.say("<2001> of the ferry").await;
    place.say(&long).await;
    let (place, brain) =
        (Setting::default().after(&place, dir.path())).script([ScriptStep::text("Yes.")]);
    assert_eq!(
        live(dir.path())
            .iter()
            .filter(|line| !line["begin"].is_null())
            .count(),
        1
    );
    place.say(&long).await;
    let first = &brain.asked()[0].messages[0];
    let shown = first.content.iter().filter_map(llm_client::Block::as_text);
    assert!(
        shown
            .into_iter()
            .any(|text| text.starts_with("[The turn before, clipped: ")),
        "{first:?}"
    );
}

#[tokio::test]
async fn a_lost_file_does_not_begin_its_numbers_again() {
    let dir = tempfile::tempdir().unwrap();
    write_file(dir.path(), 2_000, 600, 1_980);
    let (place, _) = (Setting::default().in_dir(dir.path())).script([ScriptStep::text("<2002>")]);
    place.say("<2001>").await;
    fs::remove_file(dir.path().join(FILE)).unwrap();
    let (place, _) =
        (Setting::default().after(&place, dir.path())).script([ScriptStep::text("<1984>")]);
    place.say("<1983>").await;
    let all: Vec<_> = (1..=1_984).collect();
    assert_eq!((marks(&place), numbers(&place).await), (all.clone(), all));
    let (place, _) = (Setting::default().after(&place, dir.path())).script([]);
    assert_eq!(place.kernel.messages().await.len(), 2);
    assert_eq!(place.kernel.notices(), [""; 0]);
}

#[tokio::test]
async fn a_file_older_than_its_archives_goes_on_after_them() {
    let dir = tempfile::tempdir().unwrap();
    write_file(dir.path(), 2_000, 600, 1_980);
    let (place, _) = (Setting::default().in_dir(dir.path())).script([ScriptStep::text("<2002>")]);
    place.say("<2001>").await;
    assert_eq!(range(&archives(dir.path())[0]), (1, 1_982));
    // The file of a backup that was made long before.
    write_file(dir.path(), 600, 600, 580);
    for said in [1_983, 1_985] {
        let answer = ScriptStep::text(&format!("<{}>", said + 1));
        let (place, _) = (Setting::default().after(&place, dir.path())).script([answer]);
        place.say(&format!("<{said}>")).await;
        assert_eq!(place.notices(), [""; 0]);
    }
    let (place, _) = (Setting::default().after(&place, dir.path())).script([]);
    let all: Vec<_> = (1..=1_986).collect();
    assert_eq!((marks(&place), numbers(&place).await), (all.clone(), all));
}

#[tokio::test]
async fn a_name_with_numbers_that_no_message_has_is_no_archive() {
    for name in [
        "1-18446744073709551615",
        "1-9007199254740992",
        "+1-20",
        "01-20",
        "9-2",
    ] {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("conversation")).unwrap();
        fs::write(dir.path().join(format!("conversation/{name}.jsonl.gz")), "").unwrap();
        let setting = Setting::default().in_dir(dir.path());
        let (place, _) = setting.script([ScriptStep::text("<2>")]);
        place.say("<1>").await;
        assert_eq!(
            (marks(&place), numbers(&place).await),
            (vec![1, 2], vec![1, 2])
        );
    }
}
