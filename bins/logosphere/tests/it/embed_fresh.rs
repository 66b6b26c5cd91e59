//! Vectors that replace those of earlier commands.

use std::fs;

use test_support::{Answer, FaultServer};

use crate::embed::{TEXTS, ask, body, file, good, inputs, is_probe, records, run, sent, server};
use crate::program::Place;

const FOLDER: &str = "E/analysis/embeddings";

/// The names of the files of vectors.
fn names(place: &Place) -> Vec<String> {
    let mut names = place.names(FOLDER);
    names.retain(|name| name != "lock");
    names
}

/// A server that answers the probes and one request, then fails.
fn failing() -> FaultServer {
    FaultServer::play(|request| {
        if is_probe(request)
            || inputs(request)
                .iter()
                .any(|text| text == "Seed 0 is a text.")
        {
            good(request)
        } else {
            Answer::json(400, "{\"error\":{\"message\":\"no more\"}}".to_owned())
        }
    })
}

#[test]
fn kept_vectors_stay_until_all_new_ones_are_there_and_no_text_is_paid_twice() {
    let place = run();
    ask(&place, &server(), "").exits(0);
    let (path, kept) = (file(&place), fs::read(file(&place)).unwrap());
    let failing = failing();
    ask(&place, &failing, "--embed-fresh").exits(1).tells(&[
        "vectors of 64 of 150 texts are kept, and the earlier ones until all are there, ",
        "; the same command sends only the others",
    ]);
    assert_eq!(fs::read(&path).unwrap(), kept);
    assert_eq!(names(&place).len(), 2);
    // The kept vectors are used meanwhile.
    ask(&place, &server(), "--embed-cached").exits(0);
    let good = server();
    ask(&place, &good, "--embed-fresh").exits(0);
    assert_eq!((names(&place).len(), records(&place)), (1, 4 + TEXTS));
    let all = sent(&[&good]);
    assert_eq!((all.len(), all.values().max()), (TEXTS - 64, Some(&1)));
    // The next replacement begins again.
    let again = server();
    ask(&place, &again, "--embed-fresh").exits(0);
    assert_eq!(sent(&[&again]).len(), TEXTS);
}

/// A server with another encoder of the same name.
fn other() -> FaultServer {
    let turned = |text: &str| serde_json::json!([7, text.len(), 1]);
    FaultServer::play(move |request| Answer::json(200, body(request, turned).to_string()))
}

#[test]
fn the_vectors_of_a_first_replacement_that_failed_are_used_and_then_kept() {
    let place = run();
    ask(&place, &failing(), "--embed-fresh").exits(1);
    let good = server();
    ask(&place, &good, "").exits(0);
    assert_eq!(sent(&[&good]).len(), TEXTS - 64);
    assert!(file(&place).to_string_lossy().ends_with(".bin"));
    assert_eq!(records(&place), 4 + TEXTS);
    // They are kept ones now, so that a replacement begins again.
    let again = server();
    ask(&place, &again, "--embed-fresh").exits(0);
    assert_eq!(sent(&[&again]).len(), TEXTS);
}

#[test]
fn a_stop_before_the_new_vectors_have_their_place_leaves_one_file_that_is_read() {
    let place = run();
    ask(&place, &server(), "").exits(0);
    let old = file(&place);
    ask(&place, &other(), "--embed-fresh").exits(0);
    let new = file(&place);
    assert_ne!(old, new);
    fs::remove_file(&new).unwrap();
    ask(&place, &server(), "").exits(0);
    // A folder that is not empty keeps the new file from its place.
    fs::create_dir_all(new.join("full")).unwrap();
    ask(&place, &other(), "--embed-fresh")
        .exits(1)
        .tells(&[".bin"]);
    assert!(!old.exists() && new.with_extension("fresh").exists());
    fs::remove_dir_all(&new).unwrap();
    let unused = server();
    ask(&place, &unused, "--embed-cached").exits(0);
    assert!(unused.requests().is_empty());
    let last = other();
    ask(&place, &last, "--embed-fresh").exits(0);
    assert_eq!((file(&place), sent(&[&last]).len()), (new, 0));
}

#[test]
fn an_unfinished_replacement_of_another_encoder_begins_again() {
    let place = run();
    ask(&place, &failing(), "--embed-fresh").exits(1);
    assert!(names(&place)[0].contains(".fresh"));
    let other = other();
    ask(&place, &other, "--embed-fresh").exits(0);
    assert_eq!((names(&place).len(), records(&place)), (1, 4 + TEXTS));
    assert_eq!(sent(&[&other]).len(), TEXTS);
}

#[cfg(unix)]
#[test]
fn a_replacement_touches_no_file_of_others() {
    use std::os::unix::fs::symlink;
    let place = run();
    ask(&place, &server(), "").exits(0);
    let away = |name: &str| place.path(&format!("away/{name}"));
    place.file("away/data.bin", "mine");
    place.file(&format!("{FOLDER}/notes.bin"), "mine");
    ask(&place, &server(), "--embed-fresh").exits(0);
    assert_eq!(place.read(&format!("{FOLDER}/notes.bin")), "mine");
    let count = names(&place).len();
    for name in ["E/analysis", FOLDER] {
        fs::rename(place.path(name), away("moved")).unwrap();
        for target in ["moved", ""] {
            symlink(away(target), place.path(name)).unwrap();
            let server = server();
            let words = [name, " is a link, and nothing is written through links"];
            ask(&place, &server, "--embed-fresh").exits(2).tells(&words);
            assert!(server.requests().is_empty());
            fs::remove_file(place.path(name)).unwrap();
        }
        fs::rename(away("moved"), place.path(name)).unwrap();
    }
    assert_eq!(place.names("away"), ["data.bin"]);
    assert_eq!(names(&place).len(), count);
}
