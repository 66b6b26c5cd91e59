// The face that always works: it needs no model, and it is never written by one.
const TEXT = 'light-dark(#1b1830, #e8e6f0)';
const EDGE = 'light-dark(#cbc7de, #2e2e4e)';
const LINE = '1px solid ' + EDGE;
const SOFT = 'light-dark(#57536f, #aaa7c0)';
const ACCENT = 'light-dark(#5443c4, #a89cff)';
const BAD = 'light-dark(#a3202f, #ff8f8f)';
const GOOD = 'light-dark(#0b6353, #7fd7c4)';
const field = {
  font: 'inherit', color: TEXT, background: 'light-dark(#f1eff9, #12122a)', border: LINE, borderRadius: 6, padding: '6px 10px',
  minWidth: 0, boxSizing: 'border-box',
};
const push = { ...field, cursor: 'pointer' };
const row = { borderTop: LINE, padding: '8px 0', overflowWrap: 'anywhere' };
const line = { display: 'flex', flexWrap: 'wrap', gap: 8, alignItems: 'center' };

/** Texts that were typed and not sent or saved, by block and path. */
const unsaved = {};
const reason = (error) => [error.detail || error.message || String(error), error.hint].filter(Boolean).join(' - ');

function time(at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toLocaleString();
}

function author(by) {
  if (by === 'person') return 'you';
  if (by === 'kernel') return 'the program';
  if (by && by.model) return by.model.web ? `${by.model.id}, after reading ${by.model.web}` : by.model.id;
  if (by && by.web) return `the web: ${by.web.url}`;
  return by && by.import ? `import: ${by.import.source}` : String(by);
}

/** Does something, and keeps what goes wrong to be shown. */
function useWork() {
  const [fault, setFault] = React.useState('');
  async function work(does) {
    setFault('');
    try {
      return await does();
    } catch (error) {
      setFault(reason(error));
      return undefined;
    }
  }
  return [fault && <p role="alert" style={{ color: BAD }}>{fault}</p>, work];
}

/** A text in pieces: one node of megabytes would hold the browser up. A piece has at most 48 KiB and whole characters, four are shown first. */
function Long({ text }) {
  const PIECE = 16_384;
  const [count, setCount] = React.useState(4);
  const all = Math.ceil(text.length / PIECE);
  const cut = (at) => at * PIECE - (/[\uD800-\uDBFF]/.test(text[at * PIECE - 1] ?? '') ? 1 : 0);
  const pieces = Array.from({ length: Math.min(count, all) }, (_, at) => text.slice(cut(at), cut(at + 1)));
  return (
    <span>
      {pieces.map((piece, at) => <span key={at}>{piece}</span>)}
      {all > count && <button style={push} onClick={() => setCount(count * 2)}>Show more</button>}
    </span>
  );
}

function Talk({ props }) {
  const [said, setSaid] = React.useState([]);
  const [before, setBefore] = React.useState();
  const [text, setText] = React.useState(unsaved.talk ?? '');
  const [answer, setAnswer] = React.useState('');
  const [busy, setBusy] = React.useState(false);
  const [fault, work] = useWork();
  const end = React.useRef(null);

  React.useEffect(() => {
    earlier();
    return props.conversation.onMessage((message) => setSaid((all) => [...all, message]));
  }, []);
  React.useEffect(() => { if (end.current) end.current.scrollIntoView({ block: 'end' }); }, [said[said.length - 1], answer]);

  async function earlier() {
    setBefore();
    const page = await work(() => props.conversation.load({ before }));
    if (page) setSaid((all) => (before ? [...page.messages, ...all] : page.messages));
    setBefore(page ? page.before : before);
  }

  async function send() {
    const words = text.trim();
    if (!words || busy) return;
    setBusy(true);
    const done = await work(() => props.send(words, { onDelta: (more) => setAnswer((all) => all + more) }));
    // What could not be sent is not lost, nor what was typed meanwhile.
    if (done && unsaved.talk.trim() === words) setText(unsaved.talk = '');
    setAnswer('');
    setBusy(false);
  }

  const lines = answer ? [...said, { role: 'assistant', text: answer }] : said;
  return (
    <section style={{ display: 'flex', flexDirection: 'column', height: '100%', minHeight: 0 }}>
      <div style={{ flex: 1, minHeight: 0, overflowY: 'auto' }} role="log" aria-label="conversation">
        {lines.length === 0 && <p style={{ color: SOFT }}>Nothing was said yet.</p>}
        {before && <button style={{ ...push, marginBottom: 10 }} onClick={earlier}>Earlier</button>}
        {lines.map((message, at) => (
          <p key={at} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', margin: '0 0 10px' }}>
            <b style={{ color: message.role === 'user' ? GOOD : ACCENT }}>{message.role === 'user' ? 'you' : 'crab'}</b> <Long text={message.text} />
          </p>
        ))}
        <div ref={end} />
      </div>
      {fault}
      <div style={{ ...line, flexWrap: 'nowrap', paddingTop: 8 }}>
        <input aria-label="message" placeholder="message" value={text} style={{ ...field, flex: 1 }}
          onChange={(event) => setText(unsaved.talk = event.target.value)}
          onKeyDown={(event) => { if (event.key === 'Enter' && !event.nativeEvent.isComposing) send(); }} />
        <button style={push} onClick={() => (busy ? work(() => props.stop()) : send())}>{busy ? 'Stop' : 'Send'}</button>
      </div>
    </section>
  );
}

