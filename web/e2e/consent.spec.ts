import type { Page } from '@playwright/test'
import { expect, installUrl, keyboardOnly, narrow, signedIn, test, verifies, wide } from './baton.ts'

/** Serves the app's redirect URI and returns the query of the request. */
async function callback(page: Page) {
  const request = page.waitForRequest('https://robots.example.com/**')
  await page.route('https://robots.example.com/**', (route) => route.fulfill({ body: 'Back at the robots' }))
  return async () => new URL((await request).url()).searchParams
}

test(
  'consent shows the app, what it can and cannot do, and where it receives events',
  verifies('oauth.consent-page-content', 'linear.compat-at-consent'),
  async ({ page, company, registeredAgent }) => {
    const robot = await registeredAgent({ scopes: ['read', 'write', 'app:assignable'], resourceTypes: ['Issue'] })
    const back = await callback(page)
    await signedIn(page, company.owner)
    await page.goto(await installUrl(company.owner, robot.registered))

    await expect(page.getByRole('heading', { name: 'Install Robot in Acme' })).toBeVisible()
    await expect(page.getByText('Robots Inc')).toBeVisible()
    await expect(page.getByText('robots.example.com')).toBeVisible()
    await expect(page.getByText('It acts as Robot, not as you.')).toBeVisible()
    await expect(page.getByText('Create, change and delete issues, projects and comments in its teams')).toBeVisible()
    await expect(page.getByText('it can move issues only to In progress or QA')).toBeVisible()
    // Permissions implied by write are not listed under "It cannot".
    await expect(page.getByText('Create issues', { exact: true })).toHaveCount(0)
    await expect(page.getByText('Write comments', { exact: true })).toHaveCount(0)
    await expect(page.getByText('Change settings, members, teams, webhooks or apps')).toBeVisible()
    await expect(page.getByText('Be @mentioned')).toBeVisible()
    await expect(page.getByText('all issue changes')).toBeVisible()
    await expect(page.getByText('uses Linear’s API')).toHaveCount(0)

    // Nothing is preselected.
    await expect(page.getByRole('radio', { checked: true })).toHaveCount(0)
    await expect(page.getByRole('button', { name: 'Install Robot' })).toBeDisabled()
    await page.setViewportSize(wide)
    await expect(page.getByLabel('Selected teams')).toBeInViewport({ ratio: 1 })
    await page.getByLabel('Selected teams').check()
    await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(0)
    await expect(page.getByRole('button', { name: 'Install Robot' })).toBeDisabled()
    await page.getByLabel('Design DES').check()
    await page.getByRole('button', { name: 'Install Robot' }).click()
    expect((await back()).get('code')).toBeTruthy()
    const { data } = await company.owner.api.listInstallations()
    expect(data).toMatchObject([{ all_teams: false, team_ids: [company.design.id], installed_by: company.owner.id }])

    // When the app asks again, the current choice is shown.
    await page.waitForURL('https://robots.example.com/**')
    await page.goto(await installUrl(company.owner, robot.registered))
    await expect(page.getByRole('heading', { name: 'Update Robot in Acme' })).toBeVisible()
    await expect(page.getByLabel('Selected teams')).toBeChecked()
    await expect(page.getByLabel('Design DES')).toBeChecked()
    await expect(page.getByLabel('Engineering ENG')).not.toBeChecked()

    const { app, manifest } = robot.registered
    await company.owner.api.replaceAgentApp({ app_id: app.id, ...manifest, compat: 'linear' })
    await page.goto(await installUrl(company.owner, robot.registered))
    await expect(page.getByText('uses Linear’s API')).toBeVisible()
  },
)

test('installs an app with the keyboard', async ({ page, company, registeredAgent }) => {
  const robot = await registeredAgent()
  const back = await callback(page)
  await signedIn(page, company.admin)
  await page.goto(await installUrl(company.admin, robot.registered))
  await expect(page.getByRole('heading', { name: 'Install Robot in Acme' })).toBeVisible()
  keyboardOnly(page)
  // The developer's page, the teams, Cancel, Install.
  for (let stop = 0; stop < 2; stop++) await page.keyboard.press('Tab')
  await expect(page.getByLabel('All teams')).toBeFocused()
  await page.keyboard.press('Space')
  for (let stop = 0; stop < 2; stop++) await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Install Robot' })).toBeFocused()
  await page.keyboard.press('Enter')
  expect((await back()).get('code')).toBeTruthy()
  expect((await company.owner.api.listInstallations()).data).toMatchObject([{ all_teams: true }])
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test(
    'a member cannot install, but can request it',
    verifies('oauth.consent-page-refuses-member'),
    async ({ page, company, registeredAgent }) => {
      const robot = await registeredAgent()
      const back = await callback(page)
      await signedIn(page, company.member)
      await page.goto(await installUrl(company.member, robot.registered))
      await expect(page.getByText('You cannot install Robot')).toBeVisible()
      await expect(
        page.getByText('Only owners and admins of Acme can install apps. Nothing was installed.'),
      ).toBeVisible()
      await expect(page.getByRole('button', { name: 'Install Robot' })).toHaveCount(0)

      await page.getByRole('button', { name: 'Request install' }).click()
      await expect(page.getByText('Request sent to the owners and admins of Acme.')).toBeVisible()
      const { data: asked } = await company.admin.api.listInbox()
      expect(asked).toMatchObject([{ kind: 'install_request', title: 'Robot', actor: { id: company.member.id } }])

      await page.getByRole('button', { name: 'Go back to robots.example.com' }).click()
      expect((await back()).get('error')).toBe('access_denied')
      expect((await company.owner.api.listInstallations()).data).toEqual([])
    },
  )
})

test('Cancel returns access_denied and installs nothing', async ({ page, company, registeredAgent }) => {
  const robot = await registeredAgent()
  const { app, manifest } = robot.registered
  const webhook = { url: 'https://listen.invalid/', resource_types: [] }
  await company.owner.api.replaceAgentApp({ app_id: app.id, ...manifest, webhook })
  const back = await callback(page)
  await signedIn(page, company.owner)
  await page.goto(await installUrl(company.owner, robot.registered))
  await expect(page.getByText('On the machine that runs baton listen, not at a URL')).toBeVisible()
  await page.getByRole('button', { name: 'Cancel' }).click()
  expect((await back()).get('error')).toBe('access_denied')
  expect((await company.owner.api.listInstallations()).data).toEqual([])
})

test('shows that a request is unknown or expired', async ({ page, company, faults }) => {
  await signedIn(page, company.owner)
  faults.expect(/status of 404/)
  await page.goto('/oauth/consent?request=nothing')
  await expect(page.getByRole('heading', { name: 'Request expired' })).toBeVisible()
})
