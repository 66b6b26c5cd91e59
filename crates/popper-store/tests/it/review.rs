//! Faults that a review found.

use popper_discovery::store::{CallRow, ModelCallRow, Store as _};

use crate::made;

#[tokio::test]
async fn the_log_stays_within_16_mib_while_a_run_works() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("popper.db");
    let mut database = made::write(&path).await;
    made::queue(&mut database, 1).await;
    let log = folder.path().join("popper.db-wal");
    let mut largest = 0;
    for turn in 0..40 {
        let call = CallRow {
            id: i64::from(turn) + 1,
            run_id: 1,
            iteration_id: 1,
            turn,
            created_at: made::time(),
            call: ModelCallRow {
                model_id: "a model".into(),
                prompt_hash: "hash".into(),
                request_json: "q".repeat(500_000),
                // Now and then the largest reply that there is.
                reply_text: "r".repeat(if turn % 10 == 3 { 10 << 20 } else { 500_000 }),
                usage_json: "{}".into(),
            },
        };
        database.add_call(&call).await.unwrap();
        largest = largest.max(log.metadata().unwrap().len());
    }
    assert!(largest <= 16 << 20, "{largest} bytes");
}
