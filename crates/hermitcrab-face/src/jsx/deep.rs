//! Room for the recursion of the compiler, whatever the text.

use std::thread;

use super::fault::{Fault, Kind};

/// The deepest nesting of brackets that is compiled; a face has some dozens.
const DEEPEST: usize = 256;

/// The most `<` that no `>` follows: each can begin a list of types, which the parser tries.
const ANGLES: usize = 1024;

/// The stack of the thread that compiles, in bytes. The compiler calls itself once for each bracket, operator or tag
/// that is open: at most every byte of the largest text, a few KiB each without optimisation. Pages that are not touched
/// cost nothing.
const STACK: usize = 1 << 30;

/// Runs work on a stack that no text of the greatest size fills.
///
/// # Errors
/// The thread cannot be made, or the work panicked.
pub(super) fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, Fault> {
    let failed = |message: &str| Fault::placeless(Kind::Syntax, message);
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("compile_shell".to_owned())
            .stack_size(STACK)
            .spawn_scoped(scope, work)
            .map_err(|_| failed("there is no memory to compile this"))?;
        worker
            .join()
            .map_err(|_| failed("the compiler cannot read this; write it in another way"))
    })
}

/// Refuses a text whose brackets nest deeper than any face.
///
/// Strings and comments count: the parser takes time that grows with the square of the depth, and what text is of a
/// string only the parser knows.
pub(super) fn shallow(source: &str) -> Result<(), Fault> {
    let (mut brackets, mut angles) = (0_usize, 0_usize);
    let mut before = 0;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            b'(' | b'[' | b'{' => brackets += 1,
            b')' | b']' | b'}' => brackets = brackets.saturating_sub(1),
            b'<' => angles += 1,
            b'>' if before != b'=' => angles = angles.saturating_sub(1),
            _ => {}
        }
        before = byte;
        let what = if brackets > DEEPEST {
            format!("brackets nest deeper than {DEEPEST} levels")
        } else if angles > ANGLES {
            format!("more than {ANGLES} < are not closed")
        } else {
            continue;
        };
        let message = format!("{what}; make the code flatter");
        return Err(Fault::new(Kind::Syntax, at as u32, message));
    }
    Ok(())
}
