// The table above is the program's; it has the types of arguments from its schemas. A `?` means that one may be left out.

const ROWS = new Map(PROPS.map((row) => [row.name, row]));

function fits(type, value) {
  if (type.endsWith('?')) return value === undefined || value === null || fits(type.slice(0, -1), value);
  if (type === 'any') return value !== undefined;
  if (type === 'array') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  return typeof value === type;
}

/** Whether a method asks a model: in the person's name only while the person is at the face. */
export function asksModel(method) {
  return ROWS.get(method)?.effect === 'model';
}

/**
 * The program checks again.
 *
 * @param {string} method
 * @param {unknown} args
 * @returns {null|{error: string, detail: string}} what is wrong with the call
 */
export function fault(method, args) {
  const row = ROWS.get(method);
  if (row?.who !== 'face') {
    return { error: 'unknown_method', detail: `a face has no method ${JSON.stringify(method).slice(0, 80)}` };
  }
  const { types } = row;
  if (!Array.isArray(args)) return { error: 'bad_arguments', detail: `${method}: the arguments are not a list` };
  if (args.length > types.length) {
    return { error: 'bad_arguments', detail: `${method} takes at most ${types.length} arguments` };
  }
  const wrong = types.findIndex((type, at) => !fits(type, args[at]));
  if (wrong < 0) return null;
  return { error: 'bad_arguments', detail: `${method}: argument ${wrong + 1} is not of type ${types[wrong]}` };
}
