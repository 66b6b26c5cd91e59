import { button, element, when } from './element.js';
import { inPanel } from './panel.js';

/** The panel of the faces that were kept, and of what they may do in this visit. */
export class Faces {
  title = 'Faces';
  #link;
  #permits;
  #stage;
  #runtime = '';
  #body = null;

  /**
   * @param {import('./link.js').Link} link
   * @param {import('./permissions.js').Permits} permits
   * @param {import('./frames.js').Stage} stage
   */
  constructor(link, permits, stage) {
    this.#link = link;
    this.#permits = permits;
    this.#stage = stage;
    const changed = () => this.#body && this.#show();
    stage.addEventListener('shown', changed);
    link.addEventListener('safe', () => setTimeout(changed));
    link.addEventListener('event', ({ detail: { event } }) => event === 'shells' && changed());
  }

  /** @param {{runtime?: string, runtime_reason?: string|null}} status */
  status({ runtime, runtime_reason: reason }) {
    const text = [runtime, reason].filter(Boolean).join(': ');
    if (text === this.#runtime) return;
    this.#runtime = text;
    if (this.#body) this.#show();
  }

  open(body) {
    this.#body = body;
    this.#show();
  }

  close() {
    this.#body = null;
  }

  #do(method, ...args) {
    return inPanel(this.#body, async () => {
      await this.#link.call(method, args);
      await this.#show();
    });
  }

  #show() {
    const body = this.#body;
    return inPanel(body, async () => {
      const shells = (await this.#link.call('shells')).toSorted((a, b) => b.rev - a.rev);
      // The list may be read because of the act that has just failed: what is said of it stays.
      body.replaceChildren(...body.querySelectorAll(':scope > .fault'),
        element('div.actions', {},
          button('Ask for a new face', () => this.#do('boot')),
          this.#stage.current && button('End the face', () => this.#do('safeFace'), { className: 'quiet' })),
        element('ul.rows', {}, ...shells.length ? shells.map((shell) => this.#row(shell))
          : [element('li.soft', {}, 'No face was kept yet.')]),
        ...this.#runtime ? [element('p.soft.runtime', {}, this.#runtime)] : [],
        ...this.#rights());
    });
  }

  #row({ rev, at, by, component, mounted, deaths }) {
    const isShown = rev === this.#stage.current?.rev;
    const was = mounted === false ? 'failed' : mounted ? 'shown before' : 'not shown yet';
    const state = [
      isShown ? 'shown' : was,
      deaths > 0 && mounted !== false && (deaths === 1 ? 'stopped once' : `stopped ${deaths} times`),
    ].filter(Boolean).join(', ');
    return element('li.line', {},
      element('span', {}, element('b', {}, `${rev} ${component} `), element('span.soft', {}, `${when(at)}, ${by}`),
        element('span.state', {}, ` ${state}`)),
      !isShown && button('Use', () => this.#do('useShell', rev), { 'aria-label': `Use face ${rev}` }));
  }

  #rights() {
    const { rows } = this.#permits;
    if (rows.length === 0) return [];
    return [
      element('h3', {}, 'In this visit'),
      element('ul.rows', {}, ...rows.map((row) => element('li.line', {},
        element('span', {}, `${row.who}: ${row.skill} `, element('span.soft', {}, row.is)),
        button('Ask again', () => {
          this.#permits.forget(row);
          this.#show();
        }, { className: 'quiet' })))),
    ];
  }
}
