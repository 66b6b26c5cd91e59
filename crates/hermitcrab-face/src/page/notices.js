import { announce, button, element } from './element.js';

/** More lines of their own than these would leave no room for the face: the oldest go. */
const MAX_NOTICES = 4;

/** Lines between the bar and the face: what went wrong, what is being done, what the program wants to say. */
export class Strips {
  #element;
  #shown = new Map();

  /** @param {HTMLElement} holder */
  constructor(holder) {
    this.#element = holder;
  }

  /**
   * Shows a line; one with the same key before it goes.
   * @param {string|null} key null: a line of its own
   * @param {string} text
   * @param {{tone?: 'alarm'|'calm', more?: string|Node, actions?: Record<string, () => void>, stays?: number,
   *   brief?: boolean}} [how] each action takes the line away; `stays` milliseconds, or until the person does something;
   *   `more` comes below; `brief`: on a small screen it has one line
   */
  show(key, text, { tone = 'calm', more, actions = { Dismiss: () => {} }, stays, brief = false } = {}) {
    // The same text twice is one line.
    const name = key ?? `line ${text}`;
    this.hide(name);
    const own = Array.from(this.#shown.keys()).filter((shown) => shown.startsWith('line '));
    if (key === null && own.length >= MAX_NOTICES) this.hide(own[0]);
    const buttons = Object.entries(actions).map(([label, act]) => button(label, () => {
      this.hide(name);
      act();
    }));
    announce(text);
    const line = element(`div.strip.${tone}${brief ? '.brief' : ''}`, { title: brief && text },
      element('div.said', {}, element('p', {}, text), typeof more === 'string' ? element('small', {}, more) : more),
      element('div.actions', {}, ...buttons));
    this.#element.append(line);
    this.#shown.set(name, { line, timer: stays && setTimeout(() => this.hide(name), stays) });
  }

  /** Takes a line away. */
  hide(key) {
    const found = this.#shown.get(key);
    if (!found) return;
    clearTimeout(found.timer);
    found.line.remove();
    this.#shown.delete(key);
  }
}
