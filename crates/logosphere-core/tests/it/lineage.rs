//! Descent: by hand, and with known true parents.
#![expect(
    clippy::disallowed_macros,
    reason = "the numbers that were measured are shown"
)]

use logosphere_core::Transcript;
use logosphere_core::config::Scheduling;
use logosphere_core::measures::lineage::{Lineage, Method};
use logosphere_core::measures::metrics::tokens;
use logosphere_core::pool::MessageId;

use crate::population;
use crate::scripted_run::{ScriptedRun, random, random_run};

/// The parents of a message: id, method and confidence.
fn parents(run: &Transcript, id: usize) -> Vec<(u64, Method, f64)> {
    let lineage = Lineage::of(run);
    let parents = lineage.nodes()[id].parents.iter();
    parents
        .map(|parent| (parent.id.0, parent.method, parent.confidence))
        .collect()
}

#[test]
fn equal_texts_are_parents_whatever_their_stamp() {
    let run = ScriptedRun::new(9, &["same\n\n~init", "Same", "same"])
        .round(&[(&[1, 2, 0], &["same\n\n~me"])])
        .0;
    let exact = |id| (id, Method::Exact, 1.0);
    assert_eq!(parents(&run, 3), [exact(1), exact(2), exact(0)]);
    // What was not read is no parent.
    let unread = ScriptedRun::new(9, &["same", "x"])
        .round(&[(&[1], &["same"])])
        .0;
    assert_eq!(parents(&unread, 2), []);
}

#[test]
fn else_the_longest_common_subsequence_decides() {
    let seeds = [
        "a b c d e",
        "x a b c",
        "a b c d y",
        "one two three",
        "A B C! d?",
        "!?",
    ];
    let run = |drawn: &[u64], text| ScriptedRun::new(9, &seeds).round(&[(drawn, &[text])]).0;
    let lcs = |id, similarity| (id, Method::Lcs, similarity);
    // 2 * 5 / 11, 2 * 4 / 10, 2 * 4 / 11; three common words of 10 are 2 * 3 / 10.
    let child = "a b c d e f";
    let expected = [
        lcs(0, 10.0 / 11.0),
        lcs(4, 0.8),
        lcs(2, 8.0 / 11.0),
        lcs(1, 0.6),
    ];
    assert_eq!(parents(&run(&[4, 1, 2, 3, 0], child), 6), expected);
    // Half is enough, and less is not: 2 * 2 / 8 and 2 * 2 / 9.
    assert_eq!(parents(&run(&[1], "b c 1 2"), 6), [lcs(1, 0.5)]);
    assert_eq!(parents(&run(&[1], "b c 1 2 3"), 6), []);
    // The order of words counts: of "c b a" one word at a time is common.
    assert_eq!(parents(&run(&[1], "c b a x"), 6), []);
    // Short texts have parents, too.
    assert_eq!(parents(&run(&[0, 3], "one two"), 6), [lcs(3, 0.8)]);
    // With equal tokens all others are strangers, and case and marks do not count.
    let exact = |id| (id, Method::Exact, 1.0);
    assert_eq!(parents(&run(&[2, 0], "A, b, c, d, e!"), 6), [exact(0)]);
    // Of equally similar texts the first one drawn is the best parent.
    let two = [lcs(2, 0.8), lcs(0, 0.8)];
    assert_eq!(parents(&run(&[2, 0], "a b c d z"), 6), two);
    // Texts without a token are parents of equal texts only.
    assert_eq!(parents(&run(&[5], "??"), 6), []);
    assert_eq!(parents(&run(&[5], "!?"), 6), [exact(5)]);
}

#[test]
fn tokens_after_the_first_512_do_not_count() {
    let long = |last: &str| {
        let words: Vec<String> = (0..512).map(|word| format!("w{word}")).collect();
        format!("{} {last}", words.join(" "))
    };
    let run = ScriptedRun::new(9, &[&long("left")]).round(&[(&[0], &[long("right")])]);
    assert_eq!(parents(&run.0, 1), [(0, Method::Exact, 1.0)]);
}

