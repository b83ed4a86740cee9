import type { Page } from 'playwright-core';
import { decodePng, type Picture } from './png.ts';

/** A control at which the keyboard has stopped. */
export interface FocusStop {
  readonly name: string;
  /** Perimeter of the control, px. */
  readonly perimeter: number;
  /** Pixels whose color differs by 3:1 or more between the control with and without the focus. */
  readonly changed: number;
}

/** The focused element, also inside of components. */
const FOCUSED = `(() => {
  let element = document.activeElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  return element;
})()`;
/** Where the keyboard is when a page was opened. */
const TO_BEGINNING = `
  document.body.tabIndex = -1;
  document.body.focus({ preventScroll: true });
  document.body.removeAttribute('tabindex');`;
const PLACE = `(() => {
  const element = ${FOCUSED};
  const { x, y, width, height } = element.getBoundingClientRect();
  const name = [element.localName, element.className, element.getAttribute('aria-label') ?? element.innerText ?? element.placeholder]
    .map((text) => String(text ?? '').trim().slice(0, 40)).join(' ').replaceAll(/\\s+/g, ' ');
  return { isBody: element === document.body, name, x, y, width, height };
})()`;
/** Around a control, for an outline that stands off. */
const MARGIN_PX = 6;
const MAX_STOPS = 300;

/** Press Tab through a page from its beginning, and measure the mark of the focus at each control. */
export async function focusStops(page: Page): Promise<readonly FocusStop[]> {
  const { width: most, height: tall } = page.viewportSize() ?? { width: 0, height: 0 };
  await page.evaluate(TO_BEGINNING);
  const stops: FocusStop[] = [];
  while (stops.length < MAX_STOPS) {
    await page.keyboard.press('Tab');
    const { isBody, name, ...place } = (await page.evaluate(PLACE)) as Place;
    if (isBody) return stops;
    const [left, top] = [Math.max(0, Math.floor(place.x) - MARGIN_PX), Math.max(0, Math.floor(place.y) - MARGIN_PX)];
    const right = Math.min(most, Math.ceil(place.x + place.width) + MARGIN_PX);
    const bottom = Math.min(tall, Math.ceil(place.y + place.height) + MARGIN_PX);
    const perimeter = 2 * (place.width + place.height);
    if (right <= left || bottom <= top) {
      stops.push({ name, perimeter, changed: 0 });
      continue;
    }
    const clip = { x: left, y: top, width: right - left, height: bottom - top };
    const shoot = async () => decodePng(await page.screenshot({ clip, animations: 'disabled' }));
    const focused = await shoot();
    await page.evaluate(`globalThis.left = ${FOCUSED}; left.blur()`);
    const blurred = await shoot();
    await page.evaluate('left.focus({ preventScroll: true })');
    stops.push({ name, perimeter, changed: changedPixels(focused, blurred) });
  }
  throw new Error(`the keyboard never leaves the page: ${stops.at(-1)?.name}`);
}

interface Place {
  readonly isBody: boolean;
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

function changedPixels(one: Picture, other: Picture): number {
  let changed = 0;
  for (let pixel = 0; pixel < one.width * one.height; pixel += 1) {
    const [a, b] = [one.rgbAt(pixel), other.rgbAt(pixel)];
    if (a !== b && contrastOf(a, b) >= 3) changed += 1;
  }
  return changed;
}

/** Contrast of two colors by WCAG. */
function contrastOf(one: number, other: number): number {
  const [a, b] = [luminanceOf(one), luminanceOf(other)];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
}

/** Relative luminance by WCAG. */
function luminanceOf(rgb: number): number {
  const [red = 0, green = 0, blue = 0] = [rgb >> 16, (rgb >> 8) & 0xff, rgb & 0xff].map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
