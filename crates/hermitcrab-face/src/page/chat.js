import { cover, typing, uncover } from './focus_guard.js';
import { button, element } from './element.js';

/** A message has at most this many units of UTF-16 in one node: one node of megabytes would hold the browser up. */
const PIECE = 16_384;
/** The number of messages in the list. */
const MOST = 1_000;
const MAX_STEPS = 6;
const MAX_ERRORS = 20;

/** A text in pieces of whole characters; four are shown first. @param {string} text */
function pieces(text) {
  const cut = (at) => at * PIECE - (/[\uD800-\uDBFF]/.test(text[at * PIECE - 1] ?? '') ? 1 : 0);
  const all = Math.ceil(text.length / PIECE);
  const more = button('Show more', () => show(holder.childElementCount - 1));
  const holder = element('span', {}, more);
  function show(count) {
    const from = holder.childElementCount - 1;
    const next = Array.from({ length: Math.min(count, all - from) }, (_, at) => from + at);
    more.before(...next.map((at) => element('span', {}, text.slice(cut(at), cut(at + 1)))));
    if (from + next.length >= all) more.remove();
  }
  show(4);
  return holder;
}

/** A fault of a face: its kind, place and text, and the line of its source. */
function fault({ kind, line, column, message, source_line: source }) {
  const at = line ? `line ${line}, column ${column}: ` : '';
  return element('li', {}, `${kind} ${at}${message}`, source && element('code', {}, source));
}

/** The safe face: the page's own chat, which needs no frame and no runtime. It covers the faces while it is open. */
export class ChatPanel {
  #link;
  #stage;
  #call;
  #why = element('details.why', { open: true, hidden: true });
  #ways = element('div.actions');
  #earlier = button('Earlier', () => this.#load(this.#before));
  #list = element('div', { role: 'log', 'aria-label': 'conversation' });
  #partial = element('p.partial', { hidden: true });
  #steps = element('ol.steps', { 'aria-label': 'steps' });
  #scroll = element('div.scroll', {}, this.#earlier, this.#list, this.#partial, this.#steps);
  #field = element('textarea', { id: 'chat-message', rows: 2, placeholder: 'message' });
  #send = button('Send', () => this.#say());
  #element;
  #before;
  #answer = '';
  #loads = 0;
  /** Messages that came while the newest ones were loaded. */
  #meanwhile = null;
  /** The person asked for it: a face that comes up does not take its place. */
  #isAsked = false;

