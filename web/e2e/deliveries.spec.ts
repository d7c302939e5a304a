import { type Company, expect, keyboardOnly, narrow, scrolledSideways, signedIn, test } from './baton.ts'

/** A webhook with a failed attempt for each of three issues; the next attempt is in a minute. */
async function failedAttempts({ owner: { api }, issues }: Company, url: string) {
  const webhook = await api.createWebhook({ label: 'Warehouse', url, all_teams: true, resource_types: ['Issue'] })
  const list = async () => (await api.listWebhookDeliveries({ webhook_id: webhook.id })).data
  for (const { id } of issues.slice(0, 3)) await api.updateIssue({ issue_id: id, priority: 'urgent' })
  await expect.poll(async () => (await list()).filter(({ attempts }) => attempts.length === 1).length).toBe(3)
  return { id: webhook.id, path: `/settings/webhooks/${webhook.id}/deliveries`, list }
}

test('selected deliveries are redelivered one by one; a refused one is named', async ({
  page,
  company,
  receiver,
  faults,
}) => {
  const hook = await receiver()
  hook.answer = 500
  const { path, list } = await failedAttempts(company, hook.url)
  const [newest, middle, oldest] = await list()
  await signedIn(page, company.owner)
  await page.goto(path)
  const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem')
  await expect(rows).toHaveCount(3)
  const [first, second, third] = company.issues
  await expect(rows.nth(0)).toContainText(`Issue changed${third.code} ${third.title}`)
  await expect(rows.nth(2)).toContainText(`Issue changed${first.code} ${first.title}`)

  faults.expect(/status of 409/)
  await page.route(`**/deliveries/${middle?.id}/redeliver`, (route) =>
    route.fulfill({ status: 409, json: { code: 'REDELIVERY_LIMIT_REACHED', message: 'Too often.', details: {} } }),
  )
  hook.answer = 200
  hook.take()
  keyboardOnly(page)
  await page.keyboard.press('j')
  await page.keyboard.press('x')
  await expect(page.getByRole('toolbar', { name: '1 selected' })).toBeVisible()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('Shift+X')
  await expect(page.getByRole('checkbox', { checked: true })).toHaveCount(3)
  await page.keyboard.press('r')
  const bar = page.getByRole('toolbar', { name: 'Redelivery' })
  await expect(bar).toContainText('2 of 3 redelivered, 1 failed')
  await expect(bar).toContainText(`${second.code} Issue changed: The limit of 100 attempts is reached.`)
  await expect(rows.nth(1)).toContainText('The limit of 100 attempts is reached.')
  await expect(rows.nth(0)).toContainText('Responded 200')
  // In the order of the list, one at a time.
  expect(hook.received.map(({ headers }) => headers['svc-delivery'])).toEqual([newest?.id, oldest?.id])
  expect((await list()).map(({ status }) => status)).toEqual(['succeeded', 'pending', 'succeeded'])
})

test('redelivering can be stopped', async ({ page, company, receiver }) => {
  const hook = await receiver()
  hook.answer = 500
  const { path, list } = await failedAttempts(company, hook.url)
  await signedIn(page, company.owner)
  await page.goto(path)
  let answer = () => {}
  hook.answer = (response) => {
    answer = () => response.writeHead(200).end()
  }
  hook.take()
  await page.getByRole('checkbox').first().check()
  await page
    .getByRole('checkbox')
    .last()
    .click({ modifiers: ['Shift'] })
  const arrives = hook.next()
  await page.getByRole('button', { name: 'Redeliver selected' }).click()
  const bar = page.getByRole('toolbar', { name: 'Redelivery' })
  await expect(bar).toContainText('Redelivering 1 of 3')
  await arrives
  await bar.getByRole('button', { name: 'Stop' }).click()
  await expect(bar).toContainText('Stopped. 1 of 3 redelivered')
  answer()
  await expect.poll(async () => (await list()).map(({ status }) => status)).toEqual(['succeeded', 'pending', 'pending'])
  expect((await list()).map(({ attempts }) => attempts.length)).toEqual([2, 1, 1])
  await bar.getByRole('button', { name: 'Dismiss' }).click()
  await expect(bar).toHaveCount(0)
})

test('an app that uses baton listen is said to have no listener', async ({ page, company, registeredAgent }) => {
  const { api } = company.owner
  const { app, manifest } = (await registeredAgent()).registered
  const webhook = { url: 'https://listen.invalid/', resource_types: [] }
  await api.replaceAgentApp({ app_id: app.id, ...manifest, webhook })
  await signedIn(page, company.owner)
  await page.goto(`/settings/agent-apps/${app.id}`)
  await page.getByRole('button', { name: 'Send a test' }).click()
  const advice = /Run npx .* listen --forward-to URL next to your program, then redeliver\./
  await expect(page.getByText(/no listener was connected\. Run npx/)).toHaveText(advice)
  await page.getByRole('button', { name: 'Deliveries' }).click()
  const row = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem')
  await expect(row).toContainText('No listener was connected')
  await row.getByRole('link').click()
  await expect(page.getByRole('list', { name: 'Attempts' })).toContainText(advice)
  await expect(page.getByText('DNS')).toHaveCount(0)
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('held deliveries can be listed alone', async ({ page, company, receiver }) => {
    const hook = await receiver()
    hook.answer = 500
    const { id, path, list } = await failedAttempts(company, hook.url)
    const [newest] = await list()
    hook.answer = 200
    await company.owner.api.redeliverToWebhook({ webhook_id: id, delivery_id: newest?.id ?? '' })
    await expect.poll(async () => (await list())[0]?.status).toBe('succeeded')
    await signedIn(page, company.owner)
    await page.goto(path)
    const rows = page.getByRole('list', { name: 'Deliveries' }).getByRole('listitem')
    await expect(rows).toHaveCount(3)
    await page.getByLabel('Status').selectOption('Held')
    await expect(page.getByText('No matching deliveries')).toBeVisible()
    await company.owner.api.disableWebhook({ webhook_id: id })
    await page.reload()
    await expect(rows).toHaveCount(2)
    await expect(rows.nth(0)).toContainText('Held')
    await expect(page).toHaveURL(/status=held/)
    expect(await scrolledSideways(page)).toEqual([])
  })
})
