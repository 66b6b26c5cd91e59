// Events: heard at the roots, handed along the tree.

// Handlers stand at the roots, as React's do: what a handler changes is shown after all of them have run.
const containers = new Set();
const natives = new Map();
const ODD = { onDoubleClick: 'dblclick', onFocus: 'focusin', onBlur: 'focusout' };
const handled = { true: new WeakSet(), false: new WeakSet() };
const OF_MOUSE = /^on(Click|DoubleClick|Mouse(Down|Move|Up|Enter))(Capture)?$/;

function listen(prop) {
  const name = prop.replace(/^(on(?:Got|Lost)PointerCapture|.*?)(?:Capture)?$/, '$1');
  const types = name === 'onChange' ? ['input', 'change'] : [ODD[name] || name.slice(2).toLowerCase()];
  for (const type of types) {
    if (!natives.has(type)) containers.forEach((container) => hear(container, type));
    if (!natives.has(type) || name !== 'onChange') natives.set(type, name === 'onChange' ? null : name);
  }
}

function listenAt(container) {
  if (containers.has(container)) return;
  containers.add(container);
  for (const type of natives.keys()) hear(container, type);
}

function hear(container, type) {
  // Scrolling does not wait for handlers, so they cannot prevent it.
  const passive = /^(touchstart|touchmove|wheel)$/.test(type);
  container.addEventListener(type, (event) => dispatch(event, true), { capture: true, passive });
  container.addEventListener(type, (event) => dispatch(event, false), { passive });
}

function dispatch(event, capture) {
  if (moving || handled[capture].has(event)) return;
  handled[capture].add(event);
  let node = event.target;
  while (node && !partOfNode.has(node)) node = node.parentNode;
  const part = node && partOfNode.get(node);
  if (!part || !part.alive) return;

  const late = part.type === 'select' || /^(checkbox|radio|file)$/.test(part.el.props.type);
  // Between "1" and "1." a number has not changed.
  const same = part.el.props.type === 'number' && node.value === part.shown;
  const changes = FIELDS.has(part.type) && node === event.target && event.type === (late ? 'change' : 'input') && !same;
  const names = [natives.get(event.type)];
  if (changes) names.push('onChange');
  const calls = [];
  for (const name of names) {
    if (!name) continue;
    const path = [];
    for (let at = part; at; at = at.parent) {
      if (typeof at.type === 'string') path.push(at);
    }
    if (capture) collect(calls, path.slice().reverse(), name + 'Capture', name);
    // What does not bubble is heard on its way down, and only its target is told.
    const hears = event.bubbles ? path : node === event.target ? [part] : [];
    if (capture !== event.bubbles) collect(calls, hears, name, name);
  }
  if (calls.length > 0) runHandlers(event, calls);
  if (!capture && changes) {
    flush();
    restore(part);
  }
}

function collect(calls, path, prop, name) {
  for (const { node, type, el: { props } } of path) {
    const off = props.disabled && /^(button|input|select|textarea)$/.test(type) && OF_MOUSE.test(prop);
    if (typeof props[prop] === 'function' && !off) calls.push({ node, call: props[prop], name });
  }
}

function runHandlers(event, calls) {
  const before = inEvent;
  const own = (name, value) => Object.defineProperty(event, name, { value, configurable: true });
  own('nativeEvent', event);
  own('persist', () => {});
  own('isPersistent', () => true);
  own('isDefaultPrevented', () => event.defaultPrevented);
  own('isPropagationStopped', () => event.cancelBubble);
  inEvent = true;
  for (const { node, call, name } of calls) {
    if (event.cancelBubble) break;
    own('currentTarget', node);
    own('type', name === 'onDoubleClick' ? 'dblclick' : name.slice(2).toLowerCase());
    try {
      call(event);
    } catch (error) {
      reportError(error);
    }
  }
  inEvent = before;
  delete event.currentTarget;
  delete event.type;
}

/// A field shows what its props say, whatever was typed into it.
function restore(part) {
  if (!part.alive) return;
  setField(part, false);
  const { node, el: { props } } = part;
  if (props.type !== 'radio' || !node.name) return;
  for (const other of node.getRootNode().querySelectorAll('input[type=radio]')) {
    const group = other !== node && other.name === node.name && other.form === node.form;
    const neighbour = group && partOfNode.get(other);
    if (neighbour && neighbour.alive) setField(neighbour, false);
  }
}
