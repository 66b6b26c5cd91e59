//! Properties over random bytes. `PROPTEST_CASES` sets how many.

use proptest::prelude::*;
use proptest::sample::Index;

use super::SseDecoder;

type Decoded = (Vec<(String, String)>, Result<bool, String>);

fn decode(pieces: &[&[u8]], limit: u64) -> Decoded {
    let mut decoder = SseDecoder::new(limit);
    let mut events = Vec::new();
    let mut read = || {
        for piece in pieces {
            decoder.push(piece);
            while let Some(event) = decoder.next_event()? {
                events.push((event.event.to_owned(), event.data.to_owned()));
            }
        }
        if let Some(event) = decoder.finish()? {
            events.push((event.event.to_owned(), event.data.to_owned()));
        }
        Ok(decoder.is_pending())
    };
    let end = read().map_err(|error: crate::Error| error.to_string());
    (events, end)
}

fn cut<'a>(stream: &'a [u8], at: &[Index]) -> Vec<&'a [u8]> {
    let mut at: Vec<_> = at.iter().map(|at| at.index(stream.len() + 1)).collect();
    at.sort_unstable();
    let starts = std::iter::once(0).chain(at.iter().copied());
    let ends = at.iter().copied().chain([stream.len()]);
    starts
        .zip(ends)
        .map(|(start, end)| &stream[start..end])
        .collect()
}

/// Bytes of which an event stream is made, and some of which it is not.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let pieces: &[&[u8]] = &[
        b"data",
        b"event",
        b":",
        b" ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"{}",
        b"{\"a\":1}",
        b"[DONE]",
        b"x",
        b"data: ",
        b"event: a\n",
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"\xc2\x85",
        b"\xf0\x9f\x99\x82",
        b"\xff",
        b"\xc3",
        b": note\n",
        b"id: 1\n",
    ];
    let piece = prop_oneof![
        20 => proptest::sample::select(pieces).prop_map(<[u8]>::to_vec),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
    ];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), cuts: [Index; 3]) {
        prop_assert_eq!(decode(&[&bytes], 100), decode(&cut(&bytes, &cuts), 100));
    }

    #[test]
    fn any_split_of_any_stream_gives_the_same_events(
        stream in stream(),
        cuts in proptest::collection::vec(any::<Index>(), 0..8),
        limit in prop_oneof![Just(20_u64), Just(1 << 20)],
    ) {
        let whole = decode(&[&stream], limit);
        prop_assert_eq!(&whole, &decode(&cut(&stream, &cuts), limit));
        let bytes: Vec<_> = stream.chunks(1).collect();
        prop_assert_eq!(&whole, &decode(&bytes, limit));
    }
}
