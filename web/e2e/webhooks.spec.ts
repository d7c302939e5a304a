import type { Page } from '@playwright/test'
import { isSigned } from '../../server/test/receiver.ts'
import {
  type Company,
  expect,
  keyboardOnly,
  narrow,
  scrolledSideways,
  shortTimeouts,
  signedIn,
  test,
  verifies,
} from './baton.ts'

const settings = '/settings/webhooks'

test.use({ settings: shortTimeouts })

const webhookFor = ({ owner }: Company, url: string, label = 'Warehouse') =>
  owner.api.createWebhook({ label, url, all_teams: true, resource_types: ['Issue'] })

const attempts = (page: Page) => page.getByRole('list', { name: 'Attempts' })

test(
  'creates, tests, updates, rotates and deletes a webhook',
  verifies('webhook.create', 'webhook.secret-show', 'webhook.secret-rotate', 'webhook.update', 'webhook.delete'),
  async ({ page, company, receiver, faults }) => {
    const hook = await receiver()
    const { api } = company.owner
    await signedIn(page, company.owner)
    await page.goto(settings)
    await page.getByRole('button', { name: 'Create webhook' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Create webhook' })
    await dialog.getByLabel('Label').fill('Warehouse')
    await dialog.getByLabel('URL').fill('http://example.com/')
    await dialog.getByLabel('Selected teams').check()
    faults.expect(/status of 422/)
    await dialog.getByRole('button', { name: 'Create webhook' }).click()
    await expect(dialog.getByLabel('URL')).toHaveAccessibleDescription('Must be https.')
    expect((await api.listWebhooks({})).data).toEqual([])
    await dialog.getByLabel('URL').fill(hook.url)
    await dialog.getByLabel('Engineering').check()
    await dialog.getByLabel(/^Comments/).uncheck()
    await dialog.getByRole('button', { name: 'Create webhook' }).click()

    const created = page.getByRole('dialog', { name: 'Warehouse created' })
    const secret = await created.getByText(/^pwhsec_/).innerText()
    const [webhook] = (await api.listWebhooks({})).data
    if (!webhook) throw new Error('no webhook')
    expect(webhook).toMatchObject({ team_ids: [company.engineering.id], resource_types: ['Issue', 'Project'] })
    await created.getByRole('button', { name: 'Open webhook' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await expect(page.getByText('Test delivered')).toBeVisible()
    expect(hook.received.map((request) => isSigned(request, secret))).toEqual([true])

    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Label').fill('Lake')
    await page.getByRole('button', { name: 'Save webhook' }).click()
    await expect(page.getByRole('heading', { level: 1 })).toContainText('Lake')
    expect(await api.getWebhook({ webhook_id: webhook.id })).toMatchObject({ label: 'Lake', url: hook.url })

    await expect(page.getByText(secret)).toHaveCount(0)
    await page.getByRole('button', { name: 'Show secret (recorded)' }).click()
    await expect(page.getByText(secret)).toBeVisible()
    expect((await api.listAuditEntries({})).data[0]).toMatchObject({ action: 'webhook.secret_shown' })
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await page.getByLabel('Old secret').selectOption('Stops at once')
    await page.getByLabel('Type Lake to confirm').fill('Lake')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await expect(page.getByText(secret)).toHaveCount(0)
    const newSecret = await page.getByText(/^pwhsec_/).innerText()
    expect((await api.getWebhookSecret({ webhook_id: webhook.id })).secret).toBe(newSecret)

    await page.getByRole('button', { name: 'Delete webhook' }).click()
    await page.getByLabel('Type Lake to confirm').fill('Lake')
    await page.getByRole('button', { name: 'Delete permanently' }).click()
    await expect(page.getByText('No webhooks yet')).toBeVisible()
    expect((await api.listWebhooks({})).data).toEqual([])
  },
)

test(
  'a failing webhook shows the reason and the time; after it is enabled, held deliveries are sent',
  verifies(
    'webhook.auto-disable',
    'webhook.enable',
    'webhook.test-while-disabled',
    'delivery.pending-held-and-resumed',
  ),
  async ({ page, company, receiver }) => {
    const hook = await receiver()
    hook.answer = 500
    const { api } = company.owner
    const { id } = await webhookFor(company, hook.url)
    await signedIn(page, company.owner)
    await page.goto(`${settings}/${id}`)
    await expect(page.getByText('Enabled', { exact: true })).toBeVisible()
    const [first, second, third, fourth] = company.issues
    for (const issue of [first, second, third]) await api.updateIssue({ issue_id: issue.id, priority: 'urgent' })
    const list = async () => (await api.listWebhookDeliveries({ webhook_id: id })).data
    await expect
      .poll(async () => (await list()).every((one) => one.attempts.length === 3), { timeout: 20_000 })
      .toBe(true)
    await api.updateIssue({ issue_id: fourth.id, priority: 'urgent' })

    await expect(page.getByText(/^Disabled after repeated failures/)).toBeVisible({ timeout: 25_000 })
    const banner = page.getByRole('alert')
    await expect(banner.getByRole('link', { name: 'responded 500' })).toBeVisible()
    await expect(banner).toContainText('1 delivery is held and will be sent')
    await expect(page.getByText('0%')).toBeVisible()

    hook.answer = 200
    hook.take()
    await banner.getByRole('button', { name: 'Send a test' }).click()
    await expect(page.getByText('Test delivered')).toBeVisible()
    expect((await api.getWebhook({ webhook_id: id })).state).toBe('failing')
    await banner.getByRole('button', { name: 'Enable' }).click()
    await expect(banner).toHaveCount(0)
    await expect(page.getByText('Enabled', { exact: true })).toBeVisible()
    await expect.poll(() => hook.received.map(({ body }) => body.data.id)).toContain(fourth.id)
  },
)

test(
  'a delivery shows its attempts, raw body and curl command, and can be redelivered',
  verifies('delivery.redeliver-webhook', 'delivery.detail-adds-request'),
  async ({ page, context, company, receiver }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write'])
    const hook = await receiver()
    hook.answer = (response) =>
      response.writeHead(302, { location: 'https://elsewhere.example.com/' }).end('over there')
    const { id } = await webhookFor(company, hook.url)
    await company.owner.api.updateIssue({ issue_id: company.issues[0].id, title: "It's stuck" })
    await signedIn(page, company.owner)
    await page.goto(`${settings}/${id}/deliveries?type=Issue`)
    await expect(page.getByLabel('Event')).toHaveValue('Issue')
    await page.getByRole('link', { name: /Issue changed/ }).click()

    await expect(attempts(page).getByText('1. Responded 302 (redirect)')).toBeVisible()
    await expect(attempts(page).getByText('Next attempt')).toBeVisible()
    await expect(attempts(page).getByText('4. Responded 302 (redirect)')).toBeVisible({ timeout: 20_000 })
    await expect(attempts(page).getByText('Redirects are not followed')).toHaveCount(1)
    await expect(page.getByRole('region', { name: 'response to attempt 4' })).toHaveText('over there')
    await expect(page.getByText('Failed', { exact: true })).toBeVisible()

    const sent = hook.received.at(-1)
    await page.getByRole('button', { name: 'Show raw' }).click()
    await expect(page.getByRole('region', { name: 'request body, raw' })).toHaveText(sent?.raw.toString() ?? '')
    await page.getByRole('button', { name: 'Copy as curl' }).click()
    const copied = () => page.evaluate(() => navigator.clipboard.readText())
    await expect.poll(copied).toContain(`curl -i '${hook.url}'`)
    const curl = await copied()
    expect(curl).toContain(`-H 'svc-signature: ${sent?.headers['svc-signature']}'`)
    expect(curl).toContain(`--data-raw '${sent?.raw.toString().replaceAll("'", `'\\''`)}'`)

    hook.answer = 200
    hook.take()
    await page.getByRole('button', { name: 'Redeliver' }).click()
    await expect(attempts(page).getByText('5. Responded 200')).toBeVisible()
    await expect(page.getByText('Delivered', { exact: true })).toBeVisible()
    expect(hook.received.map(({ headers }) => headers['svc-delivery'])).toEqual([sent?.headers['svc-delivery']])
  },
)

test(
  'a member cannot see or change webhooks',
  verifies('webhook.managers-only'),
  async ({ page, company, receiver }) => {
    const hook = await receiver()
    const webhook = await webhookFor(company, hook.url)
    await signedIn(page, company.member)
    for (const path of [settings, `${settings}/${webhook.id}`, `${settings}/${webhook.id}/deliveries`]) {
      await page.goto(path)
      await expect(page.getByRole('heading', { name: 'Owners and admins only' })).toBeVisible()
      await expect(page.getByText(company.owner.name)).toBeVisible()
      await expect(page.getByText('Warehouse')).toHaveCount(0)
    }
    await expect(
      page.getByRole('navigation', { name: 'Settings' }).getByRole('link', { name: 'Webhooks' }),
    ).toHaveCount(0)
    expect(hook.received).toEqual([])
    const { updated_at } = await company.owner.api.getWebhook({ webhook_id: webhook.id })
    expect(updated_at).toBe(webhook.updated_at)
  },
)

test('creates and tests a webhook and opens its delivery with the keyboard', async ({ page, company, receiver }) => {
  const hook = await receiver()
  await signedIn(page, company.admin)
  await page.goto('/issues')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  keyboardOnly(page)
  await page.keyboard.press('g')
  await page.keyboard.press('w')
  await expect(page.getByText('No webhooks yet')).toBeVisible()
  await page.keyboard.press('n')
  await page.keyboard.press('w')
  await expect(page.getByLabel('Label')).toBeFocused()
  await page.keyboard.type('Warehouse')
  await page.keyboard.press('Tab')
  await page.keyboard.type(hook.url)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Open webhook' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Send a test' })).toBeVisible()
  await page.keyboard.press('t')
  await expect(page.getByText('Test delivered')).toBeVisible()
  await page.keyboard.press('d')
  await expect(page.getByRole('link', { name: /Test ping/ })).toBeVisible()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(attempts(page).getByText('1. Responded 200')).toBeVisible()
  await page.keyboard.press('r')
  await expect(attempts(page).getByText('2. Responded 200')).toBeVisible()
  expect(hook.received).toHaveLength(2)
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })

  test('no webhook screen scrolls sideways', async ({ page, company, receiver }) => {
    const hook = await receiver()
    const { id } = await webhookFor(company, hook.url)
    await company.owner.api.testWebhook({ webhook_id: id })
    await signedIn(page, company.owner)
    const screens: [path: string, text: string][] = [
      [settings, 'Warehouse'],
      [`${settings}/${id}`, 'No attempts'],
      [`${settings}/${id}/deliveries`, 'Test ping'],
    ]
    for (const [path, text] of screens) {
      await page.goto(path)
      await expect(page.getByText(text, { exact: true }).first()).toBeVisible()
      expect(await scrolledSideways(page), path).toEqual([])
    }
  })
})

test(
  'filters events, sends an example, replays missed events and rotates the secret with an overlap',
  verifies(
    'filter.stored',
    'standard-webhook.test-event',
    'replay.missed',
    'rotation.overlap',
    'standard-webhook.whsec',
  ),
  async ({ page, company, receiver }) => {
    const hook = await receiver()
    const { api } = company.owner
    const { id: webhook_id } = await webhookFor(company, hook.url)
    await signedIn(page, company.owner)
    await page.goto(`${settings}/${webhook_id}`)

    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('button', { name: 'Filter issues' }).click()
    await page.getByRole('option', { name: 'Status' }).click()
    await page.getByRole('option', { name: 'In progress' }).click()
    await page.getByRole('option', { name: 'QA' }).click()
    await page.keyboard.press('Escape')
    await expect(page.getByRole('button', { name: 'Issue status: In progress or QA' })).toBeVisible()
    await page.getByRole('button', { name: 'Save webhook' }).click()
    await expect(page.getByRole('listitem').filter({ hasText: 'Issue status: In progress or QA' })).toBeVisible()
    expect((await api.getWebhook({ webhook_id })).filters).toEqual({ Issue: { status: ['in_progress', 'qa'] } })

    await page.getByRole('button', { name: 'Send an example' }).click()
    await page.getByRole('option', { name: 'Issue update' }).click()
    await expect(page.getByText('Test delivered')).toBeVisible()
    expect(hook.received.at(-1)?.body).toMatchObject({ type: 'Issue', action: 'update', test: true })

    await page.getByLabel('Events').selectOption('Missed events')
    await page.getByRole('button', { name: 'Count' }).click()
    await expect(page.getByText(/events? match/)).toBeVisible()
    await page.getByRole('button', { name: 'Start replay' }).click()
    await expect(page.getByRole('list', { name: 'Replays' }).getByText('Done')).toBeVisible()

    await page.getByRole('button', { name: 'Rotate secret' }).click()
    await expect(page.getByLabel('Old secret')).toHaveValue('24')
    await page.getByLabel('Type Warehouse to confirm').fill('Warehouse')
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate secret' }).click()
    await expect(page.getByText('Next secret')).toBeVisible()
    const { secret, next } = await api.getWebhookSecret({ webhook_id })
    for (const one of [secret, next?.secret ?? '']) {
      await expect(page.getByText(one)).toBeVisible()
      await expect(page.getByText(`whsec_${Buffer.from(one).toString('base64')}`)).toBeVisible()
    }
    await page.setViewportSize(narrow)
    expect(await scrolledSideways(page)).toEqual([])
    await page.getByRole('button', { name: 'End overlap' }).click()
    await expect(page.getByText('Next secret')).toHaveCount(0)
    expect(await api.getWebhookSecret({ webhook_id })).toEqual({ secret: next?.secret })

    await page.goto(`${settings}/${webhook_id}/deliveries`)
    await page.getByRole('link', { name: /Test: Issue changed/ }).click()
    await expect(page.getByText('Sent as a test, with example data.')).toBeVisible()
    await page.goto('/settings/audit-log')
    await expect(
      page.getByText(/rotated the secret of the webhook .?Warehouse.? with an overlap of 24 hours/),
    ).toBeVisible()
  },
)
