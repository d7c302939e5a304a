import { expect, keyboardOnly, signedIn, test } from './baton.ts'
import { composer, feed, menu, pick, property, rowOf, toast } from './parts.ts'

test('delegating scrolls to the session, and the message links to it', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const [door, hinges] = company.issues
  const { api } = company.owner
  const text = 'A long discussion.\n\n'.repeat(8)
  for (let index = 0; index < 8; index++) {
    await api.createComment({ target_type: 'issue', target_id: door.id, text })
  }
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  await expect(feed(page).getByRole('article')).toHaveCount(8)
  await pick(page, 'Delegate', 'Fixer')
  const card = page.getByRole('region', { name: 'Session of Fixer' })
  await expect(card).toBeInViewport()
  await robot.session()

  // From a list, the message leads there.
  await page.goto('/issues?team=ENG')
  await rowOf(page, hinges.title).waitFor()
  await page.keyboard.press('j')
  await expect(page.locator('[aria-current="true"]')).toContainText(hinges.title)
  await page.keyboard.press('d')
  await menu(page).getByRole('option', { name: 'Fixer' }).click()
  const session = await robot.session()
  await toast(page, 'Delegated to Fixer').getByRole('link', { name: 'View session' }).click()
  await expect(page).toHaveURL(new RegExp(`/issue/${hinges.code}#session-${session.id}$`))
  await expect(card).toBeInViewport()
})

test('after a follow-up, the message and the answer before it stay visible', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const [door] = company.issues
  await company.member.api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.thought('Looking at the door.')
  await session.respond('The hinge is bent.')
  await signedIn(page, company.member)
  await page.goto(`/issue/${door.code}`)
  const card = page.getByRole('region', { name: 'Session of Fixer' })
  await expect(card.getByText('The hinge is bent.')).toBeVisible()
  await expect(card.getByText('Looking at the door.')).toHaveCount(0)

  const box = card.getByLabel('Message to Fixer')
  await box.focus()
  keyboardOnly(page)
  await page.keyboard.type('Can you straighten it')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('today?')
  await expect(box).toHaveValue('Can you straighten it\ntoday?')
  await page.keyboard.press('Enter')
  const prompt = await robot.prompt()
  expect(prompt.prompt).toBe('Can you straighten it\ntoday?')
  await expect(box).toHaveValue('')
  for (const text of ['The hinge is bent.', 'today?']) await expect(card.getByText(text)).toBeVisible()

  await prompt.action('bend', 'hinge')
  await expect(card.getByText('bend · hinge')).toBeVisible()
  for (const text of ['The hinge is bent.', 'today?']) await expect(card.getByText(text)).toBeVisible()
  await prompt.respond('It is straight now.')
  for (const text of ['The hinge is bent.', 'today?', 'It is straight now.']) {
    await expect(card.getByText(text)).toBeVisible()
  }
  await expect(card.getByText('bend · hinge')).toHaveCount(0)
})

test('one composer is open at a time, and keeps its text', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const [door] = company.issues
  const { api } = company.owner
  for (const text of ['First', 'Second']) await api.createComment({ target_type: 'issue', target_id: door.id, text })
  await api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
  await robot.session()
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  const reply = feed(page).getByRole('textbox', { name: 'Reply' })
  const send = feed(page).getByRole('button', { name: 'Comment', exact: true })
  await expect(send).toHaveCount(0)
  await composer(page).fill('Half a comment')
  await expect(send).toBeVisible()

  const replies = feed(page).getByRole('button', { name: 'Reply…' })
  await replies.first().click()
  await reply.fill('Half a reply')
  await expect(send).toHaveCount(0)
  await expect(composer(page)).toHaveValue('Half a comment')
  await replies.click()
  await expect(reply).toHaveCount(1)
  await expect(reply).toHaveValue('')
  await page.getByLabel('Message to Fixer').focus()
  await expect(reply).toHaveCount(0)
  await replies.first().click()
  await expect(reply).toHaveValue('Half a reply')

  // Another page does not open it again.
  await page.goto(`/issue/${company.issues[1].code}`)
  await page.goBack()
  await expect(replies).toHaveCount(2)
})

test('“finished” is read if the user watched it; unread on another page or in a hidden tab', async ({
  page,
  company,
  agent,
}) => {
  const robot = await agent({ name: 'Fixer' })
  const [door, hinges] = company.issues
  const { member } = company
  await member.api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
  const watched = await robot.session()
  await signedIn(page, member)
  // What is there when the inbox is first read was not watched.
  const inbox = page.waitForResponse(/\/inbox\/threads\?/)
  await page.goto(`/issue/${door.code}`)
  await expect(page.getByRole('region', { name: 'Session of Fixer' })).toBeInViewport()
  await inbox
  await watched.respond('Done.')
  await expect(page.getByRole('article', { name: 'Answer' })).toBeVisible()
  const finished = async () =>
    (await member.api.listInbox({})).data
      .filter(({ kind }) => kind === 'agent_finished')
      .map(({ subject_id, read_at }) => ({ subject_id, isRead: read_at !== null }))
  await expect.poll(finished).toEqual([{ subject_id: watched.id, isRead: true }])

  await member.api.updateIssue({ issue_id: hinges.id, delegate_id: robot.userId })
  const unseen = await robot.session()
  await unseen.respond('Done too.')
  await expect(page.getByRole('link', { name: /^Inbox \d unread$/ })).toBeVisible()
  await expect.poll(finished).toContainEqual({ subject_id: unseen.id, isRead: false })
  await expect(property(page, 'Delegate')).toHaveText('Fixer')

  await page.evaluate(() =>
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' }),
  )
  await page.getByLabel('Message to Fixer').fill('And the lock?')
  await page.getByLabel('Message to Fixer').press('Enter')
  await (await robot.prompt()).respond('The lock too.')
  await expect(page.getByText('The lock too.')).toBeInViewport()
  await expect(page.getByRole('link', { name: 'Inbox 2 unread' })).toBeVisible()
  await expect.poll(finished).toContainEqual({ subject_id: watched.id, isRead: false })
})

test('links to issues are chips with their status', async ({ page, company, service }) => {
  const [door, hinges] = company.issues
  const { api } = company.owner
  const text = `See [${hinges.code} ${hinges.title}](${hinges.url}) and ${service.url}/issue/${hinges.code}`
  await api.createComment({ target_type: 'issue', target_id: door.id, text })
  await signedIn(page, company.owner)
  await page.goto(`/issue/${door.code}`)
  const chips = feed(page).getByRole('link', { name: `In progress: ${hinges.code} ${hinges.title}` })
  await expect(chips).toHaveCount(2)
  await api.updateIssue({ issue_id: hinges.id, status: 'done' })
  await expect(feed(page).getByRole('link', { name: `Done: ${hinges.code} ${hinges.title}` })).toHaveCount(2)
  await feed(page).getByRole('link', { name: /^Done/ }).first().click()
  await expect(page).toHaveURL(new RegExp(`/issue/${hinges.code}$`))
})
