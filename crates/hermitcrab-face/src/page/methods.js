// What a shell may call, with the types of its arguments. A `?` means that it may be left out. The program checks again.

const COMMON = {
  send: ['string'],
  stop: [],
  callLLM: ['array', 'object?'],
  callAPI: ['object'],
  callWithToolLoop: ['object'],
  blockRead: ['string', 'string?', 'string?'],
  blockWrite: ['string', 'string', 'string'],
  blockList: [],
  blockCreate: ['string', 'string'],
  blockAppend: ['string', 'string', 'string?', 'string?'],
  getSource: [],
  recompile: ['string'],
  patchSource: ['string', 'string'],
  setTools: ['array'],
  usage: [],
  'conversation.load': ['object?'],
  'conversation.save': ['any'],
  'conversation.clear': [],
  'state.get': [],
  'state.set': ['any'],
  'idb.get': ['string'],
  'idb.put': ['string', 'string'],
  'idb.list': [],
  'idb.delete': ['string'],
  'browser.datetime': [],
  'browser.clipboardRead': [],
  'browser.clipboardWrite': ['string'],
  'browser.speak': ['string', 'number?'],
  'browser.listen': ['number?'],
  'browser.notify': ['string', 'string?'],
  'browser.download': ['string', 'string', 'string?'],
  'browser.geolocation': [],
  'browser.openTab': ['string'],
  'fs.pick': ['string?'],
  'fs.list': ['string', 'string?'],
  'fs.read': ['string', 'string', 'number?'],
  'fs.write': ['string', 'string', 'string'],
  'fs.mkdir': ['string', 'string'],
  'fs.remove': ['string', 'string'],
};

/** Those of the safe face, which is ours. */
const SAFE = {
  log: ['string?', 'number?'],
  undo: ['string', 'number?'],
  redo: ['string', 'number?'],
  shells: [],
  useShell: ['number'],
};

const METHODS = new Map(Object.entries(COMMON));
const SAFE_METHODS = new Map(Object.entries(SAFE));

function fits(type, value) {
  if (type.endsWith('?')) return value === undefined || value === null || fits(type.slice(0, -1), value);
  if (type === 'any') return value !== undefined;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/**
 * @param {string} method
 * @param {unknown} args
 * @param {boolean} safe whether the safe face asks
 * @returns {null|{error: string, detail: string}} what is wrong with the call
 */
export function fault(method, args, safe) {
  const types = METHODS.get(method) ?? (safe ? SAFE_METHODS.get(method) : undefined);
  if (!types) return { error: 'unknown_method', detail: `a face has no method ${JSON.stringify(method).slice(0, 80)}` };
  if (!Array.isArray(args)) return { error: 'bad_arguments', detail: `${method}: the arguments are not a list` };
  if (args.length > types.length) {
    return { error: 'bad_arguments', detail: `${method} takes at most ${types.length} arguments` };
  }
  const wrong = types.findIndex((type, at) => !fits(type, args[at]));
  if (wrong < 0) return null;
  return { error: 'bad_arguments', detail: `${method}: argument ${wrong + 1} is not of type ${types[wrong]}` };
}
