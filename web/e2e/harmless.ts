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
  const found = await page.evaluate(() => {
    const all = [...document.querySelectorAll('*')]
    const strange = 'img[src*="foreign"], img[src="x"], iframe, main script, main style, svg[onload]'
    return {
      ran: (window as { ran?: string }).ran ?? null,
      strange: document.querySelectorAll(strange).length,
      addresses: [...document.links].map(({ href }) => href).filter((href) => !/^(https?|mailto):/.test(href)),
      handlers: all.flatMap((one) => one.getAttributeNames().filter((name) => name.startsWith('on'))),
    }
  })
  expect({ ...found, seen }).toEqual({ ran: null, strange: 0, addresses: [], handlers: [], seen: [] })
}
