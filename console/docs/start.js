// Colors, key and keyboard of the viewer of the API description.

const viewer = document.querySelector('openapi-explorer');
const dark = matchMedia('(prefers-color-scheme: dark)');

/** The viewer takes hexadecimal colors from attributes. */
const COLORS = {
  light: {
    'bg-color': '#ffffff',
    'header-bg-color': '#eef1ef',
    'text-color': '#1b211e',
    'primary-color': '#1d6b57',
    'secondary-color': '#1d6b57',
    'nav-bg-color': '#f4f5f3',
    'nav-text-color': '#3c4541',
    'nav-hover-bg-color': '#e0efe9',
    'nav-hover-text-color': '#12463a',
  },
  dark: {
    'bg-color': '#121614',
    'header-bg-color': '#29302d',
    'text-color': '#e8edea',
    'primary-color': '#5cc2a2',
    'secondary-color': '#5cc2a2',
    'nav-bg-color': '#1a1f1d',
    'nav-text-color': '#c3ccc7',
    'nav-hover-bg-color': '#17352c',
    'nav-hover-text-color': '#a5e6d1',
  },
};

function paint() {
  for (const [name, color] of Object.entries(COLORS[dark.matches ? 'dark' : 'light'])) viewer.setAttribute(name, color);
}
paint();
dark.addEventListener('change', paint);

/** Rules inside of the viewer: colors that its attributes do not reach, and its sizes. */
const HUES = ['blue', 'green', 'red', 'orange', 'yellow', 'purple', 'gray'];
const RULES = `
:host { ${HUES.map((hue) => `--${hue}: var(--own-${hue}) !important; --light-${hue}: var(--tint) !important;`).join(' ')}
  --font-size-regular: 16px !important; --font-size-small: 14px !important; --font-size-mono: 13.5px !important;
  --light-fg: var(--muted) !important; --placeholder-color: var(--muted) !important; --inline-code-fg: var(--red) !important;
  --code-fg: var(--ink) !important; --code-property-color: var(--purple) !important;
  --code-keyword-color: var(--blue) !important; --code-operator-color: var(--orange) !important;
  --border-color: var(--line) !important; --light-border-color: var(--line) !important; --border-radius: 6px !important;
  --input-bg: var(--ground) !important; --nav-path-padding: 6px 8px 6px 20px !important; }
:focus-visible { outline: 2px solid var(--focus) !important; outline-offset: -2px; }
/* Within its filled ground the line would not be seen. */
.m-btn.primary:focus-visible { outline-offset: 2px; }
.nav-bar-info { padding: 9px 14px; font-size: 15px; }
.nav-bar-tag { padding: 9px 14px; font-size: 15px; }
.nav-bar-section { padding: 12px 14px 4px; }
.m-markdown p, .m-markdown-small p { line-height: 1.5; }
.main-content-inner { max-width: 1100px; padding-top: 0; }
#api-title { font-size: 26px !important; }
@media (max-width: 767.98px) {
  /* Operations first: on a phone the introduction fills a screen. */
  .operations-root { display: flex; flex-direction: column; }
  #overview { order: 1; border-top: 1px solid var(--line); margin-top: 16px; }
}
`;
/** Rules of the components inside of it, each with a shadow root of its own. */
const INNER_RULES = `
:focus-visible { outline: 2px solid var(--focus) !important; outline-offset: 1px; }
/* Their row cuts off what stands out. */
.tab-btn:focus-visible { outline-offset: -2px; }
.m-btn.primary:focus-visible { outline-offset: 2px; }
.token.comment, .token.punctuation { color: var(--muted) !important; }
/* Lines end between words. */
.key { word-break: normal !important; overflow-wrap: break-word; width: calc(var(--font-size-small) * 22) !important; max-width: 40%; }
.key-descr * { line-break: auto !important; overflow-wrap: break-word; }
`;

function sheetOf(rules) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(rules);
  return sheet;
}
const outer = sheetOf(RULES);
const inner = sheetOf(INNER_RULES);

const known = new WeakSet();
/** Mend a shadow root and those below it, now and after each change. */
function mend(root, sheet) {
  if (!known.has(root)) {
    known.add(root);
    root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
    new MutationObserver(() => mend(root, sheet)).observe(root, { childList: true, subtree: true });
    root.addEventListener('keydown', pressed);
  }
  for (const element of root.querySelectorAll('*')) {
    if (element.shadowRoot) mend(element.shadowRoot, inner);
  }
  // The viewer writes a named example as a placeholder; the example itself stands below the field.
  for (const box of root.querySelectorAll('[placeholder="[object Object]"]')) box.placeholder = '';
  // On a narrow page operations open by a click on an element that takes no focus.
  for (const head of root.querySelectorAll('summary:not([tabindex])')) {
    head.tabIndex = 0;
    head.setAttribute('role', 'button');
  }
}

function pressed(event) {
  if ((event.key === 'Enter' || event.key === ' ') && event.target.matches('summary[tabindex]')) {
    event.preventDefault();
    event.target.click();
  }
}

const form = document.querySelector('#key-form');
const field = document.querySelector('#key');
const state = document.querySelector('#key-state');
const withoutKey = state.innerHTML;
/** The name of the key in the API description. */
const SCHEME = 'apiKey';

/** Keys of a local world, which its page names. */
const localKeys = [...state.querySelectorAll('code')].map(({ textContent }) => textContent);
/** The key of a sample: the entered one, and without one that of a local world. */
const keyInstead = (sampleKey) => field.value.trim() || (localKeys.includes(sampleKey) ? sampleKey : '<API_KEY>');

/** Show the description. Its samples are for a local development server: here they name this service, and the key of this page. */
async function show() {
  const base = new URL('.', location.href).href.slice(0, -1);
  const spec = await fetch('openapi.json').then((response) => response.json());
  const local = spec.servers.at(-1).url;
  spec.servers = [{ url: base }];
  for (const sample of Object.values(spec.paths).flatMap((item) =>
    Object.values(item).flatMap((operation) => operation['x-code-samples'] ?? []),
  )) {
    sample.source = sample.source.replaceAll(local, base).replaceAll(/local-(partner|ops)/g, keyInstead);
  }
  await viewer.loadSpec(spec);
}

function showOrSay() {
  show().catch(() => {
    state.textContent = 'The description could not be loaded. Reload the page.';
  });
}
showOrSay();
form.addEventListener('submit', (event) => {
  event.preventDefault();
  showOrSay();
});

viewer.addEventListener('spec-loaded', () => {
  mend(viewer.shadowRoot, outer);
  const key = field.value.trim();
  if (key === '') state.innerHTML = withoutKey;
  else
    state.textContent = 'The key is sent with Partner and Ops requests until you leave this page. The samples have it.';
  viewer.setAuthenticationConfiguration(SCHEME, { token: key });
});

// The viewer takes the focus when it is loaded, and a user of the keyboard would begin behind the bar with the key. A link
// to an operation still leads there.
const CONTROLS = 'a, button, input, select, textarea, summary';
const isLinkInto = location.hash !== '';
let hasActed = false;
for (const kind of ['keydown', 'pointerdown']) {
  addEventListener(
    kind,
    () => {
      hasActed = true;
    },
    { capture: true, once: true },
  );
}
viewer.addEventListener('focusin', (event) => {
  const [target] = event.composedPath();
  if (hasActed || isLinkInto || target.matches(CONTROLS)) return;
  const { body } = document;
  body.tabIndex = -1;
  body.focus({ preventScroll: true });
  body.removeAttribute('tabindex');
});
