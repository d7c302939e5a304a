import { createHash, randomBytes } from 'node:crypto'
import type { Page } from '@playwright/test'
import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, signUp, test, verifies } from './baton.ts'
import { typeInPalette } from './parts.ts'

const row = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })
const message = (page: Page, text: string) => page.getByLabel('Messages').getByText(text)

test(
  'a user accepts an invitation, becomes an admin and is removed',
  verifies('workspace.invitation-accept', 'workspace.member-patch-by-manager', 'workspace.member-delete-by-manager'),
  async ({ page, company, service, secondBrowser, faults }) => {
    const nora = await signUp(service.url, 'Nora New')
    await signedIn(page, company.owner)
    await page.goto('/settings/members')
    await page.getByRole('button', { name: 'Invite' }).click()
    await page.getByLabel('E-mail addresses').fill(nora.email)
    await page.getByRole('button', { name: 'Create invitation' }).click()
    const dialog = page.getByRole('dialog')
    await expect(dialog).toContainText('Works once and expires in 7 days')
    const link = (await dialog.getByRole('code').textContent()) ?? ''
    await expect(dialog.getByRole('button', { name: 'Copy link' })).toBeFocused()
    await page.getByRole('button', { name: 'Done' }).click()
    await expect(page.getByRole('list', { name: 'Invitations' })).toContainText(nora.email)

    const hers = await secondBrowser({ ...company.member, ...nora })
    await hers.goto(link)
    await hers.getByRole('button', { name: 'Join the workspace' }).click()
    await expect(hers).toHaveURL(/\/issues$/)
    await expect(page.getByRole('list', { name: 'Members' })).toContainText('Nora New')
    await expect(page.getByRole('list', { name: 'Invitations' })).toHaveCount(0)

    await hers.goto('/settings/members')
    await expect(hers.getByRole('button', { name: 'Invite' })).toHaveCount(0)
    await page.getByLabel('Role of Nora New').selectOption('Admin')
    await expect(message(page, 'Nora New is now an admin.')).toBeVisible()
    await expect(hers.getByRole('button', { name: 'Invite' })).toBeVisible()

    const [door] = company.issues
    await company.owner.api.updateIssue({ issue_id: door.id, assignee_id: nora.id })
    await row(page, 'Nora New').getByRole('button', { name: 'Remove' }).click()
    await expect(page.getByRole('dialog')).toContainText('Their issues become unassigned')
    // Her live stream ends with the removal; opening it again, and reading again, is refused.
    faults.allow(/status of 403/)
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await expect(row(page, 'Nora New')).toHaveCount(0)
    const { data } = await company.owner.api.listMembers()
    expect(data.map(({ id }) => id)).not.toContain(nora.id)
    expect((await company.owner.api.getIssue({ issue_id: door.id })).assignee_id).toBeNull()
    await expect(hers.getByRole('heading', { name: 'Create a workspace' })).toBeVisible()
    await expect(hers.getByText(`You are signed in as ${nora.email}.`)).toBeVisible()
    await hers.getByRole('button', { name: 'Sign out' }).click()
    await expect(hers).toHaveURL('/sign-in')
  },
)

