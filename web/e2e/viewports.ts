import type { Page } from '@playwright/test'

export const wide = { width: 1440, height: 900 }
export const narrow = { width: 390, height: 844 }

/**
 * What a person would have to scroll sideways to: every part of the page that is wider than the room it has, but for
 * what is meant to be, such as code and rows of tabs. The window itself never scrolls, so its width says nothing.
 */
export const scrolledSideways = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll('body, body *')]
      .filter((element) => element.scrollWidth > element.clientWidth + 1 && !element.closest('nav, pre, .sr-only'))
      .filter((element) => /auto|scroll/.test(getComputedStyle(element).overflowX))
      .map((element) => element.outerHTML.slice(0, 200)),
  )
