// Random programs on two runtimes at once: trees that change, state that is set, effects that are logged.
// `__random([a, b], seed)` answers with what differs, or null.
// React tells of every fault here too, in its own words.
console.error = () => {};
globalThis.__random = async function (runtimes, seed) {
  'use strict';

  // The same numbers for both (mulberry32).
  const dice = (start) => {
    let a = start >>> 0;
    const next = () => {
      a = (a + 0x6d2b79f5) | 0;
      let t = Math.imul(a ^ (a >>> 15), 1 | a);
      t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
    return (n) => Math.floor(next() * n);
  };

  // Both runtimes do their work in tasks of this kind, one after the other.
  const hop = () => new Promise((done) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => { port1.close(); done(); };
    port2.postMessage(null);
  });
  const settle = async () => {
    for (let hops = 0; hops < 5; hops += 1) await hop();
  };

  async function run({ React, ReactDOM }) {
    const h = React.createElement;
    const log = [];
    let faulty = false;
    const setters = new Map();
    const Context = React.createContext('none');

    class Catch extends React.Component {
      constructor(props) {
        super(props);
        this.state = { failed: null };
      }
      static getDerivedStateFromError(error) {
        faulty = true;
        return { failed: error.message };
      }
      componentDidMount() { log.push('catch ' + this.props.name); }
      componentWillUnmount() { log.push('catch away ' + this.props.name); }
      componentDidUpdate(old) {
        if (old.turn !== this.props.turn && this.state.failed) this.setState({ failed: null });
      }
      render() { return this.state.failed ? h('s', null, this.state.failed) : this.props.children; }
    }

    function Part({ name, tree, reads, faulty }) {
      const [own, setOwn] = React.useState(0);
      const seen = reads ? React.useContext(Context) : '';
      setters.set(name, setOwn);
      React.useLayoutEffect(() => {
        log.push('layout ' + name + own);
        return () => { log.push('layout away ' + name + own); };
      }, [own]);
      React.useEffect(() => {
        log.push('effect ' + name);
        return () => { log.push('away ' + name); };
      }, [tree]);
      if (faulty && own % 3 === 2) throw new Error('fault of ' + name);
      const ref = (node) => { log.push('ref ' + name + (node ? 1 : 0)); };
      return [h('b', { key: 'b', ref }, own, seen), draw(tree)];
    }
    const Kept = React.memo(Part);
    const Bare = React.memo(Part, () => true);

    const draw = (tree) => {
      if (tree === null || typeof tree !== 'object') return tree;
      if (Array.isArray(tree)) return tree.map(draw);
      const { kind, key, name, n, children } = tree;
      const props = { key, ...tree.props };
      if (kind === 'part') {
        const own = { name, tree: children, reads: n % 2, faulty: n % 5 === 0 };
        return h([Part, Kept, Bare][n % 3], { ...props, ...own });
      }
      if (kind === 'group') return h(React.Fragment, { key }, draw(children));
      if (kind === 'context') return h(Context.Provider, { key, value: name }, draw(children));
      if (kind === 'catch') return h(Catch, { key, name, turn: n }, draw(children));
      return Array.isArray(children) ? h(kind, props, ...children.map(draw)) : h(kind, props, draw(children));
    };

    const KINDS = 'text number nothing list keyed group part part context catch div p i input'.split(' ');
    const roll = dice(seed);
    let names = 0;
    const grow = (depth) => {
      const kind = KINDS[roll(depth > 4 ? 3 : KINDS.length)];
      if (kind === 'text') return 'abc'.slice(roll(4));
      if (kind === 'number') return roll(3);
      if (kind === 'nothing') return [null, false, undefined, true][roll(4)];
      const children = () => (roll(2) ? grow(depth + 1) : Array.from({ length: roll(4) }, () => grow(depth + 1)));
      if (kind === 'list') return Array.from({ length: roll(4) }, () => grow(depth + 1));
      if (kind === 'keyed') {
        return Array.from({ length: roll(6) }, (_, at) => ({ kind: 'u', key: 'u' + at, children: grow(depth + 1) }));
      }
      if (kind === 'input') {
        return { kind, children: null, props: { value: 'v' + roll(3), readOnly: true, className: 'c' + roll(2) } };
      }
      const key = roll(3) ? undefined : 'k' + names++;
      const style = { width: roll(9), color: roll(2) ? 'red' : null };
      const props = roll(3) ? {} : { title: 't' + roll(3), style };
      return { kind, key, n: roll(30), name: kind[0] + names++, children: children(), props };
    };
    // A tree like the one before: pieces replaced, lists turned, cut and mixed.
    const change = (tree, depth) => {
      if (roll(8) === 0) return grow(depth);
      if (tree === null || typeof tree !== 'object') return tree;
      if (roll(4) === 0) return tree;
      if (Array.isArray(tree)) {
        const next = tree.map((one) => change(one, depth + 1));
        const how = roll(6);
        if (how === 0) next.reverse();
        if (how === 1) next.splice(roll(next.length + 1), 1);
        if (how === 2) next.splice(roll(next.length + 1), 0, grow(depth + 1));
        if (how === 3) next.push(...next.splice(0, 1));
        if (how === 4) next.sort((a, b) => ('' + (a && a.key) < '' + (b && b.key) ? 1 : -1));
        return next;
      }
      return tree.kind === 'input' ? tree : { ...tree, children: change(tree.children, depth + 1) };
    };

    const box = document.createElement('div');
    document.body.append(box);
    const root = ReactDOM.createRoot(box);
    const out = [];
    let tree = grow(0);
    for (let round = 0; round < 8; round += 1) {
      if (round === 0 || roll(3)) {
        tree = round === 0 ? tree : change(tree, 0);
        root.render(h(Catch, { name: 'top', turn: round }, draw(tree)));
      }
      const all = [...setters.keys()].sort();
      for (let n = roll(3); n > 0 && all.length > 0; n -= 1) setters.get(all[roll(all.length)])((own) => own + 1);
      await settle();
      // Where an update fails, the order of what went before is not the same: see the gaps.
      const said = log.splice(0);
      if (faulty) said.sort();
      faulty = false;
      out.push(box.innerHTML + '\n' + said.join(', '));
    }
    root.unmount();
    await settle();
    out.push(log.join(', '));
    box.remove();
    return out;
  }

  const [a, b] = [await run(runtimes[0]), await run(runtimes[1])];
  const at = a.findIndex((one, index) => one !== b[index]);
  return at < 0 ? null : 'seed ' + seed + ', round ' + at + '\n' + a[at] + '\n---\n' + b[at];
};
