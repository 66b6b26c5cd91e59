// The document of an MCP app: the frame with the face, and JSON-RPC with the host around both. A host may give this
// document the origin of a page of the host; the frame never has it. So no message of the shell looks like one of this
// document.

const VERSION = '2026-01-26';
const INVALID_PARAMS = -32_602;
const NO_METHOD = -32_601;
/** The least and the greatest height of the face, in pixels. */
const LOWEST = 480;
const HIGHEST = 4_000;
/** The longest wait for an answer of the host. As the frame limits calls, so many wait at most. */
const ANSWER = 30_000;

const host = window.parent;
const pending = new Map();
const sizes = new Bucket(20, 10);
let requests = 0;
let face = null;
let hasLog = false;
let isFixed = false;
let lastHeight = 0;
let nextHeight = 0;
let isLate = false;

const say = (message) => host.postMessage({ jsonrpc: '2.0', ...message }, '*');

function request(name, params) {
  requests += 1;
  const id = requests;
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      pending.delete(id);
      const detail = `the host did not answer ${name} in ${ANSWER / 1_000} seconds`;
      reject(refusal({ error: 'timeout', detail, hint: 'it may still do it: look before you ask again' }));
    }, ANSWER);
    pending.set(id, { resolve, reject, timer });
    say({ id, method: name, params });
  });
}

/** An error as the face gets it. */
function refusal({ error, detail, hint, code }) {
  const known = { error: text(error) || 'failed', detail: text(detail) || 'no reason was given' };
  if (typeof hint === 'string') known.hint = text(hint);
  return Object.assign(new Error(known.detail), { code, plain: () => known });
}

async function callTool({ tool, args: names }, args) {
  const given = {};
  names.forEach((name, at) => {
    if (args[at] !== undefined && args[at] !== null) given[name] = args[at];
  });
  const { content, isError } = Object(await request('tools/call', { name: tool, arguments: given }));
  const texts = Array.isArray(content) ? content.map((block) => Object(block).text) : [];
  const said = texts.find((one) => typeof one === 'string');
  let value;
  try {
    value = JSON.parse(said);
  } catch {
    if (isError) throw refusal({ detail: said });
    throw refusal({ error: 'too_large', detail: 'the answer is not whole: ask for less, with a path' });
  }
  if (isError) throw refusal(Object(value));
  return value;
}

async function sendMessage(words) {
  const block = { type: 'text', text: words };
  const message = (content) => request('ui/message', { role: 'user', content });
  // The specification has one block here, its own implementation a list of them.
  const { isError } = Object(await message([block]).catch((error) => {
    if (error.code === INVALID_PARAMS) return message(block);
    throw error;
  }));
  if (isError) throw refusal({ error: 'denied', detail: 'the host refused the message' });
  return { sent: true };
}

async function callHost(frame, method, args, { gesture }) {
  if (APP.props.includes(method)) return callTool(ROWS.get(method), args);
  if (method !== 'send') throw refusal({ error: 'unavailable', detail: `${method} is not available in an MCP host` });
  if (!gesture) throw refusal({ error: 'denied', detail: 'send needs a click or a key of the person' });
  return sendMessage(args[0]);
}

/** Gives the face and the host its newest height, a moment later where there were too many. */
function sayHeight() {
  isLate = false;
  if (!face || isFixed || nextHeight === lastHeight) return;
  if (!sizes.take()) {
    isLate = true;
    setTimeout(sayHeight, 1_000 / sizes.rate);
    return;
  }
  lastHeight = nextHeight;
  face.element.style.height = `${nextHeight}px`;
  say({ method: 'ui/notifications/size-changed', params: { width: window.innerWidth, height: nextHeight } });
}

function setHeight(height) {
  if (!natural(height)) return;
  nextHeight = Math.min(HIGHEST, Math.max(LOWEST, height));
  if (!isLate) sayHeight();
}

function log(level, words) {
  if (hasLog) say({ method: 'notifications/message', params: { level, logger: `face ${APP.rev}`, data: words } });
}

function setContext(context) {
  const { containerDimensions } = Object(context);
  if (containerDimensions === undefined) return;
  // In a container of a fixed height the face scrolls.
  isFixed = natural(Object(containerDimensions).height);
  if (!face) return;
  if (isFixed) {
    face.element.style.height = '100vh';
    lastHeight = 0;
  } else if (!isLate) {
    sayHeight();
  }
}

function removeFace() {
  face?.remove();
  face = null;
}

function showFace() {
  face = new Frame({ frame: 'face', html: APP.html, allow: APP.allow, rev: APP.rev, props: APP.given }, {
    ready: () => {},
    mounted: ({ element }) => {
      element.inert = false;
    },
    failed: (frame, { phase, message }) => {
      removeFace();
      document.body.textContent = `Face ${APP.rev} failed (${phase}): ${message}`;
      log('error', message);
    },
    call: callHost,
    log: (frame, level, words) => log(level === 'warn' ? 'warning' : level, words),
    size: (frame, height) => setHeight(height),
  });
  document.body.append(face.element);
}

function settle({ id, result, error }) {
  const waits = pending.get(id);
  pending.delete(id);
  clearTimeout(waits?.timer);
  if (error === undefined) waits?.resolve(result);
  else waits?.reject(refusal({ detail: Object(error).message, code: Object(error).code }));
}

window.addEventListener('message', ({ source, data }) => {
  if (source !== host || host === window || Object(data).jsonrpc !== '2.0') return;
  const { id, method, params } = data;
  if (method === undefined) {
    settle(data);
    return;
  }
  if (method === 'ui/notifications/host-context-changed') setContext(params);
  if (method === 'ui/resource-teardown') removeFace();
  if (id === undefined) return;
  if (method === 'ui/resource-teardown' || method === 'ping') say({ id, result: {} });
  else say({ id, error: { code: NO_METHOD, message: 'no such method' } });
});

const appInfo = { name: 'hermitcrab', version: APP.given.version };
request('ui/initialize', { protocolVersion: VERSION, appInfo, appCapabilities: {} }).then((result) => {
  const { hostCapabilities, hostContext } = Object(result);
  hasLog = Object(hostCapabilities).logging !== undefined;
  say({ method: 'ui/notifications/initialized', params: {} });
  if (unfit) {
    document.body.textContent = unfit;
    return;
  }
  showFace();
  setContext(hostContext);
}, ({ message }) => {
  document.body.textContent = `The host did not let the face in: ${message}`;
});
