import { typing } from './focus_guard.js';
import { button, element } from './element.js';

/**
 * A panel of the page's own at the side. One at a time.
 *
 * @typedef {object} Panel
 * @property {string} title
 * @property {(body: HTMLElement) => void} open fills the body
 * @property {() => void} [close]
 * @property {() => boolean} [warns] tells of what is not saved; whether there is anything
 */
export class Sheet {
  #element;
  #body;
  #panel = null;
  #from = null;
  #isWarned = false;

  /** @param {HTMLElement} aside */
  constructor(aside) {
    this.#element = aside;
    typing(aside);
    aside.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      // Once; what is typed after it counts anew.
      const warns = !this.#isWarned && this.#panel?.warns?.();
      if (warns) this.#isWarned = true;
      else this.close();
    });
    aside.addEventListener('input', () => { this.#isWarned = false; });
  }

  /** Opens the panel, or closes it if it is open. @param {Panel} panel */
  toggle(panel) {
    const same = this.#panel === panel;
    this.close();
    if (same) return;
    this.#panel = panel;
    this.#from = document.activeElement;
    const title = element('h2', { id: 'sheet-title', tabIndex: -1 }, panel.title);
    this.#body = element('div.body');
    this.#element.setAttribute('role', 'dialog');
    this.#element.setAttribute('aria-labelledby', 'sheet-title');
    this.#element.replaceChildren(
      element('header', {}, title, button('Close', () => this.close(), { className: 'quiet' })), this.#body);
    this.#element.hidden = false;
    title.focus();
    panel.open(this.#body);
  }

  /** Fills a panel again that shows a fault alone: the program can be reached now. */
  again() {
    if (this.#panel && this.#body.matches(':has(> .fault:only-child)')) this.#panel.open(this.#body);
  }

  close() {
    if (!this.#panel) return;
    this.#panel.close?.();
    this.#panel = null;
    this.#isWarned = false;
    this.#element.hidden = true;
    this.#element.replaceChildren();
    this.#from?.focus();
  }
}

/** Does the work of a panel and says in it what goes wrong. @param {HTMLElement} body */
export async function inPanel(body, work) {
  body.querySelector(':scope > .fault')?.remove();
  try {
    return await work();
  } catch (error) {
    const text = [error.detail ?? error.message, error.hint].filter(Boolean).join(' - ');
    body.prepend(element('p.fault', { role: 'alert' }, text));
    return undefined;
  }
}
