//! The messages that a pool keeps, shows and refuses.

use logosphere_core::format::{ParseMode, parse};
use logosphere_core::pool::{MessageId, Origin, Pool, PoolError, Retention, SampleRng};
use logosphere_core::{MindId, Round};
use proptest::prelude::*;

use crate::desk::sample_rng;
use crate::scripted_run::ids;

const MIB: usize = 1 << 20;

fn pool(max_active: usize, keep: Retention, texts: &[&str]) -> Pool {
    let mut pool = Pool::new(max_active, keep);
    for text in texts {
        pool.add(text, Origin::Mind).unwrap();
    }
    pool
}

fn active(pool: &Pool) -> Vec<&str> {
    pool.active().map(|id| pool.text(id).unwrap()).collect()
}

#[test]
fn ids_count_up_and_the_tail_can_be_seen() {
    for keep in [Retention::All, Retention::Active] {
        let mut pool = Pool::new(2, keep);
        assert!(pool.is_empty());
        assert_eq!(active(&pool), [""; 0]);
        assert_eq!(pool.add("a", Origin::Seed), Ok(MessageId(0)));
        assert_eq!(pool.add("a", Origin::Seed), Ok(MessageId(1)));
        assert_eq!(active(&pool), ["a", "a"]);
        assert_eq!(pool.add("b", Origin::Mind), Ok(MessageId(2)));
        assert_eq!(active(&pool), ["a", "b"]);
        assert_eq!(pool.active().collect::<Vec<_>>(), ids(&[1, 2]));
        assert_eq!(pool.active().len(), 2);
        assert_eq!((pool.len(), pool.active_len(), pool.seeds()), (3, 2, 2));
        assert_eq!(pool.text(MessageId(3)), None);
        assert_eq!(pool.text(MessageId(u64::MAX)), None);
    }
}

#[test]
fn the_history_is_kept_or_known_to_be_gone() {
    let all = pool(2, Retention::All, &["a", "b", "c"]);
    assert_eq!(all.all().unwrap().collect::<Vec<_>>(), ids(&[0, 1, 2]));
    assert_eq!(all.text(MessageId(0)), Some("a"));
    let tail = pool(2, Retention::Active, &["a", "b", "c"]);
    assert_eq!(tail.all().err(), Some(PoolError::HistoryNotKept));
    assert_eq!(tail.text(MessageId(0)), None);
    assert_eq!(tail.text(MessageId(1)), Some("b"));
}

#[test]
fn texts_that_no_answer_can_send_are_refused() {
    for mode in [ParseMode::Lenient, ParseMode::Strict] {
        let mut pool = Pool::new(3, Retention::All).mode(mode);
        for blank in ["", "\n", " \t\u{3000}\u{1c}\u{1f}\u{85}"] {
            assert_eq!(pool.add(blank, Origin::Mind), Err(PoolError::Blank));
        }
        for (text, modes) in [
            ("---", "ls"),
            ("a\n---\nb", "ls"),
            ("a\n---", "ls"),
            ("---\r\nb", "ls"),
            ("a\n--- ", "l"),
            ("a\n---\t\r \nb", "l"),
            // Only before a line feed the CR belongs to the line's end.
            ("a\n---\r", "l"),
            ("a\n ---", ""),
            ("----", ""),
            ("a --- b", ""),
            ("\u{feff}---", ""),
            ("a\r---\rb", ""),
            ("\u{200b}", ""),
        ] {
            let refused = match mode {
                ParseMode::Lenient => modes.contains('l'),
                ParseMode::Strict => modes.contains('s'),
            };
            let before = pool.len();
            let added = pool.add(text, Origin::Seed);
            assert_eq!(added.is_err(), refused, "{mode:?} {text:?}");
            if refused {
                assert_eq!(
                    added,
                    Err(PoolError::Delimiter {
                        start: text.to_owned()
                    })
                );
                assert_eq!(pool.len(), before);
            }
        }
    }
    let long = format!("{}\n---\n", "ä".repeat(60));
    let error = Pool::new(1, Retention::All)
        .add(&long, Origin::Mind)
        .unwrap_err();
    assert_eq!(
        error,
        PoolError::Delimiter {
            start: "ä".repeat(40)
        }
    );
}

