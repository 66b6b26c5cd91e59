import { Bar } from './bar.js';
import { Blocks } from './blocks.js';
import { ChatPanel } from './chat.js';
import { CoreEdits } from './core.js';
import { announce } from './element.js';
import { Faces } from './faces.js';
import { unfit } from './frame.js';
import { Key } from './key.js';
import { Link } from './link.js';
import { Log } from './log.js';
import { Permits } from './permissions.js';
import { Sheet } from './panel.js';
import { Review } from './review.js';
import { Skills } from './skills.js';
import { Stage } from './frames.js';
import { Strips } from './notices.js';
import { Wake } from './splash.js';

/** The token of the address, once. It is to stay in no history and in no screenshot. */
function takeToken() {
  const once = location.hash.slice(1);
  if (once) history.replaceState(null, '', location.pathname);
  return once;
}

const place = (id) => document.getElementById(id);
const strips = new Strips(place('strips'));
const permits = new Permits();
const skills = new Skills(permits, strips);
const link = new Link(skills.offers);
const stage = new Stage(place('stage'), link, skills);
const wake = new Wake(place('stage'));
const chat = new ChatPanel(place('stage'), link, stage, ask);
const key = new Key(link, strips, stage);
const sheet = new Sheet(place('sheet'));
new CoreEdits(link, strips);
const review = new Review(link, (count) => bar.count(review.title, count));
const faces = new Faces(link, permits, stage);
const panels = [new Blocks(link), new Log(link), review, faces];

/** What the person asks of the program by a button. */
function ask(method) {
  return link.call(method).catch((error) => strips.show('ask', error.detail, { tone: 'alarm', more: error.hint }));
}

const bar = new Bar(place('bar'), {
  Stop: () => ask('stop'),
  'Previous face': () => ask('previousShell'),
  'Safe face': () => chat.ask(),
  ...Object.fromEntries(panels.map((panel) => [panel.title, () => sheet.toggle(panel)])),
});

/** A line of the program's. What was seeded, every first start says. */
function note(text) {
  strips.show(null, text, { stays: 60_000, brief: text.startsWith('seeded: ') });
}

// What stands where there is no face yet.

const safely = { 'Safe face': () => chat.ask() };
let status = { model: '', offline: null, key_wanted: null };

function waking() {
  if (stage.current) return;
  if (status.key_wanted) {
    wake.say('No model yet', `A key for ${status.key_wanted} is needed, or the offline script answers.`);
    return;
  }
  const who = status.offline ? 'The offline script' : status.model;
  wake.say('Waking up', `${who} reads its blocks and brings up a face.`, { Stop: () => ask('stop'), ...safely });
}

function idle() {
  if (stage.current || stage.isTrying || chat.isOpen || status.key_wanted) return;
  wake.say('No face', 'None is running.', { 'Ask for a face': () => ask('boot'), ...safely });
}

function know(news) {
  const wanted = status.key_wanted;
  status = { ...status, ...news };
  bar.status(status);
  faces.status(status);
  key.want(status.key_wanted);
  if (wanted && !status.key_wanted) waking();
}

// The way to the program.

const states = {
  connecting: () => stage.current || wake.say('Connecting'),
  open: () => {
    strips.hide('link');
    sheet.again();
  },
  lost: () => {
    bar.activity(false);
    strips.show('link', 'The program cannot be reached. The page keeps trying.', { tone: 'alarm', actions: {} });
  },
  refused: () => {
    const why = 'This address is not valid: it was used before, or the server was started again. Open the one that hermitcrab printed last.';
    wake.say('This page is not let in', why);
    if (stage.current || chat.isOpen) strips.show('link', 'This page is not let in any longer.', { tone: 'alarm', more: why, actions: {} });
    else strips.hide('link');
  },
};
link.addEventListener('state', ({ detail }) => states[detail]());
link.addEventListener('welcome', ({ detail }) => {
  know(detail);
  bar.usage(detail.usage);
  bar.activity(detail.busy === true);
  waking();
  detail.notices?.forEach(note);
});
link.addEventListener('host_call', async ({ detail }) => {
  if (link.send(await skills.host(detail))) return;
  link.send({ type: 'host_reply', id: detail.id, ok: false, error: 'failed', detail: 'the answer is too large' });
});

const hears = {
  usage: (usage) => bar.usage(usage),
  status: know,
  notice: ({ text }) => note(text),
  message: ({ role }) => role === 'assistant' && announce('answer arrived'),
  died,
  unanswered: (call) => skills.unanswered(call),
  busy: ({ busy }) => {
    bar.activity(busy);
    if (busy) waking();
    else setTimeout(idle, 1_000);
  },
  tool: (tool) => {
    bar.activity(true, tool.phase === 'start' ? tool.name : '');
    wake.step(tool);
  },
};
link.addEventListener('event', ({ detail: { event, data } }) => hears[event]?.(data));

// Faces that come and go.

/** The face that fell last, until another one is shown for it. */
let fallen = null;

function tellOfFallen(instead = '') {
  const { name, message, at } = fallen;
  strips.show('fell', `${name} stopped: ${message}${at}. ${instead}`, {
    tone: 'alarm',
    more: 'The model is notified of it with your next message.',
    actions: {
      'Ask the model to repair it': () => (chat.isOpen ? chat.focus() : stage.current?.element.focus()),
      'Previous face': () => ask('previousShell'),
      Dismiss: () => {},
    },
  });
}

const at = (line, column) => (line ? `, line ${line}${column ? `, column ${column}` : ''}` : '');

link.addEventListener('safe', ({ detail: { reason, errors } }) => {
  stage.empty();
  wake.hide();
  chat.open(reason, errors);
  if (fallen) tellOfFallen('The safe face is shown instead.');
  fallen = null;
});
stage.addEventListener('shown', ({ detail: frame }) => {
  wake.hide();
  if (fallen) tellOfFallen(`${frame.name} is shown instead.`);
  else strips.hide('fell');
  fallen = null;
});
stage.addEventListener('cleared', ({ detail: hung }) => {
  wake.say('A moment', 'A face hangs. It is taken away.', safely);
  if (hung) fallen = { rev: hung.rev, name: hung.name, message: 'it does not answer any longer', at: '' };
});
stage.addEventListener('fell', ({ detail: { frame, fault: { message }, wasShown } }) => {
  if (wasShown) {
    wake.say('A moment', `${frame.name} stopped. Another face is on its way.`, safely);
    fallen = { rev: frame.rev, name: frame.name, message, at: '' };
    tellOfFallen();
  } else {
    const stays = stage.current ? ` ${stage.current.name} stays.` : '';
    strips.show('fell', `${frame.name} did not come up: ${message}.${stays}`, { stays: 30_000 });
  }
});

/** The program knows the place in the source, and of deaths on other pages. */
function died({ rev, error }) {
  if (fallen?.rev !== rev) fallen = { rev, name: `Face ${rev}` };
  Object.assign(fallen, { message: error.message, at: at(error.line, error.column) });
  tellOfFallen();
}

if (unfit) {
  // The address is not used: it opens in another browser.
  wake.say('No face can be shown', `${unfit} Open this address there, or use hermitcrab chat.`);
} else {
  link.connect(takeToken());
  // A new address, opened where an old one was, loads nothing again.
  addEventListener('hashchange', () => {
    const once = takeToken();
    if (once && !link.isOpen) link.connect(once);
  });
}
