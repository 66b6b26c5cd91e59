// Host elements: nodes, attributes and styles.
const words = (text) => new Set(text.split(/\s+/));
const UNITLESS = new RegExp('^(Webkit)?(animationIterationCount|aspectRatio|borderImage(Outset|Slice|Width)|column(s|Count)'
  + '|box(Flex|OrdinalGroup)|flex(Grow|Shrink)?|fontWeight|grid(Area|(Column|Row)(End|Start)?)|line(Clamp|Height)|.*opacity'
  + '|order|orphans|stroke(Dash.*|Miterlimit|Width)|tabSize|widows|zIndex|zoom)$', 'i');
const BOOLEAN = words(`allowFullScreen async autoPlay controls default defer disabled formNoValidate hidden loop
  disablePictureInPicture noValidate open playsInline readOnly required reversed itemScope`);
const SKIPPED = /^(on.+|\d.*|children|autoFocus|default(Value|Checked)|dangerouslySetInnerHTML|innerHTML|suppress.*)$/i;
const ATTRIBUTE = {
  __proto__: null, className: 'class', htmlFor: 'for', acceptCharset: 'accept-charset', tabIndex: 'tabindex',
};
/// Attributes of SVG with a hyphen where their property has a capital.
const HYPHENS = new RegExp('^((alignment|baseline|color|dominant|fill|flood|font|letter|paint|pointer|shape|stop|stroke'
  + '|accent|arabic|cap|glyph|horiz|image|lighting|overline|strikethrough|underline|unicode|vector|vert|word|writing)[A-Z]'
  + '|clip(Path|Rule)$|marker(End|Mid|Start)$|text(Anchor|Decoration|Rendering)$)');
const SPACES = {
  __proto__: null,
  html: 'http://www.w3.org/1999/xhtml', svg: 'http://www.w3.org/2000/svg',
  math: 'http://www.w3.org/1998/Math/MathML', xlink: 'http://www.w3.org/1999/xlink',
  xml: 'http://www.w3.org/XML/1998/namespace', xmlns: 'http://www.w3.org/2000/xmlns/',
};
const VOID = /^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/;
const FIELD = /^(input|textarea|select)$/;
const FORM = /^(button|input|textarea|select)$/;
const OF_FIELD = /^(value|checked|defaultValue|defaultChecked)$/;

const isText = (value) => isGiven(value) && typeof value !== 'function' && typeof value !== 'symbol';
const textOf = (value) => (isText(value) ? '' + value : '');

function renderText(part) {
  part.node ??= document.createTextNode('');
  part.node.data = part.el.props;
}

function renderHost(part) {
  const { type, el: { props } } = part;
  const { dangerouslySetInnerHTML: html, children } = props;
  if (VOID.test(type) && (html || isGiven(children))) throw new Error(type + ' is a void element: it has no children.');
  if (part.node === null) {
    const box = boxOf(part.parent);
    const space = box.type === 'foreignObject' ? SPACES.html : box.node.namespaceURI;
    part.node = document.createElementNS(SPACES[type] || space, type);
    partOfNode.set(part.node, part);
  }
  const markup = html ? textOf(html.__html) : null;
  if (markup !== part.markup) part.node.innerHTML = markup || '';
  part.markup = markup;
  return html || type === 'textarea' ? null : children;
}

function setProps(part, old) {
  const { node, type, fresh, el: { props } } = part;
  for (const name of Object.keys({ ...old, ...props })) {
    const value = props[name];
    if (/^on[A-Z]/.test(name)) part.handlers[name.toLowerCase()] = value;
    else if (name === 'style') setStyle(node.style, old.style || {}, value);
    else if (!Object.is(old[name], value) && !(FIELD.test(type) && OF_FIELD.test(name))) setAttribute(node, name, value);
  }
  if (FIELD.test(type)) setField(part);
  if (fresh && props.autoFocus) layouts.push({ part, hook: {}, create: () => node.focus() });
  useNodeRef(part, node);
}

function setStyle(target, old, style) {
  if (isGiven(style) && typeof style !== 'object') throw new Error('The `style` prop expects an object, not a string.');
  for (const name of Object.keys({ ...old, ...style })) {
    const value = style ? style[name] : null;
    if (Object.is(old[name], value)) continue;
    const custom = name.startsWith('--');
    const unit = typeof value === 'number' && value !== 0 && !custom && !UNITLESS.test(name) ? 'px' : '';
    const text = typeof value === 'boolean' ? '' : textOf(value).trim() + unit;
    if (custom) target.setProperty(name, text);
    else target[name === 'float' ? 'cssFloat' : name] = text;
  }
}

function setAttribute(node, name, value) {
  if (SKIPPED.test(name) || !/^[\w:.-]+$/.test(name)) return;
  if (/^(multiple|muted|selected)$/.test(name)) return void (node[name] = !!value);
  const spoken = /^(aria-|data-|contentEditable$|draggable$|focusable$|spellCheck$|value$)/.test(name);
  const flag = BOOLEAN.has(name) || (typeof value === 'boolean' && !spoken);
  const text = !flag ? value : value && (BOOLEAN.has(name) || /^(download|capture)$/.test(name)) ? '' : null;
  const hyphened = HYPHENS.test(name) && name.replace(/[A-Z]/g, (letter) => '-' + letter.toLowerCase());
  const spaced = /^(xlink|xml|xmlns)[A-Z]/.test(name) && name.replace(/[A-Z]/, (letter) => ':' + letter.toLowerCase());
  const attribute = hyphened || spaced || ATTRIBUTE[name] || name;
  // A number of columns or rows is at least one.
  if (!isText(text) || (/^(cols|rows|size|span)$/.test(name) && !(text >= 1))) node.removeAttribute(attribute);
  else if (spaced) node.setAttributeNS(SPACES[spaced.split(':')[0]], attribute, text);
  else node.setAttribute(attribute, text);
}
