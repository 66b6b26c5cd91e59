// The face that the offline script writes: blocks on the left, the conversation on the right, the meter below.
const SIZE = 16;
const GROUND = '#0a0a1a';

const line = '1px solid #2a2a44';
const field = {
  background: '#12122a', color: '#e8e6f0', border: line, borderRadius: 6, padding: '6px 8px', font: 'inherit',
};
const button = { ...field, cursor: 'pointer' };
const treeRow = {
  ...button, display: 'block', width: '100%', padding: '6px 0', border: 0, borderTop: line, borderRadius: 0,
  background: 'none', textAlign: 'left', overflowWrap: 'anywhere',
};

function reason(error) {
  return (error && (error.detail || error.message || error.error)) || String(error);
}

// Whether the screen is as small as a phone's.
function useSmall() {
  const query = React.useMemo(() => window.matchMedia('(max-width: 48rem)'), []);
  const [small, setSmall] = React.useState(query.matches);
  React.useEffect(() => { query.onchange = () => setSmall(query.matches); }, []);
  return small;
}

function Blocks({ props, hidden }) {
  const { useState, useEffect } = React;
  const [rows, setRows] = useState([]);
  const [name, setName] = useState('');
  const [path, setPath] = useState('0');
  const [node, setNode] = useState(null);
  const [draft, setDraft] = useState('');
  const [added, setAdded] = useState('');
  const [note, setNote] = useState('');

  const list = () => props.blockList().then(setRows, (error) => setNote(reason(error)));

  async function open(block, at) {
    try {
      const view = await props.blockRead(block, at);
      setName(block);
      setPath(at);
      setNode(view);
      setDraft(view.content || '');
      setAdded('');
      setNote('');
    } catch (error) {
      setNote(reason(error));
    }
  }

  async function save(at, text) {
    try {
      await props.blockWrite(name, at, text);
      await open(name, path);
      await list();
      setNote('saved ' + name + ' ' + at);
    } catch (error) {
      setNote(reason(error));
    }
  }

  useEffect(() => { list(); }, []);

  // Escape leads up; not away from a text that is not saved.
  function leave(event) {
    if (event.key !== 'Escape' || !node) return;
    if (added || draft !== (node.content || '')) setNote('not saved');
    else if (path === '0') setNode(null);
    else open(name, path.slice(0, path.lastIndexOf('.')));
  }

  const steps = path.split('.');
  const children = Object.entries((node && node.children) || {});
  const deeper = (node && node.more) || [];
  return (
    <section onKeyDown={leave} aria-label="blocks" style={{
      display: hidden ? 'none' : 'block', flex: '1 1 320px', minWidth: 0, maxHeight: '100%', boxSizing: 'border-box',
      padding: 16, overflowY: 'auto', borderRight: line,
    }}>
      <div style={{ display: 'flex', flexWrap: 'wrap', gap: 6, marginBottom: 12 }}>
        {rows.map((row) => (
          <button key={row.name} title={row.head} onClick={() => open(row.name, '0')}
            style={{ ...button, borderColor: row.name === name ? '#8a7dff' : '#2a2a44' }}>
            {row.name} <span style={{ opacity: 0.5 }}>{row.nodes}</span>
          </button>
        ))}
      </div>
      {!node && <p style={{ opacity: 0.6 }}>Choose a block. Each is a tree of texts; digits lead down.</p>}
      {node && (
        <div>
          <nav style={{ marginBottom: 8 }}>
            {steps.map((digit, at) => (
              <button key={at} style={{ ...button, marginRight: 4 }}
                onClick={() => open(name, steps.slice(0, at + 1).join('.'))}>{digit}</button>
            ))}
            <span style={{ opacity: 0.5 }}>pscale {node.pscale}</span>
          </nav>
          <textarea aria-label="text of the node" value={draft} rows={5}
            onChange={(event) => setDraft(event.target.value)}
            style={{ ...field, width: '100%', boxSizing: 'border-box', resize: 'vertical' }} />
          <div style={{ display: 'flex', gap: 6, margin: '6px 0 12px' }}>
            <button style={button} disabled={!draft.trim()} onClick={() => save(path, draft)}>Save</button>
            {node.next_free !== null && (
              <input aria-label="new text below" value={added} placeholder="new text below"
                style={{ ...field, flex: 1, minWidth: 0 }} onChange={(event) => setAdded(event.target.value)} />
            )}
            {node.next_free !== null && (
              <button style={button} disabled={!added.trim()}
                onClick={() => save(node.next_free || path + '.1', added)}>Add</button>
            )}
          </div>
          {children.map(([digit, text]) => (
            <button key={digit} onClick={() => open(name, path + '.' + digit)} style={treeRow}>
              <b style={{ color: '#8a7dff', marginRight: 8 }}>{digit}</b>
              {text || '…'} {deeper.includes(digit) && <span style={{ opacity: 0.5 }}>▸</span>}
            </button>
          ))}
        </div>
      )}
      {note && <p style={{ color: '#ffb86b' }}>{note}</p>}
    </section>
  );
}

