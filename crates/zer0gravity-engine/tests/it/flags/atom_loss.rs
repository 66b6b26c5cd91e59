//! Commitments that are lost, and how a flag names them.

use zer0gravity_engine::judge::flags::{FlagId, FlagInput, detect};
use zer0gravity_engine::metrics::compare_atoms;

#[test]
fn the_evidence_of_lost_atoms_is_the_first_three() {
    let evidence = |original: &str, decoded: &str| {
        let atoms = compare_atoms(original, decoded);
        let input = FlagInput::new("", original, "x", decoded).atoms(Some(&atoms));
        let flags = detect(&input).into_iter();
        let mut lost = flags.filter(|flag| flag.id == FlagId::AtomLoss);
        lost.next().map(|flag| flag.evidence)
    };
    let original = "Do not open the valve. Wash it before entry. Take 30 mg. Ask Ann.";
    let decoded = "Open the valve. Wash it after entry. Take 30 g. Ask her.";
    assert_eq!(
        evidence(original, decoded).as_deref(),
        Some(
            "lost: not (Do not open the valve); changed: before -> after (Wash it before entry); \
             changed: 30 mg -> 30 g (Take 30 mg); 1 more"
        )
    );
    assert_eq!(evidence(original, original), None);
}
