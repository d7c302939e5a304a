import { createHmac } from 'node:crypto'
import {
  expect,
  keyboardOnly,
  narrow,
  type Person,
  scrolledSideways,
  signedIn,
  tabTo,
  test,
  verifies,
} from './baton.ts'
import type { Service } from './service.ts'

test.use({ mail: true })

/** The link in a mail about mentions. */
function linkFor({ url, secretKey }: Service, { id, workspaceId }: Person) {
  const text = `${id.slice(4)}.${workspaceId.slice(4)}.m`
  const mac = createHmac('sha256', secretKey).update(`unsubscribe\0${text}`).digest().subarray(0, 16)
  return `${url}/mail/unsubscribe/${text}.${mac.toString('base64url')}`
}

test('a member chooses what is mailed, with the keyboard', async ({ page, company }) => {
  await signedIn(page, company.member)
  await page.goto('/settings/notifications')
  await expect(page.getByText('You get no notifications by mail until the address is verified.')).toBeVisible()
  // Only managers get the others.
  await expect(page.getByRole('list', { name: 'Kinds of notification' }).getByRole('listitem')).toHaveCount(10)
  await page.getByLabel('Mentions').focus()
  keyboardOnly(page)
  await page.keyboard.press('d')
  await tabTo(page.getByLabel('Assigned issues'))
  await page.keyboard.press('n')
  await tabTo(page.getByLabel('Time of the daily summary'))
  await page.keyboard.type('17')
  await tabTo(page.getByLabel('Pause all mails'))
  await page.keyboard.press('Space')
  await tabTo(page.getByRole('button', { name: 'Save' }))
  await page.keyboard.press('Enter')
  await expect(page.getByText('Saved', { exact: true })).toBeVisible()
  expect(await company.member.api.getNotificationSettings()).toMatchObject({
    kinds: { mention: 'daily', assignment: 'never', agent_finished: 'immediately', webhook_failing: 'immediately' },
    digest_hour: 17,
    paused: true,
  })
  await page.reload()
  await expect(page.getByLabel('Mentions')).toHaveValue('daily')
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled()
})

test('the app reports that it is used, at most once a minute', async ({ page, company }) => {
  const reports: string[] = []
  page.on('request', (request) => {
    if (request.url().endsWith('/api/v1/presence')) reports.push(request.method())
  })
  await signedIn(page, company.member)
  await page.goto('/issues')
  await expect.poll(() => reports).toEqual(['PUT'])
  await page.mouse.move(100, 100)
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  // Neither does another page load.
  await page.goto('/inbox')
  await expect(page.getByText("You're all caught up").or(page.getByRole('list', { name: 'Inbox' }))).toBeVisible()
  await page.keyboard.press('j')
  expect(reports).toEqual(['PUT'])
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow, colorScheme: 'dark' })

  test(
    'opening the link of a mail changes nothing; the button unsubscribes without a login',
    verifies('notify.get-does-not-unsubscribe', 'notify.one-click-unsubscribe'),
    async ({ page, company, service, faults }) => {
      const { api } = company.member
      const url = linkFor(service, company.member)
      await page.goto(url)
      await expect(page.getByRole('heading', { name: 'Stop mails like this one?' })).toBeVisible()
      expect(await scrolledSideways(page)).toEqual([])
      expect((await api.getNotificationSettings()).kinds.mention).toBe('immediately')
      await page.keyboard.press('Enter')
      await expect(page.getByRole('heading', { name: 'You are unsubscribed' })).toBeVisible()
      expect((await api.getNotificationSettings()).kinds).toMatchObject({
        mention: 'never',
        assignment: 'immediately',
      })
      faults.expect(/status of 404/)
      await page.goto(`${url}x`)
      await page.getByRole('button', { name: 'Unsubscribe' }).click()
      await expect(page.getByRole('heading', { name: 'This link is not valid' })).toBeVisible()
    },
  )

  test('the settings of a manager fit a narrow screen', async ({ page, company }) => {
    await signedIn(page, company.owner)
    await page.goto('/settings/notifications')
    await expect(page.getByRole('list', { name: 'Kinds of notification' }).getByRole('listitem')).toHaveCount(14)
    expect(await scrolledSideways(page)).toEqual([])
  })
})
