import { readFileSync } from 'node:fs'
import { checkAxe, expect, keyboardOnly, narrow, scrolledSideways, signedIn, signUp, test, verifies } from './baton.ts'
import { pickDay } from './parts.ts'

test('invites several people to teams with one paste', async ({ page, company, service, secondBrowser, faults }) => {
  const nora = await signUp(service.url, 'Nora New')
  await signedIn(page, company.owner)
  await page.goto('/settings/members')
  await page.getByRole('button', { name: 'Invite' }).click()
  const dialog = page.getByRole('dialog')
  const addresses = dialog.getByLabel('E-mail addresses')
  await addresses.fill(`Nora New <${nora.email}>, not-an-address\nzoe@example.com ${company.member.email}`)
  await dialog.getByRole('button', { name: 'Create 4 invitations' }).click()
  await expect(dialog.getByRole('alert')).toHaveText(
    `not-an-address: not an e-mail address ${company.member.email}: already a member`,
  )
  await expect(addresses).toHaveValue(/not-an-address/)
  expect((await company.owner.api.listInvitations()).data).toEqual([])
  await dialog.getByRole('button', { name: 'Remove these 2 addresses' }).click()
  await expect(addresses).toHaveValue(`${nora.email}\nzoe@example.com`)
  await expect(dialog.getByRole('alert')).toHaveCount(0)

  // The service refuses one address that the browser accepts: the others are invited, and it can be corrected.
  faults.expect(/status of 422/)
  await addresses.fill(`${nora.email}, zoe@example.com, bo@localhost`)
  await dialog.getByLabel('Design').check()
  await dialog.getByRole('button', { name: 'Create 3 invitations' }).click()
  const links = dialog.getByRole('list', { name: 'Links' })
  await expect(links.getByRole('listitem')).toHaveCount(2)
  await expect(dialog.getByRole('alert')).toContainText('bo@localhost')
  const link = (await links.getByRole('listitem').filter({ hasText: nora.email }).getByRole('code').textContent()) ?? ''
  const question = page.getByRole('dialog', { name: 'Close without the links?' })
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.mouse.click(5, 5)
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(links).toBeVisible()
  await dialog.getByRole('button', { name: 'Try again' }).click()
  await question.getByRole('button', { name: 'Close', exact: true }).last().click()
  await expect(addresses).toHaveValue('bo@localhost')
  await addresses.fill('ZOE@example.com')
  await dialog.getByRole('button', { name: 'Create invitation' }).click()
  await expect(dialog.getByRole('alert')).toHaveText(
    /^ZOE@example.com: already invited until .*\. For a new link, revoke that invitation first\.$/,
  )
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  const invitations = page.getByRole('list', { name: 'Invitations' })
  await expect(invitations.getByRole('listitem').filter({ hasText: 'zoe@example.com' })).toContainText('Design')

  const hers = await secondBrowser({ ...company.member, ...nora })
  await hers.goto(link)
  await expect(hers.getByRole('heading', { name: 'Join Acme' })).toBeVisible()
  await expect(hers.getByText('You will join the team Design.')).toBeVisible()
  await checkAxe(hers)
  await hers.getByRole('button', { name: 'Join the workspace' }).click()
  await expect(hers).toHaveURL(/\/issues$/)
  const { data } = await company.owner.api.listTeamMembers({ team_id: company.design.id })
  expect(data.map(({ id }) => id)).toContain(nora.id)
})

test('deletes a team with the keyboard, after saying what goes with it', async ({ page, company }) => {
  const { owner, engineering, design, issues } = company
  const hook = { url: 'https://example.com/hook', all_teams: false, resource_types: ['Issue' as const] }
  const webhook = await owner.api.createWebhook({ ...hook, label: 'Warehouse', team_ids: [design.id] })
  await owner.api.createCycle({ team_id: design.id, name: 'Week 1' })
  await owner.api.createView({ name: 'Design only', query: 'team=DES', shared: true })
  await signedIn(page, owner)
  await page.goto(`/settings/teams/${design.id}`)
  await expect(page.getByText('The team has 1 issue: move them to another team or delete them.')).toBeVisible()
  await expect(page.getByText('Deleted with it: 1 cycle and 1 saved view.')).toBeVisible()
  await expect(page.getByText('Webhooks: Warehouse')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Delete team' })).toBeDisabled()
  await checkAxe(page)

  await owner.api.updateWebhook({ webhook_id: webhook.id, team_ids: [design.id, engineering.id] })
  await page.reload()
  await page.getByRole('button', { name: 'Delete team' }).focus()
  keyboardOnly(page)
  await page.keyboard.press('Enter')
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByLabel('Type DES to confirm')
  await expect(confirm).toBeFocused()
  await expect(dialog.getByLabel('Move to another team')).toBeChecked()
  await page.keyboard.type('des')
  await page.keyboard.press('Enter')
  expect((await owner.api.getTeam({ team_id: design.id })).name).toBe('Design')
  for (let at = 0; at < 3; at++) await page.keyboard.press('Backspace')
  await page.keyboard.type('DES')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/\/settings\/teams$/)
  await expect(page.getByRole('list', { name: 'Teams' }).getByRole('listitem')).toHaveCount(1)
  const moved = await owner.api.getIssue({ issue_id: 'DES-1' })
  expect(moved).toMatchObject({ id: issues[4].id, team_id: engineering.id, code: 'ENG-5' })

  await page.goto('/settings/audit-log')
  await expect(page.getByText('deleted the team Design and moved 1 issue to Engineering')).toBeVisible()
})

