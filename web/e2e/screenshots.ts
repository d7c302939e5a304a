import { fileURLToPath } from 'node:url'
import { expect, type Page, test } from '@playwright/test'
import { type Demo, demoSettings, withDemo } from './demo.ts'
import { Faults } from './faults.ts'
import { openScreen, type Screen, screens, settled } from './screens.ts'
import { withService } from './service.ts'
import { narrow, wide } from './viewports.ts'

const folder = fileURLToPath(new URL('../screenshots/', import.meta.url))

const words = (process.env.BATON_SCREENS ?? '').split(' ').filter(Boolean)
const wanted = screens.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))

// All screens use one demo workspace. A screen that fails does not stop the others.
test(`${wanted.length} screens`, async ({ browser }) => {
  const problems: string[] = []
  await withService(demoSettings, ({ url }) =>
    withDemo(url, async (demo) => {
      for (const screen of wanted) {
        const context = await browser.newContext({ baseURL: url })
        const faults = new Faults()
        await faults.watch(context)
        try {
          await test.step(screen.name, async () => takePictures(await context.newPage(), screen, demo))
          faults.check()
        } catch (error) {
          problems.push(`${screen.name}: ${error instanceof Error ? error.message : error}`)
        }
        await context.close()
      }
    }),
  )
  expect(problems.join('\n\n')).toBe('')
})

async function takePictures(page: Page, screen: Screen, demo: Demo) {
  await openScreen(page, screen, demo)
  for (const [size, viewport] of Object.entries({ wide, narrow })) {
    await page.setViewportSize(viewport)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await settled(page)
      await page.screenshot({ path: `${folder}${screen.name}-${colorScheme}-${size}.png`, animations: 'disabled' })
    }
  }
}
