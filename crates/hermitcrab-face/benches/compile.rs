//! The time to compile a face of 300 and of 2,000 lines, and to find an error in one.
//!
//! `cargo bench -p orrery-hermitcrab-face --bench compile`; the limits of the specification are in docs/benchmarks.md.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use hermitcrab_face::jsx::{compile_shell, source_place};

/// A component as models write them; `#` is the place of its number.
const PART: &str = r#"
// Panel #: a list with a form below it.
interface Panel#Props { title: string; rows: { id: number; text: string; done?: boolean }[] }

function Panel#({ title, rows, onPick }: Panel#Props & { onPick?: (id: number) => void }) {
  const [draft, setDraft] = React.useState('');
  const [busy, setBusy] = React.useState(false);
  const [error, setError] = React.useState<string | null>(null);
  const end = React.useRef(null);

  React.useEffect(() => {
    if (end.current) end.current.scrollIntoView({ block: 'end' });
  }, [rows.length]);

  async function add() {
    const text = draft.trim();
    if (!text || busy) return;
    setBusy(true);
    try {
      await Promise.resolve({ text, at: Date.now() + # });
      setDraft('');
    } catch (failure) {
      setError((failure as any)?.detail ?? String(failure));
    }
    setBusy(false);
  }

  const open = rows.filter((row) => !row.done).map((row) => ({ ...row, label: `${row.id}. ${row.text}` }));
  return (
    <section style={{ padding: 16, border: '1px solid #2a2a44', borderRadius: 8, background: '#12122a' }}>
      <h2 style={{ margin: 0, fontSize: 18 }}>{title} <span style={{ opacity: 0.5 }}>{open.length}</span></h2>
      {error && <p style={{ color: '#ffb86b' }}>{error}</p>}
      <ul>
        {open.map((row) => (
          <li key={row.id} onClick={() => onPick && onPick(row.id)} style={{ cursor: 'pointer' }}>
            {row.label}{row.done ? ' done' : ' – open'}
          </li>
        ))}
      </ul>
      <input aria-label="new" value={draft} disabled={busy} onChange={(event) => setDraft(event.target.value)}
        onKeyDown={(event) => { if (event.key === 'Enter') add(); }} />
      <button onClick={add} disabled={busy || !draft.trim()}>{busy ? 'Wait' : 'Add'}</button>
      <div ref={end} />
    </section>
  );
}
"#;

/// A face of about this many lines.
fn face(lines: usize) -> String {
    let parts = lines / PART.lines().count();
    let mut text = "import React, { useState } from 'react';\n".to_owned();
    for part in 0..parts {
        text.push_str(&PART.replace('#', &part.to_string()));
    }
    text.push_str("export default function App(props) {\n  const [rows] = useState([]);\n  return (\n    <main>\n");
    for part in 0..parts {
        let name = format!("Panel{part}");
        text.extend(["      <", &name, " title=\"", &name, "\" rows={rows} />\n"]);
    }
    text.push_str("      {props.model}\n    </main>\n  );\n}\n");
    text
}

fn compile(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("compile_shell");
    for lines in [300, 2_000] {
        let text = face(lines);
        group.bench_function(format!("{lines} lines"), |bencher| {
            bencher.iter(|| compile_shell(black_box(&text)).unwrap());
        });
    }
    let reply = format!("Here it is.\n```tsx\n{}```\nEnjoy it.\n", face(300));
    group.bench_function("300 lines in a fence", |bencher| {
        bencher.iter(|| compile_shell(black_box(&reply)).unwrap());
    });
    let wrong = face(300).replace("{props.model}", "{model}");
    group.bench_function("300 lines with a fault", |bencher| {
        bencher.iter(|| compile_shell(black_box(&wrong)).unwrap_err());
    });
    group.finish();
}

fn place(bench: &mut Criterion) {
    let map = compile_shell(&face(2_000)).unwrap().map.unwrap();
    bench.bench_function("source_place, 2,000 lines", |bencher| {
        bencher.iter(|| source_place(black_box(&map), 900, 5));
    });
}

criterion_group!(benches, compile, place);
criterion_main!(benches);
