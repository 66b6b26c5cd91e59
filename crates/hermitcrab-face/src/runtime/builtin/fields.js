// The fields of a form.
/// What a field shows. Its property is touched only if it differs, so that the caret stays.
function setField(part) {
  const { node, type, fresh, el: { props } } = part;
  const { value, checked } = props;
  const base = value ?? props.defaultValue ?? (type === 'textarea' ? props.children : undefined);
  const shown = fresh ? base : value;
  if (type === 'select') return isGiven(shown) && choose(node, shown, fresh && !isGiven(value));
  const on = fresh ? checked ?? props.defaultChecked : checked;
  if (isGiven(on)) node.checked = !!on;
  if (fresh && on) node.defaultChecked = true;
  else if (!isGiven(checked) && isGiven(props.defaultChecked)) node.defaultChecked = !!props.defaultChecked;
  if (isGiven(shown)) {
    // "1." and "1" are the same number, and the person is still writing it.
    const number = props.type === 'number' && (shown !== 0 || node.value !== '');
    const same = number ? node.value == shown : node.value === textOf(shown);
    if (!same) node.value = textOf(shown);
  }
  const typing = props.type === 'number' && document.activeElement === node;
  if (isGiven(base) && !typing && (fresh || node.defaultValue !== textOf(base))) node.defaultValue = textOf(base);
  part.shown = seenIn(node);
}

const seenIn = (node) => (/^(checkbox|radio)$/.test(node.type) ? node.checked : node.value);

function choose(select, value, byDefault) {
  const wanted = new Set((select.multiple ? [...value] : [value]).map(textOf));
  for (const option of select.options) {
    const on = wanted.has(option.value);
    if (on || select.multiple) option.selected = on;
    if (on && byDefault) option.defaultSelected = true;
  }
}
