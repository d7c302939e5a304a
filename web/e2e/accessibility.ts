import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/** Expects no serious or critical axe violations on the current page, in light and dark. */
export async function checkAxe(page: Page) {
  // Only the colors differ between the two.
  await check(page, 'dark', { runOnly: ['color-contrast', 'link-in-text-block'] })
  await check(page, 'light', {})
  await page.emulateMedia({ colorScheme: null })
}

async function check(page: Page, colorScheme: 'light' | 'dark', rules: Parameters<AxeBuilder['options']>[0]) {
  await page.emulateMedia({ colorScheme })
  // Only violations: describing the elements that pass takes axe longer than checking them. Legacy mode: otherwise axe
  // opens a page for frames of other origins each time, and the app has none.
  const { violations } = await new AxeBuilder({ page })
    .setLegacyMode()
    .options({ ...rules, resultTypes: ['violations'] })
    .analyze()
  const serious = violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target.join(' ')}\n${node.failureSummary}`))
  expect(serious, `axe in ${colorScheme} on ${page.url()}`).toEqual([])
}
