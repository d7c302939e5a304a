import { expect, test } from '@playwright/test'
import { checkAxe } from './accessibility.ts'
import { demoSettings, withDemo } from './demo.ts'
import { openScreen, screens, settled } from './screens.ts'
import { withService } from './service.ts'
import { narrow } from './viewports.ts'

// All screens use one filled workspace. A screen that fails does not stop the others.
test('axe finds nothing on any screen, wide or narrow', async ({ browser }) => {
  test.setTimeout(screens.length * 10_000)
  const problems: string[] = []
  await withService(demoSettings, ({ url }) =>
    withDemo(url, async (demo) => {
      for (const screen of screens) {
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
