// The built-in runtime: as much of React 18 as a shell needs, for a machine without npm.
//
// How it works. Each place of the tree is a part: a text, a host element, a component, or a group (fragment, provider,
// portal, root). `schedule` marks a part and the way down to it, `flush` walks down from the roots, calls what is
// marked, compares what comes back with what is there and changes the document as it goes. Layout effects, refs and
// lifecycle methods are queued on the way and run when the walk is done; passive effects run in a task of their own.
//
// What React does and this does not (`Runtime::gaps` reads these lines):
// gap: rendering is never interrupted: transitions and deferred values apply at once, `isPending` is always false
// gap: the document changes while components run: one that reads it during render may see half of an update
// gap: an update that fails has run some cleanups and refs before its boundary takes over
// gap: Suspense shows its children only; a promise thrown in render is an error, and there is no `lazy` and no `use`
// gap: no string refs, no legacy context, no `UNSAFE_` and `componentWill...` methods but `componentWillUnmount`
// gap: no server rendering, no hydration, no `ReactDOM.render`, no `findDOMNode`
// gap: an event object is the browser's own; `onChange` comes with `input` of text fields and `change` of others
// gap: `onSelect` and `onBeforeInput` are the browser's events of these names
// gap: custom elements get their properties by the rules of other elements
// gap: state that is set to what it is never renders again; React renders once more before it sees that
// gap: no warnings for missing keys and wrong use, no developer tools, no component stacks
