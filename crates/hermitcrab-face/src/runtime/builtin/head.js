// The built-in runtime: as much of React 18 as a shell needs, for a machine without React. Each place of the tree is a
// part: a text, a host element, a component or a group. `schedule` marks a part and the way down to it. `flush` walks
// down from the roots, renders what is marked, compares the result with what is there and changes the document as it
// goes. Refs, layout effects and lifecycle methods wait until the walk is done; passive effects run in a later task.
// gap: rendering is never interrupted: transitions and deferred values apply at once, `isPending` is always false
// gap: the document changes while components run: one that reads it during render may see half of an update
// gap: an update that fails has run some cleanups and refs before its boundary takes over
// gap: updater functions and reducers run when state is set; state that is set to what it is never renders again
// gap: the rest of React's exports, such as portals, Suspense, Children, PureComponent and `use`
// gap: class methods beyond mounting, updating, unmounting and catching; no string refs and no legacy context
// gap: an event object is the browser's own; `onChange` comes with `input` of text fields and `change` of others
// gap: no server rendering, warnings, developer tools and component stacks
