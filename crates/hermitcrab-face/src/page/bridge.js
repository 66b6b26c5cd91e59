// Stands in the frame between the page and the shell: takes the port, loads the shell, gives it its props, and tells
// the page how it goes. The port is reachable from these closures alone. A shell can still lie about itself: it draws
// what it likes, and by React's own tree it can reach the boundary below and have it say `mounted` or `failed` early.
// So the page and the program take each message for a claim of this one face and of nothing else.

const makeScript = disarm();
const { stringify, parse } = JSON;
const NativeError = Error;
const NativePromise = Promise;
const { exec } = RegExp.prototype;
const { slice } = String.prototype;
const now = performance.now.bind(performance);
const data = reader(MessageEvent.prototype, 'data');
const reason = reader(PromiseRejectionEvent.prototype, 'reason');
const thrown = {
  error: reader(ErrorEvent.prototype, 'error'),
  message: reader(ErrorEvent.prototype, 'message'),
  file: reader(ErrorEvent.prototype, 'filename'),
  line: reader(ErrorEvent.prototype, 'lineno'),
  column: reader(ErrorEvent.prototype, 'colno'),
};

const MAX_MESSAGE = 1 << 20;
const MAX_LINES = 20;
const MAX_TEXT = 2_000;
const PLACE = /shell\/\d+\.js:(\d+):(\d+)/;

/** Says something to the page; nothing before the port is there. */
let post = () => {};
/** The revision that the page asked for; none before that. */
let rev = null;
let mounted = false;
let dead = false;
let root = null;
let makeComponent = null;
let React = null;
let ReactDOM = null;

const cut = (text) => apply(slice, text, [0, MAX_TEXT]);

/** What was thrown, in words. It may be anything, with accessors that throw. */
function words(error) {
  try {
    if (error instanceof NativeError) return cut(`${error.name}: ${error.message}`);
    return cut(typeof error === 'object' && error !== null ? stringify(error) : `${error}`);
  } catch {
    return 'something that cannot be shown was thrown';
  }
}

/** Where in the shell's script it was thrown, from 1, if the stack tells. */
function place(error) {
  try {
    const found = apply(exec, PLACE, [`${error.stack}`]);
    return found === null ? {} : { line: +found[1], col: +found[2] };
  } catch {
    return {};
  }
}

function failed(phase, message, at) {
  if (dead) return;
  dead = true;
  post({ type: 'failed', rev, phase, message: cut(message), line: at.line, col: at.col });
}

// Runs functions after what is queued now, without a timer: those wait in a page that nobody sees.
const hop = new MessageChannel();
const hops = create(null);
let hopped = 0;
let hopping = 0;
hop.port1.onmessage = () => {
  const run = hops[hopped];
  delete hops[hopped];
  hopped += 1;
  run();
};
const hopOn = hop.port2.postMessage.bind(hop.port2);
function later(run) {
  hops[hopping] = run;
  hopping += 1;
  hopOn(0);
}

let lines = 0;
let since = now();
/** A line for the page's log. Later, as the boundary says the same of an error that it catches. */
function log(level, text) {
  if (now() - since > 60_000) {
    since = now();
    lines = 0;
  }
  lines += 1;
  if (lines > MAX_LINES) return;
  later(() => {
    if (!dead) post({ type: 'log', level, text: cut(text) });
  });
}

/** A function of the shell's: what it throws is the shell's. */
function tell(listener, value) {
  try {
    listener(value);
  } catch (error) {
    log('error', words(error));
  }
}

// Calls.

const waiting = create(null);
let calls = 0;

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
    post({ type: 'call', id: calls, method, args: parse(text) });
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

// Props.

const method = (name) => (...args) => call(name, args);
// The answer of `pick` does as a root.
const inRoot = (name) => (folder, path, more) =>
  call(name, [folder !== null && typeof folder === 'object' ? folder.root : folder, path, more]);

function group(name, names) {
  const made = {};
  for (const one of names) made[one] = method(`${name}.${one}`);
  return made;
}

/** What the shell gets. Built and frozen before its code runs. */
function props(given) {
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
    for (const name of ['log', 'undo', 'shells', 'useShell']) made[name] = method(name);
    made.on = listen;
    made.reason = given.reason;
    made.errors = given.errors;
  }
  for (const name of ['conversation', 'state', 'idb', 'browser', 'fs']) freeze(made[name]);
  return freeze(made);
}

