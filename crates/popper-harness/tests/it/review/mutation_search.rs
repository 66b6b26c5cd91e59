//! The mutation search refutes what no other stage does (P44).
//!
//! Of the 34 fixture laws and the 2,000 generated from seed 900,000 on it alone refutes one, so it stays.

use popper_harness::decide::{Config, Harness, Status};
use popper_harness::law::{Extensions, Law};
use popper_harness::universe::KineticGrid;

use crate::random_law::random_law;

#[test]
fn it_refutes_a_law_that_sampling_does_not() {
    let law = Law::from_value(random_law(900_041), "$", Extensions::default()).unwrap();
    let decide = |adversarial| {
        let config = Config::default().adversarial(adversarial);
        Harness::new(KineticGrid, config).unwrap().evaluate(&law)
    };
    assert_ne!(decide(false).status, Status::Fail);
    let verdict = decide(true);
    assert_eq!(verdict.status, Status::Fail);
    assert!(verdict.power.families.contains_key("adversarial_mutation"));
}
