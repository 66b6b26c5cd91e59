// Class components, and refs.
const partOfComponent = new WeakMap();

class Component {
  constructor(props) {
    this.props = props;
  }

  setState(partial, done) {
    const part = partOfComponent.get(this);
    if (!part) return;
    part.updates.push({ partial, done });
    schedule(part);
  }

  forceUpdate(done) {
    this.setState(null, done);
    const part = partOfComponent.get(this);
    if (part) part.forced = true;
  }
}

function renderClass(part) {
  const { call: Type, fault, committed: before, updates, el: { props } } = part;
  const self = part.self ??= new Type(props);
  partOfComponent.set(self, part);
  if (fault) {
    console.error(fault.error);
    const caught = () => self.componentDidCatch?.(fault.error, { componentStack: '' });
    updates.push({ partial: Type.getDerivedStateFromError?.(fault.error) ?? {}, done: caught });
    if (!Type.getDerivedStateFromError) failed.add(part);
    part.children.splice(0).forEach(remove);
  }
  let state = self.state ?? null;
  const taken = updates.splice(0);
  for (const { partial } of taken) {
    const more = typeof partial === 'function' ? partial.call(self, state, props) : partial;
    if (isGiven(more)) state = { ...state, ...more };
  }
  part.changed ||= state !== self.state;
  Object.assign(self, { props, state });
  const effectOf = (call) => ({ hook: {}, create: () => void call.call(self) });
  const dones = taken.filter(({ done }) => done).map(({ done }) => effectOf(done));
  if (!part.changed) {
    dones.forEach((one) => layouts.push({ part, ...one }));
    return null;
  }
  const shown = () => {
    part.committed = { props, state };
    if (before) self.componentDidUpdate?.(before.props, before.state);
    else self.componentDidMount?.();
  };
  part.effects = [effectOf(shown), ...dones];
  useNodeRef(part, self);
  return fault && !Type.getDerivedStateFromError ? null : self.render();
}

/// The one hook of what can have a ref: it fills the ref as a layout effect, and empties it as its cleanup.
function useNodeRef(part, value) {
  const { hooks, effects, el: { ref } } = part;
  const set = (now) => {
    if (typeof ref === 'function') ref(now);
    else if (ref !== null) ref.current = now;
  };
  if (hooks.length === 0) hooks.push({ deps: [null] });
  const create = () => {
    set(value);
    return () => set(null);
  };
  if (hooks[0].deps[0] !== ref) effects.push({ hook: hooks[0], create, deps: [ref] });
}