test.describe('in the time zone of Zurich', () => {
  test.use({ timezoneId: 'Europe/Zurich' })
  test(
    'the audit log says when and what changed, filters by person, and exports CSV',
    verifies('audit.export'),
    async ({ page, company, faults }) => {
      await company.admin.api.updateWorkspace({ name: '=Acme & Sons' })
      await signedIn(page, company.owner)
      await page.goto('/settings/audit-log')
      const log = page.getByRole('list', { name: 'Audit log' })
      await expect(log.getByText('name: Acme → =Acme & Sons').first()).toBeVisible()
      await expect(log.getByRole('time').first()).toHaveText(/^\w{3} \d+, \d{4}, \d\d:\d\d:\d\d GMT\+[12]$/)
      await expect(log.getByText('Olive Owner').first()).toBeVisible()
      await page.getByLabel('Person').selectOption('Amir Admin')
      await expect(log.getByText('Olive Owner')).toHaveCount(0)
      await expect(log.getByText('Amir Admin').first()).toBeVisible()

      await page.getByRole('button', { name: 'Export' }).click()
      const dialog = page.getByRole('dialog', { name: 'Export audit log' })
      await checkAxe(page)
      const downloading = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Export' }).click()
      const download = await downloading
      expect(download.suggestedFilename()).toMatch(/^audit-log-\d{4}-\d\d-\d\d\.csv$/)
      const csv = readFileSync(await download.path(), 'utf8')
      expect(csv).toMatch(/^id,created_at,action,actor_id,actor_name,subject_id,details\r\n/)
      expect(csv).toContain('workspace.updated')
      expect(csv).toContain('workspace.created')
      await expect(dialog).toBeHidden()

      // A period without entries, for programs.
      await page.getByRole('button', { name: 'Export' }).click()
      await pickDay(page, dialog.getByRole('button', { name: /^To:/ }), 'yesterday')
      await dialog.getByLabel('Format').selectOption('NDJSON, for programs')
      const downloadingLines = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Export' }).click()
      const ndjson = await downloadingLines
      expect(ndjson.suggestedFilename()).toMatch(/^audit-log-\d{4}-\d\d-\d\d\.ndjson$/)
      expect(readFileSync(await ndjson.path(), 'utf8')).toBe('')

      // The end before the start is refused in the form.
      faults.expect(/status of 422/)
      await page.getByRole('button', { name: 'Export' }).click()
      await pickDay(page, dialog.getByRole('button', { name: /^From:/ }), 'tomorrow')
      await pickDay(page, dialog.getByRole('button', { name: /^To:/ }), 'today')
      await dialog.getByRole('button', { name: 'Export' }).click()
      await expect(dialog.getByText('must not be after to')).toBeVisible()
      await dialog.getByRole('button', { name: 'Cancel' }).click()

      await page.setViewportSize(narrow)
      expect(await scrolledSideways(page)).toEqual([])
    },
  )
})

test('first steps tick from what exists, can be dismissed, and are for managers', async ({
  page,
  company,
  agent,
  secondBrowser,
}) => {
  await signedIn(page, company.owner, { firstSteps: true })
  await page.goto('/issues')
  const steps = page.getByRole('region', { name: 'First steps' })
  await expect(steps).toContainText('2 of 4')
  await checkAxe(page)
  await agent()
  await expect(steps).toContainText('3 of 4')
  await expect(steps.getByRole('link', { name: 'Done: Install an agent' })).toBeVisible()
  await steps.getByRole('button', { name: 'Dismiss first steps' }).click()
  await expect(steps).toHaveCount(0)
  await page.reload()
  await expect(page.getByText(company.issues[0].title)).toBeVisible()
  await expect(steps).toHaveCount(0)

  const theirs = await secondBrowser()
  await signedIn(theirs, company.member, { firstSteps: true })
  await theirs.goto('/issues')
  await expect(theirs.getByText(company.issues[0].title)).toBeVisible()
  await expect(theirs.getByRole('region', { name: 'First steps' })).toHaveCount(0)
})

test('an instance without mail says so', verifies('mail.not-configured'), async ({ page, company }) => {
  await signedIn(page, company.owner)
  await page.goto('/settings/workspace')
  await expect(page.getByText('This instance sends no mail.')).toBeVisible()
  await expect(page.getByRole('link', { name: 'How to set up mail' })).toHaveAttribute('href', '/docs/mail')
  await expect(page.getByRole('button', { name: 'Send test mail' })).toHaveCount(0)
  await company.owner.api.createInvitation({ email: 'grace@example.com', role: 'member' })
  await page.goto('/settings/members')
  await expect(page.getByRole('button', { name: 'Revoke invitation for grace@example.com' })).toBeVisible()
  await expect(page.getByRole('button', { name: /^Resend/ })).toHaveCount(0)
})
