import { expect, keyboardOnly, signedIn, test, verifies, wide } from './baton.ts'

const settings = '/settings/agent-apps'

test(
  'a manager installs an app from its page and copies the tokens, which are shown once',
  verifies('install.from-page'),
  async ({ page, context, company, registeredAgent, service }) => {
    const { registered } = await registeredAgent({ scopes: ['read', 'write', 'app:assignable'] })
    const { app } = registered
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    await signedIn(page, company.admin)
    await page.goto(`${settings}/${app.id}`)
    const setup = page.getByRole('region', { name: 'Setup' })
    await expect(setup.getByRole('listitem').filter({ hasText: 'Fetched tokens' })).toContainText('exchanges the code')
    await page.getByRole('button', { name: 'Install', exact: true }).click()

    const dialog = page.getByRole('dialog', { name: 'Install Robot in Acme' })
    await expect(dialog.getByText('It acts as Robot, not as you.')).toBeVisible()
    await expect(dialog.getByText('robots.example.com').first()).toBeVisible()
    const install = dialog.getByRole('button', { name: 'Install Robot' })
    await expect(dialog.getByRole('radio', { checked: true })).toHaveCount(0)
    await expect(install).toBeDisabled()
    await page.setViewportSize(wide)
    await expect(dialog.getByLabel('Selected teams')).toBeInViewport({ ratio: 1 })
    await expect(dialog.getByText('Choose all or selected teams.')).toBeInViewport({ ratio: 1 })
    // The words follow the chosen scopes.
    await expect(dialog.getByText('Change or delete issues, projects or comments')).toHaveCount(0)
    await dialog.getByRole('checkbox', { name: /write/ }).uncheck()
    await expect(dialog.getByText('Change or delete issues, projects or comments')).toBeVisible()
    await dialog.getByLabel('Selected teams').check()
    await expect(install).toBeDisabled()
    await dialog.getByLabel('Design DES').check()
    await install.click()

    const tokens = page.getByRole('dialog', { name: 'Tokens of Robot' })
    await expect(tokens.getByText('Save the tokens now: they are shown only once.')).toBeVisible()
    await tokens.getByRole('button', { name: 'Copy as .env' }).click()
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(copied).toContain('REFRESH_TOKEN=')
    const text = await copied()
    const env = Object.fromEntries(
      text
        .trim()
        .split('\n')
        .map((line) => line.split('=') as [string, string]),
    )
    const [installation] = (await company.owner.api.listInstallations({})).data
    expect(installation).toMatchObject({
      all_teams: false,
      team_ids: [company.design.id],
      scopes: ['read', 'app:assignable'],
    })
    expect(env).toEqual({
      BATON_URL: service.url,
      APP_ID: app.id,
      CLIENT_ID: app.client_id,
      INSTALLATION_ID: installation?.id,
      WORKSPACE_ID: installation?.workspace_id,
      APP_USER_ID: installation?.app_user_id,
      ACCESS_TOKEN: expect.stringMatching(/^svc_at_/),
      REFRESH_TOKEN: expect.stringMatching(/^prt_/),
    })
    const me = await page.request.get('/api/v1/auth/me', {
      headers: { authorization: `Bearer ${env.ACCESS_TOKEN}`, 'x-workspace-id': env.WORKSPACE_ID ?? '' },
    })
    expect(await me.json()).toMatchObject({ installation_id: installation?.id })

    // Closing needs a confirmation while the tokens are shown.
    await page.keyboard.press('Escape')
    const leaving = page.getByRole('dialog', { name: 'Leave without the tokens?' })
    await leaving.getByRole('button', { name: 'Cancel' }).click()
    await expect(tokens.getByText('svc_at_')).toBeVisible()
    await tokens.getByRole('button', { name: "I've saved them" }).click()
    await expect(page.getByText('svc_at_')).toHaveCount(0)
    await expect(page.getByRole('main').getByText('Design', { exact: true })).toBeVisible()
    await expect(setup).toContainText('3 of 5')
  },
)

test('installs from the page with the keyboard', async ({ page, company, registeredAgent }) => {
  const { registered } = await registeredAgent({ scopes: ['read'] })
  await signedIn(page, company.owner)
  await page.goto(`${settings}/${registered.app.id}`)
  await page.getByRole('button', { name: 'Install', exact: true }).focus()
  keyboardOnly(page)
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('All teams')).toBeFocused()
  await page.keyboard.press('Space')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('checkbox', { name: /read/ })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('dialog', { name: 'Tokens of Robot' })).toBeVisible()
  expect((await company.owner.api.listInstallations({})).data).toMatchObject([{ all_teams: true, scopes: ['read'] }])
})

test(
  'the button leads to the install page that the manifest names',
  verifies('install.url-button'),
  async ({ page, company, registeredAgent }) => {
    const { registered } = await registeredAgent()
    const { app, manifest } = registered
    await signedIn(page, company.owner)
    await page.goto(`${settings}/${app.id}`)
    await page.getByRole('button', { name: 'Edit manifest' }).click()
    await page.getByLabel('Install page').fill('https://robots.example.com/install')
    await page.getByRole('button', { name: 'Save manifest' }).click()
    const link = page.getByRole('link', { name: 'Install at robots.example.com' })
    await expect(link).toHaveAttribute('href', 'https://robots.example.com/install')
    await expect(link).toHaveAttribute('target', '_blank')
    await expect(link).toHaveAttribute('rel', /noopener/)
    await expect(page.getByRole('button', { name: 'Install', exact: true })).toHaveCount(0)
    // The request in the inbox leads there too.
    await company.member.api.requestInstall({ app_id: app.id })
    await page.goto(`/inbox?install=${app.id}`)
    await expect(page.getByRole('dialog').getByRole('link', { name: 'Install at robots.example.com' })).toBeVisible()
    expect(await company.owner.api.getAgentApp({ app_id: app.id })).toMatchObject({
      name: manifest.name,
      install_page_url: 'https://robots.example.com/install',
    })
  },
)