#[test]
fn texts_around_the_borders_of_chunks_come_back() {
    let sizes = [
        MIB - 2,
        2,
        1,
        MIB - 1,
        1,
        MIB,
        1,
        MIB + 1,
        3,
        5 * MIB,
        7,
        MIB / 2,
        MIB / 2,
        1,
        MIB / 2 + 1,
        MIB / 2 + 1,
    ];
    let texts: Vec<_> = (sizes.iter().zip('a'..))
        .map(|(size, char)| char.to_string().repeat(*size))
        .collect();
    for keep in [Retention::All, Retention::Active] {
        let mut pool = Pool::new(texts.len(), keep);
        for (id, text) in texts.iter().enumerate() {
            assert_eq!(pool.add(text, Origin::Mind), Ok(MessageId::at(id)));
            // The newest text and the one before it share what is being filled.
            let before = id.saturating_sub(1);
            assert!(
                pool.text(MessageId::at(before)) == Some(&texts[before]),
                "text {before}"
            );
            assert!(pool.text(MessageId::at(id)) == Some(text), "text {id}");
        }
        for (id, text) in texts.iter().enumerate() {
            assert!(pool.text(MessageId::at(id)) == Some(text), "text {id}");
        }
    }
    // Characters of several bytes do not fit the border evenly.
    let wide = "€".repeat(1000);
    let pool = pool(3, Retention::All, &[&wide[..]; 800]);
    assert!(pool.all().unwrap().all(|id| pool.text(id) == Some(&wide)));
}

#[test]
fn a_clone_is_a_pool_of_its_own() {
    let mut first = pool(3, Retention::All, &["a"]);
    let second = first.clone();
    first.add("b", Origin::Mind).unwrap();
    assert_eq!((first.len(), second.len()), (2, 1));
    assert_eq!(active(&second), ["a"]);
}

#[test]
fn more_can_be_asked_for_than_there_is() {
    for (held, k, expected) in [
        (0, 3, 0),
        (2, 3, 2),
        (9, 3, 3),
        (9, 0, 0),
        (9, usize::MAX, 5),
    ] {
        let pool = pool(5, Retention::Active, &vec!["m"; held]);
        let drawn = pool.sample(k, &mut sample_rng(1, 1, 0));
        assert_eq!(drawn.len(), expected);
        assert!(drawn.iter().all(|id| pool.text(*id).is_some()));
    }
    let drawn = Pool::new(usize::MAX, Retention::Active).sample(1, &mut sample_rng(1, 1, 0));
    assert!(drawn.is_empty());
}

#[test]
fn a_view_stays_readable_while_it_is_pinned() {
    let mut pool = pool(3, Retention::Active, &["a", "b", "c"]);
    let view = pool.snapshot();
    pool.pin(view.clone());
    for text in ["d", "e", "f", "g"] {
        pool.add(text, Origin::Mind).unwrap();
    }
    // What is drawn is of the moment of the view, whatever came after.
    for mind in 0..20 {
        let drawn = view.sample(3, &mut sample_rng(5, 1, mind));
        assert_eq!(drawn, pool_of("abc").sample(3, &mut sample_rng(5, 1, mind)));
        assert!(drawn.iter().all(|id| pool.text(*id).is_some()));
    }
    assert_eq!(active(&pool), ["e", "f", "g"]);
    pool.unpin();
    assert!((0..4).all(|id| pool.text(MessageId(id)).is_none()));
    assert_eq!(active(&pool), ["e", "f", "g"]);
    // A view of an empty pool pins everything that comes.
    let mut empty = Pool::new(1, Retention::Active);
    empty.pin(empty.snapshot());
    for text in ["a", "b"] {
        empty.add(text, Origin::Mind).unwrap();
    }
    assert_eq!(empty.text(MessageId(0)), Some("a"));
    empty.unpin();
    assert_eq!(
        (empty.text(MessageId(0)), empty.text(MessageId(1))),
        (None, Some("b"))
    );
}

