//! Tests of lost, invented and changed atoms.

use atoms::{Change, Kind, compare};

use crate::english;

/// The findings of a pair, critical ones with a `!`.
fn findings(original: &str, decoded: &str) -> Vec<String> {
    let comparison = compare(&english(original), &english(decoded));
    let said = comparison.findings().iter().map(|finding| {
        let mark = if finding.critical { "!" } else { "" };
        format!("{mark}{} {}", finding.kind.name(), finding.change.name())
    });
    said.collect()
}

#[track_caller]
fn finds(original: &str, decoded: &str, expected: &[&str]) {
    assert_eq!(
        findings(original, decoded),
        expected,
        "{original} -> {decoded}"
    );
}

#[track_caller]
fn is_same(original: &str, decoded: &str) {
    let critical: Vec<_> = findings(original, decoded)
        .into_iter()
        .filter(|it| it.starts_with('!'))
        .collect();
    assert!(critical.is_empty(), "{original} -> {decoded}: {critical:?}");
}

#[test]
fn items_are_lost_and_invented() {
    finds(
        "Replace part PX-204 now.",
        "Replace part PX-205 now.",
        &["!identifier lost", "!identifier invented"],
    );
    finds(
        "It ends on 3 May 2024.",
        "It ends on 4 May 2024.",
        &["!date lost", "!date invented"],
    );
    finds(
        "It opens at 8 am.",
        "It opens at 8 pm.",
        &["!date lost", "!date invented"],
    );
    finds(
        "It costs 40 coins.",
        "It costs 14 coins.",
        &["!number lost", "!number invented"],
    );
    finds(
        "We met Ann.",
        "We met Bob.",
        &["!name lost", "!name invented"],
    );
    finds(
        "We met Ann on Monday.",
        "We met.",
        &["!name lost", "!date lost"],
    );
}

#[test]
fn the_same_number_with_another_unit_is_changed() {
    finds("Take 5 mg of it.", "Take 5 g of it.", &["!number changed"]);
    finds(
        "It is 5 °C.",
        "It is -5 °C.",
        &["!number lost", "!number invented"],
    );
}

#[test]
fn items_may_be_spelled_in_other_ways() {
    is_same(
        "It ends on 3 May 2024 at 14:30.",
        "It ends on May 3, 2024, at half past two.",
    );
    is_same("Wait 90 minutes.", "Wait an hour and a half.");
    is_same("Add 0.25 litres.", "Add 250 ml.");
    is_same("Keep 5 %.", "Keep 0.05.");
    is_same("Take one tablet.", "Take a tablet.");
    is_same("Both doors close.", "The two doors close.");
    is_same("The NHS pays.", "The national health service pays.");
    is_same("It opened on 3 May.", "It opened on 3 May 2024.");
}

#[test]
fn operators_change() {
    finds(
        "You must go home.",
        "You may go home.",
        &["!modality changed"],
    );
    finds(
        "Wash it before you cook it.",
        "Wash it after you cook it.",
        &["!order changed"],
    );
    finds(
        "All doors close at dusk.",
        "Some doors close at dusk.",
        &["!quantifier changed"],
    );
    finds(
        "At least 5 doors close.",
        "At most 5 doors close.",
        &["!comparison changed"],
    );
    finds(
        "Go if the bell rings.",
        "Go even if the bell rings.",
        &["!condition changed"],
    );
    finds(
        "Go unless the bell rings.",
        "Go if the bell rings.",
        &["!condition changed"],
    );
}

#[test]
fn a_lost_operator_is_critical_where_the_other_words_stay() {
    finds(
        "Most doors close at dusk.",
        "Doors close at dusk.",
        &["!quantifier lost"],
    );
    finds(
        "All visitors wear a helmet in the hall.",
        "In the hall, visitors have helmets on.",
        &["quantifier lost"],
    );
    finds("Go unless the bell rings.", "Go.", &["!condition lost"]);
}

#[test]
fn negations_are_lost_invented_and_moved() {
    finds(
        "Do not open the valve.",
        "Open the valve.",
        &["!negation lost"],
    );
    finds(
        "Open the valve.",
        "Do not open the valve.",
        &["!negation invented"],
    );
    finds(
        "Do not open the red valve. Close the green door.",
        "Open the red valve. Do not close the green door.",
        &["!negation changed"],
    );
    finds(
        "Pets are not allowed unless we agree.",
        "Pets are allowed unless we agree.",
        &["!negation lost", "!modality changed"],
    );
}

#[test]
fn negations_are_said_in_other_words() {
    is_same("Do not open the door.", "Keep the door closed.");
    is_same("The seal is not broken.", "The seal is unbroken.");
    is_same(
        "Smoking is not allowed here.",
        "Smoking is prohibited here.",
    );
    is_same(
        "The door must not be opened unless the lamp is lit.",
        "The door may be opened only if the lamp is lit.",
    );
    is_same(
        "No visitor may enter the hall without a helmet.",
        "All visitors must wear a helmet in the hall.",
    );
    is_same("Not many doors close.", "Few doors close.");
    is_same("Never take more than 6 tablets.", "Take at most 6 tablets.");
    is_same("He left without a key.", "He left with no key.");
    is_same("Open except on Sunday.", "Open unless it is Sunday.");
}

