import { Bar } from './bar.js';
import { Link } from './link.js';
import { Skills } from './skills.js';
import { Stage } from './stage.js';

const once = location.hash.slice(1);
if (once) history.replaceState(null, '', location.pathname);

const skills = new Skills();
const link = new Link(skills.offers);
const ask = (method, ...args) => link.call(method, args).catch(() => {});
const bar = new Bar(document.getElementById('bar'), {
  Stop: () => ask('stop'),
  'Previous face': () => ask('previousShell'),
  'Safe face': () => ask('safeFace'),
});
const stage = new Stage(document.getElementById('stage'), link, skills);

link.addEventListener('welcome', ({ detail }) => {
  bar.status(detail);
  bar.usage(detail.usage);
});
const hears = {
  usage: (usage) => bar.usage(usage),
  busy: ({ busy }) => bar.activity(busy),
  tool: ({ name, phase }) => bar.activity(true, phase === 'start' ? name : ''),
  status: (status) => bar.status(status),
};
link.addEventListener('event', ({ detail: { event, data } }) => hears[event]?.(data));
link.connect(once);
