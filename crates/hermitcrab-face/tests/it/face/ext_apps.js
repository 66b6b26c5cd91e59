// A host with the bridge of the reference implementation, `ExtApps`, in place of ours. The proxy and the tools are the same.

/** What the bridge made of the messages of the app. */
window.seen = {};

window.startBridge = async (proxy) => {
  const { AppBridge, PostMessageTransport } = window.ExtApps;
  const frame = document.createElement('iframe');
  frame.src = proxy;
  document.body.append(frame);
  const app = frame.contentWindow;
  // In addition to what the bridge says and reads.
  window.say = (message) => app.postMessage({ jsonrpc: '2.0', ...message }, '*');
  window.addEventListener('message', ({ source, data }) => {
    if (source === app && !data.method?.startsWith('ui/notifications/sandbox-')) window.said.push(data);
  });
  const bridge = new AppBridge(null, { name: 'test', version: '1' }, { serverTools: {}, logging: {} }, { hostContext });
  bridge.oncalltool = async ({ name, arguments: given }) => tools[name](given);
  bridge.onmessage = async () => ({});
  bridge.onsizechange = ({ height }) => {
    window.seen.height = height;
  };
  bridge.oninitialized = () => {
    Object.assign(window.seen, { initialized: true, app: bridge.getAppVersion() });
  };
  bridge.onsandboxready = async () => {
    bridge.sendSandboxResourceReady({ html: await (await fetch('/app.html')).text() });
  };
  window.bridge = bridge;
  await bridge.connect(new PostMessageTransport(app, app));
};
