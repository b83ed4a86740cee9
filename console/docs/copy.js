// A button that copies, on every block of code.

for (const block of document.querySelectorAll('pre')) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    const { textContent } = block.querySelector('code');
    try {
      await navigator.clipboard.writeText(textContent);
      button.textContent = 'Copied';
    } catch {
      // Without HTTPS or permission there is no clipboard: the text is selected instead.
      getSelection().selectAllChildren(block.querySelector('code'));
      button.textContent = 'Selected';
    }
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 2_000);
  });
  const frame = document.createElement('div');
  frame.className = 'code';
  block.replaceWith(frame);
  frame.append(block, button);
}
