// Hooks and contexts.

let current = null;
let cursor = 0;

function hookOf(make) {
  if (current === null) {
    throw new Error('Invalid hook call. Hooks can only be called inside of the body of a function component.');
  }
  const { hooks } = current;
  if (cursor === hooks.length) {
    if (!current.fresh) throw new Error('Rendered more hooks than during the previous render.');
    hooks.push(make());
  }
  return hooks[cursor++];
}

const sameDeps = (a, b) => !!a && !!b && a.length === b.length && a.every((value, at) => Object.is(value, b[at]));

function useReducer(reducer, initial, init) {
  return useQueue(reducer, () => (init ? init(initial) : initial), false);
}

const apply = (state, action) => (typeof action === 'function' ? action(state) : action);

function useState(initial) {
  return useQueue(apply, () => (typeof initial === 'function' ? initial() : initial), true);
}

function useQueue(reducer, first, eager) {
  const part = current;
  const hook = hookOf(() => {
    const made = { state: first(), queue: [] };
    made.send = (action) => send(part, made, action, eager);
    return made;
  });
  const state = hook.queue.splice(0).reduce((value, action) => reducer(value, action), hook.state);
  if (!Object.is(state, hook.state)) {
    hook.state = state;
    part.changed = true;
  }
  return [state, hook.send];
}

function send(part, hook, action, eager) {
  if (part === current) {
    hook.queue.push(action);
    part.again = true;
    return;
  }
  if (!part.alive) return;
  if (eager && !part.dirty && hook.queue.length === 0) {
    try {
      const state = apply(hook.state, action);
      if (Object.is(state, hook.state)) return;
      hook.queue.push(() => state);
    } catch (error) {
      // It is thrown again where a boundary can take it: in render.
      hook.queue.push(action);
    }
  } else {
    hook.queue.push(action);
  }
  schedule(part);
}

function useMemo(make, deps) {
  const hook = hookOf(() => ({ deps: null, value: null }));
  if (!sameDeps(hook.deps, deps)) {
    hook.value = make();
    hook.deps = deps;
  }
  return hook.value;
}

const effect = (kind) => (create, deps) => {
  const hook = hookOf(() => ({ kind, deps: null, cleanup: undefined }));
  if (!sameDeps(hook.deps, deps)) current.effects.push({ hook, create, deps });
};
const useEffect = effect('passive');
const useLayoutEffect = effect('layout');
const useInsertionEffect = effect('insertion');

const useRef = (value) => hookOf(() => ({ ref: { current: value } })).ref;
const useCallback = (call, deps) => useMemo(() => call, deps);
let ids = 0;
const useId = () => hookOf(() => ({ id: ':r' + (ids++).toString(32) + ':' })).id;

function useContext(context) {
  if (current === null) hookOf();
  return read(current, context);
}

function useImperativeHandle(ref, create, deps) {
  useLayoutEffect(() => {
    if (typeof ref === 'function') {
      ref(create());
      return () => ref(null);
    }
    if (!ref) return undefined;
    ref.current = create();
    return () => { ref.current = null; };
  }, deps ? [...deps, ref] : deps);
}

function useSyncExternalStore(subscribe, getSnapshot) {
  const value = getSnapshot();
  const [, redraw] = useReducer((count) => count + 1, 0);
  const seen = useRef(null);
  const check = () => {
    if (!Object.is(seen.current.getSnapshot(), seen.current.value)) redraw();
  };
  useLayoutEffect(() => {
    seen.current = { value, getSnapshot };
    check();
  }, [value, getSnapshot]);
  useEffect(() => {
    check();
    return subscribe(check);
  }, [subscribe]);
  return value;
}

function createContext(value) {
  const context = { value };
  context.Provider = { $$typeof: PROVIDER, context };
  context.Consumer = (props) => props.children(useContext(context));
  return context;
}
