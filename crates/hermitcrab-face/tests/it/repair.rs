//! Repair with the real compiler: a faulty face is refused with the position of its fault, and the model fixes it in the same turn.

use std::sync::Arc;

use hermitcrab_face::jsx::OxcCompiler;
use hermitcrab_kernel::{Brain, EventSink, Kernel, OfflineBrain, ScriptBrain, ScriptStep};
use pscale_blocks::MemStore;
use serde_json::json;
use test_support::FakeClock;
use tokio_util::sync::CancellationToken;

fn kernel(brain: impl Brain + 'static) -> Kernel {
    let opened = Kernel::builder(Arc::new(MemStore::new()), Arc::new(brain))
        .compiler(Arc::new(OxcCompiler))
        .clock(Arc::new(FakeClock::new()))
        .open();
    opened.unwrap()
}

#[tokio::test]
async fn the_model_reads_line_and_column_and_mends_its_face() {
    let kernel = kernel(OfflineBrain);
    let boot = kernel.boot(EventSink::none(), CancellationToken::new());
    assert_eq!(boot.await.unwrap().shell, Some(1));
    let turn = kernel.turn(
        "break".to_owned(),
        EventSink::none(),
        CancellationToken::new(),
    );
    let turn = turn.await.unwrap();
    let source = kernel.faces().source(1).unwrap().unwrap();
    let line = source
        .lines()
        .position(|line| line.trim() == "</main>")
        .unwrap()
        + 1;
    let place = format!("line {line}, column 7: ");
    assert!(turn.text.contains(&place), "{}", turn.text);
    assert!(turn.text.contains("The face is repaired."), "{}", turn.text);
    assert_eq!(turn.tools, ["recompile", "recompile"]);
    assert_eq!(
        kernel.faces().shells().len(),
        2,
        "the faulty one is not kept"
    );
}

#[tokio::test]
async fn after_three_failed_repairs_the_safe_face_has_the_errors() {
    let broken = |id: &str| {
        let jsx = format!("function App() {{\n  return <p>{{nobody}}{id}</p>;\n}}");
        ScriptStep::tools(&[(id, "recompile", json!({ "jsx": jsx }))])
    };
    let brain = ScriptBrain::new(["a", "b", "c", "d", "e"].map(broken));
    let kernel = kernel(brain);
    let boot = kernel.boot(EventSink::none(), CancellationToken::new());
    let safe = boot.await.unwrap().safe_face.unwrap();
    let error = &safe.errors[0];
    assert_eq!(
        (error.kind.as_str(), error.line, error.column),
        ("undefined_name", Some(2), Some(14))
    );
    assert!(kernel.faces().shells().is_empty());
}
