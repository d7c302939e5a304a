import { expect, type Page } from '@playwright/test'

/** Records requests to other origins, dialogs and popups of the page. */
export function recordSideEffects(page: Page, own: string) {
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

/** Expects that hostile content did nothing, and has no link or handler that would. */
export async function expectHarmless(page: Page, seen: string[]) {
  const found = await page.evaluate(() => {
    const all = [...document.querySelectorAll('*')]
    const forbidden = 'img[src*="foreign"], img[src="x"], iframe, main script, main style, svg[onload]'
    return {
      ran: (window as { ran?: string }).ran ?? null,
      forbidden: document.querySelectorAll(forbidden).length,
      addresses: [...document.links].map(({ href }) => href).filter((href) => !/^(https?|mailto):/.test(href)),
      handlers: all.flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on'))),
    }
  })
  expect({ ...found, seen }).toEqual({ ran: null, forbidden: 0, addresses: [], handlers: [], seen: [] })
}
