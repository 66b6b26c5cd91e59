/** What the person has written and not saved, by its block and place. It is there as long as the page is open. */
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
    return this.#texts.get(place.join('\n'));
  }

  /** Keeps a text; one that is as it was saved is none. */
  keep(text, saved, ...place) {
    if (text === saved) this.#texts.delete(place.join('\n'));
    else this.#texts.set(place.join('\n'), text);
  }

  drop(...place) {
    this.#texts.delete(place.join('\n'));
  }
}
