// In the program's own page a frame loads the script of the shell, by the revision that the page names.

/** Loads the shell, then calls `arrived`. */
function load(arrived) {
  const script = makeScript(`shell/${rev}.js`);
  script.onerror = () => failed('load', 'the script of the shell did not load', {});
  script.onload = arrived;
  document.head.append(script);
}