  /**
   * @param {HTMLElement} holder
   * @param {import('./link.js').Link} link
   * @param {import('./frames.js').Stage} stage
   * @param {(method: string) => void} call asks something of the program and says what goes wrong
   */
  constructor(holder, link, stage, call) {
    this.#link = link;
    this.#stage = stage;
    this.#call = call;
    this.#element = element('section.chat', { hidden: true, 'aria-label': 'Safe face' },
      element('header', {}, element('h2', {}, 'Safe face'), this.#ways), this.#why, this.#scroll,
      element('form', { onsubmit: (event) => event.preventDefault() },
        element('label.unseen', { htmlFor: 'chat-message' }, 'message'), this.#field, this.#send));
    holder.append(this.#element);
    typing(this.#element);
    this.#field.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
      event.preventDefault();
      this.#say();
    });
    stage.addEventListener('shown', () => this.#giveWay());
    for (const event of ['fell', 'cleared']) stage.addEventListener(event, () => this.#offer());
    link.addEventListener('event', ({ detail: { event, data } }) => this.isOpen && this.#follow(event, data));
    link.addEventListener('welcome', () => this.isOpen && this.#load());
  }

  get isOpen() {
    return !this.#element.hidden;
  }

  focus() {
    this.#field.focus();
  }

  /** The person wants it over the face. */
  ask() {
    this.#isAsked = true;
    if (!this.isOpen) this.#show('', []);
    this.focus();
  }

  /** The program shows it, as there is no face. @param {string} reason @param {object[]} errors */
  open(reason, errors) {
    this.#isAsked = false;
    const hasFocus = document.activeElement !== document.body;
    this.#show(reason, errors);
    if (!hasFocus) this.focus();
  }

  #show(reason, errors) {
    this.#why.hidden = !reason && errors.length === 0;
    this.#why.replaceChildren(element('summary', {}, reason || 'The face failed.'),
      element('ul', {}, ...errors.slice(0, MAX_ERRORS).map(fault)));
    const wasOpen = this.isOpen;
    this.#element.hidden = false;
    cover(this);
    this.#offer();
    if (!wasOpen) this.#load();
  }

  #close() {
    this.#element.hidden = true;
    uncover(this.#element);
    uncover(this);
  }

  #offer() {
    if (!this.isOpen) return;
    const back = () => {
      this.#close();
      this.#stage.current?.element.focus();
    };
    this.#ways.replaceChildren(...this.#stage.current
      ? [button('Back to the face', back), button('End the face', () => this.#call('safeFace'), { className: 'quiet' })]
      : [button('Ask for a face', () => this.#call('boot'))]);
  }

  /** A face is up. It does not get what the person is about to type. */
  #giveWay() {
    const isTyping = document.activeElement === this.#field && this.#field.value !== '';
    if (this.#isAsked || isTyping) this.#offer();
    else this.#close();
  }

  #follow(event, data) {
    if (event === 'message') {
      if (data.role === 'assistant') this.#stream('');
      this.#add(data);
    } else if (event === 'delta') {
      this.#stream(this.#answer + data.text);
    } else if (event === 'tool') {
      this.#step(data);
    } else if (event === 'busy') {
      if (data.busy) this.#steps.replaceChildren();
      else this.#stream('');
    }
  }

  #step({ name, phase, summary, is_error: isError }) {
    if (phase === 'start') this.#steps.append(element('li.runs', {}, element('b', {}, name), summary ? ` ${summary}` : ''));
    else this.#steps.querySelector('.runs')?.classList.replace('runs', isError ? 'went-wrong' : 'done');
    while (this.#steps.children.length > MAX_STEPS) this.#steps.firstElementChild.remove();
    this.#keepAtEnd();
  }

  /** The end of an answer that is being made. */
  #stream(text) {
    this.#answer = text.slice(-PIECE);
    this.#partial.hidden = text === '';
    this.#partial.textContent = this.#answer;
    this.#keepAtEnd();
  }

  #keepAtEnd(isForced = false) {
    const { scrollHeight, scrollTop, clientHeight } = this.#scroll;
    if (isForced || scrollHeight - scrollTop - clientHeight < 160) this.#scroll.scrollTop = scrollHeight;
  }

  #line({ role, by, text }) {
    const isSaid = role === 'user';
    const who = !isSaid ? 'crab' : by === 'person' ? 'you' : 'face';
    return element(isSaid ? 'p.said' : 'p', {}, element('b', {}, who), ' ', pieces(text));
  }

  #add(message) {
    this.#meanwhile?.push(message);
    if (message.role === 'assistant' && this.#list.childElementCount >= MOST) return this.#load();
    this.#list.querySelector('.none')?.remove();
    this.#list.append(this.#line(message));
    return this.#keepAtEnd(message.role === 'user');
  }

  /** The newest messages, or those before the ones that are shown. */
  async #load(before) {
    const load = this.#loads += 1;
    if (before === undefined) this.#meanwhile = [];
    this.#earlier.hidden = true;
    await this.#tell(async () => {
      const page = await this.#link.call('conversation.load', [{ before }]);
      // A later one has begun meanwhile.
      if (load !== this.#loads) return;
      const last = page.messages.slice(-4);
      const isNew = ({ role, text }) => !last.some((one) => one.role === role && one.text === text);
      const later = before === undefined ? this.#meanwhile.filter(isNew) : [];
      const lines = [...page.messages, ...later].map((message) => this.#line(message));
      const toEnd = this.#scroll.scrollHeight - this.#scroll.scrollTop;
      this.#list.setAttribute('aria-busy', 'true');
      if (lines.length === 0) lines.push(element('p.soft.none', {}, 'Nothing was said yet.'));
      if (before === undefined) this.#list.replaceChildren(...lines);
      else this.#list.prepend(...lines);
      this.#list.removeAttribute('aria-busy');
      this.#before = page.before;
      if (before === undefined) this.#keepAtEnd(true);
      else this.#scroll.scrollTop = this.#scroll.scrollHeight - toEnd;
    });
    if (load !== this.#loads) return;
    this.#meanwhile = null;
    this.#earlier.hidden = this.#before === undefined || this.#list.childElementCount >= MOST;
  }

  async #say() {
    const text = this.#field.value.trim();
    if (!text || this.#send.disabled) return;
    this.#send.disabled = true;
    const isSent = await this.#tell(() => this.#link.call('send', [text]));
    // What could not be sent is not lost, nor what was typed meanwhile.
    if (isSent && this.#field.value.trim() === text) this.#field.value = '';
    this.#send.disabled = false;
  }

  /** Does something and says what goes wrong; answers whether it was done. */
  async #tell(work) {
    this.#element.querySelector('.fault')?.remove();
    try {
      await work();
      return true;
    } catch (error) {
      const text = [error.detail ?? error.message, error.hint].filter(Boolean).join(' - ');
      this.#scroll.after(element('p.fault', { role: 'alert' }, text));
      return false;
    }
  }
}
