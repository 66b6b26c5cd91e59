import { difference } from './difference.js';
import { announce, button, element, when } from './element.js';
import { inPanel } from './panel.js';

/** The panel of edits that wait for the person: those of the model's own blocks that a text from outside may have asked for. */
export class Review {
  title = 'Review';
  #link;
  #count;
  #body = null;

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
      this.#count(edits.length);
      const items = [...edits.map((edit) => this.#row(edit)), ...unread.map((why) => element('li.soft', {}, why))];
      body.replaceChildren(
        element('ol.rows', {}, ...items.length ? items : [element('li.soft', {}, 'No edit waits.')]),
        element('p.soft', {}, 'What the model read from outside makes edits wait as long as the model sees the messages after it.'),
        element('div.actions', {}, button('New window', () => this.#newWindow())));
    });
  }

  #row({ id, block, op, why, at, changes }) {
    const texts = changes.map(({ path, before, after }) => element('div', {}, element('b', {}, path), difference(before, after)));
    const whole = texts.length ? texts : [element('p.soft', {}, [op.op, op.text ?? op.count].filter(Boolean).join(' '))];
    return element('li', {}, element('details', { open: true },
      element('summary', {}, element('b', {}, block), ` ${why} `, element('span.soft', {}, when(at))), ...whole,
      element('div.actions', {},
        button('Approve', () => this.#decide('approveEdit', id, `The edit of ${block} is made.`)),
        button('Drop', () => this.#decide('dropEdit', id, `The edit of ${block} is dropped.`)))));
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
