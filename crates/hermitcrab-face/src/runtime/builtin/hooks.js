// Function components and their hooks.
let current = null;
let cursor = 0;
let ids = 0;

function renderFunction(part) {
  const { call, el: { props, ref } } = part;
  for (let rounds = 0; rounds < 25; rounds += 1) {
    Object.assign(part, { again: false, effects: [], reads: [] });
    [current, cursor] = [part, 0];
    try {
      const out = part.forward ? call(props, ref) : call(props);
      if (cursor < part.hooks.length) throw new Error('Rendered fewer hooks than expected: is there an early return?');
      if (!part.again) return out;
    } finally {
      current = null;
    }
  }
  throw new Error('Too many re-renders: a component sets its state in every render.');
}

function hookOf(make) {
  if (current === null) throw new Error('Invalid hook call: hooks belong in the body of a function component.');
  const { hooks, fresh } = current;
  if (cursor === hooks.length) {
    if (!fresh) throw new Error('Rendered more hooks than during the previous render.');
    hooks.push(make());
  }
  return hooks[cursor++];
}

function useReducer(reducer, initial, init) {
  const part = current;
  const hook = hookOf(() => ({ state: init ? init(initial) : initial, steps: [], send }));
  function send(action) {
    let step = (state) => hook.reducer(state, action);
    if (hook.reducer === apply && hook.steps.length === 0 && part !== current) {
      // Nothing waits: what changes nothing renders nothing. What is thrown here is thrown again while rendering.
      try {
        const next = step(hook.state);
        if (Object.is(next, hook.state)) return;
        step = () => next;
      } catch { /* see above */ }
    }
    hook.steps.push(step);
    if (part === current) part.again = true;
    else schedule(part);
  }
  hook.reducer = reducer;
  const next = hook.steps.splice(0).reduce((state, step) => step(state), hook.state);
  part.changed ||= !Object.is(hook.state, next);
  hook.state = next;
  return [next, hook.send];
}

const apply = (state, action) => (typeof action === 'function' ? action(state) : action);
const useState = (initial) => useReducer(apply, initial, (first) => apply(undefined, first));
const sameDeps = (a, b) => !!a && !!b && a.length === b.length && a.every((value, at) => Object.is(value, b[at]));

function useMemo(make, deps) {
  const hook = hookOf(() => ({ deps: null, value: null }));
  if (!sameDeps(hook.deps, deps)) Object.assign(hook, { value: make(), deps });
  return hook.value;
}

const effect = (passive) => (create, deps) => {
  const hook = hookOf(() => ({ passive }));
  if (!sameDeps(hook.deps, deps)) current.effects.push({ hook, create, deps });
};
const useEffect = effect(true);
const useLayoutEffect = effect(false);
const useRef = (value) => hookOf(() => ({ current: value }));
const useCallback = (call, deps) => useMemo(() => call, deps);
const useId = () => useMemo(() => ':r' + (ids++).toString(32) + ':', []);
const useContext = (context) => read(current || hookOf(), context);

function read(part, context) {
  part.reads.push(context);
  let above = part.parent;
  while (above && above.type !== context.Provider) above = above.parent;
  return above ? above.el.props.value : context.value;
}

/// A new value reaches what reads it through parts that do not render.
function tell(part, context) {
  for (const child of part.children) {
    if (child.reads.includes(context)) force(child);
    if (child.type !== context.Provider) tell(child, context);
  }
}
