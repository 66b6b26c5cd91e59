use std::io::{self, BufReader, Read};

use durable::lines;

#[test]
fn lines_have_numbers_and_places_and_the_last_may_lack_its_end() {
    let text = b"one\n\n\xff\r\ntorn";
    let found: Vec<_> = lines(&text[..]).map(Result::unwrap).collect();
    let rows = found
        .iter()
        .map(|line| (line.number, line.offset, line.text(), line.is_whole()));
    let expected: [(usize, u64, &[u8], bool); 4] = [
        (1, 0, b"one", true),
        (2, 4, b"", true),
        (3, 5, b"\xff\r", true),
        (4, 8, b"torn", false),
    ];
    assert!(rows.eq(expected));
    assert_eq!(lines(&b""[..]).count(), 0);
}

#[test]
fn after_an_error_there_are_no_more_lines() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::TimedOut.into())
        }
    }
    let file = BufReader::new((&b"one\ntwo\n"[..]).chain(Broken));
    let found: Vec<_> = lines(file).map(|line| line.is_ok()).collect();
    assert_eq!(found, [true, true, false]);
}
