import { expect, shortTimeouts, signedIn, test } from './baton.ts'

// Agents are unresponsive after 2 seconds, stale after 5, stopped after 5.
test.use({ settings: shortTimeouts })

test('Stop counts down, ends with its reason, and the issue can be delegated again', async ({
  page,
  company,
  agent,
}) => {
  const robot = await agent({ name: 'Fixer' })
  const [issue] = company.issues
  await company.owner.api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.thought('On it.')
  await signedIn(page, company.member)
  await page.goto(`/agent-session/${session.id}`)
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(page.getByText(/Stops automatically in \d+ s/)).toBeVisible()
  await expect(page.getByText('Mona Member pressed Stop')).toBeVisible()
  await expect(page.getByLabel('Message to Fixer')).toBeHidden()
  // Without a final message, the timeout ends it.
  await expect(page.getByText('Stopped. This session is closed.')).toBeVisible({ timeout: 15_000 })
  await page.getByRole('button', { name: 'Delegate again' }).click()
  const again = await robot.session()
  expect(again.id).not.toBe(session.id)
  expect((await company.owner.api.getIssue({ issue_id: issue.id })).delegate_id).toBe(robot.userId)
})

test('the shortcut stops too; a final message ends it at once; removing the delegation ends the next', async ({
  page,
  company,
  agent,
}) => {
  const robot = await agent({ name: 'Fixer' })
  const [issue, other] = company.issues
  await company.owner.api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.thought('On it.')
  await signedIn(page, company.member)
  await page.goto(`/agent-session/${session.id}`)
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible()
  await page.keyboard.press('Control+.')
  await (await robot.stop()).respond('Left as it was.')
  await expect(page.getByRole('article', { name: 'Answer' })).toContainText('Left as it was.')
  await expect(page.getByText('Stopped. This session is closed.')).toBeVisible()
  await page.goto('/issues')
  await expect(page.getByLabel('Fixer: Stopped')).toContainText('Stopped')

  await company.owner.api.updateIssue({ issue_id: other.id, delegate_id: robot.userId })
  const next = await robot.session()
  await next.thought('On it.')
  await page.goto(`/agent-session/${next.id}`)
  await expect(page.getByText('Working', { exact: true })).toBeVisible()
  await company.owner.api.updateIssue({ issue_id: other.id, delegate_id: null })
  await (await robot.stop()).respond('Very well.')
  await expect(page.getByText('The delegation was removed.')).toBeVisible()
})

test('shows that an agent does not answer, with a link to the delivery for managers', async ({
  page,
  company,
  agent,
  secondBrowser,
}) => {
  const robot = await agent({ name: 'Fixer' })
  const [issue] = company.issues
  await company.member.api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
  const session = await robot.session()
  await signedIn(page, company.owner)
  await page.goto(`/agent-session/${session.id}`)
  await expect(page.getByText('No answer from Fixer')).toBeVisible()
  const app_id = robot.registered.app.id
  const { data } = await company.owner.api.listAppDeliveries({ app_id, limit: 100 })
  const created = data.find(({ action }) => action === 'created')
  const link = page.getByRole('link', { name: 'View delivery' })
  await expect(link).toHaveAttribute('href', `/settings/agent-apps/${app_id}/deliveries/${created?.id}`)

  const member = await secondBrowser(company.member)
  await member.goto(page.url())
  await expect(member.getByText('An owner or admin can check its deliveries.')).toBeVisible()
  await expect(member.getByRole('link', { name: /^View deliver/ })).toHaveCount(0)
  await session.thought('Sorry, I was asleep.')
  await expect(member.getByText('No answer from Fixer')).toBeHidden()
  await expect(page.getByText('No answer from Fixer')).toBeHidden()
})

test('a silent agent can continue its session', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  await company.owner.api.updateIssue({ issue_id: company.issues[0].id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.thought('On it.')
  await signedIn(page, company.member)
  await page.goto(`/agent-session/${session.id}`)
  await expect(page.getByText('Silent', { exact: true })).toBeVisible({ timeout: 15_000 })
  await expect(page.getByText(/Fixer has been silent for .* may still return/)).toBeVisible()
  await expect(page.getByText('Sending restarts the session.')).toBeVisible()
  await session.thought('Here I am.')
  await expect(page.getByText('Working', { exact: true })).toBeVisible()
})

test('a long session shows its end first, and earlier entries on request', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  await company.owner.api.updateIssue({ issue_id: company.issues[0].id, delegate_id: robot.userId })
  const session = await robot.session()
  await Promise.all(Array.from({ length: 210 }, (_, step) => session.action('step', String(step))))
  await signedIn(page, company.member)
  await page.goto(`/agent-session/${session.id}`)
  await expect(page.getByText('step · 209', { exact: true })).toBeInViewport()
  await expect(page.getByText('step · 60', { exact: true })).toBeAttached()
  await expect(page.getByText('step · 59', { exact: true })).toHaveCount(0)
  // New activity does not remove the entries above.
  await session.action('step', 'last')
  await expect(page.getByText('step · last', { exact: true })).toBeInViewport()
  await page.getByRole('button', { name: 'Show earlier (60)' }).click()
  await expect(page.getByText('step · 0', { exact: true })).toBeAttached()
  await expect(page.getByText('step · 60', { exact: true })).toBeInViewport()
})

test('a finished session has no Stop; the shortcut stops the only one that works', async ({ page, company, agent }) => {
  const [fixer, painter] = [await agent({ name: 'Fixer' }), await agent({ name: 'Painter' })]
  const [issue] = company.issues
  const { member } = company
  const ask = (name: string, id: string) =>
    member.api.createComment({ target_type: 'issue', target_id: issue.id, text: `@[${name}](${id}) look` })
  await ask('Fixer', fixer.userId)
  await ask('Painter', painter.userId)
  const [fixing, painting] = [await fixer.session(), await painter.session()]
  await fixing.thought('On it.')
  await painting.thought('On it too.')
  await signedIn(page, member)
  await page.goto(`/issue/${issue.code}`)
  const cardOf = (name: string) => page.getByRole('region', { name: `Session of ${name}` })
  const stopOf = (name: string) => cardOf(name).getByRole('button', { name: 'Stop' })
  await expect(stopOf('Fixer')).toBeVisible()
  await expect(stopOf('Painter').locator('svg')).toHaveAttribute('fill', 'currentColor')
  await page.keyboard.press('Control+.')
  await expect(page.getByText('Several sessions can be stopped.')).toBeVisible()

  await fixing.respond('The hinge is bent.')
  await expect(stopOf('Fixer')).toHaveCount(0)
  await page.keyboard.press('Control+.')
  await (await painter.stop()).respond('Left as it was.')
  await expect(cardOf('Painter')).toContainText('Stopped. This session is closed.')
  await page.keyboard.press('Control+.')
  await expect(cardOf('Fixer')).toContainText('Done')
  await expect(cardOf('Fixer')).toContainText('The hinge is bent.')

  // Ended over the API, the session still shows its answer.
  await member.api.stopAgentSession({ session_id: fixing.id })
  await (await fixer.stop()).respond('Closed.')
  await expect(cardOf('Fixer')).toContainText('Stopped. This session is closed.')
  await expect(cardOf('Fixer')).toContainText('The hinge is bent.')
})
