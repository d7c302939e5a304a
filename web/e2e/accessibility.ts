import { AxeBuilder } from '@axe-core/playwright'
import { expect, type Page } from '@playwright/test'

/** Expects no axe violations of any impact on the current page, in light and dark. */
export async function checkAxe(page: Page, schemes: ('light' | 'dark')[] = ['dark', 'light']) {
  // Only the colors differ between the two.
  if (schemes.includes('dark')) await check(page, 'dark', { runOnly: ['color-contrast', 'link-in-text-block'] })
  if (schemes.includes('light')) await check(page, 'light', {})
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
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(' ')}\n${node.failureSummary}`),
  )
  expect(found, `axe in ${colorScheme} on ${page.url()}`).toEqual([])
}
