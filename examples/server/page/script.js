// The page's behaviour. The server puts this file into the page, without its comments.

const url = `${location.origin}/plants`;
const form = find('#create');
const answer = find('#answer');
const inputs = /** @type {HTMLInputElement[]} */ ([...document.querySelectorAll('#create input[data-type]')]);
const idInput = /** @type {HTMLInputElement} */ (find('#id'));
const tokenInput = /** @type {HTMLInputElement} */ (find('#token'));
const submit = find('.main');
const copyButton = find('.copy');
const tabs = /** @type {HTMLElement[]} */ ([...document.querySelectorAll('[role=tab]')]);
const selectedTab = () =>
  /** @type {HTMLElement} */ (tabs.find(({ ariaSelected }) => ariaSelected === 'true'));
const panelOf = (/** @type {HTMLElement} */ tab) => find(`#${tab.getAttribute('aria-controls')}`);

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

/** The plant as JSON. An integer stays the typed text, because a JavaScript number rounds beyond 2^53. */
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

/** One word for a shell: between single quotes, only a single quote has a meaning. */
const shellWord = (/** @type {string} */ text) =>
  /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

/** PowerShell takes curly quotes for straight ones. */
const powershellString = (/** @type {string} */ text) => `'${text.replace(/['‘’‚‛]/g, '$&$&')}'`;

const jsString = (/** @type {string} */ text) => `'${text.replace(/[\\']/g, '\\$&')}'`;

/** A member in JavaScript. An integer is a bigint, which is exact. */
function jsMember(/** @type {HTMLInputElement} */ { id, value, required, dataset }) {
  const isInteger = dataset.type === 'integer';
  const text = isInteger ? value.trim() : value;
  if (!text && (isInteger || !required)) return [];
  return `${id}: ${isInteger && /^-?(0|[1-9]\d*)$/.test(text) ? `${text}n` : jsString(text)}`;
}

/** Shows the request. A token of your own is not shown: the commands read it from the environment. */
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

  const powershell = [`Invoke-RestMethod ${url} -Method Post`];
  if (isSecret) powershell.push('-Headers @{ Authorization = "Bearer $env:TOKEN" }');
  else if (token) powershell.push(`-Headers @{ Authorization = ${powershellString(`Bearer ${token}`)} }`);
  powershell.push("-ContentType 'application/json; charset=utf-8'", `-Body ${powershellString(json)}`);
  find('#powershell').textContent = powershell.join(' `\n  ');

  find('#fetch').textContent = [
    "import { createPlantClient } from 'plant-store/client';",
    '',
    `const client = createPlantClient(${jsString(location.origin)}, {`,
    `  token${isSecret ? '' : `: ${jsString(token)}`},`,
    '});',
    'await client.create({',
    ...inputs.flatMap(jsMember).map((member) => `  ${member},`),
    '});',
  ].join('\n');
}

/** Shows one language, by a click or by the arrow keys. */
function selectTab(/** @type {HTMLElement} */ selected) {
  for (const tab of tabs) {
    const isSelected = tab === selected;
    tab.ariaSelected = String(isSelected);
    tab.tabIndex = isSelected ? 0 : -1;
    panelOf(tab).hidden = !isSelected;
  }
  copyButton.ariaLabel = `Copy ${selected.textContent}`;
}

function moveTab(/** @type {KeyboardEvent} */ { key }) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (!step) return;
  const next = tabs.at((tabs.indexOf(selectedTab()) + step) % tabs.length);
  if (next) selectTab(next);
  next?.focus();
}

// Sending the request, and the response.

/** The request, or nothing if a header cannot carry the token. */
function toRequest(/** @type {string} */ body) {
  try {
    const headers = new Headers({ 'Content-Type': 'application/json' });
    if (tokenInput.value) headers.set('Authorization', `Bearer ${tokenInput.value}`);
    return new Request(url, { method: 'POST', headers, body, signal: AbortSignal.timeout(60_000) });
  } catch {
    return undefined;
  }
}

/** The response, or nothing if none arrived. */
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
  const label = submit.textContent;
  const slow = setTimeout(() => {
    submit.textContent = 'Sending…';
  }, 100);
  const id = idInput.value;
  const plant = inputs.map(({ value }) => value);
  const sent = plantJson();
  const request = toRequest(sent);
  const answered = request && (await send(request));
  clearTimeout(slow);
  submit.textContent = label;
  for (const input of [...inputs, tokenInput]) markFault(input, false);
  if (answered) showAnswer(answered, id, sent);
  else if (request)
    showFault(
      `No response from ${location.origin}. Check that the server is running. The plant may or may not have been stored.`,
    );
  else {
    showFault('This token cannot be sent in a header. Use only A-Z a-z 0-9 - . _ ~ + / =');
    markFault(tokenInput, true);
  }
  answer.ariaBusy = 'false';
  answer.firstElementChild?.scrollIntoView({ block: 'nearest' });
  if (answered?.response.ok) {
    remember(plant);
    if (idInput.value === id) await offerFreeId();
  }
  isSending = false;
}