function Blocks({ props }) {
  const [rows, setRows] = React.useState([]);
  const [name, setName] = React.useState('');
  const [node, setNode] = React.useState(null);
  const [draft, setDraft] = React.useState('');
  const [added, setAdded] = React.useState('');
  const [fault, work] = useWork();

  const list = () => work(async () => setRows(await props.blockList()));
  const open = (block, path) => work(async () => {
    const view = await props.blockRead(block, path);
    setName(block);
    setNode(view);
    setDraft(unsaved[`${block} ${path}`] ?? view.content ?? '');
    setAdded(unsaved[`${block} ${path} below`] ?? '');
  });
  const write = (text, place, set) => set(unsaved[place] = text);
  const save = (path, content, place) => work(async () => {
    await props.blockWrite(name, path, content);
    if (unsaved[place] === content) delete unsaved[place];
    await open(name, node.path);
  });
  React.useEffect(() => {
    list();
    return props.on('block_changed', list);
  }, []);

  if (!node) {
    return (
      <section>
        {fault}
        {rows.map((one) => (
          <div key={one.name} style={row}>
            <button style={push} onClick={() => open(one.name, '0')}>{one.name}</button>
            <span style={{ color: SOFT }}> {one.nodes} nodes. {one.head}</span>
          </div>
        ))}
      </section>
    );
  }
  const place = `${name} ${node.path}`;
  const digits = node.path.split('.');
  const free = node.next_free === undefined ? `${node.path}.1` : node.next_free;
  return (
    <section>
      <nav style={{ ...line, marginBottom: 8 }}>
        <button style={push} onClick={() => setNode(null)}>All blocks</button>
        <b>{name}</b>
        {digits.map((digit, at) => (
          <button key={at} style={push} onClick={() => open(name, digits.slice(0, at + 1).join('.'))}>{digit}</button>
        ))}
      </nav>
      <textarea aria-label={`text of ${name} ${node.path}`} rows={6} value={draft}
        style={{ ...field, width: '100%', resize: 'vertical' }} onChange={(event) => write(event.target.value, place, setDraft)} />
      <div style={{ ...line, margin: '8px 0' }}>
        <button style={push} disabled={!draft.trim() || draft === node.content} onClick={() => save(node.path, draft, place)}>Save</button>
        {free && (
          <input aria-label={`new text at ${free}`} placeholder={`new text at ${free}`} value={added}
            style={{ ...field, flex: '1 1 8rem' }} onChange={(event) => write(event.target.value, `${place} below`, setAdded)} />
        )}
        {free && <button style={push} disabled={!added.trim()} onClick={() => save(free, added, `${place} below`)}>Add</button>}
      </div>
      {fault}
      {Object.entries(node.children || {}).map(([digit, text]) => (
        <div key={digit} style={{ ...row, display: 'flex', gap: 8, alignItems: 'baseline' }}>
          <button style={push} onClick={() => open(name, `${node.path}.${digit}`)}>{digit}</button>
          <span>{text || '…'}{(node.more || []).includes(digit) ? ' ▸' : ''}</span>
        </div>
      ))}
    </section>
  );
}

