import { expect, type Page } from '@playwright/test'

/** Everything that the page asked of somebody else, and every dialog. */
export function watched(page: Page, own: string) {
  const seen: string[] = []
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== new URL(own).origin && protocol !== 'blob:') seen.push(request.url())
  })
  page.on('dialog', async (dialog) => {
    seen.push(`dialog: ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('popup', (popup) => seen.push(`popup: ${popup.url()}`))
  return seen
}

/** Nothing of what the page shows has done anything, nor would when it is clicked. */
export async function expectHarmless(page: Page, seen: string[]) {
  expect(await page.evaluate(() => (window as { ran?: string }).ran)).toBeUndefined()
  expect(
    await page.locator('img[src*="foreign"], img[src="x"], iframe, main script, main style, svg[onload]').count(),
  ).toBe(0)
  const addresses = await page
    .locator('a')
    .evaluateAll((links) => links.map((link) => (link as HTMLAnchorElement).href))
  expect(addresses.filter((address) => !/^(https?|mailto):/.test(address))).toEqual([])
  const handlers = await page
    .locator('*')
    .evaluateAll((all) => all.flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on'))))
  expect(handlers).toEqual([])
  expect(seen).toEqual([])
}
