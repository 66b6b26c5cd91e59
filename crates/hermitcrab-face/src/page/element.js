/**
 * Makes an element. Texts go in as text nodes: nothing from outside is ever read as markup.
 * @param {string} tag with classes, such as `button.quiet`
 * @param {Record<string, unknown>} [given] `on…` is a listener; `hidden`, `disabled`, `value` and the like are
 *   properties; the rest, such as `aria-label`, are attributes
 * @param {...(Node|string|null|undefined|false)} children
 */
export function element(tag, given = {}, ...children) {
  const [name, ...classes] = tag.split('.');
  const made = document.createElement(name);
  made.classList.add(...classes);
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (key in made && !key.includes('-')) made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A button that says what it does. */
export function button(text, onclick, given = {}) {
  return element('button', { type: 'button', onclick, ...given }, text);
}

/** Says a line to the person who hears the page instead of seeing it. */
export function announce(text) {
  const region = document.getElementById('said');
  // The same words twice are heard twice.
  region.replaceChildren(element('p', {}, text));
}

/** An amount in few characters: 950, 1.2k, 34k, 5.6M. */
export function short(count) {
  if (count < 1_000) return String(count);
  const [unit, size] = count < 1_000_000 ? ['k', 1_000] : ['M', 1_000_000];
  const scaled = count / size;
  return `${scaled < 10 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

/** A text with an escape for each character that is not seen, or that turns the order of the others. */
export function visible(text) {
  return String(text).replace(/(?![\n\t\u200c\u200d\ufe0e\ufe0f])[\p{Cc}\p{Bidi_C}\p{DI}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u{${char.codePointAt(0).toString(16)}}`);
}

/** A time as a person reads it. */
export function when(at) {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const today = new Date().toDateString() === date.toDateString();
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  return today ? time : `${date.toLocaleDateString()} ${time}`;
}

/** Who did it, from a provenance: `"person"`, `"kernel"`, or an object with one key. */
export function author(by) {
  if (by === 'person') return 'you';
  if (by === 'kernel') return 'the program';
  const { model, web, import: from } = Object(by);
  if (model) return model.web ? `${model.id}, after reading ${model.web}` : String(model.id);
  if (web) return `the web: ${web.url}`;
  return from ? `import: ${from.source}` : String(by);
}
