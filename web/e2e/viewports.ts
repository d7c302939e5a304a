import type { Page } from '@playwright/test'

export const wide = { width: 1440, height: 900 }
export const narrow = { width: 390, height: 844 }

/**
 * Elements that scroll sideways, except those that may, such as code and rows of tabs. The window itself never scrolls,
 * so its width cannot be used.
 */
export const scrolledSideways = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body, body *')]
      .filter((element) => element.scrollWidth > element.clientWidth + 1 && !element.closest('nav, pre, .sr-only'))
      .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowX))
      .map((element) => element.outerHTML.slice(0, 200)),
  )
