import { checkAxe, expect, keyboardOnly, test } from './baton.ts'

// A service of its own, whose first account this test creates.
test.use({ settings: { BATON_SIGNUP: 'invite' } })

test('an empty instance opens on its first account, then shows the first steps', async ({ page }) => {
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Create the first account' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Sign in' })).toHaveCount(0)
  await checkAxe(page)
  await page.goto('/sign-in')
  await expect(page.getByRole('heading', { name: 'Create the first account' })).toBeVisible()
  keyboardOnly(page)
  for (const text of ['Nora New', 'nora@example.com', 'long enough']) {
    await page.keyboard.press('Tab')
    await page.keyboard.type(text)
  }
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Workspace name')).toBeFocused()
  await page.keyboard.type('Northern Tea')
  await page.keyboard.press('Tab')
  await page.keyboard.type('Engineering')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/issues$/)
  const steps = page.getByRole('region', { name: 'First steps' })
  await expect(steps).toContainText('1 of 4')
  await expect(steps.getByRole('link', { name: 'Done: Create a team' })).toBeVisible()
  await expect(steps.getByRole('link', { name: 'To do: Invite people' })).toBeVisible()

  // From now on, only invited people can sign up.
  await page.context().clearCookies()
  const instance = page.waitForResponse(/\/api\/v1\/instance$/)
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  expect(await (await instance).json()).toMatchObject({ sign_up: false })
  await expect(page.getByRole('link', { name: 'Create an account' })).toHaveCount(0)
})
