//! The changes from a parent to its child.

use logosphere_core::measures::nulls::{Edit, EditSource};
use logosphere_core::pool::SampleRng;
use proptest::collection::vec;
use proptest::prelude::*;

fn tokens(most: usize) -> impl Strategy<Value = Vec<u32>> {
    vec(0_u32..8, 0..most)
}

proptest! {
    #[test]
    fn n6_an_edit_makes_the_child_of_its_own_parent(
        parent in vec(0_u32..8, 1..30),
        child in tokens(30),
        other in tokens(10),
    ) {
        let edit = Edit::between(&parent, &child, &[&other]);
        prop_assert_eq!(edit.parent_length(), parent.len());
        prop_assert_eq!(edit.child_of(&parent), child);
    }

    /// Sources that leave nothing to chance give the child, whatever the random numbers are.
    #[test]
    fn n6_applied_to_its_own_parent_it_gives_the_child(
        parent in vec(0_u32..8, 1..30),
        kept in vec(0_u8..4, 30),
        seed in any::<[u8; 32]>(),
    ) {
        // `own` alone: words that no text has. `dup` alone: each word is said twice, or not.
        let strange = |at: usize, token: u32| match kept[at] {
            0 => vec![],
            1 => vec![100 + at as u32],
            2 => vec![token, 200 + at as u32],
            _ => vec![token],
        };
        let mut said = parent.clone();
        said.dedup();
        let twice = |at: usize, token: u32| vec![token; 1 + usize::from(kept[at] == 2)];
        for (parent, source, change) in [
            (&parent, EditSource::Own, &strange as &dyn Fn(usize, u32) -> Vec<u32>),
            (&said, EditSource::Dup, &twice),
        ] {
            let each = parent.iter().enumerate();
            let child: Vec<u32> = each.flat_map(|(at, token)| change(at, *token)).collect();
            let edit = Edit::between(parent, &child, &[]);
            prop_assert!(edit.sources().all(|found| found == source));
            let made = edit.apply(parent, &[], &mut SampleRng::keyed(seed));
            prop_assert_eq!(made, if child.is_empty() { parent.clone() } else { child });
        }
    }

    /// With words from elsewhere in the parent the child has its length and only words of the parent.
    #[test]
    fn n6_words_of_the_parent_stay_words_of_the_parent(
        length in 6_u32..20,
        place in 0_usize..20,
        seed in any::<[u8; 32]>(),
    ) {
        let parent: Vec<u32> = (0..length).collect();
        let place = place % parent.len();
        let mut child = parent.clone();
        child[place] = (place as u32 + 3) % length;
        let edit = Edit::between(&parent, &child, &[]);
        prop_assert!(edit.sources().all(|source| source == EditSource::Parent));
        let made = edit.apply(&parent, &[], &mut SampleRng::keyed(seed));
        prop_assert_eq!(made.len(), child.len());
        for (at, token) in made.iter().enumerate() {
            let is_kept = *token == child[at];
            prop_assert!(is_kept || at == place && *token < length);
        }
    }

    #[test]
    fn n6_applied_to_others_it_never_panics_and_is_never_empty(
        parent in vec(0_u32..8, 1..40),
        child in tokens(80),
        text in vec(0_u32..8, 1..600),
        others in vec(tokens(10), 0..4),
        seed in any::<[u8; 32]>(),
    ) {
        let others: Vec<&[u32]> = others.iter().map(Vec::as_slice).collect();
        let edit = Edit::between(&parent, &child, &others);
        let made = edit.apply(&text, &others, &mut SampleRng::keyed(seed));
        prop_assert!(!made.is_empty());
        prop_assert!(made.len() <= text.len().max(512));
        prop_assert_eq!(edit.apply(&[], &others, &mut SampleRng::keyed(seed)), Vec::<u32>::new());
    }
}

#[test]
fn sources_are_the_first_that_apply() {
    use EditSource::{Dup, Own, Parent, Read};
    // 1 2 3 4 5 with 9 read elsewhere: 2 is doubled, 9 and 1 come in, 7 is new.
    let edit = Edit::between(&[1, 2, 3, 4, 5], &[1, 2, 2, 3, 9, 5, 1, 7], &[&[9, 2]]);
    let sources: Vec<EditSource> = edit.sources().collect();
    assert_eq!(sources, [Read, Dup, Parent, Own]);
}

#[test]
fn changes_follow_the_place_in_a_longer_text() {
    // The second half is dropped.
    let edit = Edit::between(&[1, 2], &[1], &[]);
    let mut rng = SampleRng::keyed([0; 32]);
    assert_eq!(edit.apply(&[5, 6, 7, 8, 9], &[], &mut rng), [5, 6, 7]);
    // An edit without a result leaves the text.
    let edit = Edit::between(&[1, 2], &[], &[]);
    assert_eq!(edit.apply(&[5, 6], &[], &mut rng), [5, 6]);
}
