// Takes from the frame, before any shell code runs, what its policy does not stop. WebRTC sends packets past
// `webrtc 'block'`; a preconnect link opens a connection past `connect-src`; a child frame would give back whatever is
// taken here, and a custom element that extends one is a way to make it. Parsers with a sanitizer of their own pass by
// Trusted Types, and keep a link. Speech and the clipboard go by the page, which says so to the person.
//
// The shell runs in this same realm and may replace any builtin afterwards. So what runs later uses only what was
// captured here: no method of a prototype, no `for of`, no spread, no regular expression by its own methods.

const { apply } = Reflect;
const { create, freeze, defineProperty, getOwnPropertyDescriptor } = Object;

/** Reads an accessor as it is now, whatever stands on the prototype later. */
function reader(prototype, name) {
  const { get } = getOwnPropertyDescriptor(prototype, name);
  return (object) => apply(get, object, []);
}

/** Makes a property that stays as it is. */
function fix(object, name, value) {
  defineProperty(object, name, { value, writable: false, enumerable: false, configurable: false });
}

/**
 * @returns {(url: string) => HTMLScriptElement} makes a script element, which nothing else in this frame can
 */
function disarm() {
  const gone = [
    'WebTransport', 'DOMParser', 'XSLTProcessor', 'Sanitizer', 'navigation', 'MediaMetadata', 'PresentationRequest',
    'EyeDropper', 'speechSynthesis', 'SpeechSynthesisUtterance', 'SpeechRecognition', 'webkitSpeechRecognition',
  ];
  for (const name of Object.getOwnPropertyNames(window)) {
    if (/^(webkit|moz)?RTC/.test(name) || gone.includes(name)) {
      delete window[name];
      fix(window, name, undefined);
    }
  }
  // While the bridge hears a message, `window.event.target` would be its port.
  fix(window, 'event', undefined);

  // With it a frame takes the keyboard, even one that is not displayed.
  fix(window, 'focus', () => {});

  const refused = create(null);
  const names = [
    'iframe', 'frame', 'frameset', 'object', 'embed', 'portal', 'fencedframe', 'link', 'meta', 'base', 'script',
  ];
  for (const name of names) refused[name] = true;
  const { toLowerCase, slice } = String.prototype;
  const refuse = (what) => {
    throw new TypeError(`${what} is refused in a face`);
  };
  // The element itself says what it is: browsers differ in how they read a name with several colons. Nothing was loaded
  // yet, as it is in no document that is shown.
  const localName = reader(Element.prototype, 'localName');
  const checked = (made) => {
    const local = apply(toLowerCase, localName(made), []);
    if (refused[local] === true) refuse(`<${local}>`);
    return made;
  };

  const { createElement } = Document.prototype;
  const { createElementNS } = Document.prototype;
  const { createDocument } = DOMImplementation.prototype;
  const documentElement = reader(Document.prototype, 'documentElement');
  fix(Document.prototype, 'createElement', function (name) {
    return checked(apply(createElement, this, [name]));
  });
  fix(Document.prototype, 'createElementNS', function (space, name) {
    return checked(apply(createElementNS, this, [space, name]));
  });
  fix(DOMImplementation.prototype, 'createDocument', function (space, name, type = null) {
    const made = apply(createDocument, this, [space, name, type]);
    const root = documentElement(made);
    if (root !== null) checked(root);
    return made;
  });
  const without = (object, names) => {
    for (const name of names) if (name in object) fix(object, name, () => refuse(name));
  };
  // Two harmless pieces, written one after the other, can be one element.
  without(Document.prototype, ['write', 'writeln', 'open', 'createProcessingInstruction']);
  without(Document, ['parseHTML', 'parseHTMLUnsafe']);
  for (const place of [Element, ShadowRoot]) {
    const parsers = (name) => /HTML/.test(name) && !/^(inner|outer|get|insertAdjacent)HTML$/.test(name);
    without(place.prototype, Object.getOwnPropertyNames(place.prototype).filter(parsers));
  }
  without(CustomElementRegistry.prototype, ['define']);
  // What runs in a worklet is in a realm where nothing of this was done.
  if (window.Worklet) without(Worklet.prototype, ['addModule']);
  // The history is that of the whole tab.
  without(History.prototype, ['back', 'forward', 'go', 'pushState', 'replaceState']);
  const { execCommand } = Document.prototype;
  const commands = create(null);
  for (const name of ['copy', 'cut', 'paste', 'inserthtml']) commands[name] = true;
  fix(Document.prototype, 'execCommand', function (name, ui, value) {
    const command = `${name}`;
    return commands[apply(toLowerCase, command, [])] === true ? false : apply(execCommand, this, [command, ui, value]);
  });
  // What is pasted or dropped is markup that no policy sees; here it becomes its text.
  const carried = reader(InputEvent.prototype, 'dataTransfer');
  const kind = reader(InputEvent.prototype, 'inputType');
  const { getData } = DataTransfer.prototype;
  const { preventDefault } = Event.prototype;
  window.addEventListener('beforeinput', (event) => {
    const transfer = carried(event);
    if (!event.isTrusted || transfer === null) return;
    if (apply(slice, kind(event), [0, 10]) !== 'insertFrom') return;
    apply(preventDefault, event, []);
    apply(execCommand, document, ['insertText', false, apply(getData, transfer, ['text/plain'])]);
  }, true);

  const { exec } = RegExp.prototype;
  const element = new RegExp(`<\\s*(?:[^\\s<>/"'=]*:)?(?:${names.join('|')})(?![\\w.-])|<!(?:doctype|entity)`, 'i');
  const markup = (given) => {
    const text = `${given}`;
    if (apply(exec, element, [text]) !== null) refuse('such markup');
    return text;
  };
  // Where there are no Trusted Types this throws: no bridge starts, and no face.
  const { trustedTypes } = window;
  trustedTypes.createPolicy('default', {
    createHTML: markup,
    createScript: () => refuse('a script'),
    createScriptURL: () => refuse('a script'),
  });
  const own = trustedTypes.createPolicy('hermitcrab', { createScriptURL: (text) => text });
  return (source) => {
    const script = apply(createElement, document, ['script']);
    script.crossOrigin = 'anonymous';
    script.src = own.createScriptURL(source);
    return script;
  };
}
