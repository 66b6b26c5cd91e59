import { Folders } from './folders.js';
import { Bucket } from './frame.js';
import { Refused } from './link.js';
import { PROPS } from './methods.js';
import { fileName, listen, locate, notify, offer, speak } from './browser_apis.js';

/** A skill that the person does not allow each time is used so often at once, and once in so many seconds after that. */
const AT_ONCE = 5;
const PAUSE = 5;

const quote = (text) => (text ? `It says: “${String(text).slice(0, 300)}”` : undefined);

/** An address of the web, as the person is to see it. */
function address(text) {
  let url;
  try {
    url = new URL(text);
  } catch {
    throw new Refused({ error: 'failed', detail: `${JSON.stringify(text).slice(0, 200)} is not an address` });
  }
  if (!/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw new Refused({ error: 'failed', detail: 'an address begins with http:// or https:// and has no name in it' });
  }
  return url.href;
}

/**
 * Each skill by the name of its tool: what it does, after "wants to" (`asks`: the person clicks first) or after the name
 * (a line says so); whether this browser has it; and how it is done, with its arguments in the order of the prop's.
 */
const TABLE = {
  clipboard_read: {
    asks: true, what: () => 'read the text on your clipboard',
    has: () => navigator.clipboard?.readText, run: () => navigator.clipboard.readText(),
  },
  clipboard_write: {
    what: () => 'puts text on your clipboard',
    has: () => navigator.clipboard?.writeText,
    run: async ([text]) => {
      await navigator.clipboard.writeText(text);
      return { copied: text.length };
    },
  },
  speak: {
    what: () => 'speaks aloud', has: () => window.speechSynthesis,
    run: ([text, rate]) => speak(text, rate), stop: ['Silence', () => speechSynthesis.cancel()],
  },
  listen: {
    asks: true,
    what: (seconds) => `listen by your microphone for up to ${seconds ?? 10} seconds`,
    warning: 'The browser may send the sound to its maker, who writes it down.',
    has: () => window.SpeechRecognition ?? window.webkitSpeechRecognition,
    run: ([seconds]) => listen(seconds),
  },
  notify: {
    what: () => 'shows a notification',
    asksIf: () => Notification.permission === 'default', has: () => window.Notification,
    run: ([title, body]) => notify(title, body),
  },
  download: {
    what: (filename) => `offers you the file ${fileName(filename).slice(0, 80)}`, has: () => true,
    run: ([filename, content, mime]) => offer(filename, content, mime),
  },
  get_geolocation: {
    asks: true, what: () => 'know where you are',
    has: () => navigator.geolocation, run: locate,
  },
  open_tab: {
    asks: true, once: true, what: () => 'open a page in a new tab',
    detail: address, has: () => true,
    run: ([url]) => {
      window.open(address(url), '_blank', 'noopener,noreferrer');
      return { opened: address(url) };
    },
  },
  fs_pick_directory: {
    asks: true, once: true,
    what: () => 'read and write in a folder that you choose', detail: quote,
    has: () => window.showDirectoryPicker, run: (_, folders) => folders.pick(),
  },
};

/** The most bytes of a file that the model reads at once: its results are cut not far above. */
const PIECE = 10_000;
const BY_TOOL = new Map(PROPS.map((row) => [row.tool, row]));
const BY_METHOD = new Map(PROPS.filter((row) => Object.hasOwn(TABLE, row.tool)).map((row) => [row.name, row.tool]));

/** What only a browser can do: for a face that calls it, and for the model by way of the program. */
export class Skills {
  #permits;
  #strips;
  #folders = new Folders();
  /** How often each skill that needs no answer is used, by its name: the person sees a line for each. */
  #rates = new Map();
  /** The program's calls that wait, by id. */
  #calls = new Map();

  /**
   * @param {import('./permissions.js').Permits} permits
   * @param {import('./notices.js').Strips} strips
   */
  constructor(permits, strips) {
    this.#permits = permits;
    this.#strips = strips;
  }

  /** The tools that this browser has, by name. */
  get offers() {
    return Object.keys(TABLE).filter((name) => TABLE[name].has());
  }

  /** Whether a face's call is done here. */
  does(method, [root]) {
    return BY_METHOD.has(method) || (/^fs\./.test(method) && Folders.has(root));
  }

  /** A face's call. @param {string} who the face, as the person knows it @param {AbortSignal} signal it is gone */
  run(method, args, who, signal) {
    const name = BY_METHOD.get(method);
    if (name) return this.#do(name, args, who, signal);
    return this.#folders[method.slice(3)](...args.map((arg) => arg ?? undefined));
  }

  /** The program's call, for the model: the tool's arguments by name. @returns {Promise<object>} the reply */
  async host({ id, name, args }) {
    const call = new AbortController();
    this.#calls.set(id, call);
    try {
      const row = BY_TOOL.get(name);
      const given = (row?.args ?? []).map((key) => args[key] ?? undefined);
      const value = row?.args[0] === 'root' && Folders.has(args.root)
        ? await this.#folders[row.name.slice(3)](...given, PIECE)
        : await this.#do(name, given, 'The model', call.signal);
      return { type: 'host_reply', id, ok: true, value };
    } catch ({ error, message }) {
      const known = ['denied', 'unavailable'].includes(error) ? error : 'failed';
      return { type: 'host_reply', id, ok: false, error: known, detail: message };
    } finally {
      this.#calls.delete(id);
    }
  }

  /** The program waits no longer. */
  unanswered({ id }) {
    this.#calls.get(id)?.abort();
  }

  async #do(name, args, who, signal) {
    const skill = TABLE[name];
    if (!skill?.has()) throw new Refused({ error: 'unavailable', detail: `this browser has no ${name}` });
    const wish = {
      skill: name, who, what: skill.what(...args), detail: skill.detail?.(...args), warning: skill.warning,
      once: skill.once, signal,
    };
    const no = new Refused({ error: 'denied', detail: `the person does not want ${name}` });
    if (skill.asks || skill.asksIf?.()) {
      if (!skill.asks) wish.what = 'show notifications';
      if (!await this.#permits.ask(wish)) throw no;
    } else {
      if (this.#permits.isOff(wish)) throw no;
      if (!this.#rates.has(name)) this.#rates.set(name, new Bucket(AT_ONCE, 1 / PAUSE));
      if (!this.#rates.get(name).take()) {
        throw new Refused({ error: 'too_often', detail: `${name}: ${AT_ONCE} at once, then one in ${PAUSE} seconds` });
      }
      this.#say(wish, skill);
    }
    try {
      return await skill.run(args, this.#folders);
    } catch (error) {
      if (error instanceof Refused) throw error;
      throw new Refused({
        error: error.name === 'NotAllowedError' ? 'denied' : 'failed', detail: `${name}: ${error.message}`,
      });
    }
  }

  #say(wish, { stop }) {
    const { who, what, skill } = wish;
    this.#strips.show(`does ${skill}`, `${who} ${what}.`, {
      stays: 10_000,
      actions: {
        ...(stop && { [stop[0]]: stop[1] }),
        'Switch off': () => {
          stop?.[1]();
          this.#permits.switchOff(wish);
        },
        Dismiss: () => {},
      },
    });
  }
}
