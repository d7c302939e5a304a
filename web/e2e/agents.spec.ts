import { expect, keyboardOnly, narrow, scrolledSideways, signedIn, test } from './baton.ts'

const beside = ['Workspace agents', 'Personal agents']

test('sessions that need input come first, and the list updates live', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const [first, second, third] = company.issues
  await signedIn(page, company.member)
  await page.goto('/agents')
  await expect(page.getByText('No agent sessions yet')).toBeVisible()

  await company.owner.api.updateIssue({ issue_id: first.id, delegate_id: robot.userId })
  const working = await robot.session()
  await working.thought('On it.')
  await company.owner.api.updateIssue({ issue_id: second.id, delegate_id: robot.userId })
  await (await robot.session()).respond('Done.')
  await company.member.api.updateIssue({ issue_id: third.id, delegate_id: robot.userId })
  const failed = await robot.session()
  await failed.fail('No.')
  const headings = page.getByRole('main').getByRole('heading', { level: 2 })
  await expect(headings).toHaveText(['Working1', 'Silent or failed1', 'Done1', ...beside])

  await working.elicit('Which door?')
  await expect(headings).toHaveText(['Needs input1', 'Silent or failed1', 'Done1', ...beside])
  const waiting = page.getByRole('region', { name: 'Needs input' })
  await expect(waiting.getByRole('link')).toContainText('ENG-1The door sticksNeeds input')

  await page.getByRole('button', { name: 'Requested by me' }).click()
  await expect(headings).toHaveText(['Silent or failed1', ...beside])
  await expect(page).toHaveURL(/mine=true/)
  await page.reload()
  await expect(headings).toHaveText(['Silent or failed1', ...beside])
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByRole('button', { name: 'Status' }).click()
  await page.getByRole('option', { name: 'Done' }).click()
  await expect(headings).toHaveText(['Done1', ...beside])
})

test('J, K and Enter open a session', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const [first, second] = company.issues
  for (const { id } of [first, second]) await company.owner.api.updateIssue({ issue_id: id, delegate_id: robot.userId })
  const sessions = [await robot.session(), await robot.session()]
  for (const session of sessions) await session.thought('On it.')
  await signedIn(page, company.member)
  await page.goto('/projects')
  await page.getByRole('link', { name: 'Agents' }).click()
  for (const { title } of [first, second]) await expect(page.getByText(title)).toBeVisible()
  keyboardOnly(page)
  for (const key of ['j', 'j', 'k', 'j', 'Enter']) await page.keyboard.press(key)
  // The newest is first.
  const oldest = sessions.find(({ data }) => data.issue?.id === first.id)
  await expect(page).toHaveURL(new RegExp(`/agent-session/${oldest?.id}$`))
  await expect(page.getByRole('textbox', { name: 'Message to Fixer' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page).toHaveURL(/\/issue\/ENG-1/)
})

test('lists agents with their teams and availability; a manager gets a link to fix it', async ({
  page,
  company,
  agent,
  secondBrowser,
}) => {
  await agent({ name: 'Fixer' })
  const mute = await agent({ name: 'Mute', scopes: ['read', 'app:mentionable'], teamIds: [company.design.id] })
  await signedIn(page, company.owner)
  await page.goto('/agents')
  const rows = page.getByRole('region', { name: 'Workspace agents' }).getByRole('listitem')
  await expect(rows.filter({ hasText: 'Fixer' })).toContainText('AppAll teamsAvailable')
  await expect(rows.filter({ hasText: 'Mute' })).toContainText('AppDesignNot allowed to accept issues')
  await expect(rows.getByRole('link')).toHaveAttribute('href', `/settings/agent-apps/${mute.registered.app.id}`)

  const member = await secondBrowser(company.member)
  await member.setViewportSize(narrow)
  await member.goto(page.url())
  const theirs = member.getByRole('region', { name: 'Workspace agents' })
  await expect(theirs).toContainText('Not allowed to accept issues')
  await expect(theirs.getByRole('link')).toHaveText('Add a coding agent')
  expect(await scrolledSideways(member)).toEqual([])
})
