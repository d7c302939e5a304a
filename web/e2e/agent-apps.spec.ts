import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, test, verifies } from './baton.ts'

const settings = '/settings/agent-apps'

/** The displayed secret with this label. */
const displayedSecret = (page: Page, label: string) =>
  page.locator('dt', { hasText: label }).locator('xpath=../dd').innerText()

/** The token endpoint answers 401 to a wrong secret, and 400 to a right one because the refresh token is invalid. */
const tryClientSecret = (page: Page, clientId: string, secret: string) =>
  page.request.post('/api/v1/oauth/token', {
    form: { grant_type: 'refresh_token', refresh_token: 'prt_none', client_id: clientId, client_secret: secret },
  })

test(
  'a member registers an app: errors appear at their fields, secrets once and as a .env file',
  verifies('app.register-by-any-member', 'manifest.one-message-per-bad-field', 'app.secrets-shown-once'),
  async ({ page, company, faults, service }) => {
    await signedIn(page, company.member)
    await page.goto(settings)
    await page.getByRole('button', { name: 'Register app' }).first().click()

    await page.getByLabel('Name', { exact: true }).fill('My Baton bot')
    await page.getByLabel('Redirect URI 1').fill('http://robots.example.com/callback')
    await expect(page.getByLabel('Manifest (JSON)')).toHaveValue(/"name": "My Baton bot"/)
    faults.expect(/status of 422/)
    await page.getByRole('button', { name: 'Register app' }).click()
    await expect(page.getByText('Must not contain the name of this service, Baton.').first()).toBeVisible()
    await expect(page.getByLabel('Name', { exact: true })).toBeFocused()
    await expect(page.getByLabel('Redirect URI 1')).toHaveAccessibleDescription('Must be an https URL.')
    expect((await company.owner.api.listAgentApps({})).data).toEqual([])

    await page.getByLabel('Name', { exact: true }).fill('Doorman')
    await page.getByLabel('Redirect URI 1').fill('https://robots.example.com/callback')
    await expect(page.getByText('Must be an https URL.')).toHaveCount(0)
    await page.getByRole('button', { name: 'Register app' }).click()

    await expect(page.getByText('Doorman registered')).toBeVisible()
    const [app] = (await company.owner.api.listAgentApps({})).data
    expect(app).toMatchObject({ name: 'Doorman', owner_user_id: company.member.id })
    const clientSecret = await displayedSecret(page, 'Client secret')
    expect(clientSecret).toMatch(/^svc_sk_/)
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Download .env' }).click()
    expect(await readFile(await (await download).path(), 'utf8')).toBe(
      `BATON_URL=${service.url}\nAPP_ID=${app?.id}\nCLIENT_ID=${app?.client_id}\nCLIENT_SECRET=${clientSecret}\nWEBHOOK_SECRET=${await displayedSecret(page, 'Webhook secret')}\n`,
    )

    // Leaving needs a confirmation.
    await page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Members' }).click()
    const leaving = page.getByRole('dialog', { name: 'Leave without the secrets?' })
    await leaving.getByRole('button', { name: 'Cancel' }).click()
    await expect(page.getByText(clientSecret)).toBeVisible()
    await page.getByRole('button', { name: /I've saved them/ }).click()
    await expect(page.getByRole('heading', { name: 'Install', exact: true })).toBeVisible()
    await expect(page.getByText('svc_sk_')).toHaveCount(0)
    // Only the inner page scrolls, not the body.
    expect(await page.evaluate(() => document.body.getBoundingClientRect().top)).toBe(0)
  },
)

test('the JSON editor shows the line of each error, and the form shows the JSON', async ({ page, company, faults }) => {
  await signedIn(page, company.owner)
  await page.goto(`${settings}/new`)
  await page.getByRole('button', { name: 'Fill in example' }).click()
  const json = page.getByLabel('Manifest (JSON)')
  const good = await json.inputValue()
  await json.fill(good.replace('"name": "Release notes",', '"name": "Release notes"'))
  await expect(page.getByRole('button', { name: 'Line 4, column 3' })).toBeVisible()
  await expect(page.getByText('Invalid JSON')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Register app' })).toBeDisabled()

  await json.fill(
    good
      .replace('"Release notes"', '"Night watch"')
      .replace('https://agents.example.com/webhook', 'http://10.0.0.1/')
      .replace('"read"', '"admin"'),
  )
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Night watch')
  faults.expect(/status of 422/)
  await page.getByRole('button', { name: 'Register app' }).click()
  const jsonErrors = page.getByRole('list', { name: 'JSON errors' })
  await expect(jsonErrors.getByRole('listitem')).toHaveCount(2)
  await expect(jsonErrors).toContainText('oauth.scopes: Item 1 must be one of')
  await expect(jsonErrors).toContainText('webhook.url: Must be a public address')
  await expect(page.getByLabel('Webhook URL')).toHaveAccessibleDescription(
    /^Must be a public address; .*BATON_WEBHOOK_ALLOW\.$/,
  )
  expect((await company.owner.api.listAgentApps({})).data).toEqual([])
  await checkAxe(page)

  await page.getByLabel('Webhook URL').fill('https://agents.example.com/hook')
  await expect(json).toHaveValue(/"url": "https:\/\/agents.example.com\/hook"/)
  await json.fill((await json.inputValue()).replace('"admin"', '"read"'))
  await page.getByRole('button', { name: 'Register app' }).click()
  await expect(page.getByText('Night watch registered')).toBeVisible()
})

test(
  'rotates a secret after the name is typed; the old secret stops at once',
  verifies('app.rotated-client-secret-stops', 'app.rotate-client-secret'),
  async ({ page, company, registeredAgent }) => {
    const { registered } = await registeredAgent()
    await signedIn(page, company.owner)
    await page.goto(`${settings}/${registered.app.id}`)
    await page.getByRole('button', { name: 'Rotate the client secret' }).click()
    const dialog = page.getByRole('dialog')
    const rotate = dialog.getByRole('button', { name: 'Rotate the client secret' })
    await dialog.getByLabel('Type Robot to confirm').fill('robot')
    await expect(rotate).toBeDisabled()
    expect((await tryClientSecret(page, registered.clientId, registered.clientSecret)).status()).toBe(400)
    await dialog.getByLabel('Type Robot to confirm').fill('Robot')
    await rotate.click()

    await expect(page.getByText('New secret')).toBeVisible()
    const newSecret = await displayedSecret(page, 'Client secret')
    expect(newSecret).toMatch(/^svc_sk_/)
    expect((await tryClientSecret(page, registered.clientId, registered.clientSecret)).status()).toBe(401)
    expect((await tryClientSecret(page, registered.clientId, newSecret)).status()).toBe(400)
    await page.getByRole('button', { name: "I've saved it" }).click()
    await expect(page.getByText(newSecret)).toHaveCount(0)
  },
)

test('the setup checklist updates, and a manager changes the teams', async ({ page, company, registeredAgent }) => {
  const robot = await registeredAgent()
  await signedIn(page, company.owner)
  await page.goto(`${settings}/${robot.registered.app.id}`)
  await expect(page.getByText('1 of 5')).toBeVisible()
  await robot.install(company.owner)
  await expect(page.getByText('3 of 5')).toBeVisible()
  await company.owner.api.updateIssue({ issue_id: company.issues[0].id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.thought('Looking.')
  await expect(page.getByText('5 of 5')).toBeVisible()

  await page.getByRole('button', { name: 'Change teams' }).click()
  await page.getByLabel('Selected teams').check()
  await page.getByLabel('Engineering').check()
  await page.getByRole('button', { name: 'Save teams' }).click()
  await expect(page.getByRole('definition').filter({ hasText: /^Engineering$/ })).toBeVisible()
  expect((await company.owner.api.listInstallations({})).data).toMatchObject([
    { all_teams: false, team_ids: [company.engineering.id] },
  ])
})

test('uninstalls and deletes an app after its name is typed', async ({ page, company, agent }) => {
  const robot = await agent()
  await company.owner.api.updateIssue({ issue_id: company.issues[0].id, delegate_id: robot.userId })
  await robot.session()
  await signedIn(page, company.owner)
  await page.goto(`${settings}/${robot.registered.app.id}`)
  await page.getByRole('button', { name: 'Uninstall' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog).toContainText('Its tokens stop working at once')
  await dialog.getByLabel('Type Robot to confirm').fill('Robot')
  await dialog.getByRole('button', { name: 'Uninstall' }).click()
  await expect(page.getByRole('heading', { name: 'Install', exact: true })).toBeVisible()
  expect((await company.owner.api.listInstallations({})).data).toEqual([])
  expect(await company.owner.api.getIssue({ issue_id: company.issues[0].id })).toMatchObject({ delegate_id: null })

  await page.getByRole('button', { name: 'Delete Robot' }).click()
  await page.getByLabel('Type Robot to confirm').fill('Robot')
  await page.getByRole('button', { name: 'Delete permanently' }).click()
  await expect(page.getByText('No agent apps yet')).toBeVisible()
})

test('an install link opens consent for a manager; a member can request the installation', async ({
  page,
  company,
  registeredAgent,
  secondBrowser,
}) => {
  const { registered } = await registeredAgent({ scopes: ['read', 'write', 'app:assignable'] })
  const member = await secondBrowser(company.member)
  await member.goto(`${settings}/${registered.app.id}`)
  await member.getByRole('button', { name: 'Request install' }).click()
  await expect(member.getByText('Request sent.')).toBeVisible()
  const { data } = await company.admin.api.listInbox({})
  expect(data).toMatchObject([{ kind: 'install_request', subject_id: registered.app.id }])
  expect((await company.owner.api.listInstallations({})).data).toEqual([])

  await signedIn(page, company.owner)
  await page.goto(`${settings}/${registered.app.id}`)
  await page.getByText('Build an install link').click()
  await page.getByRole('checkbox', { name: /write/ }).uncheck()
  await page.getByLabel('State').fill('from-a-test')
  const link = page.getByRole('link', { name: 'Install with this link' })
  // The browser computes the hash of the verifier asynchronously.
  await expect(link).toHaveAttribute('href', /code_challenge=[\w-]/)
  const address = new URL((await link.getAttribute('href')) ?? '')
  expect(Object.fromEntries(address.searchParams)).toMatchObject({
    client_id: registered.clientId,
    scope: 'read app:assignable',
    state: 'from-a-test',
    code_challenge_method: 'S256',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
  })
  await link.click()
  await page.waitForURL(/\/oauth\/consent\?request=/)
})

test(
  'shows the result of a test, and redelivers a delivery',
  verifies('app.webhook-test-sends-ping'),
  async ({ page, company, receiver }) => {
    const hook = await receiver()
    const { app } = await company.owner.api.createAgentApp({
      schemaVersion: '1.0.0',
      name: 'Doorman',
      developer: { name: 'Robots Inc' },
      oauth: { redirect_uris: ['https://robots.example.com/'], scopes: ['read'] },
      webhook: { url: hook.url },
    })
    await signedIn(page, company.owner)
    await page.goto(`${settings}/${app.id}`)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await expect(page.getByText('Test delivered')).toBeVisible()
    await expect(page.getByText(/^The receiver responded 200 after \d+ ms\.$/)).toBeVisible()
    hook.answer = 500
    await page.getByRole('button', { name: 'Send a test' }).click()
    await expect(page.getByText('Test failed')).toBeVisible()
    await expect(page.getByText(/the receiver responded with an error \(500\)/)).toBeVisible()
    expect(hook.received.map(({ headers }) => headers['svc-event'])).toEqual(['Ping', 'Ping'])

    await page.getByRole('button', { name: 'Disable' }).click()
    await expect(page.getByText('Only test pings and redeliveries are sent.')).toBeVisible()
    expect(await company.owner.api.getAgentApp({ app_id: app.id })).toMatchObject({ webhook: { state: 'disabled' } })
    await page.getByRole('button', { name: 'Enable' }).click()
    await expect(page.getByText('Only test pings and redeliveries are sent.')).toHaveCount(0)

    await page.getByRole('button', { name: 'Deliveries' }).click()
    await expect(page.getByRole('list', { name: 'Deliveries' }).getByRole('link')).toHaveCount(2)
    await page.getByLabel('Status').selectOption('Failed')
    await expect(page).toHaveURL(/status=failed/)
    await page
      .getByRole('list', { name: 'Deliveries' })
      .getByRole('link', { name: /Test ping/ })
      .click()
    const attempts = page.getByRole('list', { name: 'Attempts' })
    await expect(attempts.getByText('1. Responded 500')).toBeVisible()
    hook.answer = 204
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await expect(attempts.getByText('2. Responded 204')).toBeVisible()
    expect(hook.received.at(-1)?.headers['svc-delivery']).toBe(hook.received.at(-2)?.headers['svc-delivery'])
  },
)

test(
  'a member who did not register an app can see it, but not change it',
  verifies('app.change-by-other-member-forbidden'),
  async ({ page, company, agent }) => {
    const robot = await agent()
    const { id } = robot.registered.app
    await signedIn(page, company.member)
    await page.goto(`${settings}/${id}`)
    await expect(page.getByText(`${company.owner.name}, who registered the app`)).toBeVisible()
    await expect(page.getByText('Only owners and admins can change its teams or uninstall it.')).toBeVisible()
    for (const name of [/Rotate/, /Edit manifest/, /Delete/, /Uninstall/, /Send a test/, /Disable/]) {
      await expect(page.getByRole('button', { name })).toHaveCount(0)
    }
    await page.goto(`${settings}/${id}/deliveries`)
    await expect(page.getByRole('heading', { name: 'You cannot see these deliveries' })).toBeVisible()
    expect(await company.owner.api.getAgentApp({ app_id: id })).toMatchObject({
      updated_at: robot.registered.app.updated_at,
    })
  },
)

test('registers an app and tests its webhook with the keyboard', async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/issues')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  keyboardOnly(page)
  await page.keyboard.press('g')
  await page.keyboard.press('x')
  await expect(page.getByText('No agent apps yet')).toBeVisible()
  await page.keyboard.press('n')
  await page.keyboard.press('p')
  await expect(page.getByRole('dialog', { name: 'New project' })).toBeVisible()
  await page.keyboard.press('Escape')
  await page.keyboard.press('n')
  await page.keyboard.press('r')
  const name = page.getByLabel('Name', { exact: true })
  await expect(name).toBeFocused()
  await page.keyboard.type('Doorman')
  // Description, icon, developer, website, redirect URI.
  for (let field = 0; field < 5; field++) await page.keyboard.press('Tab')
  await expect(page.getByLabel('Redirect URI 1')).toBeFocused()
  await page.keyboard.type('https://robots.example.com/callback')
  await page.keyboard.press('Control+Enter')
  await expect(page.getByRole('button', { name: /I've saved them/ })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Install', exact: true })).toBeVisible()
  await page.keyboard.press('t')
  await expect(page.getByText('Test failed')).toBeVisible()
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })

  test('no app screen scrolls sideways', async ({ page, company, agent }) => {
    const { app } = (await agent()).registered
    await company.owner.api.testAppWebhook({ app_id: app.id })
    const [delivery] = (await company.owner.api.listAppDeliveries({ app_id: app.id })).data
    await signedIn(page, company.owner)
    const screens: [path: string, text: string | RegExp][] = [
      [settings, 'Robot'],
      [`${settings}/new`, 'Redirect URI 1'],
      [`${settings}/${app.id}`, 'All teams'],
      [`${settings}/${app.id}/deliveries`, 'Test ping'],
      [`${settings}/${app.id}/deliveries/${delivery?.id}`, /^1\. Responded/],
    ]
    for (const [path, text] of screens) {
      await page.goto(path)
      await expect(page.getByText(text, { exact: true }).first()).toBeVisible()
      expect(await scrolledSideways(page), path).toEqual([])
    }
    await page.goto(`${settings}/${app.id}`)
    await page.getByRole('button', { name: 'Rotate the webhook secret' }).click()
    await expect(page.getByLabel('Old secret')).toHaveValue('24')
    await page.getByLabel('Type Robot to confirm').fill('Robot')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate the webhook secret' }).click()
    await expect(page.getByText(/^pwhsec_/)).toBeVisible()
    const secret = await displayedSecret(page, 'Webhook secret')
    expect(await displayedSecret(page, 'Standard form')).toBe(`whsec_${Buffer.from(secret).toString('base64')}`)
    expect(await scrolledSideways(page), 'the new secret').toEqual([])
    await page.getByRole('button', { name: "I've saved it" }).click()
    await page.getByRole('button', { name: 'End overlap' }).click()
    await expect(page.getByText('Only the new secret signs now')).toBeVisible()
  })
})