fn pool_of(chars: &str) -> Pool {
    let mut pool = Pool::new(chars.len(), Retention::All);
    for char in chars.chars() {
        pool.add(&char.to_string(), Origin::Mind).unwrap();
    }
    pool
}

#[test]
fn sampling_does_not_depend_on_what_is_kept() {
    let texts: Vec<_> = (0..100).map(|number| number.to_string()).collect();
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let (all, tail) = (
        pool(17, Retention::All, &texts),
        pool(17, Retention::Active, &texts),
    );
    for round in 1..50 {
        let drawn = all.sample(5, &mut sample_rng(3, round, 2));
        assert_eq!(drawn, tail.sample(5, &mut sample_rng(3, round, 2)));
        assert!(drawn.iter().all(|id| (83..100).contains(&id.0)));
    }
}

proptest! {
    #[test]
    fn a_pool_is_a_list_and_its_tail(
        steps in prop::collection::vec((0_u8..10, "[a-z]{1,4}"), 0..60),
        max_active in 1_usize..6,
        keep_all: bool,
    ) {
        let mut pool = Pool::new(max_active, if keep_all { Retention::All } else { Retention::Active });
        let mut texts: Vec<String> = Vec::new();
        let mut pinned = None;
        for (step, text) in steps {
            match step {
                0 => {
                    pool.pin(pool.snapshot());
                    pinned = Some(texts.len().saturating_sub(max_active));
                }
                1 => {
                    pool.unpin();
                    pinned = None;
                }
                _ => {
                    prop_assert_eq!(pool.add(&text, Origin::Mind), Ok(MessageId::at(texts.len())));
                    texts.push(text);
                }
            }
            let first = texts.len().saturating_sub(max_active);
            let kept = if keep_all { 0 } else { pinned.unwrap_or(first).min(first) };
            for (id, text) in texts.iter().enumerate() {
                let expected = (id >= kept).then_some(&text[..]);
                prop_assert_eq!(pool.text(MessageId::at(id)), expected);
            }
            prop_assert_eq!(active(&pool), &texts[first..]);
            prop_assert_eq!(pool.active_len(), texts.len() - first);
        }
    }

    #[test]
    fn what_an_answer_sends_can_be_added(
        raw in "(-{3}[ \t\r]{0,2}\n|\r{0,2}\n|[a ~]{1,3}\r?){0,24}",
        strict: bool,
    ) {
        let mode = if strict { ParseMode::Strict } else { ParseMode::Lenient };
        let mut pool = Pool::new(3, Retention::Active).mode(mode);
        for message in parse(&raw, mode).messages {
            prop_assert!(pool.add(&message, Origin::Mind).is_ok(), "{message:?}");
        }
    }

    #[test]
    fn samples_are_different_places_of_the_tail(
        held in 0_usize..30,
        max_active in 1_usize..20,
        k in 0_usize..25,
        key: [u8; 32],
    ) {
        let pool = pool(max_active, Retention::Active, &vec!["m"; held]);
        let mut drawn = pool.sample(k, &mut SampleRng::keyed(key));
        prop_assert_eq!(drawn.len(), k.min(held).min(max_active));
        prop_assert!(drawn.iter().all(|id| pool.active().any(|seen| seen == *id)));
        drawn.sort_unstable();
        drawn.dedup();
        prop_assert_eq!(drawn.len(), k.min(held).min(max_active));
    }
}

#[test]
fn l37_numbers_are_plain_in_json_and_in_words() {
    let (round, mind, message) = (Round(7), MindId(0), MessageId(41));
    let json = serde_json::to_string(&(round, mind, message)).unwrap();
    assert_eq!(json, "[7,0,41]");
    assert_eq!(
        serde_json::from_str::<(Round, MindId, MessageId)>(&json).unwrap(),
        (round, mind, message)
    );
    assert_eq!(
        format!("{round}/{mind} {message} {:?}", [message]),
        "7/0 41 [41]"
    );
    assert_eq!((round.next(), round.before()), (Round(8), 6));
    assert_eq!((Round(0).before(), mind.of(2).last()), (0, Some(MindId(1))));
    assert!(MessageId::at(41).index() == 41 && Round(9) < Round(10));
}
