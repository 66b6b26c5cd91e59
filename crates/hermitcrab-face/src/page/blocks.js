import { Drafts } from './drafts.js';
import { announce, button, element } from './element.js';
import { offer } from './browser_apis.js';
import { inPanel } from './panel.js';

/** The panel of the blocks: all of them, and one node of one, to walk through and to edit. */
export class Blocks {
  title = 'Blocks';
  #link;
  #body = null;
  #at = null;
  #text = null;
  /** Whether a save is under way, whose end shows the node again. */
  #isSaving = false;
  #drafts = new Drafts();

  /** @param {import('./link.js').Link} link */
  constructor(link) {
    this.#link = link;
    link.addEventListener('event', ({ detail: { event, data } }) => {
      if (this.#body && event === 'block_changed') this.#changed(data.name);
    });
  }

  open(body) {
    this.#body = body;
    if (this.#at) this.#node(this.#at.name, this.#at.path);
    else this.#list();
  }

  close() {
    this.#body = null;
  }

  /** Tells, before it closes, of what is not saved; false where there is nothing to tell. */
  warns() {
    if (!this.#at || !this.#isUnsaved()) return false;
    this.#note('Not saved. Escape once more closes; the text is kept while this page is open.');
    return true;
  }

  #isUnsaved() {
    const { name, path } = this.#at;
    return [name, `${name} below`].some((place) => this.#drafts.get(place, path) !== undefined);
  }

  async #changed(name) {
    const at = this.#at;
    if (!at) this.#list();
    else if (at.name === name && !this.#isSaving) {
      const now = await this.#read(name, at.path).catch(() => at);
      // The news of the person's own save may come after its answer, and is no change by another.
      if (this.#at !== at || this.#isSaving || now.rev === at.rev) return;
      // What the person writes just now is not taken away.
      if (this.#text?.value === at.content) this.#node(name, at.path);
      else if (now.content !== at.content) this.#note('This text was changed meanwhile.');
    }
  }

  #note(text) {
    this.#body.querySelector('.note').textContent = text;
    if (text) announce(text);
  }

  /** Says whether something here is not saved. */
  #mark() {
    const unsaved = this.#isUnsaved();
    this.#body.querySelector('.note').textContent = unsaved ? 'not saved' : '';
    this.#body.querySelector('.discard').disabled = !unsaved;
  }

  #list() {
    const body = this.#body;
    this.#at = null;
    return inPanel(body, async () => {
      const rows = await this.#link.call('blockList');
      body.replaceChildren(
        element('p.soft', {}, 'Each block is a tree of texts. Digits lead down.'),
        element('ul.rows', {}, ...rows.map((row) => element('li', {},
          element('button.row', { type: 'button', onclick: () => this.#node(row.name, '0') },
            element('b', {}, row.name), element('span.soft', {}, ` ${row.nodes} ${row.nodes === 1 ? 'node' : 'nodes'}`),
            element('span.head', {}, row.head ?? ''))))),
        this.#bundle());
    });
  }

  /** All blocks as one file, there and back. */
  #bundle() {
    const said = element('p.soft');
    const isOwn = element('input', { type: 'checkbox', id: 'own-backup' });
    const file = element('input', {
      type: 'file', accept: '.json,application/json', hidden: true,
      onchange: () => inPanel(this.#body, async () => {
        const [chosen] = file.files;
        if (!chosen) return;
        const body = JSON.parse(await chosen.text());
        await this.#link.api(isOwn.checked ? 'import?trust=true' : 'import', { method: 'POST', body });
        said.textContent = `${chosen.name} was read. A block whose name was taken has another one now.`;
        announce(said.textContent);
      }),
    });
    const save = () => inPanel(this.#body, async () => {
      offer('hermitcrab.json', JSON.stringify(await this.#link.api('export'), null, 2), 'application/json');
    });
    return element('div', {}, element('div.actions', {},
      button('Export all', save), button('Import a file', () => file.click()), file,
      element('label', { htmlFor: 'own-backup' }, isOwn, ' my own backup')), said);
  }

  #node(name, path) {
    const body = this.#body;
    return inPanel(body, async () => {
      const view = await this.#read(name, path);
      // A draft is held against the text that it began from.
      const content = this.#drafts.saved(name, path) ?? view.content;
      this.#at = { name, path, content, rev: view.rev };
      this.#text = element('textarea', {
        rows: 6, value: this.#drafts.get(name, path) ?? content, 'aria-label': `text of ${name} ${path}`,
        oninput: () => {
          this.#drafts.keep(this.#text.value, this.#at.content, name, path);
          this.#mark();
        },
      });
      const discard = () => {
        this.#drafts.drop(name, path);
        this.#drafts.drop(`${name} below`, path);
        this.#node(name, path);
      };
      const children = Object.entries(view.children ?? {});
      body.replaceChildren(
        this.#way(name, path),
        this.#text,
        element('div.actions', {},
          button('Save', () => this.#save()),
          button('Discard', discard, { className: 'quiet discard' })),
        element('p.note.soft'),
        ...(view.receipt ? [this.#receipt(view.receipt, name)] : []),
        element('ul.rows', {}, ...children.map(([digit, text]) => this.#child(digit, text, view.more ?? []))),
        this.#below(view, name, path));
      this.#mark();
    });
  }

  #way(name, path) {
    const digits = path.split('.');
    return element('nav.way', { 'aria-label': 'Where you are' },
      button('All blocks', () => this.#list(), { className: 'quiet' }), element('b', {}, name),
      ...digits.map((digit, at) => button(digit, () => this.#node(name, digits.slice(0, at + 1).join('.')), {
        'aria-current': at === digits.length - 1 ? 'true' : undefined,
      })));
  }

  /** The facts of the texts below that a summary has lost, each with a way to its text, and those that it has added. */
  #receipt({ kept, lost, added }, name) {
    const lostFact = ({ text, path }) => element('li', {},
      element('button.row', { type: 'button', onclick: () => this.#node(name, path) }, element('b', {}, path), ` ${text}`));
    return element('details.receipt', {},
      element('summary', {}, `This summary keeps ${kept}, has lost ${lost.length} and has added ${added.length} facts`),
      element('ul.rows', {}, ...lost.map(lostFact)),
      added.length > 0 && element('p', {}, `In none of the texts below: ${added.map(({ text }) => text).join(', ')}`));
  }

  #child(digit, text, more) {
    return element('li', {}, element('button.row', {
      type: 'button', onclick: () => this.#node(this.#at.name, `${this.#at.path}.${digit}`),
    }, element('b', {}, digit), ` ${text ?? '…'}`, more.includes(digit) && element('span.soft', {}, ' ▸')));
  }

  /** A line for a new text below; null when all nine digits are used. */
  #below(view, name, path) {
    const { free } = view;
    if (free === null) return element('p.soft', {}, 'All nine digits below are used.');
    const place = [`${name} below`, path];
    const text = element('input', {
      placeholder: `new text at ${free}`, 'aria-label': `new text at ${free}`, value: this.#drafts.get(...place) ?? '',
      oninput: () => {
        this.#drafts.keep(text.value, '', ...place);
        this.#mark();
      },
    });
    const add = () => text.value.trim() && this.#add(text.value, place);
    text.addEventListener('keydown', (event) => event.key === 'Enter' && add());
    return element('div.actions', {}, text, button('Add', add));
  }

  /** A node as it is now. */
  async #read(name, path) {
    const view = await this.#link.call('blockNode', [name, path]);
    const free = view.next_free === undefined ? `${path}.1` : view.next_free;
    return { ...view, content: view.content ?? '', free };
  }

  /** Saves the text of the node, if it replaces the one that the person saw. */
  #save() {
    const at = this.#at;
    const { name, path } = at;
    const content = this.#text.value;
    return inPanel(this.#body, async () => {
      const now = await this.#read(name, path);
      if (now.content !== at.content) {
        at.content = now.content;
        this.#drafts.keep(content, now.content, name, path);
        throw new Error(`This text was changed meanwhile, to "${now.content}" - Save once more replaces it`);
      }
      await this.#put(at, { path, content }, now.rev, [name, path]);
    });
  }

  /** Saves a new text at the first place that is free now. */
  #add(content, place) {
    const at = this.#at;
    return inPanel(this.#body, async () => {
      const { free, rev } = await this.#read(at.name, at.path);
      if (free === null) throw new Error('All nine digits below are used by now');
      await this.#put(at, { path: free, content }, rev, place);
    });
  }

  async #put(at, body, rev, place) {
    this.#isSaving = true;
    try {
      await this.#link.call('blockSave', [at.name, body.path, body.content, rev]);
      await this.#showSaved(at, body, place);
    } finally {
      this.#isSaving = false;
    }
  }

  async #showSaved(at, body, place) {
    // What was typed since then is not saved.
    const typed = this.#drafts.get(...place);
    this.#drafts.drop(...place);
    const saved = body.path === at.path ? body.content : '';
    if (typed !== undefined && typed !== body.content) this.#drafts.keep(typed, saved, ...place);
    // The person may be elsewhere by now.
    if (this.#at !== at || !this.#body) return;
    await this.#node(at.name, at.path);
    this.#note(`Saved ${at.name} ${body.path}.`);
  }
}
