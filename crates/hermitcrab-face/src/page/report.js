// What the bridge tells the page of itself: that the shell failed, and where; what went to the console.

const { stringify } = JSON;
const NativeError = Error;
const { exec } = RegExp.prototype;
const { slice } = String.prototype;
const now = performance.now.bind(performance);

const MAX_LINES = 20;
const MAX_TEXT = 2_000;
const PLACE = /shell\/\d+\.js:(\d+):(\d+)/;

/** Says something to the page; nothing before the port is there. */
let post = () => {};
/** The revision that the page asked for; none before that. */
let rev = null;
let dead = false;

const cut = (text) => apply(slice, text, [0, MAX_TEXT]);

/** What was thrown, in words. It may be anything, with accessors that throw. */
function words(error) {
  try {
    if (error instanceof NativeError) return cut(`${error.name}: ${error.message}`);
    return cut(typeof error === 'object' && error !== null ? stringify(error) : `${error}`);
  } catch {
    return 'something that cannot be shown was thrown';
  }
}

/** Where in the shell's script it was thrown, from 1, if the stack tells. */
function place(error) {
  try {
    const found = apply(exec, PLACE, [`${error.stack}`]);
    return found === null ? {} : { line: +found[1], col: +found[2] };
  } catch {
    return {};
  }
}

function failed(phase, message, at) {
  if (dead) return;
  dead = true;
  post({ type: 'failed', rev, phase, message: cut(message), line: at.line, col: at.col });
}

// Runs functions after what is queued now, without a timer: those wait in a page that nobody sees.
const hop = new MessageChannel();
const hops = create(null);
let hopped = 0;
let hopping = 0;
hop.port1.onmessage = () => {
  const run = hops[hopped];
  delete hops[hopped];
  hopped += 1;
  run();
};
const hopOn = hop.port2.postMessage.bind(hop.port2);
function later(run) {
  hops[hopping] = run;
  hopping += 1;
  hopOn(0);
}

let lines = 0;
let since = now();
/** A line for the page's log. Later, as the boundary says the same of an error that it catches. */
function log(level, text) {
  if (now() - since > 60_000) {
    since = now();
    lines = 0;
  }
  lines += 1;
  if (lines > MAX_LINES) return;
  later(() => {
    if (!dead) post({ type: 'log', level, text: cut(text) });
  });
}

/** A function of the shell's: what it throws is the shell's. */
function tell(listener, value) {
  try {
    listener(value);
  } catch (error) {
    log('error', words(error));
  }
}
