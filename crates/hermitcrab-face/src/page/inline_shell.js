// In an MCP app the frame has the script of the shell from the beginning. No page around it can measure the face, so
// the frame says its height.

/** Calls `arrived` when the document is parsed, and then says each new height. */
function load(arrived) {
  const height = reader(HTMLElement.prototype, 'offsetHeight');
  parsed.then(() => {
    const { body } = document;
    new ResizeObserver(() => post({ type: 'size', height: height(body) })).observe(body);
    arrived();
  });
}

// The frame has no address, so a link to a place in it would lead to one in the document around it, and the face away.
window.addEventListener('click', (event) => {
  const link = Object(event.target).closest?.('a[href^="#"], area[href^="#"]');
  if (!link) return;
  event.preventDefault();
  document.getElementById(link.getAttribute('href').slice(1))?.scrollIntoView();
}, true);
