import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, type Page } from '@playwright/test'

interface Options {
  rules?: Record<string, { enabled: boolean }>
  runOnly?: string[]
}

interface Violation {
  id: string
  nodes: { target: string[]; failureSummary: string }[]
}

/** In the page, after its script has run there. */
interface Axe {
  run(context: Document, options: object): Promise<{ violations: Violation[] }>
}

const colors = ['color-contrast', 'link-in-text-block']
const axe = readFileSync(
  createRequire(import.meta.resolve('@axe-core/playwright')).resolve('axe-core/axe.min.js'),
  'utf8',
)

/** Expects no axe violations of any impact on the current page, in light and dark. */
export async function checkAxe(page: Page, schemes: ('light' | 'dark')[] = ['dark', 'light']) {
  // Only the colors differ between the two.
  if (schemes.includes('dark')) await check(page, 'dark', { runOnly: colors })
  if (schemes.includes('light')) await check(page, 'light', {})
  await page.emulateMedia({ colorScheme: null })
}

/** The same without the colors, for a screen whose colors were checked at another width. */
export const checkStructure = (page: Page) =>
  check(page, 'light', { rules: Object.fromEntries(colors.map((id) => [id, { enabled: false }])) })

// Not with AxeBuilder, which injects its script into the page each time and takes twice as long.
async function check(page: Page, colorScheme: 'light' | 'dark', rules: Options) {
  await page.emulateMedia({ colorScheme })
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe)
  // Only violations: describing the elements that pass takes axe longer than checking them. The app has no frames, and
  // no rule for it needs style sheets to be loaded again.
  const options = { ...rules, resultTypes: ['violations'], iframes: false, preload: false }
  const violations = await page.evaluate(async (options) => {
    const { axe } = window as unknown as { axe: Axe }
    return (await axe.run(document, options)).violations
  }, options)
  const found = violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.target.join(' ')}\n${node.failureSummary}`),
  )
  expect(found, `axe in ${colorScheme} on ${page.url()}`).toEqual([])
}
