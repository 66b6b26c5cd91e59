// Events. The root hears all of them, so that what handlers change is shown after all of them have run.
const partOfNode = new WeakMap();
const NAMES = { focusin: 'focus', focusout: 'blur', dblclick: 'doubleclick' };
/// The walk changes the document. Events that this makes, such as a loss of focus, are not the person's.
let quiet = false;

function listenAt(root) {
  const own = Object.keys(NAMES).concat('compositionstart', 'compositionupdate', 'compositionend');
  for (const name in root.node) if (/^on(?!focus$|blur$|dblclick$)/.test(name)) own.push(name.slice(2));
  for (const type of own) {
    // Scrolling does not wait for handlers, so they cannot prevent it.
    const passive = /^(touchstart|touchmove|wheel)$/.test(type);
    root.node.addEventListener(type, (event) => dispatch(root, event, true), { capture: true, passive });
    root.node.addEventListener(type, (event) => dispatch(root, event, false), { passive });
  }
}

function dispatch(root, event, capture) {
  let { target } = event;
  while (target && !partOfNode.has(target)) target = target.parentNode;
  const part = partOfNode.get(target);
  if (quiet || !part || !part.alive) return;
  const path = [];
  for (let at = part; at; at = at.parent) path.push(at);
  if (path.pop() !== root) return;
  const { type } = part.el.props;
  // A check is there when a click is heard. Between "1" and "1." a number has not changed.
  const chosen = part.type === 'select' || type === 'file';
  const kind = chosen ? 'change' : /^(checkbox|radio)$/.test(type) ? 'click' : 'input';
  const changes = event.type === kind && FIELD.test(part.type) && (chosen || seenIn(target) !== part.shown);
  const hosts = path.filter((at) => typeof at.type === 'string');
  // What does not bubble is heard on its way down; some of it at its target only.
  const alone = /^(scroll|(mouse|pointer)(enter|leave))$/.test(event.type) && !event.bubbles;
  const heard = alone ? hosts.slice(0, target === event.target) : hosts;
  const name = event.type !== 'change' && (NAMES[event.type] || event.type);
  const down = hosts.toReversed();
  if (capture) callHandlers(event, name, [[down, 'capture']]);
  if (capture !== event.bubbles) callHandlers(event, name, [[heard, '']]);
  if (capture || !changes) return;
  callHandlers(event, 'change', [[down, 'capture'], [hosts, '']]);
  // A field shows what its props say, whatever was typed into it; so do the others of its group.
  flush();
  const group = type === 'radio' ? root.node.querySelectorAll('input[type=radio]') : [target];
  group.forEach((node) => partOfNode.has(node) && setField(partOfNode.get(node)));
}

function callHandlers(event, name, phases) {
  let stopped = false;
  const stopPropagation = () => {
    stopped = true;
    Event.prototype.stopPropagation.call(event);
  };
  const calls = phases.flatMap(([path, phase]) => path.map((one) => [one, one.handlers['on' + name + phase]]));
  for (const [{ node, el: { props } }, call] of calls) {
    const off = props.disabled && /click|mouse/.test(name) && FORM.test(node.localName);
    if (typeof call !== 'function' || off || stopped) continue;
    const more = {
      currentTarget: node, type: name === 'doubleclick' ? event.type : name, nativeEvent: event, persist: () => {},
      isDefaultPrevented: () => event.defaultPrevented, isPropagationStopped: () => stopped, stopPropagation,
    };
    for (const key of Object.keys(more)) Object.defineProperty(event, key, { value: more[key], configurable: true });
    try {
      call(event);
    } catch (error) {
      reportError(error);
    }
  }
  delete event.currentTarget;
  delete event.type;
  urgent ||= marked().length > 0;
}
