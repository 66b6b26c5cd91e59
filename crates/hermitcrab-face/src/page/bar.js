import { button, element, short } from './element.js';

/** The line above the face, which no shell can cover. */
export class Bar {
  #model = element('span.model');
  #doing = element('span.doing');
  #meter = element('span.meter');
  #stop;
  #buttons;

  /**
   * @param {HTMLElement} header
   * @param {Record<string, () => void>} actions what each button does, in order, by its text; `Stop` stands apart
   */
  constructor(header, { Stop, ...actions }) {
    this.#stop = button('Stop', Stop, { className: 'stop', disabled: true });
    this.#buttons = new Map(Object.entries(actions).map(([text, act]) => [text, button(text, () => {
      this.#open(false);
      act();
    })]));
    const tools = element('nav.tools', { id: 'tools', 'aria-label': 'Face and blocks' }, ...this.#buttons.values());
    this.menu = button('Menu', () => this.#open(this.menu.getAttribute('aria-expanded') !== 'true'), {
      className: 'menu', 'aria-expanded': 'false', 'aria-controls': 'tools',
    });
    header.append(element('strong.name', {}, 'hermitcrab'), this.#model, this.#doing, this.#meter, this.#stop,
      this.menu, tools);
    header.addEventListener('keydown', (event) => {
      if (event.key === 'Escape') this.#open(false);
    });
    header.addEventListener('focusout', ({ relatedTarget }) => {
      if (!header.contains(relatedTarget)) this.#open(false);
    });
  }

  /** Shows how many things wait after a button's text. @param {string} text @param {number} count */
  count(text, count) {
    const of = this.#buttons.get(text);
    of.textContent = count ? `${text} (${count})` : text;
    of.classList.toggle('waits', count > 0);
  }

  #open(isOpen) {
    this.menu.setAttribute('aria-expanded', String(isOpen));
  }

  /** @param {{model: string, offline: string|null, runtime?: string}} status */
  status({ model, offline, runtime }) {
    const who = offline ? `offline: ${offline}` : model;
    this.#model.textContent = [who, runtime].filter(Boolean).join(' · ');
    this.#model.classList.toggle('offline', Boolean(offline));
  }

  /** @param {{turn: Taken, day: Taken, total: Taken}} usage */
  usage(usage) {
    const part = (name, { input, output, usd, unknown }) => {
      const cost = `$${usd.toFixed(usd > 0 && usd < 0.1 ? 3 : 2)}${unknown ? ' + ?' : ''}`;
      return element(`span.${name}`, {}, element('span.of', {}, name), ` ${short(input + output)} `, element('b', {}, cost));
    };
    this.#meter.replaceChildren(part('turn', usage.turn), part('day', usage.day), part('total', usage.total));
  }

  /** @param {boolean} busy @param {string} [doing] the tool that runs */
  activity(busy, doing = '') {
    this.#stop.disabled = !busy;
    this.#doing.classList.toggle('busy', busy);
    this.#doing.textContent = busy ? doing || 'thinking' : '';
  }
}
