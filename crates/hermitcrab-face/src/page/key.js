import { modal } from './cover.js';
import { button, element } from './element.js';

/** Asks for a key where one is wanted, or goes on without. The key goes to the program and is kept in no place here. */
export class Key {
  #link;
  #strips;
  #dialog = null;

  /**
   * @param {import('./link.js').Link} link
   * @param {import('./strips.js').Strips} strips
   */
  constructor(link, strips) {
    this.#link = link;
    this.#strips = strips;
  }

  /** @param {string|null} provider whose key is missing; null: none is */
  want(provider) {
    if (!provider) {
      this.#dialog?.close('answered');
      this.#strips.hide('key');
      return;
    }
    if (this.#dialog) return;
    const input = element('input', { type: 'password', id: 'key', autocomplete: 'off' });
    const fault = element('p.fault', { role: 'alert' });
    const attempt = async (work) => {
      fault.textContent = '';
      try {
        await work();
        dialog.close('answered');
      } catch (error) {
        fault.textContent = error.detail;
        if (!dialog.open) this.#strips.show('key', error.detail, { tone: 'alarm' });
      }
    };
    const use = () => {
      const key = input.value.trim();
      if (!key) return input.focus();
      return attempt(async () => {
        await this.#link.api('key', { method: 'POST', body: { key } });
        input.value = '';
      });
    };
    const offline = () => attempt(() => this.#link.call('offline'));
    input.addEventListener('keydown', (event) => event.key === 'Enter' && use());
    const dialog = element('dialog.question', { 'aria-labelledby': 'key-title' },
      element('h2', { id: 'key-title' }, `A key for ${provider}`),
      element('p.soft', {}, 'It goes to the program on this computer and is used for this run alone: it is not stored, '
        + 'and no face ever sees it. Without a key a small script answers, for nothing.'),
      element('label', { htmlFor: 'key' }, 'Key'), input, fault,
      element('div.actions', {}, button('Go on offline', offline, { className: 'quiet' }),
        button('Use it for this run', use)));
    dialog.addEventListener('close', () => {
      input.value = '';
      dialog.remove();
      this.#dialog = null;
      if (dialog.returnValue === 'answered') return;
      // Closed without an answer, the question stays on the page.
      this.#strips.show('key', `No model answers: a key for ${provider} is wanted.`, {
        tone: 'alarm', actions: { 'Enter a key': () => this.want(provider), 'Go on offline': offline },
      });
    });
    this.#dialog = dialog;
    modal(dialog);
    input.focus();
  }
}
