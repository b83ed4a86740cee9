// GraphiQL gives the role of a tab to list items that contain buttons, which assistive technology cannot enter. Here the list
// stays a list of buttons, and the button of the shown tab says so.

const root = document.querySelector('#root');

function mend() {
  for (const list of root.querySelectorAll('.graphiql-tabs')) list.removeAttribute('role');
  for (const item of root.querySelectorAll('.graphiql-tab')) {
    item.removeAttribute('role');
    item.removeAttribute('aria-selected');
    const current = String(item.classList.contains('graphiql-tab-active'));
    const button = item.querySelector('.graphiql-tab-button');
    // Only a change is written: the observer also sees the writes of this function.
    if (button && button.getAttribute('aria-current') !== current) button.setAttribute('aria-current', current);
  }
}

new MutationObserver(mend).observe(root, {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ['role', 'aria-selected', 'class'],
});

// The editors take Tab for an indentation, so that a user of the keyboard could not leave them. It still accepts a
// suggestion of an open list.
addEventListener(
  'keydown',
  (event) => {
    const editor = event.key === 'Tab' && event.target.closest?.('.monaco-editor');
    if (editor && !editor.querySelector('.suggest-widget.visible')) event.stopImmediatePropagation();
  },
  true,
);

// The page follows the colour scheme of the system by itself, and the editors take theirs when they are loaded. A choice of the
// user is a class of the body.
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', ({ matches }) => {
  const { classList } = document.body;
  if (classList.contains('graphiql-dark') || classList.contains('graphiql-light')) return;
  self.monaco?.editor.setTheme(matches ? 'graphiql-DARK' : 'graphiql-LIGHT');
});