#[test]
fn the_forest_by_hand() {
    let run = ScriptedRun::new(3, &["a", "b"])
        .round(&[(&[0, 1], &["a", "new"]), (&[], &["other"])]) // 2 from 0; 3 and 4 are new
        .round(&[(&[2, 3], &["a", "new"])]) // 5 from 2, 6 from 3
        .round(&[(&[5, 6, 4], &["a"]), (&[5], &["a"])]) // 7 and 8 from 5
        .0;
    let lineage = Lineage::of(&run);
    let row = |id: usize| {
        let node = &lineage.nodes()[id];
        let parent = node.parent().map(|parent| parent.id.0);
        (
            parent,
            node.root.0,
            node.depth,
            node.children,
            node.descendants,
        )
    };
    assert_eq!(row(0), (None, 0, 0, 1, 4));
    assert_eq!(row(1), (None, 1, 0, 0, 0));
    assert_eq!(row(2), (Some(0), 0, 1, 1, 3));
    assert_eq!(row(3), (None, 3, 0, 1, 1));
    assert_eq!(row(4), (None, 4, 0, 0, 0));
    assert_eq!(row(5), (Some(2), 0, 2, 2, 2));
    assert_eq!(row(6), (Some(3), 3, 1, 0, 0));
    assert_eq!(row(7), (Some(5), 0, 3, 0, 0));
    // Windows of three: 0 1 | 2 3 4 | 4 5 6 | 6 7 8.
    let lifetimes: Vec<u32> = lineage.nodes().iter().map(|node| node.lifetime).collect();
    assert_eq!(lifetimes, [0, 0, 1, 1, 2, 1, 2, 1, 1]);
    let alive: Vec<u64> = (lineage.nodes().iter())
        .filter(|node| node.alive)
        .map(|node| node.id.0)
        .collect();
    assert_eq!(alive, [6, 7, 8]);

    let summary = lineage.summary(&run, 2);
    assert_eq!((summary.messages, summary.exact, summary.lcs), (7, 5, 0));
    assert_eq!(summary.innovations, 2);
    assert_eq!(summary.novelty_rate, Some(2.0 / 7.0));
    assert_eq!(summary.deepest, 3);
    let top: Vec<_> = summary
        .top
        .iter()
        .map(|top| (top.id.0, top.descendants))
        .collect();
    // Message 2 has more descendants than 3, and is a descendant of 0 itself.
    assert_eq!(top, [(0, 4), (3, 1)]);
    let seeds: Vec<_> = (summary.seeds.iter())
        .map(|seed| (seed.descendants, seed.message_share, seed.window_share))
        .collect();
    let expected = [
        (4, Some(4.0 / 7.0), Some(2.0 / 3.0)),
        (0, Some(0.0), Some(0.0)),
    ];
    assert_eq!(seeds, expected);
    // Line 1 was gone after round 1, line 4 after round 3; 0 and 3 are there at the end.
    let survival = summary.survival.iter();
    let steps: Vec<_> = survival
        .map(|step| (step.rounds, step.at_risk, step.ended, step.share))
        .collect();
    assert_eq!(steps, [(1, 4, 1, 0.75), (2, 3, 1, 0.5)]);
    assert_eq!(summary.half_life, Some(2));
    let third = Some(1.0 / 3.0);
    let curves = lineage.root_curves(&[MessageId(0), MessageId(1)]);
    assert_eq!(curves[0], [Some(0.5), third, third, Some(2.0 / 3.0)]);
    assert_eq!(curves[1], [Some(0.5), Some(0.0), Some(0.0), Some(0.0)]);
}

#[test]
fn a_run_without_messages_has_a_lineage() {
    let lineage = Lineage::of(&Transcript::default());
    assert_eq!(lineage.novelty_rate(), None);
    let silent = ScriptedRun::new(3, &["a"]).texts(&[]).texts(&[]).0;
    let summary = Lineage::of(&silent).summary(&silent, 9);
    assert_eq!(summary.seeds[0].message_share, None);
    assert_eq!(summary.seeds[0].window_share, Some(1.0));
    assert_eq!((summary.survival.len(), summary.half_life), (0, None));
}

#[test]
fn parents_are_older_and_counts_agree() {
    let mut inferred = 0;
    for seed in 0..20 {
        let mut run = random_run(seed, 40);
        let mut rng = random(seed);
        let all = run.messages.len() as u64;
        for call in &mut run.calls {
            // Also ids that cannot have been read: later ones, and ones that nobody has.
            call.sampled = (0..6).map(|_| MessageId(rng.below(all + 3))).collect();
        }
        let lineage = Lineage::of(&run);
        let mut descendants = vec![0; run.messages.len()];
        for node in lineage.nodes() {
            assert!(node.parents.iter().all(|parent| parent.id < node.id));
            let mut at = node;
            let mut steps = 0;
            while let Some(parent) = at.parent() {
                at = &lineage.nodes()[parent.id.index()];
                descendants[at.id.index()] += 1;
                steps += 1;
            }
            assert_eq!((node.root, node.depth), (at.id, steps));
            inferred += steps;
        }
        let counted: Vec<u32> = lineage
            .nodes()
            .iter()
            .map(|node| node.descendants)
            .collect();
        assert_eq!(counted, descendants);
    }
    assert!(inferred > 150, "{inferred}");
}