test(
  'the last owner cannot leave, and sees what to do',
  verifies('workspace.last-owner-cannot-leave'),
  async ({ page, company, faults }) => {
    faults.expect(/status of 409/)
    await signedIn(page, company.owner)
    await page.goto('/settings/members')
    await page.getByLabel('Role of Olive Owner').selectOption('Member')
    await expect(page.getByRole('alert')).toContainText('Make another member owner first')
    await expect(page.getByLabel('Role of Olive Owner')).toHaveValue('owner')
    await row(page, 'Olive Owner').getByRole('button', { name: 'Leave' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
    await expect(page.getByRole('dialog')).toContainText('Make another member owner first')
    const { data } = await company.owner.api.listMembers()
    expect(data.find(({ id }) => id === company.owner.id)?.role).toBe('owner')
  },
)

test('creates a team, and shows a taken key at its field', async ({ page, company, faults }) => {
  faults.expect(/status of 422/)
  await signedIn(page, company.admin)
  await page.goto('/settings/teams')
  await page.getByRole('button', { name: 'New team' }).click()
  await page.getByLabel('Name').fill('Support')
  await expect(page.getByLabel('Key', { exact: true })).toHaveValue('SUP')
  await page.getByLabel('Key', { exact: true }).fill('eng')
  await page.getByRole('button', { name: 'Create team' }).click()
  await expect(page.getByLabel('Key', { exact: true })).toHaveAttribute('aria-invalid', 'true')
  await expect(page.getByText('is taken by another team')).toBeVisible()
  expect((await company.owner.api.listTeams()).data).toHaveLength(2)
  await page.getByLabel('Key', { exact: true }).fill('SUP')
  await page.getByRole('button', { name: 'Create team' }).click()
  await expect(page).toHaveURL(/\/settings\/teams\/team_/)

  await page.getByRole('button', { name: 'Add member' }).click()
  await page.getByRole('option', { name: 'Mona Member' }).click()
  const members = page.getByRole('list', { name: 'Team members' })
  await expect(members).toContainText('Mona Member')
  await members.getByRole('button', { name: 'Remove Mona Member' }).click()
  await expect(members).not.toContainText('Mona Member')
})

test(
  'agents receive exactly the guidance that the preview shows',
  verifies('team.patch-guidance', 'workspace.patch-guidance', 'context.guidance-shape-and-order'),
  async ({ page, company, agent }) => {
    const robot = await agent()
    const [door] = company.issues
    await signedIn(page, company.owner)
    await page.goto('/settings/workspace')
    await page.getByLabel('Guidance for agents').fill('Branches are called fix/CODE.')
    await expect(page.getByRole('region', { name: 'agent context' })).toContainText('Branches are called fix/CODE.')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(message(page, 'Saved')).toBeVisible()

    await page.goto(`/settings/teams/${company.engineering.id}`)
    await page.getByLabel('Guidance for agents').fill('Run `npm test` & ask Amir.')
    await page.getByRole('button', { name: 'Add repository' }).click()
    await page.getByLabel('Repository 1', { exact: true }).fill('acme/doors')
    // Another user changes the team: the typed text stays.
    await company.admin.api.updateTeam({ team_id: company.engineering.id, name: 'Builders' })
    await expect(page.getByText('Someone else changed the team')).toBeVisible()
    await page.getByLabel('Name').fill('Builders')
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(message(page, 'Saved')).toBeVisible()
    const preview = page.getByRole('region', { name: 'agent context' })
    await expect(preview).toContainText('acme/doors')
    const shown = (await preview.textContent()) ?? ''
    const guidanceOf = (context: string) => /<guidance[\s\S]*<\/guidance>/.exec(context)?.[0]
    expect(guidanceOf(shown)).toContain('npm test')

    await company.owner.api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
    const session = await robot.session()
    expect(guidanceOf(session.prompt)).toBe(guidanceOf(shown))
    expect(session.prompt).toContain('Branches are called fix/CODE.')
    await session.respond('Read it.')
  },
)

test('a new password signs out all other browsers', async ({ page, company, secondBrowser, faults }) => {
  faults.expect(/status of 422/)
  faults.expect(/status of 401/)
  const elsewhere = await secondBrowser(company.member)
  await elsewhere.goto('/issues')
  await expect(elsewhere.getByText(company.issues[0].title)).toBeVisible()
  await signedIn(page, company.member)
  await page.goto('/settings/account')
  await page.getByLabel('Current password').fill('not this one')
  await page.getByLabel('New password').fill('a longer password')
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(page.getByText('is not your current password')).toBeVisible()
  await page.getByLabel('Current password').fill(company.member.password)
  await page.getByRole('button', { name: 'Change password' }).click()
  await expect(message(page, 'You are signed out everywhere else.')).toBeVisible()
  await elsewhere.getByRole('link', { name: 'Projects' }).click()
  await expect(elsewhere.getByRole('heading', { name: 'Sign in' })).toBeVisible()
  expect(new URL(elsewhere.url()).searchParams.get('next')).toBe('/projects')
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Account', exact: true })).toBeVisible()

  await page.getByLabel('Dark').check()
  await page.reload()
  await expect(page.getByLabel('Dark')).toBeChecked()
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test('lists a connected program, and disconnects it', async ({ page, company, service }) => {
  const { api, workspaceId } = company.member
  const redirect_uri = 'http://127.0.0.1:4000/callback'
  const { client_id } = await api.registerClient({ client_name: 'Editor', redirect_uris: [redirect_uri] })
  const code_verifier = randomBytes(32).toString('base64url')
  const asked = new URLSearchParams({
    client_id,
    redirect_uri,
    response_type: 'code',
    scope: 'read',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  // Serves the redirect URI in place of the program.
  await page.route(`${redirect_uri}**`, (route) => route.fulfill({ body: 'Back in the editor' }))
  await signedIn(page, company.member)
  await page.goto(`/api/v1/oauth/authorize?${asked}`)
  const back = page.waitForRequest(`${redirect_uri}**`)
  await page.getByRole('button', { name: 'Connect' }).click()
  const code = new URL((await back).url()).searchParams.get('code') ?? ''
  await expect(page.getByText('Back in the editor')).toBeVisible()
  const form = { grant_type: 'authorization_code', code, client_id, redirect_uri, code_verifier }
  const issued = await fetch(`${service.url}/api/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token } = await issued.json()
  const use = async () => {
    const headers = { authorization: `Bearer ${access_token}`, 'x-workspace-id': workspaceId }
    return (await fetch(`${service.url}/api/v1/issues`, { headers })).status
  }
  expect(await use()).toBe(200)

  await page.goto('/settings/account')
  const programs = page.getByRole('list', { name: 'Connected programs' })
  await expect(programs).toContainText('Editor')
  await programs.getByRole('button', { name: 'Disconnect' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click()
  await expect(programs).toHaveCount(0)
  expect(await use()).toBe(401)
})

test('the audit log shows who did what, only to managers', async ({ page, company, agent, secondBrowser }) => {
  const robot = await agent()
  await company.admin.api.createTeam({ name: 'Support', key: 'SUP' })
  await company.owner.api.updateMember({ user_id: company.member.id, role: 'member' })
  await signedIn(page, company.owner)
  await page.goto('/settings/audit-log')
  const log = page.getByRole('list', { name: 'Audit log' })
  await expect(log).toContainText('Amir Admin created the team Support')
  await expect(log).toContainText('Olive Owner changed the role of Mona Member')
  await expect(log).toContainText(`Olive Owner installed ${robot.name} for all teams`)
  await log.getByText('created the team Support').first().click()
  await expect(log).toContainText('team.created')
  const hers = await secondBrowser(company.member)
  for (const place of ['audit-log', 'workspace']) {
    await hers.goto(`/settings/${place}`)
    await expect(hers.getByRole('heading', { name: 'Owners and admins only' })).toBeVisible()
  }
  await expect(hers.getByRole('navigation', { name: 'Settings' })).not.toContainText('Audit log')
  await hers.goto(`/settings/teams/${company.engineering.id}`)
  await expect(hers.getByText('None. Owners and admins can add it.')).toBeVisible()
})

test('opens the API reference, help and palette with the keyboard', async ({ page, company }) => {
  const [door] = company.issues
  await signedIn(page, company.member)
  await page.goto('/settings/api')
  await expect(page.getByText('/webhooks', { exact: true }).first()).toBeVisible()
  await expect(page.getByRole('main')).not.toContainText('`')
  await page.getByLabel('Find operation').fill('stop')
  await expect(page.getByText('/agent-sessions/{session_id}/stop')).toBeVisible()
  await expect(page.getByText('/webhooks', { exact: true })).toHaveCount(0)
  await page.goto('/inbox')
  await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible()
  keyboardOnly(page)
  await page.keyboard.press('?')
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toContainText('Create project')
  await page.keyboard.press('Escape')
  await typeInPalette(page, 'sticks')
  await expect(page.getByRole('option').first()).toContainText(door.title)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(`/issue/${door.code}`)
  await typeInPalette(page, 'dark theme')
  await expect(page.getByRole('option')).toHaveCount(1)
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark')
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })
  test('no settings page scrolls sideways', async ({ page, company }) => {
    await signedIn(page, company.owner)
    for (const place of [
      'account',
      'notifications',
      'workspace',
      'members',
      'teams',
      `teams/${company.engineering.id}`,
      'api',
    ]) {
      await page.goto(`/settings/${place}`)
      await expect(page.getByRole('heading').first()).toBeVisible()
      expect(await scrolledSideways(page), place).toEqual([])
      await expect(page.locator('nav [data-status=active]'), place).toBeInViewport({ ratio: 1 })
    }
    await page.goto('/settings/members')
    await expect(row(page, 'Mona Member')).toBeVisible()
  })
})
