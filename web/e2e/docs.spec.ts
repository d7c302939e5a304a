import { checkAxe, expect, narrow, test, wide } from './baton.ts'

for (const path of ['/docs', '/docs/api', '/docs/agent-sessions']) {
  for (const [size, viewport] of Object.entries({ wide, narrow })) {
    test(`${path} is accessible and does not scroll sideways on a ${size} screen`, async ({ page }) => {
      await page.setViewportSize(viewport)
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await checkAxe(page)
      const [contentWidth, pageWidth] = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return [scrollWidth, clientWidth]
      })
      expect(contentWidth, 'scrolls sideways').toBe(pageWidth)
    })
  }
}
