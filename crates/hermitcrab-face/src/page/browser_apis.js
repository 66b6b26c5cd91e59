import { Refused } from './link.js';

// What a browser's speech, place, notifications and downloads are like as promises.

const MAX_SPOKEN = 4_000;
const refuse = (error, detail) => new Refused({ error, detail });

/** The voices come late: a moment after the page asks for them. */
function voices() {
  return new Promise((resolve) => {
    const found = () => speechSynthesis.getVoices();
    if (found().length > 0) return resolve(found());
    speechSynthesis.addEventListener('voiceschanged', () => resolve(found()), { once: true });
    return setTimeout(() => resolve(found()), 1_000);
  });
}

/** Says a text; answers when it has been said, or has been silenced. */
export async function speak(text, rate) {
  if ((await voices()).length === 0) throw refuse('unavailable', 'the browser has no voice');
  return new Promise((resolve, reject) => {
    const said = new SpeechSynthesisUtterance(String(text).slice(0, MAX_SPOKEN));
    said.rate = Math.min(2, Math.max(0.5, Number(rate) || 1));
    said.onend = () => resolve({ said: true });
    said.onerror = ({ error }) => {
      if (error === 'canceled' || error === 'interrupted') resolve({ said: false });
      else reject(refuse(error === 'not-allowed' ? 'denied' : 'failed', `speech: ${error}`));
    };
    speechSynthesis.speak(said);
  });
}

/** Writes down what the person says; an empty text when nothing was heard. */
export function listen(seconds) {
  const most = Math.min(60, Math.max(1, Number(seconds) || 10));
  return new Promise((resolve, reject) => {
    const ear = new (window.SpeechRecognition ?? window.webkitSpeechRecognition)();
    let heard = '';
    ear.continuous = true;
    ear.lang = navigator.language;
    ear.onresult = ({ results, resultIndex }) => {
      for (let at = resultIndex; at < results.length; at += 1) {
        if (results[at].isFinal) heard += results[at][0].transcript;
      }
    };
    ear.onerror = ({ error }) => {
      if (error === 'no-speech' || error === 'aborted') return;
      reject(refuse(error === 'not-allowed' ? 'denied' : 'unavailable', `microphone: ${error}`));
    };
    ear.onend = () => resolve(heard.trim());
    ear.start();
    setTimeout(() => ear.stop(), most * 1_000);
  });
}

/** Shows a notification of the browser. */
export async function notify(title, body) {
  const may = Notification.permission === 'default' ? await Notification.requestPermission() : Notification.permission;
  if (may !== 'granted') throw refuse('denied', 'notifications are off in the browser');
  const shown = new Notification(String(title).slice(0, 200), { body: String(body ?? '').slice(0, 1_000) });
  shown.onclick = () => window.focus();
  return { shown: true };
}

/** The name under which a file is offered: it keeps to one line and one folder. */
export function fileName(given) {
  const clean = String(given).split(/[/\\]/).pop().replace(/[\p{C}<>:"|?*]/gu, '').replace(/^[. ]+/, '').slice(0, 120);
  return clean || 'download.txt';
}

/** Offers a file. */
export function offer(filename, content, mime) {
  const type = /^[\w.+-]+\/[\w.+-]+$/.test(mime ?? '') ? mime : 'text/plain';
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = fileName(filename);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  return { offered: link.download };
}

/** Where the device is. */
export function locate() {
  return new Promise((resolve, reject) => {
    navigator.geolocation.getCurrentPosition(
      ({ coords: { latitude, longitude, accuracy } }) => resolve({ latitude, longitude, accuracy }),
      ({ code, message }) => reject(refuse(code === 1 ? 'denied' : 'unavailable', message || 'no position')),
      { timeout: 15_000, maximumAge: 60_000 },
    );
  });
}
