import { asksModel, fault } from './methods.js';

const MAX_MESSAGE = 1 << 20;
const MAX_IN_FLIGHT = 16;
const RATE = 20;
const BURST = 40;
const MAX_LINES = 20;
const MAX_TEXT = 2_000;
const BEAT = 2_000;
const MISSED = 3;
/** The program gives a shell three seconds from its frame's load; this is for one that it no longer asks about. */
const MOUNT = 6_000;
/** So many refused messages are no mistake. */
const FLOOD = 5_000;
/** A frame greets the page once; this many greetings are an attack on the page's time. */
const GREETINGS = 5_000;
/** A navigation that the policy refused may be told so much later, after its frame is gone. */
const ECHO = 1_000;
/** The frames that are not dead, and when a refused navigation may have been of any of them. */
const alive = new Set();
let disputed = -ECHO;
const utf8 = new TextEncoder();

/** Why no face may run in this browser, or an empty text: a text of a face could become an element that loads something. */
export const unfit = window.trustedTypes ? ''
  : 'This browser lacks Trusted Types, which keep a face from the network. Chromium 140 or newer has them.';

/** As many things at once as `size`, and `rate` a second in the long run. */
export class Bucket {
  #left;
  #at = performance.now();

  constructor(size, rate) {
    this.#left = size;
    this.size = size;
    this.rate = rate;
  }

