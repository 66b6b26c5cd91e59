// Elements: what JSX makes, and what components return.

const ELEMENT = Symbol.for('react.element');
const MEMO = Symbol.for('react.memo');
const FORWARD = Symbol.for('react.forward_ref');
const PROVIDER = Symbol.for('react.provider');
const Fragment = Symbol.for('react.fragment');
const TEXT = Symbol('text');
const PORTAL = Symbol.for('react.portal');
const ROOT = Symbol('root');
const StrictMode = Symbol.for('react.strict_mode');
const Suspense = Symbol.for('react.suspense');
const Profiler = Symbol.for('react.profiler');
const GROUPS = new Set([Fragment, PORTAL, ROOT, StrictMode, Suspense, Profiler]);

const element = (type, key, ref, props) => ({ $$typeof: ELEMENT, type, key, ref, props });
const isValidElement = (value) => isObject(value) && value.$$typeof === ELEMENT;

function createElement(type, config, ...children) {
  return build(type, null, null, {}, config, children);
}

function cloneElement(source, config, ...children) {
  return build(source.type, source.key, source.ref, { ...source.props }, config, children);
}

function build(type, key, ref, props, config, children) {
  for (const name of Object.keys(config || {})) {
    if (name === 'key') key = config.key === undefined ? key : '' + config.key;
    else if (name === 'ref') ref = config.ref === undefined ? ref : config.ref;
    else if (name !== '__self' && name !== '__source') props[name] = config[name];
  }
  if (children.length > 0) props.children = children.length === 1 ? children[0] : children;
  const defaults = type && type.defaultProps;
  for (const name of Object.keys(defaults || {})) {
    if (props[name] === undefined) props[name] = defaults[name];
  }
  return element(type, key, ref, props);
}

/// What a component returned, or an element's children: a list, or one item.
function listOf(out) {
  const inner = isValidElement(out) && out.type === Fragment && out.key === null ? out.props.children : out;
  return isIterable(inner) ? Array.from(inner) : inner;
}

const isGiven = (value) => value !== null && value !== undefined;
const isObject = (value) => typeof value === 'object' && value !== null;
const isIterable = (value) => isObject(value) && typeof value[Symbol.iterator] === 'function';

/// One entry of such a list as an element, `null` if it shows nothing.
function asElement(item) {
  if (typeof item === 'string') return item === '' ? null : element(TEXT, null, null, item);
  if (typeof item === 'number') return element(TEXT, null, null, '' + item);
  if (!isObject(item)) return null;
  if (item.$$typeof === ELEMENT || item.$$typeof === PORTAL) return item;
  if (Array.isArray(item) || isIterable(item)) return element(Fragment, null, null, { children: Array.from(item) });
  const found = Object.prototype.toString.call(item) === '[object Object]'
    ? 'object with keys {' + Object.keys(item).join(', ') + '}' : String(item);
  throw new Error('Objects are not valid as a React child (found: ' + found + '). To show a list, use an array.');
}
