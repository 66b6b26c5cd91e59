// Parts: what stands at each place of the tree, how it is compared, moved and removed.

const partOfNode = new WeakMap();
const partOfComponent = new WeakMap();

/// Of parts that are no components.
const NONE = Object.freeze([]);

function newPart(el, parent) {
  const part = {
    type: el.type, el, parent, children: [], slot: '', at: 0, moved: true,
    alive: true, fresh: true, dirty: true, below: false, forced: false,
    node: null, shown: null, unplaced: false, attached: null,
    call: null, forward: false, compare: null, hooks: NONE, effects: NONE, contexts: null, changed: false, again: false,
    self: null, committed: null, updates: NONE, boundary: false, fault: null,
  };
  let type = el.type;
  if (type === TEXT || GROUPS.has(type) || typeof type === 'string') return part;
  if (type && type.$$typeof === PROVIDER) return part;
  while (type && type.$$typeof === MEMO) {
    part.compare = part.compare || type.compare || sameProps;
    type = type.type;
  }
  if (type && type.$$typeof === FORWARD) {
    part.forward = true;
    type = type.render;
  }
  if (typeof type !== 'function') {
    let owner = parent;
    while (owner && owner.call === null) owner = owner.parent;
    throw new Error('Element type is invalid: expected a string (for built-in components) or a class/function (for '
      + 'composite components) but got: ' + (type === null ? 'null' : typeof type) + '.'
      + (owner ? ' Check the render method of `' + owner.call.name + '`.' : ''));
  }
  part.call = type;
  part.hooks = [];
  part.updates = [];
  part.contexts = new Set();
  const methods = type.prototype;
  part.boundary = isClass(part)
    && (typeof type.getDerivedStateFromError === 'function' || typeof methods.componentDidCatch === 'function');
  return part;
}

const isClass = (part) => part.call !== null && !!(part.call.prototype && part.call.prototype.isReactComponent);

/// The node that holds a part's nodes, if the part is one that has such a node.
const boxOf = (part) => part.type === ROOT || part.type === PORTAL ? part.el.props.container : part.node;

function sameProps(a, b) {
  if (Object.is(a, b)) return true;
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length
    && names.every((name) => Object.prototype.hasOwnProperty.call(b, name) && Object.is(a[name], b[name]));
}

/// Brings a part up to date with an element of its type.
function update(part, el) {
  const old = part.el;
  const sameRef = old.ref === el.ref;
  // What memo holds for equal keeps its old properties, even if it renders for another reason.
  if (!part.fresh && sameRef && part.compare !== null && part.compare(old.props, el.props)) el = old;
  if (!part.fresh && !part.dirty && sameRef && old.props === el.props) return visit(part);
  part.changed = part.fresh || part.forced || old.props !== el.props || (part.forward && !sameRef);
  part.el = el;
  part.dirty = part.forced = false;
  if (part.type === TEXT) updateText(part);
  else if (typeof part.type === 'string') updateHost(part, old);
  else if (isClass(part)) updateClass(part, old);
  else if (part.call !== null) updateFunction(part);
  else updateGroup(part, old);
  part.fresh = false;
}

/// Looks for marked parts below one that needs nothing itself.
function visit(part) {
  if (part.dirty) return update(part, part.el);
  if (part.below) {
    part.below = false;
    try {
      part.children.forEach((child) => visit(child));
    } catch (error) {
      take(part, error);
    }
  }
  if (part.unplaced) place(part);
}

/// An error boundary takes what was thrown below it and shows something else.
function take(part, error) {
  if (!part.boundary) throw error;
  part.fault = { error };
  part.dirty = true;
  update(part, part.el);
}

function reconcile(part, out) {
  part.below = false;
  const before = new Map(part.children.map((child) => [child.slot, child]));
  const items = listOf(out);
  const alone = !Array.isArray(items);
  const slots = new Set();
  let last = 0;
  const next = [];
  (alone ? [items] : items).forEach((item, at) => {
    const el = asElement(item);
    if (el === null) return;
    let slot = el.key === null ? at : '$' + el.key;
    while (slots.has(slot)) slot += '\u0000';
    slots.add(slot);
    // Holes keep their number: it is the key of what has none. What stands alone may have stood anywhere.
    let child = alone ? part.children.find((one) => one.el.key === el.key) : before.get(slot);
    if (child && child.type === el.type && (el.type !== PORTAL || child.el.props.container === el.props.container)) {
      before.delete(child.slot);
      // What stands behind a neighbour that stood before it stays; the others move.
      if (child.at < last) child.moved = true;
      else last = child.at;
    } else {
      child = newPart(el, part);
    }
    child.slot = slot;
    next.push([child, el]);
  });
  part.children = next.map(([child]) => child);
  before.forEach(remove);
  part.children.forEach((child, at) => { child.at = at; });
  if (part.children.some((child) => child.moved)) {
    let box = part;
    while (!boxOf(box)) box = box.parent;
    box.unplaced = true;
  }
  next.forEach(([child, el]) => update(child, el));
}

/// Puts new and moved nodes where they belong. The others keep their places, with focus and scrolling.
function place(part) {
  const box = boxOf(part);
  const walk = (parent, next, moved) => {
    for (let at = parent.children.length - 1; at >= 0; at -= 1) {
      const child = parent.children[at];
      const moves = moved || child.moved;
      child.moved = false;
      if (child.node) {
        if (moves) box.insertBefore(child.node, next);
        next = child.node;
      } else if (child.type !== PORTAL) {
        next = walk(child, next, moves);
      }
    }
    return next;
  };
  part.unplaced = false;
  walk(part, null, false);
}

function remove(part) {
  bury(part);
  const nodes = (at) => {
    if (at.node) at.node.remove();
    else at.children.forEach(nodes);
  };
  nodes(part);
  // What is inside a removed node goes with it, but a portal's nodes lie elsewhere.
  const portals = (at) => at.children.forEach(at.type === PORTAL ? nodes : portals);
  portals(part);
}

/// Ends the life of a part: cleanups run parent first, passive ones later.
function bury(part) {
  part.alive = false;
  if (part.attached !== null) attempt(part, () => attach(part, null, null));
  if (part.committed !== null && part.self.componentWillUnmount) attempt(part, () => part.self.componentWillUnmount());
  for (const hook of part.hooks) {
    if (!hook.cleanup) continue;
    if (hook.kind === 'passive') passives.push({ part, hook, create: null });
    else attempt(part, () => clean(hook));
  }
  part.children.forEach(bury);
}

function attach(part, ref, value) {
  const old = part.attached;
  part.attached = ref;
  if (typeof old === 'function') old(null);
  else if (old !== null) old.current = null;
  if (typeof ref === 'function') ref(value);
  else if (ref !== null) ref.current = value;
}
