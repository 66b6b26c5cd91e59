//! Room for the recursion of the compiler, whatever the text.

use std::thread;

use super::compile_error::{CompileError, Kind};

/// The deepest nesting of brackets that is compiled; a face has some dozens.
const DEEPEST: usize = 256;

/// The most `<` that no `>` follows: each can begin a list of types, which the parser tries.
const ANGLES: usize = 1024;

/// The stack of the thread that compiles, in bytes, for what [`shallow`] lets nest.
const STACK: usize = 32 << 20;

/// The stack for each byte of the text. The compiler calls itself for each operator, tag or statement of a chain:
/// without optimisation that takes up to 2,900 bytes for `<></>`, 1,240 for `a=>`, 400 for `!`, so at most 560 for a byte.
/// Pages that are not touched cost nothing.
const STACK_A_BYTE: usize = 768;

/// Runs work on a stack that no text of `length` bytes fills.
///
/// # Errors
/// The thread cannot be made, or the work panicked.
pub(super) fn with_room<T: Send>(
    length: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, CompileError> {
    let failed = |message: &str| CompileError::without_position(Kind::Syntax, message);
    thread::scope(|scope| {
        let worker = thread::Builder::new()
            .name("compile_shell".to_owned())
            .stack_size(STACK + length * STACK_A_BYTE)
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
pub(super) fn shallow(source: &str) -> Result<(), CompileError> {
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
        return Err(CompileError::new(Kind::Syntax, at as u32, message));
    }
    Ok(())
}
