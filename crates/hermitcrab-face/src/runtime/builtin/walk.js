// The walk: what is marked is brought up to date, then effects run. Roots.

const roots = new Set();
let layouts = [];
let passives = [];
let busy = false;
let waiting = false;
let nested = 0;
/// An event's handlers run, or did and their update is to come: its passive effects do not wait for a task.
let inEvent = false;
let urgent = false;
/// The walk is at work on the document. Events that this makes, such as a loss of focus, are nobody's doing.
let moving = false;

function schedule(part) {
  if (!part.alive) return;
  if (nested > 50) {
    nested = 0;
    throw new Error('Maximum update depth exceeded. This can happen when a component sets state in each of its layout '
      + 'effects or in componentDidUpdate. React limits the number of nested updates to prevent infinite loops.');
  }
  part.dirty = true;
  for (let above = part.parent; above && !above.below; above = above.parent) above.below = true;
  urgent = urgent || inEvent;
  if (busy || waiting) return;
  waiting = true;
  queueMicrotask(flush);
}

function flush() {
  if (busy) return;
  waiting = false;
  busy = true;
  for (;;) {
    // What was committed before is over before anything is rendered.
    runPassives();
    const pending = [...roots].filter((root) => root.dirty || root.below);
    if (pending.length === 0) break;
    const focused = document.activeElement;
    moving = true;
    for (const root of pending) {
      try {
        visit(root);
      } catch (error) {
        dismiss(root, error);
      }
    }
    // A node that was moved has lost the focus.
    if (focused && focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    moving = false;
    const queue = layouts;
    layouts = [];
    for (const { part, run } of queue) {
      if (part.alive) attempt(part, run);
    }
    nested += 1;
    if (![...roots].some((root) => root.dirty || root.below)) break;
  }
  nested = 0;
  busy = false;
  const now = urgent;
  urgent = false;
  if (passives.length === 0) return;
  if (now) runPassives();
  else task.port2.postMessage(null);
}

// Not a timer and not a frame: a hidden page has none, or slow ones.
const task = new MessageChannel();
task.port1.onmessage = () => {
  if (!busy) runPassives();
};

function runPassives() {
  const queue = passives;
  passives = [];
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

/// Runs code of a shell outside of a render. What it throws goes to the boundary above, or ends the root.
function attempt(part, run) {
  try {
    run();
  } catch (error) {
    let above = part.parent;
    while (above && above.parent && !(above.boundary && above.alive)) above = above.parent;
    if (above && above.boundary) {
      above.fault = { error };
      above.forced = true;
      schedule(above);
    } else {
      dismiss(above || part, error);
    }
  }
}

function dismiss(root, error) {
  root.el = element(ROOT, null, null, { container: root.el.props.container });
  root.dirty = root.below = root.unplaced = false;
  root.children.splice(0).forEach(remove);
  reportError(error);
}

function flushSync(work) {
  const before = inEvent;
  inEvent = true;
  try {
    return work && work();
  } finally {
    inEvent = before;
    flush();
  }
}

function createRoot(container) {
  let root = null;
  return {
    render(children) {
      const el = element(ROOT, null, null, { container, children });
      if (root === null) {
        container.textContent = '';
        root = newPart(el, null);
        roots.add(root);
      }
      root.el = el;
      schedule(root);
    },
    unmount() {
      if (root === null) return;
      const gone = root;
      root = null;
      roots.delete(gone);
      gone.children.splice(0).forEach(remove);
      gone.alive = false;
      if (!busy) runPassives();
    },
  };
}
