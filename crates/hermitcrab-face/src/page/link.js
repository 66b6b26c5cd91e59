/** A refusal or failure as the program words it: `{error, detail, hint?}`. */
export class Refused extends Error {
  constructor({ error = 'failed', detail = 'no reason was given', hint } = {}) {
    super(detail);
    this.error = error;
    this.detail = detail;
    this.hint = hint;
  }

  /** What a frame gets. */
  plain() {
    return { error: this.error, detail: this.detail, ...(this.hint && { hint: this.hint }) };
  }
}

const CUT_OFF = { error: 'disconnected', detail: 'the program cannot be reached; the page keeps trying' };
const TOO_LARGE = { error: 'too_large', detail: 'a message has at most 8 MiB' };
/** The program cuts a page off that sends more at once. */
const MAX_MESSAGE = 8 << 20;
const utf8 = new TextEncoder();
const WAITS = [250, 500, 1_000, 2_000, 5_000, 10_000];

/**
 * The way to the program: a session, its socket, and HTTP for what is large or secret. Events: `state` with `connecting`,
 * `open`, `lost` or `refused`; else the type of each message.
 */
export class Link extends EventTarget {
  #token = '';
  #socket = null;
  #calls = new Map();
  #last = 0;
  #tries = 0;
  #timer = 0;
  #skills;

  /** @param {string[]} skills the tools that this browser can run */
  constructor(skills) {
    super();
    this.#skills = skills;
    document.addEventListener('visibilitychange', () => this.send({ type: 'visible', visible: !document.hidden }));
  }

  /** @param {string} [once] the token of the printed address; a reload has the cookie instead */
  async connect(once) {
    clearTimeout(this.#timer);
    this.#state('connecting');
    let answer;
    try {
      answer = await fetch('/session', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(once ? { token: once } : {}),
      });
    } catch {
      return this.#again();
    }
    // An address that was used before may still find its cookie.
    if (!answer.ok && once) return this.connect();
    if (answer.status === 401 || answer.status === 403) return this.#state('refused');
    if (!answer.ok) return this.#again();
    this.#token = (await answer.json()).token;
    return this.#open();
  }

  #open() {
    const socket = new WebSocket(`ws://${location.host}/ws`);
    this.#socket = socket;
    socket.onopen = () => {
      this.send({ type: 'hello', token: this.#token, skills: this.#skills, visible: !document.hidden });
    };
    socket.onmessage = (event) => this.#receive(JSON.parse(event.data));
    socket.onclose = () => {
      if (this.#socket !== socket) return;
      this.#drop();
      this.#again();
    };
  }

  #again() {
    this.#state('lost');
    const wait = WAITS[Math.min(this.#tries, WAITS.length - 1)];
    this.#tries += 1;
    this.#timer = setTimeout(() => this.connect(), wait);
  }

  /** Leaves the program until `connect`: what it would show meanwhile is not missed then. */
  leave() {
    clearTimeout(this.#timer);
    this.#drop();
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    for (const { reject } of this.#calls.values()) reject(new Refused(CUT_OFF));
    this.#calls.clear();
  }

  /** The program hears this page. */
  get isOpen() {
    return this.#socket?.readyState === WebSocket.OPEN;
  }

  #state(state) {
    this.dispatchEvent(new CustomEvent('state', { detail: state }));
  }

  #receive(message) {
    if (message.type === 'reply') {
      const call = this.#calls.get(message.id);
      this.#calls.delete(message.id);
      if (message.ok) call?.resolve(message.value);
      else call?.reject(new Refused(message.error));
      return;
    }
    if (message.type === 'event' && message.call !== undefined) {
      this.#calls.get(message.call)?.onEvent(message.event, message.data);
      return;
    }
    if (message.type === 'welcome') {
      this.#tries = 0;
      this.#state('open');
    }
    this.dispatchEvent(new CustomEvent(message.type, { detail: message }));
  }

  /** @returns {boolean} whether it could be said */
  send(message) {
    if (!this.isOpen) return false;
    const text = JSON.stringify(message);
    if (utf8.encode(text).length > MAX_MESSAGE) return false;
    this.#socket.send(text);
    return true;
  }

  /**
   * @param {string} method
   * @param {unknown[]} args
   * @param {string|null} frame the frame that asks; null: the page itself, which is to say the person
   * @param {{gesture?: boolean, onEvent?: (event: string, data: object) => void}} [how] `gesture`: the person is at it;
   *   `onEvent`: what comes while the answer is made
   */
  call(method, args = [], frame = null, { gesture = false, onEvent = () => {} } = {}) {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject, onEvent });
      if (this.send({ type: 'call', id, frame, method, args, gesture })) return;
      this.#calls.delete(id);
      reject(new Refused(this.isOpen ? TOO_LARGE : CUT_OFF));
    });
  }

  /**
   * @param {'export'|'import'|'import?trust=true'|'key'} path below `/api/`
   * @param {{method?: string, body?: object}} [how]
   */
  async api(path, { method = 'GET', body } = {}) {
    const headers = { 'X-Hermitcrab-Token': this.#token };
    if (body) headers['Content-Type'] = 'application/json';
    let answer;
    try {
      answer = await fetch(`/api/${path}`, { method, headers, body: body && JSON.stringify(body) });
    } catch {
      throw new Refused(CUT_OFF);
    }
    const value = await answer.json().catch(() => null);
    if (answer.ok) return value;
    throw new Refused(value ?? { error: `http_${answer.status}`, detail: answer.statusText || String(answer.status) });
  }
}
