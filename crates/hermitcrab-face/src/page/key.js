import { modal } from './focus_guard.js';
import { button, element } from './element.js';

/** Asks for a key where one is wanted, or goes on without. The key goes to the program and is kept in no place here. */
export class Key {
  #link;
  #strips;
  #stage;
  #dialog = null;
  /** The person closed the question; it is a line on the page from then on. */
  #isPutOff = false;

  /**
   * @param {import('./link.js').Link} link
   * @param {import('./notices.js').Strips} strips
   * @param {import('./frames.js').Stage} stage
   */
  constructor(link, strips, stage) {
    this.#link = link;
    this.#strips = strips;
    this.#stage = stage;
  }

  /** @param {string|null} provider whose key is missing; null: none is */
  want(provider) {
    if (!provider) {
      this.#isPutOff = false;
      this.#strips.hide('key');
    } else if (this.#isPutOff) {
      this.#strips.show('key', `No model answers: a key for ${provider} is needed.`, {
        tone: 'alarm',
        actions: {
          'Enter a key': () => this.#ask(provider),
          'Continue offline': () => this.#offline().catch(({ detail }) => this.#strips.show('key', detail, { tone: 'alarm' })),
        },
      });
    } else if (!this.#dialog) {
      this.#ask(provider);
    }
  }

  #offline() {
    return this.#link.api('key', { method: 'POST', body: { offline: true } });
  }

  #ask(provider) {
    const input = element('input', { type: 'password', id: 'key', autocomplete: 'off' });
    const fault = element('p.fault', { role: 'alert' });
    const attempt = async (work) => {
      fault.textContent = '';
      try {
        await work();
        dialog.close('answered');
      } catch (error) {
        fault.textContent = error.detail;
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
    const offline = () => attempt(() => this.#offline());
    input.addEventListener('keydown', (event) => event.key === 'Enter' && use());
    const dialog = element('dialog.question', { 'aria-labelledby': 'key-title' },
      element('h2', { id: 'key-title' }, `A key for ${provider}`),
      element('p.soft', {}, 'It goes to the program on this computer and is used for this run alone: it is not stored, '
        + 'and no face ever sees it. Without a key a small script answers, for nothing.'),
      element('label', { htmlFor: 'key' }, 'Key'), input, fault,
      element('div.actions', {}, button('Continue offline', offline),
        button('Use it for this run', use)));
    dialog.addEventListener('close', () => {
      input.value = '';
      dialog.remove();
      this.#dialog = null;
      this.#isPutOff = dialog.returnValue !== 'answered';
      this.#link.connect();
    });
    this.#dialog = dialog;
    // A face can take the keyboard, whatever lies over it, and would get the key letter by letter: there is none until
    // the question is answered.
    this.#link.leave();
    this.#stage.empty();
    modal(dialog);
    input.focus();
  }
}
