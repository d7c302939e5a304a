import { checkAxe, expect, keyboardOnly, signedIn, test, verifies } from './baton.ts'
import { composer, feed, menu, pick, property } from './parts.ts'

test(
  'lists an unavailable agent with the reason; a manager gets a link to fix it',
  verifies('delegation.picker-lists-unavailable-app', 'delegation.opens-session'),
  async ({ page, company, agent, secondBrowser }) => {
    const [door] = company.issues
    const robot = await agent({ name: 'Robot' })
    await agent({ name: 'Draughtsman', teamIds: [company.design.id] })
    await signedIn(page, company.owner)
    await page.goto(`/issue/${door.code}`)
    await property(page, 'Delegate').click()
    const draughtsman = menu(page).getByRole('option', { name: 'Draughtsman' })
    await expect(draughtsman).toContainText('Not installed for this team')
    await expect(draughtsman).toHaveAttribute('aria-disabled', 'true')
    await expect(menu(page)).toContainText('The assignee stays accountable')
    await draughtsman.click({ force: true })
    expect((await company.owner.api.getIssue({ issue_id: door.id })).delegate_id).toBeNull()

    // The delegation is not shown before the server confirms it.
    let answer = () => {}
    const held = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(`**/api/v1/issues/${door.id}`, async (route) => {
      if (route.request().method() === 'PUT') await held
      await route.continue()
    })
    await menu(page).getByRole('option', { name: 'Robot' }).click()
    await expect(property(page, 'Delegate')).toHaveText('Delegating…')
    answer()
    await expect(property(page, 'Delegate')).toHaveText('Robot')
    await robot.session()
    await expect(feed(page)).toContainText('delegated it to Robot')

    await pick(page, 'Delegate', 'No agent')
    await expect(property(page, 'Delegate')).toHaveText('No agent')
    await robot.stop()

    const member = await secondBrowser(company.member)
    await member.goto(`/issue/${door.code}`)
    await property(member, 'Delegate').click()
    await expect(menu(member).getByRole('option', { name: 'Draughtsman' })).toBeVisible()
    await expect(menu(member).getByRole('link')).toHaveCount(0)

    await property(page, 'Delegate').click()
    await menu(page).getByRole('link', { name: 'Choose its teams' }).click()
    await expect(page).toHaveURL(/\/settings\/agent-apps\/app_/)
    await expect(page.getByRole('dialog')).toHaveCount(0)
  },
)

test(
  'a user outside the team picks an assignee while delegating',
  verifies('delegation.outsider-naming-teammate-accepted'),
  async ({ page, company, agent }) => {
    const colour = company.issues[4]
    const robot = await agent()
    await signedIn(page, company.member)
    await page.goto(`/issue/${colour.code}`)
    await expect(property(page, 'Delegate')).toBeVisible()
    keyboardOnly(page)
    await page.keyboard.press('d')
    await expect(page.getByRole('combobox', { name: 'Delegate to' })).toBeFocused()
    await page.keyboard.type('rob')
    await expect(menu(page).getByRole('option')).toHaveText(['Robot'])
    await page.keyboard.press('Enter')
    await expect(page.getByRole('combobox', { name: 'Choose an assignee' })).toBeFocused()
    await expect(menu(page).getByRole('option', { name: 'Olive Owner' })).toBeVisible()
    await expect(menu(page).getByRole('option', { name: 'Robot' })).toHaveCount(0)
    expect((await company.owner.api.getIssue({ issue_id: colour.id })).delegate_id).toBeNull()
    await page.keyboard.type('olive')
    await expect(menu(page).getByRole('option')).toHaveCount(1)
    await page.keyboard.press('Enter')
    await expect(property(page, 'Delegate')).toHaveText('Robot')
    await expect(property(page, 'Assignee')).toHaveAccessibleName('Assignee: Olive Owner')
    await robot.session()
  },
)

