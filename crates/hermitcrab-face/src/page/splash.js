import { button, element } from './element.js';

const STEPS = 6;

/** What stands in the place of a face while there is none. */
export class Wake {
  #title = element('h1');
  #text = element('p.soft');
  #steps = element('ol.steps');
  #actions = element('div.actions');
  #element;

  /** @param {HTMLElement} stage */
  constructor(stage) {
    this.#element = element('section.wake', {}, this.#title, this.#text, this.#steps, this.#actions);
    stage.append(this.#element);
  }

  /**
   * @param {string} title
   * @param {string} [text]
   * @param {Record<string, () => void>} [actions]
   */
  say(title, text = '', actions = {}) {
    this.#title.textContent = title;
    this.#text.textContent = text;
    this.#actions.replaceChildren(...Object.entries(actions).map(([label, act]) => button(label, act)));
    this.#element.hidden = false;
  }

  /** What the model does: a line for each tool, which is ticked when it is done. */
  step({ name, phase, summary, is_error: isError }) {
    if (phase === 'start') {
      this.#steps.append(element('li.runs', {}, element('b', {}, name), summary ? ` ${summary}` : ''));
      while (this.#steps.children.length > STEPS) this.#steps.firstElementChild.remove();
      return;
    }
    const runs = this.#steps.querySelector('.runs');
    runs?.classList.replace('runs', isError ? 'went-wrong' : 'done');
  }

  /** A face is there. */
  hide() {
    this.#element.hidden = true;
    this.#steps.replaceChildren();
  }
}
