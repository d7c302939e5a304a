import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/** axe finds nothing serious or critical on the page as it stands, in light and in dark. */
export async function checkAxe(page: Page) {
  // Nothing but colours differs between the two.
  await check(page, 'dark', { runOnly: ['color-contrast', 'link-in-text-block'] })
  await check(page, 'light', {})
  await page.emulateMedia({ colorScheme: null })
}

async function check(page: Page, colorScheme: 'light' | 'dark', rules: Parameters<AxeBuilder['options']>[0]) {
  await page.emulateMedia({ colorScheme })
  // Only what is wrong: to describe every place that is right takes axe longer than to look at it. In one piece: to look
  // into frames of other origins, which we have none of, it opens a page of its own each time.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ ...rules, resultTypes: ['violations'] })
    .analyze()
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}\n${node.failureSummary}`))
  expect(serious, `axe in ${colorScheme} on ${page.url()}`).toEqual([])
}
