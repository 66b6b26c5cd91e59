//! Section 4: which keystone is read. Row 20 of the acceptance list.

use hermitcrab_kernel::prompt::CoreBlock;
use hermitcrab_kernel::prompt::keystone::{
    Choice, KeystoneSource, Persisted, StoreAction, choose, keystone_version,
};
use pscale_blocks::{Block, BlockName, O200k, Summary, SummaryKind};

#[test]
fn a_missing_keystone_is_made() {
    let choice = choose(Persisted::Missing, embedded(), &O200k);
    assert_eq!(choice.which, KeystoneSource::Embedded);
    assert_eq!(&choice.block, embedded());
    assert_eq!(choice.action, StoreAction::Create);
    assert_eq!(choice.notice, None);
}

#[test]
fn an_unreadable_one_is_left_and_the_reason_is_told() {
    let choice = choose(
        Persisted::Unreadable("no JSON at line 3"),
        embedded(),
        &O200k,
    );
    assert_eq!(choice.which, KeystoneSource::Embedded);
    assert_eq!(&choice.block, embedded());
    assert_eq!(choice.action, StoreAction::Leave);
    assert!(choice.notice.unwrap().contains("no JSON at line 3"));
}

#[test]
fn the_stored_one_wins_if_it_is_the_same() {
    let choice = found(embedded());
    assert_eq!(choice.which, KeystoneSource::Persisted);
    assert_eq!(choice.action, StoreAction::Leave);
    assert_eq!(choice.notice, None);
}

#[test]
fn an_edited_one_of_the_same_number_wins_and_is_called_edited() {
    let edited = with("0.2.1", "Up: one digit less.");
    let choice = found(&edited);
    assert_eq!(choice.which, KeystoneSource::Edited);
    assert_eq!(choice.block, edited);
    assert_eq!(choice.action, StoreAction::Leave);
    assert!(choice.notice.unwrap().contains("v1 was edited"));
}

#[test]
fn a_newer_one_wins() {
    let newer = with("0.5.1", "keystone v10 (2027-01-05). Digits may be letters.");
    let choice = found(&newer);
    assert_eq!(choice.which, KeystoneSource::Persisted);
    assert_eq!(choice.block, newer);
    assert_eq!(choice.action, StoreAction::Leave);
    assert!(
        choice
            .notice
            .unwrap()
            .contains("v10 is newer than the built-in v1")
    );
}

/// Of a newer program: its keystone is v2, the store has the v1 of this program, or an edited one.
#[test]
fn an_older_one_gives_way_and_is_kept_if_it_was_edited() {
    let program = with("0.5.1", "keystone v2 (2027-03-01).");
    let untouched = choose(Persisted::Found(embedded()), &program, &O200k);
    assert_eq!(untouched.which, KeystoneSource::Embedded);
    assert_eq!(untouched.block, program);
    assert_eq!(untouched.action, StoreAction::Replace { keep_as: None });
    assert_eq!(
        untouched.notice.unwrap(),
        "keystone v2 takes the place of v1"
    );

    let edited = with("0.2.1", "Up: one digit less.");
    let choice = choose(Persisted::Found(&edited), &program, &O200k);
    assert_eq!(choice.which, KeystoneSource::Embedded);
    assert_eq!(choice.block, program);
    let keep_as = Some(BlockName::new("keystone-1").unwrap());
    assert_eq!(choice.action, StoreAction::Replace { keep_as });
    assert!(choice.notice.unwrap().contains("kept as block keystone-1"));
}

#[test]
fn one_without_its_version_was_edited_and_a_grown_one_has_it_elsewhere() {
    let nameless = with("0.5.1", "keystone, latest");
    assert_eq!(found(&nameless).which, KeystoneSource::Edited);
    let bare = Block::new("A keystone without a version.");
    assert_eq!(found(&bare).which, KeystoneSource::Edited);
    let mut grown = embedded().clone();
    let summary = Summary {
        kind: SummaryKind::Summary,
        text: "All of it.".to_owned(),
    };
    grown.grow(&summary).unwrap();
    assert_eq!(found(&grown).which, KeystoneSource::Edited);
    assert_eq!(keystone_version(&grown), keystone_version(embedded()));
}

#[test]
fn one_that_cannot_teach_is_not_read_and_stays() {
    let long = with(
        "0.1.1",
        &"far too much to say about two fields. ".repeat(400),
    );
    let file = embedded().to_file();
    let blank = Block::parse(&file.replacen(embedded().head_text().unwrap(), " ", 1)).unwrap();
    let headless = Block::parse(r#"{"decimal":1,"tree":{"0":{"1":"no text above"}}}"#).unwrap();
    for (broken, why) in [
        (long, "2000 is the most"),
        (blank, "its head has no text"),
        (headless, "its head has no text"),
    ] {
        let choice = found(&broken);
        assert_eq!(choice.which, KeystoneSource::Embedded, "{why}");
        assert_eq!(&choice.block, embedded());
        assert_eq!(choice.action, StoreAction::Leave);
        let notice = choice.notice.unwrap();
        assert!(notice.contains(why), "{notice}");
        assert!(
            notice.contains("hermitcrab block undo keystone"),
            "{notice}"
        );
    }
}

#[test]
fn the_number_is_read_from_the_beginning_of_its_line() {
    assert_eq!(keystone_version(embedded()), Some(1));
    for (line, version) in [
        ("keystone v12 (2026-11-22)", Some(12)),
        ("keystone v007 (2026-11-22) by Ana", Some(7)),
        ("keystone v+1 (2026-11-22)", None),
        ("keystone v-1 (2026-11-22)", None),
        ("keystone v (2026-11-22)", None),
        ("keystone v1.5 (2026-11-22)", None),
        ("keystone v1", None),
        ("keystone v1 (soon)", None),
        ("keystone v1 (2026-13-40)", None),
        ("keystone v1 (2026-11-22", None),
        ("keystone v99999999999999999999 (2026-11-22)", None),
        ("The keystone v1 (2026-11-22)", None),
        ("Keystone v1 (2026-11-22)", None),
    ] {
        assert_eq!(keystone_version(&with("0.5.1", line)), version, "{line}");
    }
}

fn embedded() -> &'static Block {
    CoreBlock::Keystone.embedded()
}

fn found(stored: &Block) -> Choice {
    choose(Persisted::Found(stored), embedded(), &O200k)
}

fn with(path: &str, text: &str) -> Block {
    let mut block = embedded().clone();
    block.write(&path.parse().unwrap(), text).unwrap();
    block
}
