import { checkStructure } from './accessibility.ts'
import { checkAxe, expect, narrow, test, wide } from './baton.ts'

const paths = ['/docs', '/docs/api', '/docs/mcp', '/docs/events', '/docs/reference/issues', '/docs/search?q=webhook']

for (const path of paths) {
  test(`${path} is accessible and does not scroll sideways, wide or narrow`, async ({ page }) => {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await checkAxe(page)
    for (const viewport of [wide, narrow]) {
      await page.setViewportSize(viewport)
      const [contentWidth, pageWidth] = await page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement
        return [scrollWidth, clientWidth]
      })
      expect(contentWidth, `scrolls sideways at ${viewport.width}`).toBe(pageWidth)
    }
    await checkStructure(page)
  })
}

test('the search shows results while typing, by keyboard', async ({ page }) => {
  await page.goto('/docs')
  await page.keyboard.press('/')
  const field = page.getByRole('searchbox', { name: 'Search the documentation' })
  await expect(field).toBeFocused()
  await page.keyboard.type('createIssue')
  const found = page.locator('.found')
  await expect(found.getByRole('link').first()).toHaveAttribute('href', '/docs/reference/issues#createIssue')
  await checkAxe(page)
  await page.keyboard.press('Escape')
  await expect(found).toBeHidden()
  await expect(field).toBeFocused()

  await page.keyboard.type(' ')
  await expect(found).toBeVisible()
  await page.keyboard.press('ArrowDown')
  await expect(found.getByRole('link').first()).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/docs\/reference\/issues#createIssue$/)
  await expect(page.getByRole('heading', { name: 'createIssue', exact: true })).toBeInViewport()
})

test('the search escapes what was typed', async ({ page }) => {
  await page.goto('/docs')
  await page.getByRole('searchbox').fill('<img src=x onerror=alert(1)> issue')
  await expect(page.locator('.found [role="status"]')).toContainText('<img src=x')
  expect(await page.locator('.found img').count()).toBe(0)
})

test.describe('without JavaScript', () => {
  test.use({ javaScriptEnabled: false })
  test('the search works as a form', async ({ page }) => {
    await page.goto('/docs')
    await page.getByRole('searchbox').fill('rate limits')
    await page.getByRole('searchbox').press('Enter')
    await expect(page).toHaveURL(/\/docs\/search\?q=rate/)
    await page.locator('#results').getByRole('link').first().click()
    await expect(page).toHaveURL(/\/docs\/api#rate-limits$/)
  })
})

test('the pages follow the theme chosen in the web app, otherwise the system', async ({ page }) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  await page.emulateMedia({ colorScheme: 'dark' })
  await page.goto('/docs')
  const dark = await background()
  await page.evaluate(() => localStorage.setItem('baton.theme', 'light'))
  await page.reload()
  const light = await background()
  expect(light).not.toBe(dark)
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await background()).toBe(light)
})

test('a block of code can be copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/docs/mcp')
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
  const origin = new URL(page.url()).origin
  expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(
    new RegExp(`^claude mcp add --transport http baton ${origin.replace(/localhost|127\.0\.0\.1/, '[\\w.]+')}/mcp$`),
  )
})

test('a block of code can be copied over plain http, where browsers have no clipboard', async ({
  page,
  service,
  faults,
}) => {
  // Browsers ignore some security headers there, and say so.
  faults.allow(/origin was untrustworthy/)
  await page.route('http://baton.test/**', async (route) => {
    const url = route.request().url().replace('http://baton.test', service.url)
    await route.fulfill({ response: await route.fetch({ url }) })
  })
  await page.goto('http://baton.test/docs/mcp')
  expect(await page.evaluate(() => 'clipboard' in navigator)).toBe(false)
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await expect(page.getByRole('button', { name: 'Copied' })).toBeVisible()
  const field = page.getByRole('searchbox')
  await field.press('ControlOrMeta+v')
  await expect(field).toHaveValue(/^claude mcp add --transport http baton \S+\/mcp$/)
})