/// Messages of a run of `mind` with the parent that the mind chose, and the run.
fn known_parents(mind: &str, scheduling: Scheduling) -> (Transcript, Vec<Option<MessageId>>) {
    let settings = population::settings(mind, 12, 150, 40, 42);
    let settings = settings.with(|settings| settings.scheduling = scheduling);
    let seeds: Vec<String> = (0..150).map(sentence).collect();
    population::with_parents(&settings, &seeds)
}

/// A seed of 14 words.
fn sentence(id: u64) -> String {
    let mut rng = random(id as u8);
    let words = (0..14).map(|_| format!("w{}", rng.below(300)));
    words.collect::<Vec<_>>().join(" ") + ".\n\n~init"
}

#[track_caller]
fn assert_found(mind: &str, scheduling: Scheduling) {
    let (run, known) = known_parents(mind, scheduling);
    let lineage = Lineage::of(&run);
    let (mut found, mut right, mut there) = (0, 0, 0);
    for (node, known) in lineage.nodes().iter().zip(&known) {
        let parent = node.parent().map(|parent| parent.id);
        found += u32::from(parent.is_some());
        there += u32::from(known.is_some());
        right += u32::from(parent.is_some() && parent == *known);
    }
    assert!(there > 400, "{there}");
    let (precision, recall) = (
        f64::from(right) / f64::from(found),
        f64::from(right) / f64::from(there),
    );
    assert!(precision >= 0.95, "{mind}, {scheduling:?}: {precision}");
    assert!(recall >= 0.95, "{mind}, {scheduling:?}: {recall}");
}

/// The share of found parents that are right, the share of true parents that are found, the share of messages without
/// a parent, and that of messages that the mind invented. A parent is right if its tokens are those of the true one.
fn on_built_in_seeds(mind: &str) -> [f64; 4] {
    let [mut found, mut there, mut right, mut new, mut made, mut all] = [0; 6];
    for seed in 0..20 {
        let settings = population::settings(mind, 3, 15, 30, seed);
        let (run, known) = population::with_parents(&settings, &population::built_in());
        let words = |id: MessageId| {
            let text = population::unstamped(&run.messages[id.index()].text);
            tokens(text).collect::<Vec<_>>().join(" ")
        };
        let lineage = Lineage::of(&run);
        for (node, known) in lineage.nodes().iter().zip(&known).skip(run.seeds) {
            let parent = node.parent().map(|parent| parent.id);
            all += 1;
            found += u32::from(parent.is_some());
            new += u32::from(parent.is_none());
            there += u32::from(known.is_some());
            made += u32::from(known.is_none());
            let same = |(a, b)| words(a) == words(b);
            right += u32::from(parent.zip(*known).is_some_and(same));
        }
    }
    let share = |part, whole| f64::from(part) / f64::from(whole);
    [
        share(right, found),
        share(right, there),
        share(new, all),
        share(made, all),
    ]
}

#[test]
fn n7_parents_on_the_built_in_seeds_are_found() {
    for mind in [
        "copier:mu=0.05",
        "mutator:p=0.05",
        "mutator:p=0.1",
        "mutator:p=0.2",
    ] {
        let [precision, recall, new, made] = on_built_in_seeds(mind);
        println!(
            "{mind}: precision {precision:.4}, recall {recall:.4}, innovations {new:.4} of {made:.4}"
        );
        assert!(precision >= 0.97 && recall >= 0.97, "{mind}");
        if mind.starts_with("copier") {
            assert!((new - made).abs() <= 0.015, "{mind}: {new} {made}");
        }
    }
}

#[test]
fn the_parents_of_copies_are_found() {
    assert_found("copier:mu=0.05", Scheduling::Sequential);
    assert_found("copier:mu=0.05", Scheduling::Snapshot);
}

#[test]
fn the_parents_of_mutants_are_found() {
    assert_found("mutator:p=0.1", Scheduling::Sequential);
    assert_found("mutator:p=0.1", Scheduling::Snapshot);
}