function Chat({ props, onTurn, hidden }) {
  const { useState, useEffect, useRef } = React;
  const [said, setSaid] = useState([]);
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const end = useRef(null);

  // What was said before this face, and what another page says meanwhile.
  useEffect(() => {
    const row = (message) => ({ who: message.role === 'user' ? 'you' : 'crab', text: message.text });
    props.conversation.load()
      .then(({ messages }) => setSaid((all) => [...messages.map(row), ...all.filter((item) => (
        !messages.some((message) => message.text === item.text)))]))
      .catch(() => {});
    return props.conversation.onMessage((message) => {
      setSaid((all) => (all.some((item) => item.open) ? all : [...all, row(message)]));
    });
  }, []);

  useEffect(() => {
    if (end.current) end.current.scrollIntoView({ block: 'end' });
  }, [said]);

  function grow(more) {
    setSaid((all) => [...all.slice(0, -1), { ...all[all.length - 1], text: all[all.length - 1].text + more }]);
  }

  function close() {
    setSaid((all) => all.map((item) => ({ who: item.who, text: item.text })));
  }

  async function send() {
    const words = text.trim();
    if (!words || busy) return;
    setText('');
    setBusy(true);
    setSaid((all) => [...all, { who: 'you', text: words }, { who: 'crab', text: '', open: true }]);
    try {
      await props.send(words, { onDelta: grow });
    } catch (error) {
      grow('[' + reason(error) + ']');
    }
    close();
    setBusy(false);
    onTurn();
  }

  return (
    <section style={{
      flex: '1 1 360px', minWidth: 0, maxHeight: '100%', boxSizing: 'border-box', padding: 16,
      display: hidden ? 'none' : 'flex', flexDirection: 'column',
    }}>
      <div role="log" aria-label="conversation" style={{ flex: 1, overflowY: 'auto' }}>
        {said.length === 0 && <p style={{ opacity: 0.6 }}>Say something. "help" lists what the script understands.</p>}
        {said.map((item, at) => (
          <p key={at} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
            <b style={{ color: item.who === 'you' ? '#7fd7c4' : '#8a7dff' }}>{item.who}</b> {item.text}
          </p>
        ))}
        <div ref={end} />
      </div>
      <div style={{ display: 'flex', gap: 6 }}>
        <input aria-label="message" value={text} placeholder="message" style={{ ...field, flex: 1, minWidth: 0 }}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => { if (event.key === 'Enter') send(); }} />
        <button style={button} onClick={() => (busy ? props.stop() : send())}>{busy ? 'Stop' : 'Send'}</button>
      </div>
    </section>
  );
}

export default function App(props) {
  const { useState, useEffect } = React;
  const [usage, setUsage] = useState(null);
  const [blocks, setBlocks] = useState(false);
  const small = useSmall();

  const measure = () => props.usage().then(setUsage, () => setUsage(null));

  useEffect(() => { measure(); }, []);

  const total = usage && usage.total;
  return (
    <main style={{
      background: GROUND, color: '#e8e6f0', minHeight: '100vh', height: '100vh', display: 'flex',
      flexDirection: 'column', fontFamily: 'system-ui, sans-serif', fontSize: SIZE, lineHeight: 1.45,
    }}>
      {small && (
        <nav style={{ padding: '8px 16px 0' }}>
          <button style={button} aria-pressed={blocks} onClick={() => setBlocks(!blocks)}>Blocks</button>
        </nav>
      )}
      <div style={{ flex: 1, minHeight: 0, display: 'flex', flexWrap: small ? 'nowrap' : 'wrap', overflow: 'auto' }}>
        <Blocks props={props} hidden={small && !blocks} />
        <Chat props={props} onTurn={measure} hidden={small && blocks} />
      </div>
      <footer style={{ borderTop: line, padding: '6px 16px', opacity: 0.7 }}>
        {props.offline ? 'offline script' : props.model}
        {total && ` · ${total.calls} calls · ${total.input + total.output} tokens · $${total.usd.toFixed(4)}`}
      </footer>
    </main>
  );
}
