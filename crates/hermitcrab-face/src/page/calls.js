// What a shell gets: its props, and the calls and events behind them.

const { parse } = JSON;
const NativePromise = Promise;

const MAX_MESSAGE = 1 << 20;

const waiting = create(null);
let calls = 0;

/** Presses and keys of the person in this frame, which no script can make; those within `ONE_INPUT` milliseconds are one. */
let inputs = 0;
{
  const ONE_INPUT = 400;
  const now = performance.now.bind(performance);
  let last = -ONE_INPUT;
  for (const kind of ['pointerdown', 'mousedown', 'keydown', 'click']) {
    window.addEventListener(kind, (event) => {
      if (!event.isTrusted || now() - last < ONE_INPUT) return;
      last = now();
      inputs += 1;
    }, true);
  }
}

function failure({ error, detail, hint }) {
  const made = new NativeError(detail);
  made.error = error;
  made.detail = detail;
  if (hint !== undefined) made.hint = hint;
  return made;
}

function call(method, args, onDelta) {
  return new NativePromise((resolve, reject) => {
    let text;
    try {
      while (args.length > 0 && args[args.length - 1] === undefined) args.length -= 1;
      text = stringify(args);
    } catch (error) {
      reject(failure({ error: 'bad_arguments', detail: `${method}: ${words(error)}` }));
      return;
    }
    if (text.length > MAX_MESSAGE) {
      reject(failure({ error: 'too_large', detail: `${method}: over 1 MiB in one call` }));
      return;
    }
    calls += 1;
    waiting[calls] = { resolve, reject, onDelta: typeof onDelta === 'function' ? onDelta : null };
    post({ type: 'call', id: calls, method, args: parse(text), input: inputs });
  });
}

function answered(message) {
  const { id, ok, value, error } = message;
  const waits = waiting[id];
  if (waits === undefined) return;
  delete waiting[id];
  if (ok) waits.resolve(value);
  else waits.reject(failure(error));
}

const listeners = create(null);
let listening = 0;

function listen(event, listener) {
  listening += 1;
  const key = listening;
  listeners[key] = { event, listener };
  return () => {
    delete listeners[key];
  };
}

function heard({ event, data: value, call: id }) {
  if (id !== undefined) {
    const onDelta = waiting[id] && waiting[id].onDelta;
    if (onDelta && event === 'delta') tell(onDelta, value.text);
    return;
  }
  for (const key in listeners) {
    if (listeners[key].event === event) tell(listeners[key].listener, value);
  }
}

/** The prop of a row. One that asks a model takes `onDelta` in the last object that it is given. */
function method({ name, args, effect }) {
  return (...given) => {
    let onDelta;
    if (effect === 'model') {
      for (let at = 0; at < given.length; at += 1) onDelta = Object(given[at]).onDelta ?? onDelta;
      if (given.length > args.length) given.length = args.length;
    }
    // The answer of `fs.pick` does as a root.
    if (args[0] === 'root' && typeof given[0] === 'object' && given[0] !== null) given[0] = given[0].root;
    return call(name, given, onDelta);
  };
}

/** Built and frozen before any code of the shell runs. */
function props(given, React, ReactDOM) {
  const { version, model, fastModel, offline } = given;
  const made = { React, ReactDOM, version, model, fastModel, offline };
  const objects = { conversation: { onMessage: (listener) => listen('message', listener) } };
  for (const row of PROPS) {
    const [name, member] = row.name.split('.');
    if (row.who !== 'face') continue;
    if (member === undefined) made[name] = method(row);
    else (objects[name] ??= {})[member] = method(row);
  }
  for (const name of Object.keys(objects)) made[name] = freeze(objects[name]);
  return freeze(made);
}
