//! Messages of other programs: each field and each fault, the files of the Python program, and what is measured of them.

mod fields;
mod hostile;
mod limits;
mod measured;
mod reference;

use std::ops::ControlFlow;

use logosphere_core::import::{Import, ImportError, ImportPlan, Imported, ImportedRun};

/// Imports one text by a plan.
fn imported(text: &[u8], is_csv: bool, plan: ImportPlan) -> Result<Imported, ImportError> {
    let mut on_line = || ControlFlow::Continue(());
    let mut import = Import::new(plan, &mut on_line);
    if is_csv {
        import.add_csv("m.csv", text)?;
    } else {
        import.add_jsonl("m.jsonl", text)?;
    }
    import.finish()
}

fn jsonl(text: &str) -> Result<Imported, ImportError> {
    imported(text.as_bytes(), false, ImportPlan::default())
}

fn csv(text: &str) -> Result<Imported, ImportError> {
    imported(text.as_bytes(), true, ImportPlan::default())
}

/// Returns the plan with these settings as flags write them.
fn plan(reads: &str, round: &str) -> ImportPlan {
    let mut plan = ImportPlan::default();
    plan.exposure = (!reads.is_empty()).then(|| reads.parse().unwrap());
    plan.round = (!round.is_empty()).then(|| round.parse().unwrap());
    plan
}

/// Returns the bytes of `imported.jsonl`.
fn written(imported: &Imported) -> Vec<u8> {
    let mut bytes = Vec::new();
    imported.write(&mut bytes).unwrap();
    bytes
}

/// Returns the run that analyses read.
fn run(imported: &Imported) -> ImportedRun {
    ImportedRun::read(&written(imported)[..]).unwrap()
}

/// Returns the first lines of the error of bad messages.
fn problems(result: Result<Imported, ImportError>) -> String {
    match result {
        Err(error) => error.to_string(),
        Ok(imported) => panic!("{imported:?}"),
    }
}