  take() {
    const now = performance.now();
    this.#left = Math.min(this.size, this.#left + ((now - this.#at) / 1_000) * this.rate);
    this.#at = now;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}

const text = (value, most = MAX_TEXT) => (typeof value === 'string' ? value.slice(0, most) : '');
const natural = (value) => Number.isSafeInteger(value) && value >= 0;

/** The value as JSON has it, or undefined where it is none or is too large. */
function plain(value) {
  try {
    const json = JSON.stringify(value);
    // The program counts bytes.
    const fits = json.length <= MAX_MESSAGE && utf8.encode(json).length <= MAX_MESSAGE;
    return fits ? JSON.parse(json) : undefined;
  } catch {
    return undefined;
  }
}

function nonce() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A press or a key in the frame allows one message of the person, and so many requests to a model. */
const ASKS_AN_INPUT = 4;

/**
 * Whether the person is at this page. The frame may have a process of its own: a click can be known here only after the call
 * that it made.
 */
async function isActive() {
  for (let tries = 0; tries < 25 && !navigator.userActivation.isActive; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return navigator.userActivation.isActive;
}

/**
 * One frame with one shell. What comes out of it is hostile until it is checked here.
 *
 * @typedef {object} Handlers
 * @property {(frame: Frame) => void} ready
 * @property {(frame: Frame) => void} mounted
 * @property {(frame: Frame, fault: {phase: string, message: string, line?: number, col?: number}) => void} failed once
 * @property {(frame: Frame, method: string, args: unknown[], how: {gesture: boolean, onEvent: Function}) => Promise<unknown>} call
 * @property {(frame: Frame, level: string, text: string) => void} log
 * @property {(frame: Frame, height: unknown) => void} [size]
 */
export class Frame {
  #on;
  #port = null;
  #nonce = nonce();
  #ready = false;
  #greeted = false;
  #greetings = 0;
  #inFlight = new Set();
  /** Calls of a shell that has not mounted yet: until then it is no face, and asks for nothing. */
  #held = [];
  #calls = new Bucket(BURST, RATE);
  #lines = new Bucket(MAX_LINES, MAX_LINES / 60);
  #refused = 0;
  /** The newest input of the person in the frame, and how many requests it still allows. */
  #input = 0;
  #asks = 0;
  #beat = 0;
  #ping = 0;
  #pong = 0;
  #mountBy = 0;
  #loads = 0;
  #gone = new AbortController();

  /**
   * @param {{frame: string, rev: number, props: object, html?: string, allow?: string}} shell `html` is the
   *   whole document of a frame that no server gives, `allow` its permissions policy
   * @param {Handlers} on
   */
  constructor(shell, on) {
    this.id = shell.frame;
    this.rev = shell.rev;
    this.isMounted = false;
    this.isDead = false;
    /** Another frame is mounting: it may hold this one up, which is not this one's fault. */
    this.isPatient = false;
    this.props = shell.props;
    this.#on = on;
    const iframe = document.createElement('iframe');
    iframe.setAttribute('sandbox', 'allow-scripts');
    iframe.setAttribute('allow', shell.allow ?? '');
    iframe.referrerPolicy = 'no-referrer';
    iframe.title = 'Face';
    iframe.className = 'face';
    iframe.inert = true;
    if (shell.html === undefined) iframe.src = `/face/${encodeURIComponent(this.id)}/`;
    else iframe.srcdoc = shell.html;
    // A second document in the frame is not the one that was let in.
    iframe.addEventListener('load', () => {
      this.#loads += 1;
      if (this.#loads > 1) this.#leave();
    });
    this.element = iframe;
    alive.add(this);
    document.addEventListener('securitypolicyviolation', this.#blocked);
    window.addEventListener('message', this.#greet);
  }

  /** What the person may call it. */
  get name() {
    return `Face ${this.rev}`;
  }

  /** Whether its document runs. */
  get isReady() {
    return this.#ready;
  }

  /** Aborted when it is off the page or dead. */
  get gone() {
    return this.#gone.signal;
  }

  // A face that cancels each of its navigations never loads another document, but the policy refuses each of them. Which
  // frame it was is not said, and an innocent one must not fall: while another one is tried, no frame does.
  #blocked = ({ effectiveDirective }) => {
    if (effectiveDirective !== 'frame-src') return;
    const isClear = alive.size === 1 && performance.now() - disputed >= ECHO;
    if (alive.size > 1) disputed = performance.now();
    if (isClear) this.#leave();
  };

  /** Looking for the other page may have told its name to the network: such a face does not come back by itself. */
  #leave() {
    disputed = performance.now();
    this.#fail({ phase: 'timeout', message: 'the face left its page' });
  }

  #greet = (event) => {
    if (event.source === null || event.source !== this.element.contentWindow) return;
    this.#greetings += 1;
    if (this.#greetings > GREETINGS) {
      this.#fail({ phase: 'timeout', message: 'the face floods the page with messages' });
      return;
    }
    // What it says beside is not even unpacked.
    if (this.#greeted || event.origin !== 'null' || Object(event.data).ready !== 1) return;
    this.#greeted = true;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = (told) => {
      for (const port of told.ports) port.close();
      this.#receive(told.data);
    };
    this.element.contentWindow.postMessage({ hello: 1, nonce: this.#nonce }, '*', [port2]);
  };

  #receive(message) {
    if (this.isDead || typeof message !== 'object' || message === null) return this.#refuse();
    const { type } = message;
    if (!this.#ready) {
      if (type !== 'ready' || message.nonce !== this.#nonce) return this.#refuse();
      this.#ready = true;
      this.#mountBy = setTimeout(() => {
        if (!this.isMounted) this.#fail({ phase: 'timeout', message: 'the face did not mount in time' });
      }, MOUNT);
      this.#say({ type: 'init', rev: this.rev, props: this.props });
      this.#beat = setInterval(() => this.#check(), BEAT);
      this.#on.ready(this);
      return undefined;
    }
    if (type === 'call') return this.#called(message);
    if (type === 'pong') {
      if (natural(message.n) && message.n <= this.#ping) this.#pong = Math.max(this.#pong, message.n);
      return undefined;
    }
    if (type === 'mounted' && message.rev === this.rev && !this.isMounted) {
      this.isMounted = true;
      clearTimeout(this.#mountBy);
      this.#on.mounted(this);
      for (const call of this.#held.splice(0)) call();
      return undefined;
    }
    if (type === 'failed' && message.rev === this.rev) {
      const { line, col } = message;
      return this.#fail({
        phase: message.phase === 'load' ? 'load' : 'render',
        message: text(message.message) || 'no reason was given',
        ...(natural(line) && natural(col) && { line, col }),
      });
    }
    if (type === 'log' && this.#lines.take()) {
      return this.#on.log(this, message.level === 'warn' ? 'warn' : 'error', text(message.text));
    }
    if (type === 'size' && this.#on.size) return this.#on.size(this, message.height);
    return this.#refuse();
  }

  #refuse() {
    this.#refused += 1;
    if (this.#refused > FLOOD) this.#fail({ phase: 'timeout', message: 'the face floods the page with messages' });
  }

  /**
   * Whether the person did something in the frame that this request can be of. A shell that forges the number of its inputs
   * gains no more than the page's own activation gives, which is asked as well.
   */
  #isAsked(method, input) {
    if (!asksModel(method)) return false;
    if (natural(input) && input > this.#input) {
      this.#input = input;
      this.#asks = ASKS_AN_INPUT;
    }
    if (this.#asks < 1) return false;
    this.#asks = method === 'send' ? 0 : this.#asks - 1;
    return true;
  }

  #called({ id, method, args, input }) {
    if (!natural(id) || typeof method !== 'string' || this.#inFlight.has(id)) return this.#refuse();
    const deny = (error, detail) => {
      this.#refuse();
      this.#say({ type: 'reply', id, ok: false, error: { error, detail } });
    };
    if (!this.#calls.take()) return deny('too_fast', `at most ${RATE} calls a second, ${BURST} at once`);
    if (this.#inFlight.size >= MAX_IN_FLIGHT) {
      return this.isMounted ? deny('too_many', `${MAX_IN_FLIGHT} calls wait for answers already`)
        : deny('rate', `${MAX_IN_FLIGHT} calls wait until the face has mounted`);
    }
    const given = plain(args);
    if (given === undefined) return deny('too_large', 'a call is plain JSON of at most 1 MiB');
    const wrong = fault(method, given);
    if (wrong) return deny(wrong.error, wrong.detail);
    this.#inFlight.add(id);
    const call = (gesture) => this.#send(id, method, given, gesture);
    // What the person does before a face is seen is not meant for it.
    if (!this.isMounted) return this.#held.push(() => call(false));
    return this.#isAsked(method, input) ? isActive().then(call) : call(false);
  }

  #send(id, method, given, gesture) {
    const onEvent = (event, data) => this.#say({ type: 'event', event, data, call: id });
    return this.#on.call(this, method, given, { gesture, onEvent }).then(
      (value) => this.#reply(id, { ok: true, value }),
      (error) => this.#reply(id, {
        ok: false,
        error: error.plain ? error.plain() : { error: 'failed', detail: String(error.message ?? error) },
      }),
    );
  }

  #reply(id, answer) {
    this.#inFlight.delete(id);
    this.#say({ type: 'reply', id, ...answer });
  }

  #say(message) {
    if (!this.isDead) this.#port?.postMessage(message);
  }

  /** Tells the shell of something that every face may know. */
  tell(event, data) {
    if (this.#ready) this.#say({ type: 'event', event, data });
  }

  #check() {
    // A page that nobody sees is slowed down; what it misses then says nothing.
    if (document.hidden || this.isPatient) {
      this.#pong = this.#ping;
      return;
    }
    if (this.#ping - this.#pong >= MISSED) {
      this.#fail({ phase: 'timeout', message: `the face did not answer for ${(MISSED * BEAT) / 1_000} seconds` });
      return;
    }
    this.#ping += 1;
    this.#say({ type: 'ping', n: this.#ping });
  }

  #fail(fault) {
    if (this.isDead) return;
    this.#end();
    this.#on.failed(this, fault);
  }

  #end() {
    this.isDead = true;
    alive.delete(this);
    this.#gone.abort();
    clearInterval(this.#beat);
    clearTimeout(this.#mountBy);
    window.removeEventListener('message', this.#greet);
    document.removeEventListener('securitypolicyviolation', this.#blocked);
  }

  /** Takes it off the page. */
  remove() {
    this.#say({ type: 'dispose' });
    this.#end();
    this.#port?.close();
    this.element.remove();
  }
}
