// An MCP host: its page, and the proxy in a frame of another origin, which writes the app's document into a frame of its origin.
// The query of the address says in which ways the host is special, with `-` between: a `mute` one answers its greeting only, a
// `silent` one nothing, an `old` one has no Trusted Types, in a `hasty` one half a minute is short, and an `obedient` one makes
// the app as high as it asks for.

/** What the app said, and whether a message to the chat has to be one block. */
window.said = [];
window.strict = false;

const inFrame = window !== window.parent;
const kinds = location.search.slice(1).split('-');
const isKind = (kind) => kinds.includes(kind);

const text = (value, isError) => ({ content: [{ type: 'text', text: JSON.stringify(value) }], isError });
/** The tools of the server. */
const tools = {
  block_read: ({ name }) => (name === 'yard' ? text({ content: 'Larch' })
    : text({ error: 'no_block', detail: `no block ${name}`, hint: 'list them' }, true)),
  block_write: () => text({ rev: 2 }),
  block_list: () => ({ content: [{ type: 'text', text: '[{"name": "ya\n[cut after 12 characters]' }] }),
};
const hostContext = { theme: 'dark', containerDimensions: { maxHeight: 900, width: 600 } };

function startHost(proxy) {
  const frame = document.createElement('iframe');
  frame.src = proxy + location.search;
  const say = (message) => frame.contentWindow.postMessage({ jsonrpc: '2.0', ...message }, new URL(proxy).origin);
  window.say = say;
  const answers = {
    'ui/initialize': () => ({
      result: {
        protocolVersion: '2026-01-26',
        hostInfo: { name: 'test', version: '1' },
        hostCapabilities: { serverTools: {}, logging: {} },
        hostContext,
      },
    }),
    'tools/call': ({ name, arguments: given }) => (tools[name] ? { result: tools[name](given) }
      : { error: { code: -32602, message: `no tool ${name}` } }),
    'ui/message': ({ content }) => (window.strict && Array.isArray(content)
      ? { error: { code: -32602, message: 'one block' } } : { result: {} }),
  };
  window.addEventListener('message', async ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (data.method === 'ui/notifications/sandbox-proxy-ready') {
      const html = await (await fetch('/app.html')).text();
      say({ method: 'ui/notifications/sandbox-resource-ready', params: { html } });
      return;
    }
    window.said.push(data);
    if (isKind('obedient') && data.method === 'ui/notifications/size-changed') frame.style.height = `${data.params.height}px`;
    if (isKind('silent') || (isKind('mute') && data.method !== 'ui/initialize')) return;
    if (data.id !== undefined && answers[data.method]) say({ id: data.id, ...answers[data.method](data.params) });
  });
  document.body.append(frame);
}

function startProxy() {
  const inner = document.createElement('iframe');
  inner.setAttribute('sandbox', 'allow-scripts allow-same-origin allow-forms');
  document.body.append(inner);
  Object.assign(document.body.style, { margin: 0, overflow: 'hidden' });
  Object.assign(inner.style, { border: 0, height: '100vh', width: '100%' });
  if (isKind('old')) delete inner.contentWindow.trustedTypes;
  if (isKind('hasty')) {
    const { setTimeout } = inner.contentWindow;
    inner.contentWindow.setTimeout = (run, time) => setTimeout(run, time < 30_000 ? time : time / 60);
  }
  window.addEventListener('message', ({ source, data }) => {
    if (source === window.parent) {
      if (data.method !== 'ui/notifications/sandbox-resource-ready') {
        inner.contentWindow.postMessage(data, '*');
        return;
      }
      inner.contentDocument.open();
      inner.contentDocument.write(data.params.html);
      inner.contentDocument.close();
    } else if (source === inner.contentWindow) {
      window.parent.postMessage(data, '*');
    }
  });
  window.parent.postMessage({ jsonrpc: '2.0', method: 'ui/notifications/sandbox-proxy-ready', params: {} }, '*');
}

if (inFrame) startProxy();
else (window.startBridge ?? startHost)(document.body.dataset.proxy);
