import { difference } from './difference.js';
import { announce, author, button, element, when } from './element.js';
import { inPanel } from './sheet.js';

const LIMIT = 200;

/** The panel of the log: every edit of every block, and the way back. */
export class Log {
  title = 'Log';
  #link;
  #body = null;
  #name = '';

  /** @param {import('./link.js').Link} link */
  constructor(link) {
    this.#link = link;
    link.addEventListener('event', ({ detail: { event } }) => {
      if (this.#body && event === 'block_changed') this.#show();
    });
  }

  open(body) {
    this.#body = body;
    this.#show();
  }

  close() {
    this.#body = null;
  }

  #show(said = '') {
    const body = this.#body;
    return inPanel(body, async () => {
      const [names, rows] = await Promise.all([
        this.#link.api('blocks'),
        this.#link.api(`log?name=${encodeURIComponent(this.#name)}&limit=${LIMIT}`),
      ]);
      const filter = element('select', {
        'aria-label': 'Which block',
        onchange: () => {
          this.#name = filter.value;
          this.#show();
        },
      }, new Option('All blocks', ''), ...names.map(({ name }) => new Option(name, name)));
      filter.value = this.#name;
      const later = new Map();
      const items = rows.map((row) => {
        const count = (later.get(row.name) ?? 0) + 1;
        later.set(row.name, count);
        return this.#row(row, count);
      });
      if (said) announce(said);
      body.replaceChildren(filter, element('p.soft', {}, said),
        element('ol.rows', {}, ...items.length ? items : [element('li.soft', {}, 'Nothing was edited yet.')]));
    });
  }

  #row(row, count) {
    const { name, path, op, at, by, before, after } = row;
    const details = element('details', {},
      element('summary', {}, element('b', {}, `${name} ${path ?? ''}`), ` ${op} `,
        element('span.soft', {}, `${when(at)}, ${author(by)}`)),
      difference(before, after));
    if (row.undoable !== false) details.append(this.#back(name, count));
    return element('li', {}, details);
  }

  #back(name, count) {
    const text = count === 1 ? 'Undo' : `Undo this and the ${count - 1} after it`;
    return element('div.actions', {}, button(text, () => inPanel(this.#body, async () => {
      const { undone } = await this.#link.api('undo', { method: 'POST', body: { name, count } });
      await this.#show(`${undone} ${undone === 1 ? 'edit' : 'edits'} of ${name} taken back. That can be undone as well.`);
    })));
  }
}
