import { BatonClient } from '@baton/sdk'
import {
  checkAxe,
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

const statusOf = async (url: string, token: string) =>
  (await fetch(`${url}/api/v1/issues`, { headers: { authorization: `Bearer ${token}` } })).status

test(
  'a member creates a token with the keyboard, uses it and revokes it',
  verifies('token.shown-once', 'token.revoked-at-once'),
  async ({ page, company, service }) => {
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    const section = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Personal tokens' }) })
    await expect(section.getByText('None.')).toBeVisible()
    await section.getByRole('button', { name: 'New token' }).focus()
    keyboardOnly(page)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'New personal token' })
    await expect(dialog.getByLabel('Read issues, projects, comments and members')).toBeChecked()
    await tabTo(dialog.getByLabel('Name'))
    await page.keyboard.type('Release script')
    await page.keyboard.press('Enter')
    const shown = page.getByRole('dialog', { name: 'Copy your token' })
    await expect(shown.getByRole('button', { name: 'Copy token' })).toBeFocused()
    const token = (await shown.getByRole('code').first().textContent()) ?? ''
    expect(token).toMatch(/^svc_pat_[A-Za-z0-9_-]{49}$/)
    await checkAxe(page)
    expect(await statusOf(service.url, token)).toBe(200)
    const client = new BatonClient({ baseUrl: service.url, token, workspaceId: company.id })
    await expect(client.createIssue({ title: 'No' })).rejects.toMatchObject({ code: 'INSUFFICIENT_SCOPE' })
    await page.keyboard.press('Escape')
    const row = section.getByRole('listitem').filter({ hasText: 'Release script' })
    await expect(row).toContainText('read · All teams · expires')
    await expect(page.getByText(token)).toHaveCount(0)
    await tabTo(row.getByRole('button', { name: 'Revoke Release script' }))
    await page.keyboard.press('Enter')
    const confirm = page.getByRole('dialog', { name: 'Revoke Release script?' })
    await tabTo(confirm.getByRole('button', { name: 'Revoke' }))
    await page.keyboard.press('Enter')
    await expect(section.getByText('None.')).toBeVisible()
    expect(await statusOf(service.url, token)).toBe(401)
  },
)

const create = async ({ api }: Person, name: string) => api.createPersonalToken({ name, scopes: ['read'] })

test('a manager sees and revokes the tokens of members', async ({ page, company, service }) => {
  const { token } = await create(company.member, 'Nightly report')
  await create(company.admin, 'Import')
  await signedIn(page, company.owner)
  await page.goto('/settings/workspace')
  const rows = page.getByRole('list', { name: 'Personal tokens of members' }).getByRole('listitem')
  await expect(rows).toHaveCount(2)
  await expect(rows.filter({ hasText: 'Nightly report' })).toContainText('Mona Member')
  await rows.getByRole('button', { name: 'Revoke Nightly report' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await expect(rows).toHaveCount(1)
  expect(await statusOf(service.url, token)).toBe(401)
  await page.goto('/settings/audit-log')
  await expect(page.getByText('revoked the personal token Nightly report')).toBeVisible()
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow, colorScheme: 'dark' })

  test('a token can be limited to teams', async ({ page, company, service }) => {
    await signedIn(page, company.member)
    await page.goto('/settings/account')
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New personal token' })
    await dialog.getByLabel('Name').fill('Design only')
    await dialog.getByLabel('Selected teams').check()
    await expect(dialog.getByRole('button', { name: 'Create token' })).toBeDisabled()
    await dialog.getByLabel('Design DES').check()
    expect(await scrolledSideways(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Create token' }).click()
    const shown = page.getByRole('dialog', { name: 'Copy your token' })
    const token = (await shown.getByRole('code').first().textContent()) ?? ''
    expect(await scrolledSideways(page)).toEqual([])
    await shown.getByRole('button', { name: "I've saved it" }).click()
    await expect(page.getByRole('list', { name: 'Personal tokens' })).toContainText('read · Design · expires')
    const client = new BatonClient({ baseUrl: service.url, token, workspaceId: company.id })
    expect((await client.listIssues()).data.map(({ code }) => code)).toEqual(['DES-1'])
    await expect(client.getIssue({ issue_id: company.issues[0].id })).rejects.toMatchObject({
      code: 'TEAM_ACCESS_DENIED',
    })
  })
})
