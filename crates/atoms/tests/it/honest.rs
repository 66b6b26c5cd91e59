//! Summaries that add nothing: what a person wrote from the entries alone is not called an addition.

use atoms::cover;

/// The entries and the summary of each pair.
fn pairs() -> Vec<(Vec<&'static str>, &'static str)> {
    let mut pairs = Vec::new();
    let mut entries = Vec::new();
    for line in include_str!("honest.txt").lines() {
        if let Some(entry) = line.strip_prefix("- ") {
            entries.push(entry);
        } else if let Some(summary) = line.strip_prefix("= ") {
            pairs.push((std::mem::take(&mut entries), summary));
        }
    }
    pairs
}

#[test]
fn at_most_three_of_sixty_honest_summaries_seem_to_add() {
    let pairs = pairs();
    assert_eq!(pairs.len(), 60);
    let mut adding = Vec::new();
    let (mut kept, mut lost) = (0, 0);
    for (entries, summary) in &pairs {
        let covered = cover(entries, summary, &|_: &str| true);
        kept += covered.kept.len();
        lost += covered.lost.len();
        if !covered.added.is_empty() {
            let added = covered.added.iter().map(|fact| &summary[fact.span.clone()]);
            adding.push(format!("{summary}: {:?}", added.collect::<Vec<_>>()));
        }
    }
    assert!(adding.len() <= 3, "{}", adding.join("\n"));
    // The rule is not kept by a search that finds nothing.
    assert!(kept > 150 && lost > 50, "{kept} kept, {lost} lost");
}

/// The same summaries, each of the entries of another pair: what they say is new there.
#[test]
fn a_summary_of_other_entries_adds() {
    let pairs = pairs();
    let adds = |place: usize| {
        let (entries, _) = &pairs[(place + 2) % pairs.len()];
        !cover(entries, pairs[place].1, &|_: &str| true)
            .added
            .is_empty()
    };
    let adding = (0..pairs.len()).filter(|place| adds(*place)).count();
    assert!(adding >= 57, "{adding} of 60");
}

/// The facts that a summary of these entries adds, and those that it loses, as they are written.
fn changes<'a>(entries: &[&'a str], summary: &'a str) -> (Vec<&'a str>, Vec<&'a str>) {
    let covered = cover(entries, summary, &|_: &str| true);
    let added = covered.added.iter().map(|fact| &summary[fact.span.clone()]);
    let lost = covered.lost.iter();
    (
        added.collect(),
        lost.map(|(part, fact)| &entries[*part][fact.span.clone()])
            .collect(),
    )
}

#[test]
fn names_are_facts_in_short_texts() {
    let entries = ["Ada paid 300 euros."; 9];
    assert_eq!(changes(&entries, "Ada and Grace paid.").0, ["Grace"]);
    assert_eq!(changes(&entries[..1], "So Grace paid it.").0, ["Grace"]);
    let both = ["Ada paid.", "Then Grace and Alan paid.", "Ada saw Alan."];
    assert_eq!(changes(&both, "Ada and Alan paid.").1, ["Grace"]);
    // Names do not hide names, in the entries or in the summary.
    let entries = ["Met Ada at noon."; 9];
    assert_eq!(changes(&entries, "Met Grace every day.").0, ["Grace"]);
    let summary = "So Ada, Grace, Alan, Mary, Joan and Tim came.";
    let invented = ["Grace", "Alan", "Mary", "Joan", "Tim"];
    assert_eq!(changes(&entries, summary).0, invented);
    // Nouns in German.
    let german = [
        "Der Hund frisst das Futter im Haus.",
        "Die Katze sieht den Hund im Garten.",
    ];
    assert!(
        changes(
            &german,
            "Der Hund frisst, und die Maus sieht den Kater im Keller."
        )
        .0
        .is_empty()
    );
}

#[test]
fn a_unit_and_a_name_of_several_words_are_not_those_of_others() {
    let none = [""; 0];
    assert_eq!(
        changes(&["They read 40 books."], "It cost 40 euros.").0,
        ["40 euros"]
    );
    assert_eq!(
        changes(&["It cost 40 euros."], "They read 40 books.").1,
        ["40 euros"]
    );
    assert_eq!(changes(&["Prices: 40, 50."], "It cost 40 euros.").0, none);
    let entries = ["So Grace Hopper called.", "Then Ada Miller came."];
    assert_eq!(
        changes(&entries, "It was Grace Miller who came.").0,
        ["Grace Miller"]
    );
    assert_eq!(changes(&entries, "So Miller met Grace Hopper.").0, none);
    // The first word of a sentence is no name.
    assert_eq!(
        changes(&["Grace Hopper called."], "It was Grace Hopper.").0,
        none
    );
    assert_eq!(
        changes(&["It was Grace Hopper."], "Grace Hopper called.").1,
        none
    );
}

/// A number that a summary changed is new, also where the old one ends with it.
#[test]
fn a_number_that_is_a_part_of_another_one_is_new() {
    for (entry, summary) in [
        ("Dose: 0.25 mg daily.", "The dose is 25 mg."),
        ("The plank has 1.5 m.", "The plank has 5 m."),
        ("It cost 1,500 euros.", "It cost 500 euros."),
        ("It cost 12.40 euros.", "It cost 40 euros."),
        ("The rate is 12.5%.", "The rate is 5%."),
        ("The balance is -500 euros.", "The balance is 500 euros."),
        ("A pipe of 3/4 inch.", "A pipe of 4 inch."),
        ("We met at 10:30 in room 4.", "We met in room 30."),
        ("Valve A-12 is shut.", "Valve 12 is shut."),
        ("Signed on 2024-05-12.", "Signed by 12 people."),
        ("Version 7.25 is out.", "Version 7.2 is out."),
    ] {
        let added = cover(&[entry], summary, &|_: &str| true).added;
        assert_eq!(added.len(), 1, "{entry} {summary}: {added:?}");
        let same = cover(&[entry], entry, &|_: &str| true).added;
        assert_eq!(same, [], "{entry}");
    }
}

/// Numbers of a range, a list or a quotation are those of the text.
#[test]
fn a_number_between_signs_is_not_new() {
    for (entry, summary) in [
        ("Read pages 10-12 first.", "Read up to page 12 first."),
        ("Boxes 3, 4, 5 are full.", "Box 5 is full."),
        ("The sign said '40'.", "The sign said 40."),
        ("It has (7) parts.", "It has 7 parts."),
    ] {
        let added = cover(&[entry], summary, &|_: &str| true).added;
        assert_eq!(added, [], "{entry} {summary}");
    }
}
