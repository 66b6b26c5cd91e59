import { Refused } from './link.js';
import { PROTECTED } from './methods.js';

const MAX_READ = 1 << 20;
const MAX_WRITE = 4 << 20;
const MAX_ENTRIES = 1_000;
const MAX_MOVED = 1_000;
const TRASH = '.hermitcrab-trash';
// As the program refuses them in its own folders.
const { starts, ends } = PROTECTED;
const WHOLE = new Set(PROTECTED.names);
const UNSEEN = /\p{Cc}|(?=\p{Cf})\p{DI}/u;

const refuse = (error, detail) => new Refused({ error, detail });

function isProtected(name) {
  const folded = name.split(':')[0].replace(/[. ]+$/, '').toUpperCase().toLowerCase();
  return WHOLE.has(folded) || starts.some((start) => folded.startsWith(start)) || ends.some((end) => folded.endsWith(end));
}

const has = (found) => found.then(() => true, () => false);

/** Fails for a folder with the records of a companion, its blocks and keys: only the program opens it. */
async function refuseRecords(folder, path) {
  const [file, inner] = [(name) => has(folder.getFileHandle(name)), (name) => has(folder.getDirectoryHandle(name))];
  const isData = await file('store.json') && await inner('blocks');
  const isBlocks = await file('keystone.json') && await file('constitution.json');
  if (isData || isBlocks) throw refuse('refused', `${path || folder.name}: it holds the records of a companion`);
}

/** The names on the way from a root; none is the root itself. */
export function names(path) {
  const bad = (why) => refuse('bad_path', `${JSON.stringify(path)}: ${why}`);
  if (path.length > 1_000) throw bad('it is too long');
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) throw bad('it is absolute');
  const found = path.split('/').filter((name) => name !== '' && name !== '.');
  for (const name of found) {
    if (name === '..') throw bad('it goes up');
    if (name.includes('\\') || UNSEEN.test(name) || name.length > 200) throw bad('a name in it is not allowed');
    if (isProtected(name)) throw refuse('refused', `${name}: such files hold secrets`);
  }
  if (found[0]?.toLowerCase() === TRASH) throw refuse('refused', 'what is in the trash belongs to the person');
  return found;
}

/** The browser's errors in the words of the program. */
async function plainly(path, work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) throw error;
    const kinds = { NotFoundError: 'not_found', TypeMismatchError: 'not_found', NotAllowedError: 'denied' };
    throw refuse(kinds[error.name] ?? 'failed', `${path || 'the folder'}: ${error.message}`);
  }
}

/** Folders that the person chose in the browser: `b1`, `b2` and so on, until the page is closed. */
export class Folders {
  #roots = [];

  /** Whether a root is one of these. */
  static has(root) {
    return typeof root === 'string' && /^b\d+$/.test(root);
  }

  /** Opens the browser's own dialog; it wants a click just before. */
  async pick() {
    let folder;
    try {
      folder = await window.showDirectoryPicker({ mode: 'readwrite' });
    } catch (error) {
      throw refuse(error.name === 'AbortError' ? 'denied' : 'failed', error.message);
    }
    await refuseRecords(folder);
    this.#roots.push(folder);
    return { root: `b${this.#roots.length}`, dir: folder.name, write: true, delete: true };
  }

  #root(id) {
    const root = this.#roots[Number(id.slice(1)) - 1];
    if (!root) throw refuse('bad_root', `no folder ${id} is open; fs.pick asks the person for one`);
    return root;
  }

  async #folder(root, way, create = false) {
    let folder = this.#root(root);
    for (const name of way) {
      folder = await folder.getDirectoryHandle(name, { create });
      await refuseRecords(folder, name);
    }
    return folder;
  }

  /** The folder around a path, and the last name of it. */
  async #around(root, path, create = false) {
    const way = names(path);
    const name = way.pop();
    if (name === undefined) throw refuse('bad_path', 'the path is the folder itself');
    return [await this.#folder(root, way, create), name];
  }

  list(root, path = '') {
    return plainly(path, async () => {
      const folder = await this.#folder(root, names(path ?? ''));
      const entries = [];
      for await (const [name, handle] of folder.entries()) {
        if (isProtected(name) || name === TRASH) continue;
        if (entries.length === MAX_ENTRIES) return { entries, more: true };
        if (handle.kind === 'directory') entries.push({ name, kind: 'folder' });
        else entries.push({ name, kind: 'file', bytes: (await handle.getFile()).size });
      }
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      return { entries, more: false };
    });
  }

  read(root, path, offset = 0, most = MAX_READ) {
    return plainly(path, async () => {
      if (!Number.isSafeInteger(offset) || offset < 0) throw refuse('bad_offset', 'an offset is a whole number');
      const [folder, name] = await this.#around(root, path);
      const file = await (await folder.getFileHandle(name)).getFile();
      const end = Math.min(file.size, offset + most);
      const bytes = await file.slice(offset, end).arrayBuffer();
      let text;
      try {
        // A character that the piece cuts through goes to the next one.
        text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: end < file.size });
      } catch {
        throw refuse('binary', `${path}: it is not text in UTF-8`);
      }
      const next = offset + new TextEncoder().encode(text).length;
      return { text, bytes: file.size, ...(next < file.size && { next }) };
    });
  }

  write(root, path, content) {
    return plainly(path, async () => {
      if (new Blob([content]).size > MAX_WRITE) throw refuse('too_large', `${path}: over 4 MiB`);
      const [folder, name] = await this.#around(root, path);
      const file = await (await folder.getFileHandle(name, { create: true })).createWritable();
      await file.write(content);
      await file.close();
      return { root, path };
    });
  }

  mkdir(root, path) {
    return plainly(path, async () => {
      await this.#folder(root, names(path), true);
      return { root, path };
    });
  }

  /** Moves it to the trash of its root, as a person can take it back from there. */
  remove(root, path) {
    return plainly(path, async () => {
      const [folder, name] = await this.#around(root, path);
      const stamp = new Date().toISOString().replaceAll(':', '-');
      const trash = await (await this.#root(root).getDirectoryHandle(TRASH, { create: true }))
        .getDirectoryHandle(stamp, { create: true });
      await copy(folder, name, trash, { left: MAX_MOVED });
      await folder.removeEntry(name, { recursive: true });
      return { moved_to: `${TRASH}/${stamp}/${name}` };
    });
  }
}

async function copy(from, name, to, count) {
  count.left -= 1;
  if (count.left < 0) throw refuse('too_large', `${name}: over ${MAX_MOVED} files and folders`);
  const file = await from.getFileHandle(name).catch((error) => {
    if (error.name === 'TypeMismatchError') return null;
    throw error;
  });
  if (file) {
    const copied = await (await to.getFileHandle(name, { create: true })).createWritable();
    await (await file.getFile()).stream().pipeTo(copied);
    return;
  }
  const inner = await from.getDirectoryHandle(name);
  await refuseRecords(inner, name);
  const made = await to.getDirectoryHandle(name, { create: true });
  for await (const below of inner.keys()) await copy(inner, below, made, count);
}
