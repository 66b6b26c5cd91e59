import { modal } from './focus_guard.js';
import { button, element } from './element.js';

/** A click that was meant for something else does not answer a question: so long nothing may be pressed before. */
const CLICK_GUARD_MS = 1_000;
const PROMPT_TIMEOUT_MS = 55_000;
const MAX_WAITING = 4;
/** So often is a wish refused before nobody is asked for it any longer. */
const MAX_DENIALS = 2;

/**
 * @typedef {object} Wish
 * @property {string} skill the tool, such as `listen`
 * @property {string} who who wishes it, such as `Face 3 (App)`
 * @property {string} what what it is, after "wants to"
 * @property {string} [detail] the exact thing: an address, a purpose
 * @property {string} [warning] what the person should know
 * @property {boolean} [once] it cannot be allowed for the visit, as the browser wants a click each time
 * @property {AbortSignal} [signal] the question is in vain from then on
 */

/** What the person allows in this visit. Nothing of it outlives the page. */
export class Permits {
  #allowed = new Set();
  #off = new Set();
  #noes = new Map();
  #queue = Promise.resolve();
  #waiting = 0;

  /** @returns {{skill: string, who: string, is: 'allowed'|'off'}[]} */
  get rows() {
    const rows = (keys, is) => Array.from(keys, (key) => ({ ...JSON.parse(key), is }));
    return [...rows(this.#allowed, 'allowed'), ...rows(this.#off, 'off')];
  }

  #key({ skill, who }) {
    return JSON.stringify({ skill, who });
  }

  /** A no holds for every face: one that was refused could write itself anew, and ask under another number. */
  #refusal({ skill, who }) {
    return this.#key({ skill, who: who.startsWith('Face ') ? 'every face' : who });
  }

  /** Asks again from now on. */
  forget(row) {
    const key = this.#key(row);
    for (const known of [this.#allowed, this.#off, this.#noes]) known.delete(key);
  }

  /** From now on no. */
  switchOff(wish) {
    this.#off.add(this.#refusal(wish));
  }

  isOff(wish) {
    return this.#off.has(this.#refusal(wish));
  }

  /**
   * Whether the person wants it. One question at a time.
   * @param {Wish} wish
   * @returns {Promise<boolean>}
   */
  async ask(wish) {
    const key = this.#key(wish);
    const refusal = this.#refusal(wish);
    if (this.#off.has(refusal) || this.#waiting >= MAX_WAITING) return false;
    if (this.#allowed.has(key)) return true;
    this.#waiting += 1;
    const turn = this.#queue.then(() => (this.#off.has(refusal) ? 'no' : this.#question(wish)));
    this.#queue = turn;
    const answer = await turn;
    this.#waiting -= 1;
    if (answer === 'visit') this.#allowed.add(key);
    if (answer !== 'no') return true;
    if (wish.signal?.aborted) return false;
    const noes = (this.#noes.get(refusal) ?? 0) + 1;
    this.#noes.set(refusal, noes);
    if (noes >= MAX_DENIALS) this.#off.add(refusal);
    return false;
  }

  /** @returns {Promise<'no'|'once'|'visit'>} */
  #question({ who, what, detail, warning, once, signal }) {
    if (signal?.aborted) return 'no';
    return new Promise((resolve) => {
      const answer = (given) => () => dialog.close(given);
      const allow = button('Allow once', answer('once'), { disabled: true });
      const visit = button('Allow for this visit', answer('visit'), { disabled: true });
      const dialog = element('dialog.question', { 'aria-labelledby': 'question' },
        element('h2', { id: 'question' }, `${who} wants to ${what}`),
        detail && element('p.detail', {}, detail),
        warning && element('p.soft', {}, warning),
        element('div.actions', {}, button('Refuse', answer('no'), { autofocus: true }), allow, !once && visit));
      dialog.addEventListener('close', () => {
        clearTimeout(patience);
        dialog.remove();
        resolve(dialog.returnValue || 'no');
      });
      modal(dialog);
      let settling = 0;
      const settle = () => {
        clearTimeout(settling);
        settling = setTimeout(() => {
          allow.disabled = false;
          visit.disabled = false;
        }, CLICK_GUARD_MS);
      };
      settle();
      // A row of clicks that goes on does not hit a button that wakes up under it.
      dialog.addEventListener('pointerdown', () => allow.disabled && settle(), true);
      const patience = setTimeout(() => dialog.close('no'), PROMPT_TIMEOUT_MS);
      signal?.addEventListener('abort', () => dialog.close('no'));
    });
  }
}
