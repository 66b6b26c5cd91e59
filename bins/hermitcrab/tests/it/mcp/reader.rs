//! A server that only reads keeps its blocks, and sees what other processes write.

use serde_json::json;

use super::yard;
use crate::mcp::client::Client;
use crate::program::{DATA, Place};

#[tokio::test]
async fn an_edit_of_another_process_is_in_the_next_answer() {
    let place = yard();
    let client = Client::start(&place, false).await;
    let node = || client.done("block_read", json!({"name": "yard", "path": "0.3"}));
    assert_eq!(node().await["content"], "A saw");
    for saws in ["Two saws", "Three saws"] {
        place.run(&["block", "write", "yard", "0.3", saws]).exits(0);
        for _ in 0..3 {
            assert_eq!(node().await["content"], saws);
        }
    }
    place.run(&["block", "undo", "yard"]).exits(0);
    assert_eq!(node().await["content"], "Two saws");
    // An editor writes the file alone, and the log does not know.
    let file = format!("{DATA}/blocks/yard.json");
    let text = std::fs::read_to_string(place.root().join(&file)).unwrap();
    place.file(&file, text.replace("Two saws", "No saws!"));
    assert_eq!(node().await["content"], "No saws!");
    // One that writes in parts: until the file is whole the log counts, and nothing is put aside.
    let whole = std::fs::read_to_string(place.root().join(&file)).unwrap();
    for part in [0, 1, whole.len() / 2, whole.len() - 2] {
        place.file(&file, &whole[..part]);
        assert_eq!(node().await["content"], "Two saws", "{part} bytes");
    }
    place.file(&file, &whole);
    assert_eq!(node().await["content"], "No saws!");
    assert_eq!(place.names("data/quarantine"), [""; 0]);
    client.leave().await;
}

#[tokio::test]
async fn blocks_come_and_go_while_it_reads() {
    let place = Place::with_data();
    let client = Client::start(&place, false).await;
    let names = || async {
        let list = client.done("block_list", json!({})).await;
        let rows = list.as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(names().await, [""; 0]);
    place
        .run(&["block", "create", "shed", "The shed."])
        .exits(0);
    assert_eq!(names().await, ["shed"]);
    place
        .run(&["block", "create", "attic", "The attic."])
        .exits(0);
    assert_eq!(names().await, ["attic", "shed"]);
    place.run(&["block", "rm", "shed", "--whole"]).exits(0);
    assert_eq!(names().await, ["attic"]);
    std::fs::remove_dir_all(place.root().join(DATA)).unwrap();
    let error = client.fails("block_list", json!({})).await;
    assert!(error.to_string().contains("no such data folder"), "{error}");
    place
        .run(&["block", "create", "cellar", "The cellar."])
        .exits(0);
    assert_eq!(names().await, ["cellar"]);
    client.leave().await;
}
