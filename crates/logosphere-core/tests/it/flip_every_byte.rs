//! One altered byte anywhere in a journal is found.

use logosphere_core::config::Scheduling;
use logosphere_core::verify::verify;

use crate::desk;

#[test]
fn any_single_byte() {
    let settings = desk::settings(Scheduling::Sequential).with(|settings| {
        settings.n_minds = 2;
        settings.k_samples = 1;
        settings.max_rounds = 1;
    });
    let (_, journal) = desk::run(&settings, desk::mind(&settings));
    verify(&journal[..]).unwrap();
    let mut line = 1;
    for at in 0..journal.len() {
        for bit in [0x01, 0x20, 0x80] {
            let mut flipped = journal.clone();
            flipped[at] ^= bit;
            let error = verify(&flipped[..]).expect_err("a flipped bit was not found");
            // The line with the flipped byte, or the one that it was joined to or cut into.
            let said = error.to_string();
            let named = [format!("line {line}"), format!("line {}", line + 1)];
            assert!(
                named.iter().any(|name| said.starts_with(name)),
                "byte {at}, line {line}: {said}"
            );
        }
        line += usize::from(journal[at] == b'\n');
    }
}
