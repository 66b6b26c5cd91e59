import { Frame } from './frame.js';

/**
 * Where faces stand: one that is seen, and at most one behind it that is not sound yet. Events: `shown` with the frame,
 * `fell` with `{frame, fault, wasShown}`, `cleared` with the frame that hung, if it is known.
 */
export class Stage extends EventTarget {
  #element;
  #link;
  #skills;
  #current = null;
  #candidate = null;
  /** The last one that did not come up in time: its frame may hang still. */
  #discarded = null;

  /**
   * @param {HTMLElement} element
   * @param {import('./link.js').Link} link
   * @param {import('./skills.js').Skills} skills what the browser does for a face
   */
  constructor(element, link, skills) {
    super();
    this.#element = element;
    this.#link = link;
    this.#skills = skills;
    link.addEventListener('show', ({ detail }) => this.#show(detail));
    link.addEventListener('discard', ({ detail }) => {
      if (this.#candidate?.id !== detail.frame) return;
      this.#discarded = this.#candidate;
      this.#try(null);
    });
    // A browser runs all frames of one server in one process: what holds it up goes with the last of them only.
    link.addEventListener('clear', () => {
      // A frame that never ran was held up by the other one.
      const last = this.#candidate ?? this.#discarded;
      const hung = last?.isReady ? last : this.#current;
      this.empty();
      this.dispatchEvent(new CustomEvent('cleared', { detail: hung }));
    });
    link.addEventListener('event', ({ detail: { event, data } }) => {
      this.#current?.tell(event, data);
      this.#candidate?.tell(event, data);
    });
  }

  /** The frame that is seen, if there is one. */
  get current() {
    return this.#current;
  }

  /** Takes all frames away. The program gives new ones to a page that comes again. */
  empty() {
    this.#try(null);
    this.#current?.remove();
    this.#current = null;
    this.#discarded = null;
  }

  /** Whether one behind it may come up yet. */
  get isTrying() {
    return this.#candidate !== null;
  }

  #show({ frame, rev, props }) {
    this.#try(new Frame({ frame, rev, props }, {
      ready: (one) => this.#link.send({ type: 'ready', frame: one.id }),
      mounted: (one) => this.#mounted(one),
      failed: (one, fault) => this.#failed(one, fault),
      call: (one, method, args, how) => this.#call(one, method, args, how),
      log: (one, level, text) => this.#link.send({ type: 'log', frame: one.id, level, text }),
    }));
    this.#element.append(this.#candidate.element);
  }

  /** Takes the place behind the one that is seen. @param {Frame|null} frame */
  #try(frame) {
    this.#candidate?.remove();
    this.#candidate = frame;
    if (this.#current) this.#current.isPatient = frame !== null;
  }

  #mounted(frame) {
    this.#link.send({ type: 'mounted', frame: frame.id, rev: frame.rev });
    const hadFocus = document.activeElement === this.#current?.element;
    this.#current?.remove();
    this.#current = frame;
    this.#candidate = null;
    this.#discarded = null;
    frame.element.inert = false;
    frame.element.classList.add('shown');
    if (hadFocus || document.activeElement === document.body) frame.element.focus();
    this.dispatchEvent(new CustomEvent('shown', { detail: frame }));
  }

  #failed(frame, fault) {
    this.#link.send({ type: 'failed', frame: frame.id, rev: frame.rev, ...fault });
    const wasShown = frame === this.#current;
    if (wasShown) {
      this.#current = null;
      frame.remove();
    } else {
      this.#try(null);
    }
    this.dispatchEvent(new CustomEvent('fell', { detail: { frame, fault, wasShown } }));
  }

  async #call(frame, method, args, how) {
    if (this.#skills.does(method, args)) return this.#skills.run(method, args, frame.name, frame.gone);
    return this.#link.call(method, args, frame.id, how);
  }
}
