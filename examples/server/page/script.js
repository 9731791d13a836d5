// What the page does while it is used. The server puts this file into the page, without its comments.

const url = `${location.origin}/plants`;
const form = find('#create');
const answer = find('#answer');
const inputs = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll('#create input[data-type]')]);
const idInput = /** @type {HTMLInputElement} */ (find('#id'));
const tokenInput = /** @type {HTMLInputElement} */ (find('#token'));

/** @type {(selector: string) => HTMLElement} */
function find(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}

/** @type {(tag: string, attributes?: Record<string, string>, ...children: (string | Node)[]) => HTMLElement} */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

// The request, as it is sent and as it is shown.

/** The plant as JSON. An integer stays the text that was typed, because a number of JavaScript rounds beyond 2^53. */
function plantJson() {
  const members = inputs.flatMap(({ id, value, required, dataset }) => {
    const isInteger = dataset.type === 'integer';
    const text = isInteger ? value.trim() : value;
    if (!text && (isInteger || !required)) return [];
    const isNumber = isInteger && /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text);
    return `${JSON.stringify(id)}:${isNumber ? text : JSON.stringify(text)}`;
  });
  return `{${members.join()}}`;
}

/** One word for a shell: between single quotes, only a single quote means something. */
const shellWord = (/** @type {string} */ text) =>
  /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const jsString = (/** @type {string} */ text) => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** Shows the request. A token of your own is not shown: curl takes it from the environment. */
function drawRequest() {
  const json = plantJson();
  const token = tokenInput.value;
  const isSecret = tokenInput.type === 'password';
  const bearer = `Authorization: Bearer ${token}`;
  const curl = [`curl -i ${shellWord(url)}`];
  if (isSecret) curl.push(`-H "Authorization: Bearer $TOKEN"`);
  else if (token) curl.push(`-H ${shellWord(bearer)}`);
  curl.push(`-H 'Content-Type: application/json'`, `-d ${shellWord(json)}`);
  find('#curl').textContent = curl.join(' \\\n  ');

  const headers = [`'Content-Type': 'application/json',`];
  if (isSecret) headers.unshift("Authorization: 'Bearer ' + token,");
  else if (token) headers.unshift(`Authorization: ${jsString(`Bearer ${token}`)},`);
  find('#fetch').textContent = [
    `await fetch(${jsString(url)}, {`,
    "  method: 'POST',",
    '  headers: {',
    ...headers.map((line) => `    ${line}`),
    '  },',
    `  body: ${jsString(json)},`,
    '});',
  ].join('\n');
}

// Sending it, and what comes back.

/** The request, or nothing if a header cannot carry the token. */
function toRequest() {
  try {
    const headers = new Headers({ 'Content-Type': 'application/json' });
    if (tokenInput.value) headers.set('Authorization', `Bearer ${tokenInput.value}`);
    return new Request(url, {
      method: 'POST',
      headers,
      body: plantJson(),
      signal: AbortSignal.timeout(60_000),
    });
  } catch {
    return undefined;
  }
}

/** What came back, or nothing if nothing did. */
async function send(/** @type {Request} */ request) {
  const start = performance.now();
  try {
    const response = await fetch(request);
    const text = await response.text();
    return { response, text, ms: Math.max(1, Math.round(performance.now() - start)) };
  } catch {
    return undefined;
  }
}

let isSending = false;

async function create() {
  if (isSending) return;
  isSending = true;
  answer.ariaBusy = 'true';
  const id = idInput.value;
  const plant = inputs.map(({ value }) => value);
  const request = toRequest();
  const answered = request && (await send(request));
  if (answered) showAnswer(answered, id);
  else if (request)
    showFault(
      `No answer from ${location.origin}. Is the server running? The plant may or may not be stored.`,
    );
  else showFault('The browser cannot send this token. A token is made of A-Z a-z 0-9 - . _ ~ + / =');
  answer.ariaBusy = 'false';
  answer.firstElementChild?.scrollIntoView({ block: 'nearest' });
  if (answered?.response.ok) {
    remember(plant);
    if (idInput.value === id) await offerFreeId();
  }
  isSending = false;
}

