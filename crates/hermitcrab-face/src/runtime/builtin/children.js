// React.Children.

/// Calls `each` with every child and its key; an empty one counts as `null`.
function walkChildren(children, prefix, each) {
  if (Array.isArray(children) || isIterable(children)) {
    Array.from(children).forEach((child, at) => {
      const key = child && isGiven(child.key) ? '$' + child.key : at.toString(36);
      walkChildren(child, prefix + (prefix === '.' ? '' : ':') + key, each);
    });
    return;
  }
  const shows = typeof children === 'string' || typeof children === 'number' || isValidElement(children);
  const own = isValidElement(children) && children.key !== null ? '.$' + children.key : '.0';
  each(shows ? children : null, prefix === '.' ? own : prefix);
}

const Children = {
  map(children, call, self) {
    if (!isGiven(children)) return children;
    const out = [];
    let count = 0;
    walkChildren(children, '.', (child, key) => {
      const made = call.call(self, child, count++);
      (Array.isArray(made) ? made : [made]).forEach((one, at) => {
        if (!isGiven(one) || typeof one === 'boolean') return;
        if (!isValidElement(one)) return void out.push(one);
        const own = one.key !== null && !(child && child.key === one.key) ? one.key + '/' : '';
        const nth = Array.isArray(made) ? ':' + at.toString(36) : '';
        out.push(element(one.type, own + key + nth, one.ref, one.props));
      });
    });
    return out;
  },
  forEach(children, call, self) {
    Children.map(children, (child, at) => { call.call(self, child, at); });
  },
  count: (children) => {
    let count = 0;
    Children.forEach(children, () => { count += 1; });
    return count;
  },
  toArray: (children) => Children.map(children, (child) => child) || [],
  only(children) {
    if (isValidElement(children)) return children;
    throw new Error('React.Children.only expected to receive a single React element child.');
  },
};