// The shell.

fix(window, '__hermitcrab', (make) => {
  if (makeComponent !== null || typeof make !== 'function') return;
  makeComponent = make;
});

function mount(given) {
  ({ React, ReactDOM } = window);
  if (!React || !ReactDOM) return failed('load', 'the runtime did not load', {});
  // A copy of a script would be one more way to load something.
  for (const script of document.querySelectorAll('script')) script.remove();
  const { createElement, useEffect } = React;
  class Boundary extends React.Component {
    constructor(own) {
      super(own);
      this.state = { dead: false };
    }

    static getDerivedStateFromError() {
      return { dead: true };
    }

    componentDidCatch(error) {
      failed('render', words(error), place(error));
    }

    render() {
      return this.state.dead ? null : this.props.children;
    }
  }
  // Its effect comes after those of the shell, which is beside it: a shell that throws in its first one never mounts.
  function Beacon() {
    useEffect(() => later(() => {
      if (dead || mounted) return;
      mounted = true;
      post({ type: 'mounted', rev });
    }), []);
    return null;
  }
  root = ReactDOM.createRoot(document.getElementById('root'));
  const shown = props(given);
  let Component;
  try {
    Component = makeComponent(React, ReactDOM);
  } catch (error) {
    return failed('load', words(error), place(error));
  }
  if (!Component) return failed('load', 'the script gave no component', {});
  try {
    root.render(createElement(Boundary, null, createElement(Component, shown), createElement(Beacon)));
  } catch (error) {
    failed('render', words(error), place(error));
  }
}

const parsed = new Promise((resolve) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', resolve, { once: true });
  else resolve();
});

function init(message) {
  if (rev !== null) return;
  rev = message.rev;
  const script = makeScript(`shell/${rev}.js`);
  script.onerror = () => failed('load', 'the script of the shell did not load', {});
  script.onload = () => parsed.then(() => {
    if (makeComponent !== null) mount(message.props);
    else failed('load', 'the script gave no component', {});
  });
  document.head.append(script);
}

// What goes wrong outside of rendering.

window.addEventListener('error', (event) => {
  if (!event.isTrusted) return;
  const at = apply(exec, /shell\/\d+\.js$/, [thrown.file(event)]) === null
    ? place(thrown.error(event))
    : { line: thrown.line(event), col: thrown.column(event) };
  if (makeComponent === null && rev !== null) failed('load', thrown.message(event), at);
  else log('error', at.line === undefined ? thrown.message(event) : `${thrown.message(event)} (${at.line}:${at.col})`);
});
window.addEventListener('unhandledrejection', (event) => {
  if (event.isTrusted) log('error', `in a promise: ${words(reason(event))}`);
});
for (const level of ['error', 'warn']) {
  const original = console[level].bind(console);
  console[level] = (...values) => {
    apply(original, null, values);
    let text = '';
    for (let at = 0; at < values.length; at += 1) text += (at ? ' ' : '') + words(values[at]);
    log(level, text);
  };
}

// The port.

function receive(message) {
  switch (message.type) {
    case 'init': return init(message);
    case 'reply': return answered(message);
    case 'event': return heard(message);
    case 'ping': return post({ type: 'pong', n: message.n });
    case 'dispose': return root && root.unmount();
    default: return undefined;
  }
}

window.addEventListener('message', function hello(event) {
  const { hello: asked, nonce } = event.data || {};
  const [port] = event.ports;
  if (event.source !== window.parent || asked !== 1 || !port) return;
  window.removeEventListener('message', hello);
  const { postMessage } = MessagePort.prototype;
  post = (message) => apply(postMessage, port, [message]);
  port.onmessage = (told) => receive(data(told));
  post({ type: 'ready', nonce });
});
// Faces are dark by their contract; so are their scroll bars.
Object.assign(document.documentElement.style, { background: '#0a0a1a', colorScheme: 'dark' });
document.addEventListener('DOMContentLoaded', () => {
  document.body.style.margin = '0';
});
window.parent.postMessage({ ready: 1 }, '*');