#[test]
fn no_other_word_hides_a_lost_negation() {
    finds(
        "Do not smoke and do not drink in the lab.",
        "Smoke and drink in the lab.",
        &["!negation lost", "!negation lost"],
    );
    finds(
        "Do not open the valve.",
        "Still open the valve.",
        &["!negation lost"],
    );
    finds(
        "Do not smoke. Wait.",
        "Smoke. Do not wait.",
        &["!negation changed"],
    );
    finds(
        "Open the valve unless the lamp is lit.",
        "Do not open the valve.",
        &["!condition lost", "!negation invented"],
    );
    finds(
        "All visitors must not smoke.",
        "Some visitors must smoke.",
        &["!quantifier changed", "!negation lost"],
    );
}

#[test]
fn words_change_for_their_opposite() {
    finds(
        "Turn the left wheel slowly.",
        "Turn the right wheel slowly.",
        &["!contrast changed"],
    );
    finds(
        "Keep the box covered at night.",
        "Keep the box uncovered at night.",
        &["!contrast changed"],
    );
    is_same(
        "The hall is not open on Sunday.",
        "The hall is closed on Sunday.",
    );
}

#[test]
fn a_transposed_sentence_is_another_order() {
    finds(
        "The bank sued the tenant.",
        "The tenant sued the bank.",
        &["!order changed"],
    );
    finds(
        "Heat the oil and then add the egg.",
        "Add the egg and then heat the oil.",
        &["!order changed"],
    );
    is_same("We saw online sales grow.", "We saw sales online grow.");
    is_same("They first checked the dam.", "They checked the dam first.");
    is_same(
        "Bring a snack and two coins.",
        "Bring two coins and a snack.",
    );
    is_same("It rains, the man said.", "It rains, said the man.");
}

#[test]
fn the_roles_of_before_and_after_change_with_them() {
    is_same(
        "Sign the form before the keys are handed over.",
        "The keys are handed over after the form is signed.",
    );
}

#[test]
fn recall_counts_each_form_once() {
    let comparison = compare(
        &english("Take 5 mg and 5 mg, then 6 mg. Do not stop."),
        &english("Take 5 mg. Do not stop."),
    );
    let numbers = comparison.recall(Kind::Number).unwrap();
    assert_eq!((numbers.kept, numbers.total), (1, 2));
    assert_eq!(comparison.recall(Kind::Name), None);
    // Of two numbers and a negation one is lost.
    let recall = comparison.critical_recall().unwrap();
    assert!((recall - 2.0 / 3.0).abs() < 1e-12, "{recall}");
    assert_eq!(comparison.invented(), 0);
    assert!(!comparison.is_truncated());
    assert_eq!(
        compare(&english("Cats sleep."), &english("Cats sleep.")).critical_recall(),
        None
    );
}

#[test]
fn findings_have_their_atoms() {
    let (original, decoded) = ("Wash it before you cook it.", "Wash it after you cook it.");
    let comparison = compare(&english(original), &english(decoded));
    let finding = &comparison.findings()[0];
    assert_eq!(finding.change, Change::Changed);
    assert_eq!(
        &original[finding.original.as_ref().unwrap().span.clone()],
        "before"
    );
    assert_eq!(
        &decoded[finding.decoded.as_ref().unwrap().span.clone()],
        "after"
    );
}

#[test]
fn operators_of_very_long_texts_are_not_compared() {
    let long = "Do not open it. ".repeat(2_001);
    let comparison = compare(&english(&long), &english("Open 7 doors."));
    assert!(comparison.is_truncated());
    assert_eq!(comparison.findings().len(), 1);
    assert_eq!(comparison.recall(Kind::Negation), None);
    assert_eq!(comparison.critical_recall(), None);
}

#[test]
fn a_line_that_ends_within_an_identifier_changes_nothing() {
    finds("Flight LH\n441 leaves.", "Flight LH 441 leaves.", &[]);
    finds("Press Ctrl +\nP now.", "Press Ctrl + P now.", &[]);
}

#[test]
fn words_that_gave_way_count_in_their_kind_and_the_operators_near_them_are_kept() {
    let share = |original: &str, decoded: &str, kind| {
        let comparison = compare(&english(original), &english(decoded));
        comparison
            .recall(kind)
            .map(|share| (share.kept, share.total))
    };
    let sued = "The bank sued the tenant after the flood.";
    let turned = "The tenant sued the bank after the flood.";
    assert_eq!(share(sued, sued, Kind::Order), Some((1, 1)));
    assert_eq!(share(sued, turned, Kind::Order), Some((1, 2)));
    let (left, right) = (
        "Turn the left handle slowly.",
        "Turn the right handle slowly.",
    );
    assert_eq!(share(left, left, Kind::Contrast), None);
    assert_eq!(share(left, right, Kind::Contrast), Some((0, 1)));
}