function Log({ props }) {
  const [rows, setRows] = React.useState([]);
  const [done, setDone] = React.useState('');
  const [fault, work] = useWork();
  const list = () => work(async () => setRows(await props.log('')));
  React.useEffect(() => {
    list();
    return props.on('block_changed', list);
  }, []);
  const step = (way, name) => work(async () => {
    await props[way](name, 1);
    setDone(way === 'undo' ? `The last edit of ${name} was taken back. Redo makes it again.` : `An edit of ${name} was made again.`);
    await list();
  });

  return (
    <section>
      {fault}
      <p role="status" style={{ color: SOFT }}>{done}</p>
      {rows.length === 0 && <p style={{ color: SOFT }}>Nothing was edited yet.</p>}
      {rows.map((edit, at) => (
        <div key={at} style={row}>
          <div style={line}>
            <b>{edit.name} {edit.path}</b> {edit.op}
            <span style={{ color: SOFT }}>{time(edit.at)}, {author(edit.by)}</span>
            {edit.undo === 1 && <button style={push} onClick={() => step('undo', edit.name)}>Undo</button>}
            {edit.redo === 1 && <button style={push} onClick={() => step('redo', edit.name)}>Redo</button>}
          </div>
          {typeof edit.before === 'string' && <del style={{ display: 'block', color: BAD }}>{edit.before}</del>}
          {typeof edit.after === 'string' && <span style={{ color: GOOD }}>{edit.after}</span>}
        </div>
      ))}
    </section>
  );
}

function Faces({ props }) {
  const [shells, setShells] = React.useState([]);
  const [fault, work] = useWork();
  const list = () => work(async () => setShells((await props.shells()).slice().sort((a, b) => b.rev - a.rev)));
  React.useEffect(() => {
    list();
    return props.on('shells', list);
  }, []);
  return (
    <section>
      {fault}
      {shells.length === 0 && <p style={{ color: SOFT }}>No face was kept yet. Ask for one in the talk.</p>}
      {shells.map((shell) => (
        <div key={shell.rev} style={{ ...row, ...line }}>
          <button style={push} onClick={() => work(() => props.useShell(shell.rev))}>Use {shell.rev}</button>
          <b>{shell.component}</b>
          <span style={{ color: SOFT }}>{time(shell.at)}, {shell.by}{shell.deaths > 0 ? `, died: ${shell.deaths}` : ''}</span>
        </div>
      ))}
    </section>
  );
}

function Meter({ props }) {
  const [usage, setUsage] = React.useState(null);
  React.useEffect(() => {
    props.usage().then(setUsage, () => {});
    return props.on('usage', setUsage);
  }, []);
  const part = (name, taken) => `${name} ${taken.input + taken.output} tokens, $${taken.usd.toFixed(4)}`;
  return (
    <footer style={{ borderTop: LINE, padding: '6px 16px', color: SOFT, fontSize: 13 }}>
      {props.offline ? `offline: ${props.offline}` : props.model}
      {usage && ` · ${part('turn', usage.turn)} · ${part('day', usage.day)} · ${part('total', usage.total)}`}
    </footer>
  );
}

const PARTS = { Talk, Blocks, Log, Faces };

export default function SafeFace(props) {
  const [open, setOpen] = React.useState('Talk');
  const Part = PARTS[open];
  return (
    <main style={{
      display: 'flex', flexDirection: 'column', height: '100vh', background: 'light-dark(#fbfaff, #0a0a1a)', color: TEXT,
      font: '15px/1.5 system-ui, sans-serif',
    }}>
      <header style={{ ...line, padding: '10px 16px', borderBottom: LINE }}>
        <b>Safe face</b>
        {Object.keys(PARTS).map((name) => (
          <button key={name} aria-pressed={name === open} onClick={() => setOpen(name)}
            style={{ ...push, borderColor: name === open ? ACCENT : EDGE }}>{name}</button>
        ))}
      </header>
      {(props.reason || (props.errors || []).length > 0) && (
        <details style={{ padding: '8px 16px', borderBottom: LINE, color: 'light-dark(#8a4a00, #ffb86b)' }}>
          <summary>{props.reason || 'The face before this one failed.'}</summary>
          {(props.errors || []).map((error, at) => (
            <p key={at} style={{ margin: '6px 0', overflowWrap: 'anywhere' }}>
              {error.kind || error.phase || ''} {error.line ? `line ${error.line}, column ${error.column || error.col}: ` : ''}{error.message}
            </p>
          ))}
        </details>
      )}
      <div style={{ flex: 1, minHeight: 0, overflowY: 'auto', padding: 16 }}><Part props={props} /></div>
      <Meter props={props} />
    </main>
  );
}
