// Elements: what JSX makes and what components return.
const ELEMENT = Symbol.for('react.element');
const MEMO = Symbol.for('react.memo');
const FORWARD = Symbol.for('react.forward_ref');
const Fragment = Symbol.for('react.fragment');
const TEXT = Symbol('text');

const isGiven = (value) => value !== null && value !== undefined;
const isObject = (value) => typeof value === 'object' && value !== null;
const isIterable = (value) => isObject(value) && typeof value[Symbol.iterator] === 'function';
const isValidElement = (value) => isObject(value) && value.$$typeof === ELEMENT;
const element = (type, props, key = null, ref = null) => ({ $$typeof: ELEMENT, type, key, ref, props });

function createElement(type, config, ...children) {
  const { key, ref = null, ...props } = config || {};
  const defaults = { ...type?.type?.defaultProps, ...type?.defaultProps };
  for (const name in defaults) if (props[name] === undefined) props[name] = defaults[name];
  if (children.length > 0) props.children = children.length === 1 ? children[0] : children;
  return element(type, props, key === undefined ? null : '' + key, ref);
}

/// What a component returned, or an element's children: a list, or one item.
function listOf(out) {
  const inner = isValidElement(out) && out.type === Fragment && out.key === null ? out.props.children : out;
  return isIterable(inner) ? Array.from(inner) : inner;
}

/// One entry of such a list as an element, `null` if it shows nothing.
function asElement(item) {
  if (typeof item === 'number' || (typeof item === 'string' && item !== '')) return element(TEXT, '' + item);
  if (!isObject(item) || isValidElement(item)) return isObject(item) ? item : null;
  if (isIterable(item)) return element(Fragment, { children: Array.from(item) });
  throw new Error('Objects are not valid as a React child: found ' + item + '. To show a list, use an array.');
}

function sameProps(a, b) {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length
    && names.every((name) => Object.hasOwn(b, name) && Object.is(a[name], b[name]));
}

function createContext(value) {
  const context = { value };
  context.Provider = { context };
  context.Consumer = ({ children }) => children(useContext(context));
  return context;
}
