// The built-in runtime: as much of React 18 as a shell needs, for a machine without React. Each place of the tree is a
// part: a text, a host element, a component or a group. `schedule` marks a part and the way down to it. `flush` walks
// down from the roots, renders what is marked, compares the result with what is there and changes the document as it
// goes. Refs, layout effects and lifecycle methods wait until the walk is done; passive effects run in a later task.
// gap: rendering is never interrupted: transitions and deferred values apply at once, `isPending` is always false
// gap: the document changes, and cleanups of layout effects run, while other components still render
// gap: an update that fails has run some cleanups and refs before its boundary takes over
// gap: an updater that changes nothing never renders; what effects set is shown at once, not in a second pass
// gap: the rest of React's exports, such as portals, Suspense, Children, PureComponent and `use`
// gap: class methods beyond mounting, updating, unmounting and catching; no string refs, no context of classes
// gap: an event object is the browser's own, with its `target`, `keyCode` and `nativeEvent`; so are `select` and `beforeinput`
// gap: an element with a hyphen in its name gets attributes like any other
// gap: no server rendering, warnings, developer tools and component stacks