test('comments are answered, resolved, edited, linked and deleted; an unsent one is kept', async ({
  page,
  company,
  faults,
}) => {
  const { api } = company.owner
  const [door] = company.issues
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await page.route('**/api/v1/comments', (route) => route.abort(), { times: 1 })
  faults.expect(/ERR_FAILED/)
  await composer(page).fill('Is it the *left* door?')
  await composer(page).press('Control+Enter')
  await expect(feed(page).getByRole('alert')).toContainText('Not sent')
  await expect(composer(page)).toHaveValue('Is it the *left* door?')
  await feed(page).getByRole('button', { name: 'Comment', exact: true }).click()
  const comment = feed(page).getByRole('article', { name: 'Comment by Olive Owner' })
  await expect(comment.getByText('left')).toBeVisible()
  await expect(composer(page)).toHaveValue('')

  await feed(page).getByRole('button', { name: 'Reply…' }).click()
  await feed(page).getByRole('textbox', { name: 'Reply' }).fill('No, the right one.')
  await page.keyboard.press('Control+Enter')
  await expect(comment).toHaveCount(2)
  await comment.nth(1).getByRole('button', { name: 'Comment actions' }).click()
  await page.getByRole('menuitem', { name: 'Edit' }).click()
  await page.getByRole('textbox', { name: 'Edit comment' }).fill('No, both.')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(comment.nth(1)).toContainText('edited')
  await expect(comment.nth(1)).toContainText('No, both.')

  await feed(page).getByRole('button', { name: 'Resolve thread' }).click()
  const collapsed = feed(page).getByRole('button', { name: /Resolved/ })
  await expect(collapsed).toContainText('1 reply')
  await expect(comment).toHaveCount(0)

  const stored = async () => (await api.listComments({ target_type: 'issue', target_id: door.id })).data
  await expect.poll(stored).toMatchObject([{ is_resolved: true }, { text: 'No, both.' }])
  const [, reply] = await stored()
  await page.goto(`/issue/${door.code}#comment-${reply?.id}`)
  await expect(page.locator(`#comment-${reply?.id}`)).toBeInViewport()
  await feed(page).getByRole('button', { name: 'Reopen thread' }).click()
  await expect(feed(page).getByRole('button', { name: 'Resolve thread' })).toBeVisible()

  await comment.first().getByRole('button', { name: 'Comment actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(comment).toHaveCount(0)
  await expect.poll(stored).toEqual([])
})

test(
  'a mention opens a session, as announced; an internal comment notifies no agent',
  verifies('mention.opens-session', 'mention.internal-comment-opens-nothing'),
  async ({ page, company, agent }) => {
    const [door] = company.issues
    const robot = await agent({ name: 'Robot' })
    await agent({ name: 'Mute', scopes: ['read', 'app:assignable'] })
    await signedIn(page, company.member)
    await page.goto(`/issue/${door.code}`)

    await composer(page).focus()
    await feed(page).getByRole('button', { name: 'Internal', exact: true }).click()
    await composer(page).pressSequentially('Say nothing, @Rob')
    await expect(page.getByRole('option', { name: 'Robot' })).toContainText('agents do not see internal comments')
    await page.keyboard.press('Tab')
    await expect(feed(page)).toContainText('Robot will not be notified')
    await page.keyboard.press('Control+Enter')
    const comments = feed(page).getByRole('article', { name: 'Comment by Mona Member' })
    await expect(comments).toContainText('Internal: agents do not see this')

    await composer(page).pressSequentially('Please look, @')
    await expect(page.getByRole('option', { name: 'Mute' })).toContainText('cannot be mentioned')
    await expect(page.getByRole('option', { name: 'Robot' })).toContainText('opens a session')
    await checkAxe(page)
    await page.getByRole('option', { name: 'Robot' }).click()
    await expect(composer(page)).toHaveValue('Please look, @Robot ')
    await expect(feed(page)).toContainText('Sending opens a session with Robot')
    await page.keyboard.press('Control+Enter')
    await expect(comments).toHaveCount(2)
    await expect(comments.nth(1)).toContainText('@Robot')
    const session = await robot.session()
    await session.thought('Looking at the door.')
    const { data } = await company.owner.api.listAgentSessions({ issue_id: door.id })
    expect(data).toHaveLength(1)
    expect(data[0]?.comment?.body).toContain('Please look')
  },
)
