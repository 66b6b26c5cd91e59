// Parts: what is at each place of the tree, how it is compared, moved and removed.
function newPart(el, parent) {
  const part = {
    el, parent, type: el.type, children: [], slot: '', render: (self) => self.el.props.children, node: null,
    alive: true, fresh: true, dirty: true, below: false, forced: false, changed: false, unplaced: false,
    handlers: {}, shown: null, markup: null, reads: [],
    call: null, forward: false, compare: null, hooks: [], effects: [], again: false,
    self: null, committed: null, updates: [], boundary: false, fault: null,
  };
  let { type } = el;
  if (typeof type === 'string') part.render = renderHost;
  if (type === TEXT) part.render = renderText;
  if (typeof type === 'string' || typeof type === 'symbol' || (isObject(type) && type.context)) return part;
  for (; type && type.$$typeof === MEMO; type = type.type) part.compare ??= type.compare;
  part.forward = !!type && type.$$typeof === FORWARD;
  part.call = part.forward ? type.render : type;
  if (typeof part.call !== 'function') throw new Error('Element type is invalid: ' + typeof type + ' is not a component.');
  const isClass = part.call.prototype instanceof Component;
  part.render = isClass ? renderClass : renderFunction;
  part.boundary = isClass && !!(part.call.getDerivedStateFromError || part.call.prototype.componentDidCatch);
  return part;
}

/// The nearest part, this one or above it, whose node holds nodes.
const boxOf = (part) => (part.node ? part : boxOf(part.parent));

/// Brings a part up to date with an element of its type.
function update(part, el) {
  const old = part.el;
  const sameRef = old.ref === el.ref;
  // What memo holds for equal keeps its old properties, even if it renders for another reason.
  if (!part.fresh && sameRef && part.compare && part.compare(old.props, el.props)) el = old;
  part.changed = part.fresh || part.forced || old.props !== el.props || !sameRef;
  if (!part.changed && !part.dirty) return visit(part);
  Object.assign(part, { el, dirty: false, forced: false, effects: [] });
  if (isObject(part.type) && part.type.context && !Object.is(old.props.value, el.props.value)) tell(part, part.type.context);
  const { fault } = part;
  const out = part.render(part);
  if (!part.changed) return visit(part);
  guard(part, () => {
    reconcile(part, out);
    // A cleanup of the walk may have failed meanwhile.
    if (part.fault === fault) part.fault = null;
    if (part.unplaced && part.node) settle(part, part.node);
    if (typeof part.type === 'string') setProps(part, part.fresh ? {} : old.props);
    for (const { hook, create, deps } of part.effects) {
      hook.deps = deps;
      if (!hook.passive) attempt(part, () => clean(hook));
      (hook.passive ? passives : layouts).push({ part, hook, create });
    }
    part.fresh = false;
  });
}

/// Looks for marked parts below one that needs nothing itself.
function visit(part) {
  if (part.dirty) return update(part, part.el);
  const { below } = part;
  part.below = false;
  if (below) guard(part, () => part.children.forEach(visit));
  if (part.unplaced && part.node) settle(part, part.node);
}

/// An error boundary takes what was thrown below it and shows something else.
function guard(part, work) {
  try {
    work();
  } catch (error) {
    if (!part.boundary || part.fault || failed.has(part)) throw error;
    Object.assign(part, { fault: { error }, dirty: true });
    update(part, part.el);
  }
}

function reconcile(part, out) {
  part.below = false;
  const old = part.children;
  const before = new Map(old.map((child) => [child.slot, child]));
  const items = listOf(out);
  const alone = !Array.isArray(items);
  const next = new Map();
  (alone ? [items] : items).map(asElement).forEach((el, at) => {
    if (el === null) return;
    // Holes keep their number: it is the key of what has none. What is alone may have been anywhere.
    let slot = el.key === null ? at : '$' + el.key;
    while (next.has(slot)) slot += '\u0000';
    const found = alone ? old.find((one) => one.el.key === el.key) : before.get(slot);
    const child = found && found.type === el.type ? found : newPart(el, part);
    before.delete(child.fresh ? null : child.slot);
    child.slot = slot;
    next.set(slot, [child, el]);
  });
  const pairs = [...next.values()];
  part.children = pairs.map(([child]) => child);
  before.forEach(remove);
  if (part.children.some((child, at) => child !== old[at])) boxOf(part).unplaced = true;
  pairs.forEach(([child, el]) => update(child, el));
}

function settle(part, node) {
  const { multiple, size } = part.el.props;
  const empty = part.type === 'select' && node.options.length === 0;
  place(part, node, null);
  if (!empty) return;
  // The last option was there first, so the browser has chosen it.
  node.multiple = !!multiple;
  if (size > 1) node.size = size;
  const options = [...node.options];
  const chosen = options.filter((one) => partOfNode.get(one)?.el.props.selected);
  if (chosen.length === 0 && !multiple && !(size > 1)) chosen.push(...options.filter((one) => !one.disabled).slice(0, 1));
  for (const one of options) one.selected = chosen.includes(one);
}

/// Puts nodes where they belong, the last first. Those that are there keep their place, with focus and scrolling.
function place(part, box, next) {
  part.unplaced = false;
  for (const child of part.children.toReversed()) {
    const { node } = child;
    if (node && (node.parentNode !== box || node.nextSibling !== next)) box.insertBefore(node, next);
    next = node || place(child, box, next);
  }
  return next;
}

function remove(part) {
  const detach = (at) => (at.node ? at.node.remove() : at.children.forEach(detach));
  bury(part);
  detach(part);
}

/// Ends the life of a part: cleanups run parent first, passive ones later.
function bury(part) {
  part.alive = false;
  for (const hook of part.hooks) {
    if (hook.passive) passives.push({ part, hook });
    else attempt(part, () => clean(hook));
  }
  if (part.committed) attempt(part, () => part.self.componentWillUnmount?.());
  part.children.forEach(bury);
}