/** The request that was sent stands with its response: the form moves on. */
/** @type {(answered: NonNullable<Awaited<ReturnType<typeof send>>>, id: string, sent: string) => void} */
function showAnswer({ response, text, ms }, id, sent) {
  const { status, ok, statusText } = response;
  const { error, message } = readError(text);
  const summary = element('p', {}, element('b', { class: `s${String(status)[0]}` }, String(status)), ' ');
  if (error) summary.append(element('a', { href: `#e${error}` }, String(error)), ' ');
  summary.append(
    element('span', { id: 'message' }, ok ? `Plant ${id} created.` : (message ?? statusText)),
    ' ',
    element('small', {}, `${ms} ms`),
  );
  const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join('\n');
  answer.replaceChildren(
    summary,
    element('h3', {}, 'Request'),
    element('pre', {}, `POST /plants\n${sent}`),
    element('h3', {}, 'Response'),
    element('pre', {}, `${status} ${statusText}\n${text}`),
    element('pre', { class: 'soft' }, headers),
  );
  if (!ok) for (const input of faultyInputs(error, message)) markFault(input, true);
  if (error === 40003) offerInstead(summary);
}

/** The fields that an error is about: the server's message names the members. */
/** @type {(error?: number, message?: string) => HTMLInputElement[]} */
function faultyInputs(error = 0, message = '') {
  if (error === 40003) return [idInput];
  if (error === 40002) return inputs.filter(({ id }) => new RegExp(`\\b${id} must`).test(message));
  return error >= 40100 && error < 40400 ? [tokenInput] : [];
}

function markFault(/** @type {HTMLInputElement} */ input, /** @type {boolean} */ isFaulty) {
  if (isFaulty) input.setAttribute('aria-describedby', 'message');
  else input.removeAttribute('aria-describedby');
  input.ariaInvalid = isFaulty ? 'true' : null;
}

/** @type {(text: string) => { error?: number, message?: string }} */
function readError(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {}; // A proxy may respond with anything.
  }
}

function showFault(/** @type {string} */ message) {
  answer.replaceChildren(element('p', { class: 'fault', id: 'message' }, message));
}

// A free id, and the plants that were created.

/** The id that was filled in: the user has not changed it while the field holds it. */
let offered = idInput.value;

async function findFreeId() {
  const signal = AbortSignal.timeout(5_000);
  const head = await fetch('/', { method: 'HEAD', signal }).catch(() => undefined);
  return head?.headers.get('free-id');
}

async function offerFreeId() {
  const before = idInput.value;
  const id = await findFreeId();
  // Not over what somebody typed meanwhile.
  if (id && idInput.value === before) idInput.value = offered = id;
  drawRequest();
}

/** Offers another id next to the message that one is taken. */
async function offerInstead(/** @type {HTMLElement} */ summary) {
  const id = await findFreeId();
  if (!id) return;
  const button = element('button', { type: 'button' }, `Use ${id}, which is free`);
  button.addEventListener('click', () => {
    idInput.value = offered = id;
    markFault(idInput, false);
    drawRequest();
    submit.focus();
  });
  summary.after(button);
}

/** Another tab, or the curl in a terminal, may have taken the id meanwhile. */
function refreshOffer() {
  if (idInput.value === offered && !isSending) offerFreeId();
}

const visitKey = 'created in this tab';

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
async function copy() {
  const code = panelOf(selectedTab());
  const isCopied = await navigator.clipboard?.writeText(code.textContent ?? '').then(
    () => true,
    () => false,
  );
  if (!isCopied) getSelection()?.selectAllChildren(code);
  const said = isCopied || document.execCommand('copy') ? 'Copied' : 'Selected: press Ctrl+C or ⌘C';
  copyButton.textContent = find('#said').textContent = said;
  setTimeout(() => {
    copyButton.textContent = 'Copy';
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
form.addEventListener('input', ({ target }) => {
  markFault(/** @type {HTMLInputElement} */ (target), false);
  drawRequest();
});
find('#next').addEventListener('click', offerFreeId);
copyButton.addEventListener('click', copy);
for (const tab of tabs) {
  tab.addEventListener('click', () => selectTab(tab));
  tab.addEventListener('keydown', moveTab);
}
addEventListener('focus', refreshOffer);
addEventListener('pageshow', (event) => event.persisted && refreshOffer());
drawRequest();
drawHistory();
selectTab(find(/Win/.test(navigator.platform) ? '#powershell-tab' : '#curl-tab'));
