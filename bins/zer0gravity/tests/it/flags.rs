//! `--fail-on-flag`: flags change no score, but can be a check.

use test_support::{CompressionStub, StubMode};

use crate::program::{Place, column};

#[test]
fn a_flag_is_4_if_that_is_asked_for() {
    let (place, stub) = (Place::new(), CompressionStub::start(StubMode::Ok));
    // The encoding is the text.
    place.file("same.jsonl", "{\"id\": \"a\", \"text\": \"a b c\"}\n");
    let arguments = ["run", "--dataset", "same.jsonl", "--fail-on-flag"];
    let flagged = place.asking(&stub, &arguments).exits(4).results();
    assert_eq!(flagged[0]["flags"][0]["id"], "identity_encoding");
    let unasked = place.asking(&stub, &arguments[..3]).exits(0).results();
    assert_eq!(column(&unasked, "/total"), column(&flagged, "/total"));
    place
        .asking(&stub, &["run", "--level", "1", "--fail-on-flag"])
        .exits(0);
}
