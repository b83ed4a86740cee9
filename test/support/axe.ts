import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** The widths and color schemes in which every page is looked at. */
export const LOOKS = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [1280, 390].map((width) => ({ colorScheme, width })),
);

/** Wait until scripts have applied a change of the looks, and for the transitions that it has begun, also inside of components. */
const TRANSITIONS_ENDED = `
  (async () => {
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    // The page hears of the change with one frame, and components draw it with the next.
    await frame();
    await frame();
    const rootsIn = (root) => [root, ...[...root.querySelectorAll('*')].flatMap(({ shadowRoot }) => (shadowRoot ? rootsIn(shadowRoot) : []))];
    const transitions = rootsIn(document).flatMap((root) => root.getAnimations()).filter((one) => one instanceof CSSTransition);
    await Promise.allSettled(transitions.map(({ finished }) => finished));
  })()`;

/** Show a page in one of the looks, without moving parts. */
export async function look(page: Page, { colorScheme, width }: (typeof LOOKS)[number]): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
  await page.setViewportSize({ width, height: width === 390 ? 844 : 900 });
  await page.evaluate(TRANSITIONS_ENDED);
}

/** The small form of the script: a page reads it in half of the time. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules of axe that a page violates, each with some of its elements. The page has to allow `evaluate` of scripts. */
export async function violationsOf(page: Page): Promise<readonly (readonly [string, readonly string[]])[]> {
  if (await page.evaluate("!('axe' in globalThis)")) await page.evaluate(AXE);
  const found = await page.evaluate('axe.run().then(({ violations }) => violations)');
  return (found as AxeResults['violations']).map(({ id, nodes }) => [id, nodes.map(({ html }) => html).slice(0, 3)]);
}

/** Take a picture for people when SCREENSHOTS names a folder. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env.SCREENSHOTS) await page.screenshot({ path: `${process.env.SCREENSHOTS}/${name}.png` });
}
