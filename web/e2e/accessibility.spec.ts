import { expect, test } from '@playwright/test'
import { checkAxe } from './accessibility.ts'
import { demoSettings, withDemo } from './demo.ts'
import { openScreen, screens, settled } from './screens.ts'
import { withService } from './service.ts'
import { narrow } from './viewports.ts'

/** Each group has a workspace of its own, so that they run side by side. */
const groups = 4

for (let group = 0; group < groups; group++) {
  // A screen that fails does not stop the others.
  test(`axe finds nothing on any screen, wide or narrow (${group + 1} of ${groups})`, async ({ browser }) => {
    test.setTimeout(600_000)
    const problems: string[] = []
    await withService(demoSettings, ({ url }) =>
      withDemo(url, async (demo) => {
        for (const screen of screens.filter((_, index) => index % groups === group)) {
          const context = await browser.newContext({ baseURL: url })
          const page = await context.newPage()
          try {
            await openScreen(page, screen, demo)
            await checkAxe(page)
            await page.setViewportSize(narrow)
            await settled(page)
            await checkAxe(page, ['light'])
          } catch (error) {
            problems.push(`${screen.name}: ${error instanceof Error ? error.message : error}`)
          }
          await context.close()
        }
      }),
    )
    expect(problems.join('\n\n')).toBe('')
  })
}
