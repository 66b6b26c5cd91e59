/**
 * What the person has written and not saved, by its block and place, each with the text that it replaces. It is there as long as the
 * page is open.
 */
export class Drafts {
  #texts = new Map();

  constructor() {
    window.addEventListener('beforeunload', (event) => {
      if (this.isHolding) event.preventDefault();
    });
  }

  /** Whether anything is not saved. */
  get isHolding() {
    return this.#texts.size > 0;
  }

  /** @param {string[]} place */
  get(...place) {
    return this.#texts.get(place.join('\n'))?.text;
  }

  /** The saved text that a draft replaces. @param {string[]} place */
  saved(...place) {
    return this.#texts.get(place.join('\n'))?.saved;
  }

  /** Keeps a text; one that is as it was saved is none. */
  keep(text, saved, ...place) {
    if (text === saved) this.#texts.delete(place.join('\n'));
    else this.#texts.set(place.join('\n'), { text, saved });
  }

  drop(...place) {
    this.#texts.delete(place.join('\n'));
  }
}
