import { difference } from './difference.js';
import { announce, button, element, visible, when } from './element.js';
import { inPanel } from './panel.js';

/** The panel of edits that wait for the person: those of the model's own blocks that a text from outside may have asked for. */
export class Review {
  title = 'Review';
  #link;
  #count;
  #body = null;
  /** The rows that are shown, by id. One that is shown stays where it is until its edit goes: the pointer may be on it. */
  #rows = new Map();

  /**
   * @param {import('./link.js').Link} link
   * @param {(count: number) => void} count receives the number of edits that wait
   */
  constructor(link, count) {
    this.#link = link;
    this.#count = count;
    link.addEventListener('welcome', () => this.#show());
    link.addEventListener('event', ({ detail: { event } }) => {
      if (event === 'block_changed' || event === 'notice') this.#show();
    });
  }

  open(body) {
    this.#body = body;
    this.#rows.clear();
    this.#show();
  }

  close() {
    this.#body = null;
  }

  async #show() {
    const body = this.#body;
    if (!body) {
      const { edits } = await this.#link.call('review').catch(() => ({ edits: [] }));
      this.#count(edits.length);
      return;
    }
    await inPanel(body, async () => {
      const { edits, unread } = await this.#link.call('review');
      if (body !== this.#body) return;
      this.#count(edits.length);
      this.#keep(edits);
      const items = [...[...this.#rows.values()].map(({ item }) => item),
        ...unread.map((why) => element('li.soft', {}, visible(why)))];
      if (!items.length) items.push(element('li.soft', {}, 'No edit waits.'));
      const list = body.querySelector(':scope > ol.rows');
      if (list) {
        for (const old of [...list.children]) if (!items.includes(old)) old.remove();
        for (const item of items) if (item.parentNode !== list) list.append(item);
        return;
      }
      body.replaceChildren(
        element('ol.rows', {}, ...items),
        element('p.soft', {}, 'What the model read from outside makes edits wait as long as the model sees the messages after it.'),
        element('div.actions', {}, button('New window', () => this.#newWindow())));
    });
  }

  /** Forgets the rows of edits that went, adds new ones at the end, and shows in the others what the edit would change now. */
  #keep(edits) {
    const ids = new Set(edits.map(({ id }) => id));
    for (const id of this.#rows.keys()) if (!ids.has(id)) this.#rows.delete(id);
    for (const edit of edits) {
      const row = this.#rows.get(edit.id) ?? this.#row(edit);
      this.#rows.set(edit.id, row);
      const key = JSON.stringify(edit.changes);
      if (row.key !== key) row.texts.replaceChildren(...this.#texts(edit));
      row.key = key;
    }
  }

  #texts({ op, changes }) {
    const whole = ['create', 'undo', 'redo'].includes(op.op) && `${op.op} ${op.text ?? op.count}`;
    const texts = changes.map(({ path, before, after }) => element('div', {}, element('b', {}, path), difference(before, after)));
    if (whole || !texts.length) texts.unshift(element('p.soft', {}, whole ? visible(whole) : 'The block has changed since.'));
    return texts;
  }

  #row({ id, block, why, at }) {
    const texts = element('div');
    const item = element('li', {}, element('details', { open: true },
      element('summary', {}, element('b', {}, block), ` ${visible(why)} `, element('span.soft', {}, when(at))), texts,
      element('div.actions', {},
        button('Approve', () => this.#decide('approveEdit', id, `The edit of ${block} is made.`)),
        button('Drop', () => this.#decide('dropEdit', id, `The edit of ${block} is dropped.`)))));
    return { item, texts, key: null };
  }

  #decide(method, id, said) {
    return inPanel(this.#body, async () => {
      await this.#link.call(method, [id]);
      announce(said);
      await this.#show();
    });
  }

  #newWindow() {
    const body = this.#body;
    return inPanel(body, async () => {
      const { begun } = await this.#link.call('newWindow');
      const said = begun ? 'The model sees none of the earlier messages.' : 'The messages stay in the window.';
      body.querySelector(':scope > .actions').replaceChildren(said);
      announce(said);
    });
  }
}
