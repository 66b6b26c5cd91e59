// Roots, the walk, and effects.
const roots = new Set();
const layouts = [];
const passives = [];
let busy = false;
let nested = 0;

function schedule(part) {
  if (!part.alive) return;
  if (nested > 50) throw new Error('Maximum update depth exceeded: an effect sets state each time it runs.');
  part.dirty = true;
  for (let above = part.parent; above && !above.below; above = above.parent) above.below = true;
  queueMicrotask(flush);
}

function force(part) {
  part.forced = true;
  schedule(part);
}

const marked = () => [...roots].filter((root) => root.dirty || root.below);

function flush() {
  if (busy || marked().length === 0) return;
  busy = true;
  // What was committed before is over before anything is rendered.
  runPassives();
  for (let pending = marked(); pending.length > 0; pending = marked()) {
    const focused = document.activeElement;
    quiet = true;
    pending.forEach((root) => attempt(root, () => visit(root)));
    // A node that was moved has lost the focus.
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    quiet = false;
    for (const { part, run } of layouts.splice(0)) {
      if (part.alive) attempt(part, run);
    }
    nested += 1;
    if (marked().length > 0) runPassives();
  }
  nested = 0;
  busy = false;
  if (passives.length > 0) task.port2.postMessage(null);
}

// Neither a timer nor a frame: a hidden page has none, or slow ones.
const task = new MessageChannel();
task.port1.onmessage = () => busy || runPassives();

function runPassives() {
  const queue = passives.splice(0);
  for (const { part, hook } of queue) attempt(part, () => clean(hook));
  for (const { part, hook, create } of queue) {
    if (create && part.alive) attempt(part, () => { hook.cleanup = create(); });
  }
}

function queueEffect(part, { hook, create, deps }) {
  hook.deps = deps;
  if (hook.passive) return passives.push({ part, hook, create });
  attempt(part, () => clean(hook));
  layouts.push({ part, run: () => { hook.cleanup = create(); } });
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
    nested = 0;
    let above = part;
    while (above.parent && (above === part || !above.boundary || !above.alive)) above = above.parent;
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
      if (!busy) runPassives();
    },
  };
}

const version = '18.3.1-builtin';
global.React = {
  createElement, isValidElement, createContext, Component, Fragment, StrictMode: Fragment, version,
  useState, useReducer, useEffect, useLayoutEffect, useRef, useMemo, useCallback, useContext, useId,
  memo: (type, compare) => ({ $$typeof: MEMO, type, compare: compare || sameProps }),
  forwardRef: (render) => ({ $$typeof: FORWARD, render }),
  createRef: () => ({ current: null }),
  useDebugValue: () => {},
  useDeferredValue: (value) => value,
  useTransition: () => [false, (work) => work()],
  startTransition: (work) => work(),
};
global.ReactDOM = { createRoot, version };
