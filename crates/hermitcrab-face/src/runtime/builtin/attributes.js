// Attributes, styles, and the fields of a form.

const words = (text) => text.split(/\s+/);
const UNITLESS = new Set(words(`animationIterationCount aspectRatio borderImageOutset borderImageSlice
  borderImageWidth columnCount columns flex flexGrow flexShrink gridArea gridRow gridRowEnd gridRowSpan
  gridRowStart gridColumn gridColumnEnd gridColumnSpan gridColumnStart fontWeight lineClamp lineHeight opacity
  order orphans tabSize widows zIndex zoom fillOpacity floodOpacity stopOpacity strokeDasharray strokeDashoffset
  strokeMiterlimit strokeOpacity strokeWidth WebkitLineClamp`));
const BOOLEAN = new Set(words(`allowFullScreen async autoPlay controls default defer disabled
  disablePictureInPicture disableRemotePlayback formNoValidate hidden loop noModule noValidate open playsInline
  readOnly required reversed itemScope`));
const SPOKEN = new Set(words('contentEditable draggable spellCheck value autoReverse focusable preserveAlpha'));
const PROPERTY = new Set(['multiple', 'muted', 'selected']);
const ATTRIBUTE = new Map([['className', 'class'], ['htmlFor', 'for'], ['acceptCharset', 'accept-charset'],
  ['httpEquiv', 'http-equiv']]);
for (const name of words(`alignment-baseline baseline-shift clip-path clip-rule color-interpolation
  color-interpolation-filters color-rendering dominant-baseline fill-opacity fill-rule flood-color flood-opacity
  font-family font-size font-size-adjust font-stretch font-style font-variant font-weight image-rendering letter-spacing
  lighting-color marker-end marker-mid marker-start overline-position overline-thickness paint-order pointer-events
  shape-rendering stop-color stop-opacity stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin
  stroke-miterlimit stroke-opacity stroke-width text-anchor text-decoration text-rendering underline-position
  underline-thickness unicode-bidi vector-effect word-spacing writing-mode xlink:href xlink:title xml:lang xml:space
  xmlns:xlink`)) {
  ATTRIBUTE.set(name.replace(/[-:](.)/g, (_, letter) => letter.toUpperCase()), name);
}
const SPACES = { 'xlink:': 'http://www.w3.org/1999/xlink', 'xml:': 'http://www.w3.org/XML/1998/namespace' };
const HANDLER = /^on[A-Z]/;
const FIELDS = new Set(['input', 'textarea', 'select']);
const OF_FIELD = new Set(['value', 'defaultValue', 'checked', 'defaultChecked']);

function setProps(part, old) {
  const { node, type, fresh, el: { props } } = part;
  const field = FIELDS.has(type);
  const names = Object.keys(props);
  if (!fresh) names.push(...Object.keys(old).filter((name) => !(name in props)));
  for (const name of names) {
    const value = props[name];
    if (HANDLER.test(name)) {
      if (typeof value === 'function' && typeof old[name] !== 'function') listen(name);
    } else if (name === 'style') {
      setStyle(node, old.style, value);
    } else if (name === 'dangerouslySetInnerHTML') {
      if (value && value.__html !== (old[name] && old[name].__html)) node.innerHTML = textOf(value.__html);
    } else if (!Object.is(old[name], value) && !(field && OF_FIELD.has(name))) {
      setAttribute(node, name, value);
    }
  }
  if (!field) return;
  if (fresh) listen('onChange');
  setField(part, fresh);
}

function setStyle(node, old, style) {
  if (isGiven(style) && typeof style !== 'object') {
    throw new Error('The `style` prop expects a mapping from style properties to values, not a string. '
      + 'For example, style={{marginRight: 8}}.');
  }
  for (const name of Object.keys(Object.assign({}, old, style))) {
    const value = style ? style[name] : null;
    if (old && Object.is(old[name], value)) continue;
    const empty = !isGiven(value) || typeof value === 'boolean' || value === '';
    const length = typeof value === 'number' && value !== 0 && !UNITLESS.has(name);
    if (name.startsWith('--')) node.style.setProperty(name, empty ? '' : ('' + value).trim());
    else node.style[name === 'float' ? 'cssFloat' : name] = empty ? '' : length ? value + 'px' : ('' + value).trim();
  }
}

function setAttribute(node, name, value) {
  if (name === 'children' || name === 'autoFocus' || name === 'innerHTML' || name.startsWith('suppress')) return;
  if (/^on./i.test(name) || !/^[:A-Z_a-z\u00c0-\uffff][:\w.\-\u00b7-\uffff]*$/.test(name)) return;
  if (PROPERTY.has(name)) {
    node[name] = !!value && isText(value);
    return;
  }
  const attribute = ATTRIBUTE.get(name) || name;
  const overloaded = name === 'download' || name === 'capture';
  const spoken = SPOKEN.has(name) || /^(aria|data)-/.test(name);
  let text = value;
  if (BOOLEAN.has(name)) text = value ? '' : null;
  else if (typeof value === 'boolean' && !spoken) text = overloaded && value ? '' : null;
  if (!isText(text)) {
    node.removeAttribute(attribute);
    return;
  }
  const space = SPACES[attribute.slice(0, attribute.indexOf(':') + 1)];
  if (space) node.setAttributeNS(space, attribute, '' + text);
  else node.setAttribute(attribute, '' + text);
}

const given = (...values) => values.find(isGiven);
const isText = (value) => isGiven(value) && typeof value !== 'function' && typeof value !== 'symbol';
const textOf = (value) => (isText(value) ? '' + value : '');

/// What a field shows. Its property is touched only if it differs, so that the caret stays.
function setField(part, first) {
  const { node, type, el: { props } } = part;
  const { value, defaultValue, checked, defaultChecked } = props;
  const asked = given(value, defaultValue);
  if (type === 'select') {
    const chosen = first ? asked : value;
    if (isGiven(chosen)) choose(node, chosen, first && given(value) === undefined);
  } else if (type === 'textarea') {
    const start = textOf(given(value, defaultValue, props.children));
    if (first) node.value = node.textContent = start;
    else if (given(value) !== undefined && node.value !== textOf(value)) node.value = textOf(value);
    const base = first ? undefined : given(defaultValue, value);
    if (base !== undefined && node.defaultValue !== textOf(base)) node.defaultValue = textOf(base);
  } else {
    const on = first ? given(checked, defaultChecked) : given(checked);
    if (on !== undefined) node.checked = !!on;
    if (first) node.defaultChecked = !!on;
    const shown = first ? asked : given(value);
    if (shown !== undefined) {
      const text = textOf(shown);
      const number = props.type === 'number' && !first;
      // "1." and "1" are the same number, and the person is still writing it.
      if (number ? (shown === 0 && node.value === '') || node.value != shown : node.value !== text) node.value = text;
    }
    const typing = props.type === 'number' && document.activeElement === node;
    const base = textOf(asked);
    if (asked !== undefined && (first || (!typing && node.defaultValue !== base))) node.defaultValue = base;
    part.shown = node.value;
  }
}

function choose(select, value, byDefault) {
  const wanted = new Set((select.multiple ? [...value] : [value]).map(textOf));
  const options = [...select.options];
  if (!select.multiple) {
    const option = options.find((one) => wanted.has(one.value)) || options.find((one) => !one.disabled);
    if (!option) return;
    option.selected = true;
    if (byDefault) option.defaultSelected = true;
    return;
  }
  for (const option of options) {
    const on = wanted.has(option.value);
    if (option.selected !== on) option.selected = on;
    if (on && byDefault) option.defaultSelected = true;
  }
}
