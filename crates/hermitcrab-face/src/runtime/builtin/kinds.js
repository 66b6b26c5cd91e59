// The kinds of parts: texts, host elements, groups, function and class components.

function updateText(part) {
  if (part.node === null) part.node = document.createTextNode(part.el.props);
  else part.node.data = part.el.props;
}

const SVG = 'http://www.w3.org/2000/svg';
const MATH = 'http://www.w3.org/1998/Math/MathML';
const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;

function updateHost(part, old) {
  const { type, el: { props, ref } } = part;
  if (part.node === null) {
    let above = part.parent;
    while (!boxOf(above)) above = above.parent;
    const inherited = boxOf(above).namespaceURI;
    const outside = inherited !== SVG && inherited !== MATH || above.type === 'foreignObject';
    const space = type === 'svg' ? SVG : type === 'math' ? MATH : outside ? null : inherited;
    part.node = space === null ? document.createElement(type) : document.createElementNS(space, type);
    partOfNode.set(part.node, part);
  }
  const html = props.dangerouslySetInnerHTML;
  if (VOID.test(type) && (html || isGiven(props.children))) {
    throw new Error(type + ' is a void element tag and must neither have `children` nor use '
      + '`dangerouslySetInnerHTML`.');
  }
  if (!html && old.props.dangerouslySetInnerHTML) part.node.textContent = '';
  reconcile(part, html || type === 'textarea' ? null : props.children);
  if (part.unplaced) place(part);
  setProps(part, part.fresh ? {} : old.props);
  if (part.fresh && props.autoFocus) layouts.push({ part, run: () => part.node.focus() });
  queueRef(part, ref, () => part.node);
}

function queueRef(part, ref, value) {
  if (part.attached === ref) return;
  if (part.attached !== null) attempt(part, () => attach(part, null, null));
  if (ref !== null) layouts.push({ part, run: () => attach(part, ref, value()) });
}

function updateGroup(part, old) {
  const { type, el: { props } } = part;
  if (part.fresh && (type === PORTAL || type === ROOT)) listenAt(props.container);
  if (type.$$typeof === PROVIDER && !part.fresh && !Object.is(old.props.value, props.value)) {
    part.children.forEach((child) => tell(child, type.context));
  }
  reconcile(part, props.children);
  if (part.unplaced && boxOf(part)) place(part);
}

/// Marks what reads a context, down to the next provider of the same one.
function tell(part, context) {
  if (part.contexts !== null && part.contexts.has(context)) {
    part.forced = true;
    schedule(part);
  }
  if (part.type !== context.Provider) part.children.forEach((child) => tell(child, context));
}

function read(part, context) {
  part.contexts.add(context);
  for (let above = part.parent; above; above = above.parent) {
    if (above.type === context.Provider) return above.el.props.value;
  }
  return context.value;
}

function updateFunction(part) {
  const { props, ref } = part.el;
  let out;
  let rounds = 0;
  do {
    if (rounds++ > 25) {
      throw new Error('Too many re-renders. React limits the number of renders to prevent an infinite loop.');
    }
    part.again = false;
    part.effects = [];
    current = part;
    cursor = 0;
    try {
      out = part.forward ? part.call(props, ref) : part.call(props);
      if (cursor < part.hooks.length) {
        throw new Error('Rendered fewer hooks than expected. This may be caused by an accidental early return.');
      }
    } finally {
      current = null;
    }
  } while (part.again);
  if (!part.changed) return visit(part);
  reconcile(part, out);
  for (const { hook, create, deps } of part.effects) {
    hook.deps = deps;
    if (hook.kind === 'passive') {
      passives.push({ part, hook, create });
      continue;
    }
    attempt(part, () => clean(hook));
    const run = () => { hook.cleanup = create(); };
    if (hook.kind === 'layout') layouts.push({ part, run });
    else attempt(part, run);
  }
}

function updateClass(part, old) {
  const { call, fault, el: { props, ref } } = part;
  const methods = call.prototype;
  const context = call.contextType ? read(part, call.contextType) : {};
  if (part.self === null) {
    part.self = new call(props, context);
    partOfComponent.set(part.self, part);
    part.self.state = part.self.state === undefined ? null : part.self.state;
  }
  const self = part.self;
  const oldState = self.state;
  if (fault) {
    part.fault = null;
    console.error(fault.error);
    const derive = call.getDerivedStateFromError;
    part.updates.push({
      partial: derive ? () => derive.call(call, fault.error) : null,
      force: true,
      done: self.componentDidCatch && (() => self.componentDidCatch(fault.error, { componentStack: '' })),
    });
  }
  let state = self.state;
  let force = part.fresh || context !== self.context && call.contextType !== undefined;
  const done = [];
  for (const entry of part.updates.splice(0)) {
    const more = typeof entry.partial === 'function' ? entry.partial.call(self, state, props) : entry.partial;
    if (isGiven(more)) state = Object.assign({}, state, more);
    force = force || entry.force;
    if (entry.done) done.push(entry.done);
  }
  if (call.getDerivedStateFromProps && (force || state !== oldState || part.changed)) {
    const more = call.getDerivedStateFromProps(props, state);
    if (isGiven(more)) state = Object.assign({}, state, more);
  }
  let renders = force || state !== oldState || part.changed;
  if (renders && !force) {
    if (self.shouldComponentUpdate) renders = !!self.shouldComponentUpdate(props, state, context);
    else if (methods.isPureReactComponent) renders = !sameProps(old.props, props) || !sameProps(oldState, state);
  }
  Object.assign(self, { props, state, context });
  if (renders) {
    const before = part.committed;
    const snaps = before !== null && typeof self.getSnapshotBeforeUpdate === 'function';
    const snapshot = snaps ? self.getSnapshotBeforeUpdate(before.props, before.state) : undefined;
    if (fault) part.children.splice(0).forEach(remove);
    const out = fault && !call.getDerivedStateFromError ? null : self.render();
    try {
      reconcile(part, out);
    } catch (error) {
      // One that comes while another is handled goes to the next boundary.
      if (fault) throw error;
      take(part, error);
      queueCalls(part, done);
      return;
    }
    layouts.push({
      part,
      run: () => {
        part.committed = { props, state };
        if (before === null) {
          if (self.componentDidMount) self.componentDidMount();
        } else if (self.componentDidUpdate) {
          self.componentDidUpdate(before.props, before.state, snapshot);
        }
      },
    });
  } else {
    part.committed = part.committed && { props, state };
    visit(part);
  }
  queueCalls(part, done);
  queueRef(part, ref, () => self);
}

function queueCalls(part, calls) {
  calls.forEach((call) => layouts.push({ part, run: () => call.call(part.self) }));
}

function Component(props, context) {
  this.props = props;
  this.context = context;
  this.refs = {};
}
Component.prototype.isReactComponent = {};
Component.prototype.setState = function setState(partial, done) {
  change(this, { partial, done, force: false });
};
Component.prototype.forceUpdate = function forceUpdate(done) {
  change(this, { partial: null, done, force: true });
};
function change(self, entry) {
  const part = partOfComponent.get(self);
  if (!part || !part.alive) return;
  part.updates.push(entry);
  schedule(part);
}

function PureComponent(props, context) {
  Component.call(this, props, context);
}
PureComponent.prototype = Object.assign(Object.create(Component.prototype), {
  constructor: PureComponent, isPureReactComponent: true,
});
