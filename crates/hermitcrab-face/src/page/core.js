import { difference } from './difference.js';
import { author } from './element.js';

const CORE = ['keystone', 'constitution'];

/** Shows the person each edit of the blocks that the model is made of, unless it is the person's own. */
export class CoreEdits {
  #link;
  #strips;
  /** The newest revision that was shown, of each block. */
  #shown = new Map();

  /**
   * @param {import('./link.js').Link} link
   * @param {import('./notices.js').Strips} strips
   */
  constructor(link, strips) {
    this.#link = link;
    this.#strips = strips;
    link.addEventListener('event', ({ detail: { event, data } }) => {
      if (event === 'block_changed' && CORE.includes(data.name)) this.#look(data.name);
    });
  }

  async #look(name) {
    const [row] = await this.#link.call('log', [name, 1]).catch(() => []);
    if (!row || row.rev <= (this.#shown.get(name) ?? 0)) return;
    this.#shown.set(name, row.rev);
    if (row.by === 'person' || row.by === 'kernel') return;
    const actions = { Keep: () => {} };
    if (row.undo) actions.Undo = () => this.#undo(name, row.undo);
    this.#strips.show(`core ${name}`, `${author(row.by)} edited ${name} at ${row.path}. It holds from the next start.`, {
      tone: 'alarm', more: difference(row.before, row.after), actions,
    });
  }

  async #undo(name, count) {
    try {
      await this.#link.call('undo', [name, count]);
    } catch (error) {
      this.#strips.show(`core ${name}`, error.detail, { tone: 'alarm', more: error.hint });
    }
  }
}
