// Starts GraphiQL: its workers, its first answer, and the menu of examples.

const { workers, menu, options } = self.graphiqlSettings;

// The workers check and complete what is written. Nothing is, until an editor has the focus.
const isWritten = new Promise((resolve) => {
  const listen = ({ target }) => {
    if (!target.closest?.('.monaco-editor')) return;
    document.removeEventListener('focusin', listen);
    resolve();
  };
  document.addEventListener('focusin', listen);
});
self.MonacoEnvironment.getWorker = (_id, label) => isWritten.then(() => new Worker(workers[label]));

const STORED = { tabs: 'graphiql:tabState', panel: 'graphiql:visiblePlugin' };
const isFirstVisit = localStorage.getItem(STORED.tabs) === null;
if (isFirstVisit && innerWidth > 1000) localStorage.setItem(STORED.panel, 'Documentation Explorer');

const root = document.querySelector('#root');
self.YogaGraphiQL.renderYogaGraphiQL(root, options);

/** The first element of a selector, as soon as there is one. */
function whenShown(selector) {
  return new Promise((resolve) => {
    const look = () => {
      const element = root.querySelector(selector);
      if (element === null) return;
      observer.disconnect();
      resolve(element);
    };
    const observer = new MutationObserver(look);
    observer.observe(root, { childList: true, subtree: true });
    look();
  });
}

// A first visit shows an answer.
if (isFirstVisit) {
  Promise.all([whenShown('.graphiql-execute-button'), whenShown('.graphiql-query-editor .view-line')]).then(
    ([button]) => button.click(),
  );
}

const select = document.querySelector('#examples');
const examples = menu.flatMap(({ group, examples: inGroup }) => inGroup.map((example) => ({ group, ...example })));
for (const { group, examples: inGroup } of menu) {
  const options = document.createElement('optgroup');
  options.label = group;
  for (const { title } of inGroup) {
    const index = examples.findIndex((example) => example.group === group && example.title === title);
    options.append(new Option(title, index));
  }
  select.append(options);
}

const EDITORS = { query: 'operation.graphql', variables: 'variables.json', headers: 'request-headers.json' };

/** Write an example into a new tab, once its editors are empty. */
function open(example) {
  const models = self.monaco.editor.getModels();
  const modelOf = (name) => models.find(({ uri }) => uri.path.endsWith(EDITORS[name]));
  root.querySelector('.graphiql-tab-add').click();
  const write = () => {
    for (const name of Object.keys(EDITORS)) modelOf(name)?.setValue(example[name] ?? '');
  };
  requestAnimationFrame(() => requestAnimationFrame(write));
}
select.addEventListener('change', () => {
  const example = examples[select.value];
  select.value = '';
  if (example) open(example);
});
