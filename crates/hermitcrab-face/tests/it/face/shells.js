// In the page of a fixture shell: takes its component, renders it, and tells what there is to see.
(function () {
  'use strict';

  const log = [];
  const word = (value) => (typeof value === 'string' ? value : JSON.stringify(value));
  console.log = (...words) => { log.push(words.map(word).join(' ')); };
  // React tells of every fault here too, in its own words.
  console.error = () => {};
  window.addEventListener('error', (event) => {
    log.push('uncaught: ' + (event.error ? event.error.message : event.message));
    event.preventDefault();
  });

  globalThis.__hermitcrab = (make) => {
    const App = make(React, ReactDOM);
    ReactDOM.createRoot(document.getElementById('root')).render(React.createElement(App));
  };

  // Both runtimes do their work in tasks of this kind, one after the other.
  const hop = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); done(); };
    port2.postMessage(null);
  });

  // What the document shows: one line a node, properties of fields as the person sees them.
  function lines(node, depth, out) {
    const pad = '  '.repeat(depth);
    if (node.nodeType === Node.TEXT_NODE) return void out.push(pad + JSON.stringify(node.data));
    const names = [...node.attributes].map(({ name, value }) => name + '=' + JSON.stringify(value)).sort();
    const field = node.localName;
    if (/^(input|textarea|select)$/.test(field)) names.push('shows ' + JSON.stringify(node.value));
    if (node.checked || node.selected) names.push('on');
    out.push(pad + '<' + [node.localName, ...names].join(' ') + '>');
    for (const child of field === 'textarea' ? [] : node.childNodes) lines(child, depth + 1, out);
  }

  // Everything that is to be seen now. Focus is not part of it: whether a field that is disabled keeps it, and when it
  // is lost, differs between versions of Chromium.
  const look = () => {
    const out = [];
    for (const child of document.getElementById('root').childNodes) lines(child, 0, out);
    return [...out, ...log.map((line) => '# ' + line)].join('\n');
  };

  // Whether the shell has shown or said anything yet.
  globalThis.__mounted = () => look() !== '';

  // What is seen and logged, once a frame has been drawn that changes neither.
  globalThis.__seen = async () => {
    let seen;
    do {
      seen = look();
      for (let hops = 0; hops < 40; hops += 1) await hop();
      await new Promise((done) => { requestAnimationFrame(done); });
      await hop();
    } while (seen !== look());
    log.length = 0;
    return seen;
  };
})();