/** @type {(answered: NonNullable<Awaited<ReturnType<typeof send>>>, id: string) => void} */
function showAnswer({ response, text, ms }, id) {
  const { status, ok } = response;
  const { error, message } = readError(text);
  const summary = element('p', {}, element('b', { class: `s${String(status)[0]}` }, String(status)), ' ');
  if (error) summary.append(element('a', { href: `#${error}` }, String(error)), ' ');
  summary.append(
    ok ? `Plant ${id} created.` : (message ?? response.statusText),
    ' ',
    element('small', {}, `${ms} ms`),
  );
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  answer.replaceChildren(summary, element('pre', {}, text), element('pre', { class: 'soft' }, headers));
}

/** @type {(text: string) => { error?: number, message?: string }} */
function readError(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {}; // A proxy in between may answer anything.
  }
}

function showFault(/** @type {string} */ message) {
  answer.replaceChildren(element('p', { class: 'fault' }, message));
}

// A free id, and what was created.

/** What was filled in for the user, who has not changed it as long as the field holds it. */
let offered = idInput.value;

async function offerFreeId() {
  const before = idInput.value;
  const signal = AbortSignal.timeout(5_000);
  const head = await fetch('/', { method: 'HEAD', signal }).catch(() => undefined);
  const id = head?.headers.get('free-id');
  // Not over what somebody typed while the answer was on its way.
  if (id && idInput.value === before) idInput.value = offered = id;
  drawRequest();
}

/** Another tab, or the curl in a terminal, may have taken the id meanwhile. */
function refreshOffer() {
  if (idInput.value === offered && !isSending) offerFreeId();
}

const visitKey = 'created in this visit';

/** Kept by the browser until the tab is closed, so that going back does not lose it. */
function visit() {
  try {
    return /** @type {string[][]} */ (JSON.parse(sessionStorage.getItem(visitKey) ?? '[]'));
  } catch {
    return []; // A browser that blocks cookies blocks this too.
  }
}

function remember(/** @type {string[]} */ plant) {
  const created = [plant, ...visit()].slice(0, 20);
  try {
    sessionStorage.setItem(visitKey, JSON.stringify(created));
  } catch {}
  drawHistory(created);
}

function drawHistory(created = visit()) {
  find('#history').replaceChildren(
    ...created.map(([id = '', name = '', tag = '']) =>
      element('li', {}, element('code', {}, id), ` ${name} `, element('small', {}, tag)),
    ),
  );
}

/** Over plain http from another machine there is no clipboard: the old way, and then the selection alone, remain. */
async function copy(/** @type {HTMLElement} */ button) {
  const code = find(`#${button.dataset.copy}`);
  const isCopied = await navigator.clipboard?.writeText(code.textContent ?? '').then(
    () => true,
    () => false,
  );
  if (!isCopied) getSelection()?.selectAllChildren(code);
  const said = isCopied || document.execCommand('copy') ? 'Copied' : 'Press Ctrl+C';
  button.textContent = find('#said').textContent = said;
  setTimeout(() => {
    button.textContent = 'Copy';
    find('#said').textContent = '';
  }, 2000);
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  create();
});
// The second click of a double click, and a key that is held down, do not mean a second plant.
form.addEventListener('click', (event) => event.detail > 1 && event.preventDefault());
form.addEventListener('keydown', (event) => event.repeat && event.key === 'Enter' && event.preventDefault());
form.addEventListener('input', drawRequest);
find('#next').addEventListener('click', offerFreeId);
for (const button of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll('[data-copy]'))) {
  button.addEventListener('click', () => copy(button));
}
addEventListener('focus', refreshOffer);
addEventListener('pageshow', (event) => event.persisted && refreshOffer());
drawRequest();
drawHistory();
