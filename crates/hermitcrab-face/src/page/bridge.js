// Stands in the frame between the page and the shell: takes the port, loads the shell, gives it its props, and tells
// the page how it goes. The port is reachable from these closures alone. A shell can still lie about itself: it draws
// what it likes, and by React's own tree it can reach the boundary below and have it say `mounted` or `failed` early.
// So the page and the program take each message for a claim of this one face and of nothing else.

const makeScript = disarm();
const data = reader(MessageEvent.prototype, 'data');
const reason = reader(PromiseRejectionEvent.prototype, 'reason');
const thrown = {
  error: reader(ErrorEvent.prototype, 'error'),
  message: reader(ErrorEvent.prototype, 'message'),
  file: reader(ErrorEvent.prototype, 'filename'),
  line: reader(ErrorEvent.prototype, 'lineno'),
  column: reader(ErrorEvent.prototype, 'colno'),
};

let mounted = false;
let root = null;
let makeComponent = null;

fix(window, '__hermitcrab', (make) => {
  if (makeComponent !== null || typeof make !== 'function') return;
  makeComponent = make;
});

function mount(given) {
  const { React, ReactDOM } = window;
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
  const shown = props(given, React, ReactDOM);
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
  load(() => parsed.then(() => {
    if (makeComponent !== null) mount(message.props);
    else failed('load', 'the script gave no component', {});
  }));
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
