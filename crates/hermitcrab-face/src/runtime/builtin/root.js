// Roots, the walk, and effects.
const roots = new Set();
const layouts = [];
const passives = [];
let busy = false;
/// What was done is seen to at once: it was an event or a fault.
let urgent = false;
/// The walks of this flush: all of them, and those since one was found to be too many.
let walks = 0;
/// Boundaries without getDerivedStateFromError that took a fault in this flush take no other one.
const failed = new Set();
let nested = 0;

function schedule(part) {
  if (part.alive && nested > 50) {
    nested = 0;
    throw new Error('Maximum update depth exceeded: an effect sets state each time it runs.');
  }
  mark(part);
}

function mark(part) {
  if (!part.alive) return;
  part.dirty = true;
  for (let above = part.parent; above && !above.below; above = above.parent) above.below = true;
  queueMicrotask(flush);
}

function force(part) {
  part.forced = true;
  mark(part);
}

const marked = () => [...roots].filter((root) => root.dirty || root.below);

function flush() {
  if (busy || marked().length === 0) return;
  busy = true;
  // What was committed before is over before anything is rendered.
  runEffects(passives);
  for (let pending = marked(); pending.length > 0; pending = marked()) {
    const focused = document.activeElement;
    quiet = true;
    pending.forEach((root) => attempt(root, () => visit(root)));
    // A node that was moved has lost the focus.
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    quiet = false;
    runEffects(layouts);
    [walks, nested] = [walks + 1, nested + 1];
    if (marked().length > 0) runEffects(passives);
  }
  busy = false;
  if (!urgent && passives.length > 0) task.port2.postMessage(null);
  if (urgent) {
    urgent = false;
    runEffects(passives);
  }
  // A fault in these is of the same flush.
  if (urgent) return;
  walks = nested = 0;
  failed.clear();
}

// Neither a timer nor a frame: a hidden page has none, or slow ones.
const task = new MessageChannel();
task.port1.onmessage = () => busy || runEffects(passives);

/// All cleanups come before all effects.
function runEffects(list) {
  const queue = list.splice(0);
  for (const { part, hook } of queue) attempt(part, () => clean(hook));
  for (const { part, hook, create } of queue) {
    if (create && part.alive) attempt(part, () => { hook.cleanup = create(); });
  }
}

function clean(hook) {
  const { cleanup } = hook;
  hook.cleanup = undefined;
  if (typeof cleanup === 'function') cleanup();
}

/// Runs code of a shell. What it throws goes to the boundary above, or ends the root.
function attempt(part, run) {
  try {
    run();
  } catch (error) {
    urgent = true;
    let above = part;
    // What fails again and again ends the root.
    const takes = (at) => walks <= 200 && at !== part && at.boundary && at.alive && !failed.has(at);
    while (above.parent && !takes(above)) above = above.parent;
    above.fault = { error };
    if (above.boundary) return force(above);
    // No boundary: this is the root.
    Object.assign(above, { dirty: false, below: false, unplaced: false, fault: null });
    above.children.splice(0).forEach(remove);
    reportError(error);
  }
}

function createRoot(container) {
  const root = newPart(element(Fragment, {}), null);
  root.node = container;
  container.textContent = '';
  listenAt(root);
  return {
    render(children) {
      root.el = element(Fragment, { children });
      roots.add(root);
      force(root);
    },
    unmount() {
      roots.delete(root);
      root.children.splice(0).forEach(remove);
      if (!busy) runEffects(passives);
    },
  };
}

const version = '18.3.1-builtin';
const act = (work) => void work();
global.React = {
  createElement, isValidElement, createContext, Component, Fragment, StrictMode: Fragment, version,
  useState, useReducer, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext, useId,
  memo: (type, compare) => ({ $$typeof: MEMO, type, compare: compare || sameProps }),
  forwardRef: (render) => ({ $$typeof: FORWARD, render }),
  createRef: () => ({ current: null }),
  useDebugValue: () => {},
  useDeferredValue: (value) => value,
  useTransition: () => [false, act],
  startTransition: act,
};
global.ReactDOM = { createRoot, version };
