import { difference } from './difference.js';
import { announce, author, button, element, when } from './element.js';
import { inPanel } from './panel.js';

const LIMIT = 200;

/** The panel of the log: every edit of every block, and the way back. */
export class Log {
  title = 'Log';
  #link;
  /** The reading under way. */
  #reading = null;
  /** What it reads may be old by now. */
  #isOld = false;
  #body = null;
  #name = '';
  /** The last step that the person took, in words. */
  #said = '';

  /** @param {import('./link.js').Link} link */
  constructor(link) {
    this.#link = link;
    link.addEventListener('event', ({ detail: { event } }) => {
      if (this.#body && event === 'block_changed') this.#show();
    });
  }

  open(body) {
    this.#body = body;
    this.#said = '';
    this.#show();
  }

  close() {
    this.#body = null;
  }

  /** One reading at a time: edits may be faster than their rows. */
  #show() {
    this.#isOld = true;
    this.#reading ??= this.#read().finally(() => { this.#reading = null; });
    return this.#reading;
  }

  async #read() {
    while (this.#isOld && this.#body) {
      this.#isOld = false;
      await this.#fill(this.#body);
    }
  }

  /** An edit of the person's own is news as well: the last reading alone is shown, so that a row stays open. */
  #fill(body) {
    return inPanel(body, async () => {
      const [names, rows] = await Promise.all([
        this.#link.call('blockList'),
        this.#link.call('log', [this.#name, LIMIT]),
      ]);
      if (this.#isOld && body.hasChildNodes()) return;
      const filter = element('select', {
        'aria-label': 'Which block',
        onchange: () => {
          this.#name = filter.value;
          this.#said = '';
          this.#show();
        },
      }, new Option('All blocks', ''), ...names.map(({ name }) => new Option(name, name)));
      filter.value = this.#name;
      const items = rows.map((row) => this.#row(row));
      body.replaceChildren(filter, element('p.soft', {}, this.#said),
        element('ol.rows', {}, ...items.length ? items : [element('li.soft', {}, 'Nothing was edited yet.')]));
    });
  }

  #row(row) {
    const { name, path, op, at, by, before, after, undo, redo } = row;
    const details = element('details', {},
      element('summary', {}, element('b', {}, `${name} ${path ?? ''}`), ` ${op} `,
        element('span.soft', {}, `${when(at)}, ${author(by)}`)),
      difference(before, after));
    if (undo) details.append(this.#step(name, 'undo', undo));
    if (redo) details.append(this.#step(name, 'redo', redo));
    return element('li', {}, details);
  }

  #step(name, way, count) {
    const [text, others, done] = way === 'undo'
      ? ['Undo', 'after it', 'taken back. Redo makes them again.']
      : ['Redo', 'before it', 'made again.'];
    const label = count === 1 ? text : `${text} this and the ${count - 1} ${others}`;
    return element('div.actions', {}, button(label, () => inPanel(this.#body, async () => {
      const { undone, redone } = await this.#link.call(way, [name, count]);
      const edits = undone ?? redone;
      this.#said = `${edits} ${edits === 1 ? 'edit' : 'edits'} of ${name} ${done}`;
      announce(this.#said);
      await this.#show();
    })));
  }
}
