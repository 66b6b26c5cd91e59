import { element, visible } from './element.js';

/**
 * Shows what became of a text: what both have at the ends stands once, between them what went and what came.
 * @param {string|null} before null: there was none
 * @param {string|null} after
 */
export function difference(before, after) {
  if (typeof before !== 'string' && typeof after !== 'string') return element('p.soft', {}, 'The whole block.');
  const [old, now] = [before, after].map((text) => Array.from(visible(text ?? '')));
  const least = Math.min(old.length, now.length);
  let start = 0;
  while (start < least && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < least - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const piece = (text, from, to) => text.slice(from, to).join('');
  const [out, put] = [piece(old, start, old.length - end), piece(now, start, now.length - end)];
  return element('p.difference', {}, piece(old, 0, start), out && element('del', {}, out),
    put && element('ins', {}, put), piece(old, old.length - end));
}
