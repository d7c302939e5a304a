import { expect, keyboardOnly, narrow, type Person, scrolledSideways, signedIn, test, verifies } from './baton.ts'
import type { Company } from './company.ts'
import { toast } from './parts.ts'

const unreadOf = async ({ api }: Person) => (await api.listInbox({ unread: true })).data.length

/** Creates an assignment, a mention, a finished agent and, newest, an agent's question. */
async function fillInbox(
  { owner, admin, issues }: Company,
  robot: { userId: string; session: () => Promise<AgentSession> },
) {
  const [first, second, third] = issues
  await owner.api.updateIssue({ issue_id: third.id, assignee_id: admin.id })
  const text = `@[${admin.name}](${admin.id}) look`
  const comment = await owner.api.createComment({ target_type: 'issue', target_id: first.id, text })
  await admin.api.updateIssue({ issue_id: second.id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.respond('Done.')
  await admin.api.postActivity({ session_id: session.id, content: { type: 'prompt', body: 'And the other door?' } })
  await session.elicit('Which door?')
  return { comment, session }
}
interface AgentSession {
  id: string
  respond(body: string): Promise<unknown>
  elicit(body: string): Promise<unknown>
}

test('notifications arrive live and open the page they are about', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  await signedIn(page, company.admin)
  await page.goto('/inbox')
  await expect(page.getByText("You're all caught up")).toBeVisible()
  const { comment, session } = await fillInbox(company, robot)
  const rows = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem')
  await expect(rows).toHaveCount(3)
  // Two unread entries about ENG-2 are one row.
  await expect(rows.nth(0)).toContainText('Unread.ENG-2Oil the hingesFixer needs your answer2 notifications.')
  await expect(rows.nth(1)).toContainText('Unread.ENG-1The door sticksOlive Owner mentioned you')
  await expect(rows.nth(2)).toContainText('Unread.ENG-3Measure the frameOlive Owner assigned it to you')
  await expect(page.getByRole('link', { name: 'Inbox 3 unread' })).toBeVisible()
  // A row with a count has its columns where the others have them.
  const leftOf = (text: string) => page.getByText(text).evaluate((one) => one.getBoundingClientRect().left)
  expect(await leftOf('Fixer needs your answer')).toBe(await leftOf('Olive Owner mentioned you'))

  await rows.nth(1).getByRole('link').click()
  await expect(page).toHaveURL(new RegExp(`/issue/ENG-1#comment-${comment.id}$`))
  await page.goBack()
  await expect(rows.nth(1)).not.toContainText('Unread.')
  await expect.poll(() => unreadOf(company.admin)).toBe(3)
  await rows.nth(0).getByRole('link').click()
  await expect(page).toHaveURL(new RegExp(`/agent-session/${session.id}$`))
  await expect(page.getByLabel('Your answer to Fixer')).toBeFocused()
  await expect.poll(() => unreadOf(company.admin)).toBe(1)
  await page.goBack()
  await expect(rows).toHaveCount(3)

  // Opening an issue from elsewhere also marks its notifications as read.
  await page.goto('/issue/ENG-3')
  await expect(page.getByRole('link', { name: 'Inbox', exact: true })).toBeVisible()
  await expect.poll(() => unreadOf(company.admin)).toBe(0)
})

test('the inbox works by keyboard: move, mark, undo, open', async ({ page, company, agent }) => {
  const { session } = await fillInbox(company, await agent({ name: 'Fixer' }))
  await signedIn(page, company.admin)
  await page.goto('/projects')
  await page.getByRole('link', { name: 'Inbox' }).click()
  const rows = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem')
  await expect(rows).toHaveCount(3)
  keyboardOnly(page)
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await expect(rows.nth(1).getByRole('link')).toBeFocused()
  await page.keyboard.press('u')
  await expect(rows.nth(1)).not.toContainText('Unread.')
  await expect.poll(() => unreadOf(company.admin)).toBe(3)
  await page.keyboard.press('u')
  await expect(rows.nth(1)).toContainText('Unread.')
  await page.keyboard.press('k')
  await page.keyboard.press('u')
  await expect(page.getByText('Unread.')).toHaveCount(2)
  await expect(rows.nth(0).getByRole('link')).toBeFocused()
  await expect.poll(() => unreadOf(company.admin)).toBe(2)
  await page.keyboard.press('Shift+A')
  await expect(page.getByText('Unread.')).toHaveCount(0)
  await expect.poll(() => unreadOf(company.admin)).toBe(0)
  await expect(toast(page, 'Marked 2 as read')).toBeVisible()
  await page.keyboard.press('Control+z')
  await expect(page.getByText('Unread.')).toHaveCount(2)
  await expect.poll(() => unreadOf(company.admin)).toBe(2)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(new RegExp(`/agent-session/${session.id}$`))
})

test(
  'threads are archived with E and snoozed with H, and undone',
  verifies('inbox.archive', 'inbox.snooze', 'inbox.thread-per-subject'),
  async ({ page, company, agent }) => {
    await fillInbox(company, await agent({ name: 'Fixer' }))
    const { admin, owner, issues } = company
    await signedIn(page, admin)
    await page.goto('/inbox')
    const rows = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem')
    await expect(rows).toHaveCount(3)
    await page.keyboard.press('?')
    const help = page.getByRole('dialog')
    for (const title of ['Archive', 'Snooze…', 'Archive everything that is read']) {
      await expect(help.getByText(title, { exact: true })).toBeVisible()
    }
    await page.keyboard.press('Escape')
    keyboardOnly(page)
    await page.keyboard.press('j')
    await page.keyboard.press('e')
    await expect(rows).toHaveCount(2)
    await expect(toast(page, 'Archived')).toBeVisible()
    await expect(rows.nth(0).getByRole('link')).toBeFocused()
    await expect.poll(() => unreadOf(admin)).toBe(2)
    await page.keyboard.press('Control+z')
    await expect(rows).toHaveCount(3)
    await expect(rows.nth(0)).toContainText('Unread.ENG-2')

    await page.keyboard.press('h')
    const menu = page.getByRole('dialog', { name: 'Snooze until…' })
    await expect(menu.getByRole('option', { name: /Tomorrow/ })).toBeVisible()
    await page.keyboard.type('tomo')
    await page.keyboard.press('Enter')
    await expect(rows).toHaveCount(2)
    await expect(page.getByText(/^Snoozed until /)).toBeVisible()
    const snoozed = (await admin.api.listInboxThreads({ state: 'snoozed' })).data
    expect(snoozed).toMatchObject([{ snoozed_until: expect.stringMatching(/T/) }])
    await page.goto('/inbox?state=snoozed')
    await expect(rows).toHaveCount(1)
    await expect(rows.nth(0)).toContainText('until')

    // A mention brings it back, live.
    await page.goto('/inbox')
    await expect(rows).toHaveCount(2)
    const subject = issues.find(({ id }) => id === snoozed[0]?.subject_id)
    const text = `@[${admin.name}](${admin.id}) look`
    await owner.api.createComment({ target_type: 'issue', target_id: subject?.id ?? '', text })
    await expect(rows).toHaveCount(3)
    await expect(rows.nth(0)).toContainText(`${subject?.code}`)

    await page.keyboard.press('Shift+A')
    await expect(page.getByText('Unread.')).toHaveCount(0)
    // Only what the service knows to be read is archived.
    await expect.poll(() => unreadOf(admin)).toBe(0)
    await page.keyboard.press('Shift+E')
    await expect(page.getByText("You're all caught up")).toBeVisible()
    // Shown after the answer; a page load before it could abort the request.
    await expect(toast(page, 'Archived everything that is read')).toBeVisible()
    await page.goto('/inbox?state=archived')
    await expect(rows).toHaveCount(3)
    await page.keyboard.press('j')
    await page.keyboard.press('e')
    await expect(rows).toHaveCount(2)
    await expect(toast(page, 'Moved to inbox')).toBeVisible()
    await page.goto('/inbox')
    await expect(rows).toHaveCount(1)
  },
)

test('reverts a mark that could not be saved and shows the error', async ({ page, company, faults }) => {
  await company.owner.api.updateIssue({ issue_id: company.issues[2].id, assignee_id: company.admin.id })
  await signedIn(page, company.admin)
  await page.goto('/inbox')
  await expect(page.getByText('Measure the frame')).toBeVisible()
  faults.expect(/Failed to load resource|ERR_FAILED/)
  await page.route('**/api/v1/inbox/**', (route) => route.abort())
  await page.getByRole('button', { name: 'Mark all read' }).click()
  await expect(page.getByText('The server cannot be reached.')).toBeVisible()
  await expect(page.getByText('Unread.')).toHaveCount(1)
  expect(await unreadOf(company.admin)).toBe(1)
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })

  test(
    'an installation request is installed in the inbox; read notifications can be hidden',
    verifies('install.request-approved-from-inbox'),
    async ({ page, company, registeredAgent }) => {
      const robot = await registeredAgent({ name: 'Fixer' })
      await company.member.api.requestInstall({ app_id: robot.registered.app.id })
      await company.member.api.updateIssue({ issue_id: company.issues[2].id, assignee_id: company.owner.id })
      const [assignment] = (await company.owner.api.listInbox()).data
      await company.owner.api.updateInboxEntry({ entry_id: assignment?.id ?? '', read: true })
      await signedIn(page, company.owner)
      await page.goto('/inbox')
      const rows = page.getByRole('list', { name: 'Inbox' }).getByRole('listitem')
      await expect(rows).toHaveCount(2)
      const request = rows.filter({ hasText: 'Mona Member requested an app installation' })
      await page.getByRole('button', { name: 'Unread only' }).click()
      await expect(rows).toHaveCount(1)
      await expect(request).toHaveCount(1)
      expect(await scrolledSideways(page)).toEqual([])
      await request.getByRole('link').click()

      const dialog = page.getByRole('dialog', { name: 'Install Fixer in Acme' })
      await expect(dialog.getByText('It acts as Fixer, not as you.')).toBeVisible()
      await dialog.getByLabel('Selected teams').check()
      await dialog.getByLabel('Engineering ENG').check()
      expect(await scrolledSideways(page)).toEqual([])
      await dialog.getByRole('button', { name: 'Install Fixer' }).click()
      const tokens = page.getByRole('dialog', { name: 'Tokens of Fixer' })
      await expect(tokens.getByText('svc_at_')).toBeVisible()
      expect((await company.owner.api.listInstallations()).data).toMatchObject([
        { app_id: robot.registered.app.id, all_teams: false, team_ids: [company.engineering.id] },
      ])
      await tokens.getByRole('button', { name: "I've saved them" }).click()
      await expect(page).toHaveURL(/\/inbox\?unread=true$/)
      await expect(page.getByRole('dialog')).toHaveCount(0)
      // The request is answered for every manager, and opening it again says so.
      expect(await unreadOf(company.admin)).toBe(0)
      await page.getByRole('button', { name: 'Unread only' }).click()
      await request.getByRole('link').click()
      await expect(page.getByRole('dialog').getByText('It is already installed.')).toBeVisible()
      await page.getByRole('link', { name: 'Open app' }).click()
      await expect(page).toHaveURL(new RegExp(`/settings/agent-apps/${robot.registered.app.id}$`))
    },
  )
})
