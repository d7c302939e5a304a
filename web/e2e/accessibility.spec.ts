import { type Browser, expect, type Page, test } from '@playwright/test'
import { checkAxe, checkStructure } from './accessibility.ts'
import { verifies } from './baton.ts'
import { type Demo, demoSettings, withDemo } from './demo.ts'
import { openScreen, type Screen, screens, settled } from './screens.ts'
import { withService } from './service.ts'
import { narrow, wide } from './viewports.ts'

/** Several names for one screen are for the pictures of `npm run screenshots`. */
const distinct = screens.filter(
  ({ path, as, steps }, index) =>
    steps || !screens.slice(0, index).some((other) => !other.steps && other.as === as && `${other.path}` === `${path}`),
)

/** In two tests, which run at the same time. */
const halves = [distinct.slice(0, distinct.length / 2), distinct.slice(distinct.length / 2)]

// A screen that fails does not stop the others.
for (const half of halves) {
  test(
    `axe finds nothing on any screen, wide or narrow: ${half[0]?.name} to ${half.at(-1)?.name}`,
    verifies('account.screens-usable', 'insight.charts-accessible', 'changes.viewer'),
    async ({ browser }) => {
      test.setTimeout(900_000)
      expect(half.length).toBeGreaterThan(10)
      const problems: string[] = []
      await withService(demoSettings, ({ url }) =>
        withDemo(url, async (demo) => {
          const walk = new Walk(browser, url, demo)
          for (const screen of half) {
            try {
              const page = await walk.open(screen)
              await checkAxe(page)
              await page.setViewportSize(narrow)
              await settled(page)
              await checkStructure(page)
            } catch (error) {
              problems.push(`${screen.name}: ${error instanceof Error ? error.message : error}`)
              await walk.close()
            }
          }
          await walk.close()
        }),
      )
      expect(problems.join('\n\n')).toBe('')
    },
  )
}

/** Opens the screens of one person after another in the same page: a new browser for each takes longer to load. */
class Walk {
  readonly #browser: Browser
  readonly #url: string
  readonly #demo: Demo
  #as: Screen['as']
  #page: Page | undefined

  constructor(browser: Browser, url: string, demo: Demo) {
    this.#browser = browser
    this.#url = url
    this.#demo = demo
  }

  async open(screen: Screen): Promise<Page> {
    if (screen.as !== this.#as) await this.close()
    const isNew = this.#page === undefined
    this.#page ??= await (await this.#browser.newContext({ baseURL: this.#url })).newPage()
    this.#as = screen.as
    await this.#page.setViewportSize(wide)
    await openScreen(this.#page, screen, this.#demo, { signIn: isNew })
    return this.#page
  }

  async close() {
    await this.#page?.context().close()
    this.#page = undefined
  }
}
