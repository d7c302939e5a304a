import { checkAxe, expect, narrow, test } from './baton.ts'

for (const path of ['/docs', '/docs/api', '/docs/agent-sessions', '/docs/errors']) {
  test(`${path} can be read by everybody, in light and dark, wide and narrow`, async ({ page }) => {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await checkAxe(page)
    await page.setViewportSize(narrow)
    await checkAxe(page)
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    )
    expect(overflow, 'pixels to scroll sideways').toBe(0)
  })
}
