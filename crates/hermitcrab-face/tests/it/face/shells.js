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

  // The whole document: one line a node with its attributes, and properties of fields as the person sees them.
  function whole(node, depth, out) {
    const pad = '  '.repeat(depth);
    if (node.nodeType === Node.TEXT_NODE) return void out.push(pad + JSON.stringify(node.data));
    const names = [...node.attributes].map(({ name, value }) => name + '=' + JSON.stringify(value)).sort();
    const field = node.localName;
    if (/^(input|textarea|select)$/.test(field)) names.push('shows ' + JSON.stringify(node.value));
    if (node.checked || node.selected) names.push('on');
    out.push(pad + '<' + [node.localName, ...names].join(' ') + '>');
    for (const child of field === 'textarea' ? [] : node.childNodes) whole(child, depth + 1, out);
  }

  const ROLES = {
    button: 'button', textarea: 'textbox', select: 'listbox', form: 'form', main: 'main', output: 'status',
    progress: 'progressbar',
    h1: 'heading', h2: 'heading', ol: 'list', ul: 'list', li: 'listitem', table: 'table', option: 'option', details: 'group',
  };
  const INPUTS = { checkbox: 'checkbox', radio: 'radio', number: 'spinbutton', range: 'slider' };
  const roleOf = (node) => node.getAttribute('role') || (node.localName === 'input' ? INPUTS[node.type] || 'textbox'
    : node.localName === 'a' && node.href ? 'link' : ROLES[node.localName]);

  // What a person gets: visible text, and a line for each node that has a role or takes the focus, in its order.
  function shown(node, out) {
    if (node.nodeType === Node.TEXT_NODE) {
      const last = out.length - 1;
      if (last >= 0 && out[last].startsWith('"')) out[last] = out[last].slice(0, -1) + JSON.stringify(node.data).slice(1);
      else out.push(JSON.stringify(node.data));
      return;
    }
    if (node.hidden) return;
    const field = /^(input|textarea|select)$/.test(node.localName);
    const role = roleOf(node);
    const states = [...node.attributes].filter(({ name }) => name.startsWith('aria-'))
      .map(({ name, value }) => name + '=' + value);
    if (field) states.push('shows ' + JSON.stringify(node.value));
    for (const state of ['checked', 'selected', 'disabled', 'readOnly', 'required']) if (node[state]) states.push(state);
    if (node.tabIndex >= 0 && !node.disabled) states.push('takes focus');
    const own = [];
    for (const child of node.localName === 'textarea' ? [] : node.childNodes) shown(child, own);
    const inline = own.length === 1 && own[0].startsWith('"') && own.pop();
    const line = [role, ...states, inline].filter(Boolean).join(' ');
    if (role || field || states.length > 0) out.push(line);
    else if (inline) out.push(inline);
    out.push(...own);
  }

  const nodes = () => document.getElementById('root').childNodes;
  const said = () => log.map((line) => '# ' + line);
  // Focus is not part of it: whether a field that is disabled keeps it, and when it is lost, differs between versions of
  // Chromium.
  const look = (tell) => {
    const out = [];
    for (const node of nodes()) tell(node, out);
    return out.join('\n');
  };
  const all = () => look((node, out) => whole(node, 0, out)) + '\n' + said().join('\n');

  // Whether the shell has shown or said anything yet.
  globalThis.__mounted = () => all() !== '\n';

  // The lines that are not as before, with their place, so that a snapshot has all that is shown and repeats nothing.
  const changes = (old, now) => {
    let first = 0;
    while (first < now.length && first < old.length && old[first] === now[first]) first += 1;
    if (first === now.length && first === old.length) return [];
    let rest = 0;
    while (rest < Math.min(now.length, old.length) - first && old.at(-1 - rest) === now.at(-1 - rest)) rest += 1;
    const end = now.length - rest;
    return [`lines ${first + 1} to ${end} of ${now.length}`, ...now.slice(first, end)];
  };

  // Waits until a frame has been drawn that changes nothing. Answers with the whole document and the log for a comparison of two
  // runtimes, and for a snapshot with what is shown, if that differs from the step before, and the log.
  let before = [];
  globalThis.__seen = async () => {
    let seen;
    do {
      seen = all();
      for (let hops = 0; hops < 40; hops += 1) await hop();
      await new Promise((done) => { requestAnimationFrame(done); });
      await hop();
    } while (seen !== all());
    const now = look(shown).split('\n');
    const snapshot = [...changes(before, now), ...said()].join('\n');
    before = now;
    log.length = 0;
    return [seen, snapshot];
  };
})();
