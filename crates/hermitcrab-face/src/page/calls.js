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

const method = (name) => (...args) => call(name, args);
// The answer of `pick` does as a root.
const inRoot = (name) => (folder, path, more) =>
  call(name, [folder !== null && typeof folder === 'object' ? folder.root : folder, path, more]);

function group(name, names) {
  const made = {};
  for (const one of names) made[one] = method(`${name}.${one}`);
  return made;
}

/** Built and frozen before any code of the shell runs. */
function props(given, React, ReactDOM) {
  const made = {
    React,
    ReactDOM,
    version: given.version,
    model: given.model,
    fastModel: given.fastModel,
    offline: given.offline,
    send: (text, options) => call('send', [text], options && options.onDelta),
    callLLM: (messages, options) => call('callLLM', [messages, options], options && options.onDelta),
    callAPI: (params, options) => call('callAPI', [params], (options || params || {}).onDelta),
    callWithToolLoop: (params, options) => call('callWithToolLoop', [params], (options || params || {}).onDelta),
    conversation: group('conversation', ['load', 'save', 'clear']),
    state: group('state', ['get', 'set']),
    idb: group('idb', ['get', 'put', 'list', 'delete']),
    browser: group('browser', [
      'datetime', 'clipboardRead', 'clipboardWrite', 'speak', 'listen', 'notify', 'download', 'geolocation', 'openTab',
    ]),
    fs: { pick: method('fs.pick') },
  };
  for (const name of ['list', 'read', 'write', 'mkdir', 'remove']) made.fs[name] = inRoot(`fs.${name}`);
  for (const name of [
    'stop', 'blockRead', 'blockWrite', 'blockList', 'blockCreate', 'blockAppend', 'getSource', 'recompile',
    'patchSource', 'setTools', 'usage',
  ]) made[name] = method(name);
  made.conversation.onMessage = (listener) => listen('message', listener);
  if (given.safe === true) {
    for (const name of ['log', 'undo', 'redo', 'shells', 'useShell']) made[name] = method(name);
    made.on = listen;
    made.reason = given.reason;
    made.errors = given.errors;
  }
  for (const name of ['conversation', 'state', 'idb', 'browser', 'fs']) freeze(made[name]);
  return freeze(made);
}
