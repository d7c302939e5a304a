import type { Locator, Page } from '@playwright/test'
import { expect, keyboardOnly, narrow, type ScriptedAgent, scrolledSideways, signedIn, test } from './baton.ts'
import type { Company, Person } from './company.ts'

/** The owner delegates the first issue to the agent; the member opens the session. */
async function delegated(page: Page, company: Company, robot: ScriptedAgent, watching: Person = company.member) {
  const [issue] = company.issues
  await company.owner.api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
  const session = await robot.session()
  await signedIn(page, watching)
  await page.goto(`/agent-session/${session.id}`)
  await expect(page.getByText('Waiting for the agent')).toBeVisible()
  return session
}

test('shows a session live from the first thought to the answer', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  await expect(page.getByText('Olive Owner delegated')).toBeVisible()
  await expect(page.getByRole('link', { name: 'ENG-1 The door sticks' }).first()).toBeVisible()

  await session.thought('Looking at the **door**.\n\nIt sticks at the *bottom*.')
  await expect(page.getByText('Working', { exact: true })).toBeVisible()
  const thought = page.getByRole('button', { name: 'Looking at the door. It sticks at the bottom.' })
  await expect(thought).toHaveAttribute('aria-expanded', 'false')
  await thought.click()
  await expect(page.getByRole('strong').getByText('door')).toBeVisible()

  await session.setPlan([
    { content: 'Look', status: 'completed' },
    { content: 'Paint', status: 'canceled' },
    { content: 'Mend', status: 'inProgress' },
  ])
  const plan = page.getByRole('region', { name: 'Plan' })
  await expect(plan.getByText('1 of 2')).toBeVisible()
  await expect(plan.getByRole('listitem')).toHaveText(['Done: Look', 'Canceled: Paint', 'In progress: Mend'])
  await session.addUrl('Dashboard', 'https://status.example.com/1')
  await session.addUrl('Change', 'https://code.example.com/door/pull/7')
  const links = page.getByRole('list', { name: 'Links' }).getByRole('link')
  await expect(links).toHaveText(['Changecode.example.com', 'Dashboardstatus.example.com'])
  await expect(links.first()).toHaveAttribute('rel', /noopener/)

  await session.action('read', 'door.md', 'It sticks.')
  const action = page.getByRole('button', { name: 'read · door.md' })
  await expect(page.getByText('It sticks.', { exact: true })).toBeHidden()
  await action.click()
  await expect(page.getByRole('region', { name: 'Result of read' })).toHaveText('It sticks.')
})

test('the next activity replaces an ephemeral one, and the answer is expanded', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  await session.thought('10 %', { ephemeral: true })
  await expect(page.getByText('10 %')).toBeVisible()
  await session.thought('90 %', { ephemeral: true })
  await expect(page.getByText('90 %')).toBeVisible()
  await expect(page.getByText('10 %')).toBeHidden()
  await session.respond('It **opens** now.')
  await expect(page.getByText('90 %')).toBeHidden()
  await expect(page.getByRole('article', { name: 'Answer' })).toContainText('It opens now.')
  await expect(page.getByText('Done', { exact: true })).toBeVisible()
  await page.getByRole('button', { name: 'Show all (2)' }).click()
  await expect(page.getByText('10 %')).toBeVisible()
})

test('questions are answered by number, by choices and with text, by keyboard', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  keyboardOnly(page)
  await session.select('Which door?', [{ value: 'front', label: 'The front door' }, 'back'])
  await expect(page.getByRole('button', { name: 'The front door' })).toBeFocused()
  await page.keyboard.press('2')
  const chosen = await robot.prompt()
  expect([chosen.prompt, chosen.selected]).toEqual(['back', ['back']])
  await expect(page.getByText('Mona Member chose')).toBeVisible()
  await expect(page.getByRole('listitem').filter({ hasText: '(chosen)' })).toHaveText('back(chosen)')

  await chosen.select('Which tools?', ['plane', 'saw', 'oil'], { allowMultiple: true })
  await expect(page.getByRole('checkbox', { name: 'plane' })).toBeFocused()
  await page.keyboard.press('1')
  await page.keyboard.press('3')
  await expect(page.getByRole('checkbox', { name: 'oil' })).toBeChecked()
  await page.keyboard.press('3')
  await page.keyboard.press('2')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await expect(page.getByRole('button', { name: 'Send 2 selected' })).toBeFocused()
  await page.keyboard.press('Enter')
  const several = await robot.prompt()
  expect(several.selected).toEqual(['plane', 'saw'])

  await several.elicit('How much shall I take off?')
  await expect(page.getByLabel('Your answer to Fixer')).toBeFocused()
  await page.keyboard.type('Two millimetres')
  await page.keyboard.press('Control+Enter')
  const words = await robot.prompt()
  expect([words.prompt, words.selected]).toEqual(['Two millimetres', []])
  await expect(page.getByRole('region', { name: 'Question' }).last()).toContainText('Two millimetres')
  await expect(page.getByText('Waiting for the agent')).toBeVisible()
})

test('with two open questions, a number answers the focused one, and none without focus', async ({
  page,
  company,
  agent,
}) => {
  const [fixer, painter] = [await agent({ name: 'Fixer' }), await agent({ name: 'Painter' })]
  const [issue] = company.issues
  const { api } = company.owner
  await api.updateIssue({ issue_id: issue.id, delegate_id: fixer.userId })
  const text = `@[Painter](${painter.userId}) as well, please`
  await api.createComment({ target_type: 'issue', target_id: issue.id, text })
  const sessions = [await fixer.session(), await painter.session()] as const
  await signedIn(page, company.member)
  await page.goto(`/issue/${issue.code}`)
  await sessions[0].select('Which door?', ['front', 'back'])
  await expect(page.getByRole('button', { name: 'front' })).toBeFocused()
  await sessions[1].select('Which colour?', ['red', 'green'])
  await expect(page.getByRole('button', { name: 'red' })).toBeVisible()
  await page.getByRole('heading', { name: 'Activity' }).click()
  await page.keyboard.press('2')
  await expect(page.getByText('Several agents are asking.')).toBeVisible()
  for (const { id } of sessions) expect((await api.listActivities({ session_id: id })).data).toHaveLength(1)

  await page.getByRole('button', { name: 'front' }).focus()
  await page.keyboard.press('2')
  expect((await fixer.prompt()).selected).toEqual(['back'])
  // Now there is only one to answer.
  await expect(page.getByRole('button', { name: 'front' })).toHaveCount(0)
  await page.keyboard.press('2')
  expect((await painter.prompt()).selected).toEqual(['green'])
})

test('a request to connect shows its host and user, and does not take the focus while typing', async ({
  page,
  company,
  agent,
}) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  await page.getByLabel('Message to Fixer').fill('By the way')
  await page.keyboard.press('Control+k')
  const search = page.getByLabel('Search issues and commands')
  await expect(search).toBeFocused()
  const connection = {
    url: 'https://auth.example.com/start?x=1',
    providerName: 'Example Code',
    userId: company.admin.id,
  }
  await session.auth('I need the code.', connection)
  const connect = page.getByRole('link', { name: 'Connect Example Code', includeHidden: true })
  await expect(connect).toHaveAttribute('href', connection.url)
  await expect(search).toBeFocused()
  await page.keyboard.press('Escape')
  await expect(connect).toHaveAttribute('target', '_blank')
  await expect(connect).toHaveAttribute('rel', /noopener/)
  await expect(page.getByText('Opens auth.example.com in a new tab. For Amir Admin.')).toBeVisible()
  await expect(page.getByLabel('Your answer to Fixer')).toHaveValue('By the way')
})

test('a message restarts a finished session, and an unsent one is kept', async ({ page, company, agent, faults }) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  await session.fail('The door is locked.', 'no_key')
  await expect(page.getByRole('article', { name: 'Failed' })).toContainText('no_key')
  await expect(page.getByText('Sending restarts the session.')).toBeVisible()
  const box = page.getByLabel('Message to Fixer')
  await box.fill('The key is under the mat')

  faults.expect(/Failed to load resource|ERR_FAILED/)
  await page.route('**/activities', (route) => (route.request().method() === 'POST' ? route.abort() : route.fallback()))
  await page.getByRole('button', { name: 'Send' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'Not sent' })).toBeVisible()
  await expect(box).toHaveValue('The key is under the mat')
  const { data } = await company.owner.api.listActivities({ session_id: session.id })
  expect(data.map(({ type }) => type)).toEqual(['error'])

  await page.unroute('**/activities')
  await page.getByRole('button', { name: 'Send' }).click()
  expect((await robot.prompt()).prompt).toBe('The key is under the mat')
  await expect(page.getByText('Waiting for the agent')).toBeVisible()
  await expect(box).toHaveValue('')
  await expect(page.getByText('The key is under the mat')).toHaveCount(1)
})

test('scrolls with new activity only while the end is visible; a long session shows its end first', async ({
  page,
  company,
  agent,
}) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  for (let step = 1; step <= 40; step++) await session.action('step', String(step))
  await expect(page.getByText('step · 40', { exact: true })).toBeInViewport()
  const list = page.getByRole('region', { name: 'Activity' })
  await list.hover()
  await page.mouse.wheel(0, -5000)
  await expect(page.getByText('step · 1', { exact: true })).toBeInViewport()
  await session.action('step', 'last')
  const news = page.getByRole('button', { name: 'New activity' })
  await expect(news).toBeVisible()
  await expect(page.getByText('step · 1', { exact: true })).toBeInViewport()
  await news.click()
  await expect(page.getByText('step · last')).toBeInViewport()
  await expect(news).toBeHidden()
})

test('hostile Markdown is harmless', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const session = await delegated(page, company, robot)
  const asked: string[] = []
  page.on('request', (request) => void asked.push(request.url()))
  await session.respond(
    [
      '<script>document.title = "owned"</script><img src=x onerror="document.title=\'owned\'">',
      '![pixel](https://tracker.example.com/p.png)',
      '[click](javascript:document.title="owned") [data](data:text/html,hi)',
      '<style>body { display: none }</style><iframe src="https://tracker.example.com"></iframe>',
      '[our bank](https://bank.example.com.evil.example.org/login)',
    ].join('\n\n'),
  )
  const answer = page.getByRole('article', { name: 'Answer' })
  await expect(answer.getByText('(bank.example.com.evil.example.org)')).toBeVisible()
  await expect(answer.getByRole('link', { name: /click|data/ })).toHaveCount(0)
  await expect(answer.locator('img, iframe, script, style')).toHaveCount(0)
  expect(await page.title()).not.toBe('owned')
  expect(asked.filter((url) => url.includes('tracker'))).toEqual([])
})

test.describe('on a phone', () => {
  test.use({ viewport: narrow })

  test('a question can be answered', async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const session = await delegated(page, company, robot)
    await session.setPlan(['Look', 'Mend'])
    await session.addUrl('Pull request', `https://code.example.com/${'long-'.repeat(30)}/pull/7`)
    await session.action('read', `${'very/long/path/'.repeat(20)}door.md`)
    await session.select('Which door?', ['front', 'back'])
    await page.getByRole('button', { name: 'back' }).click()
    expect((await robot.prompt()).selected).toEqual(['back'])
    await expect(page.getByText('0 of 2')).toBeVisible()
    expect(await scrolledSideways(page)).toEqual([])
  })
})

test("in the issue's feed the card shows the latest activity and the open question, and expands in place", async ({
  page,
  company,
  example,
}) => {
  const [issue] = company.issues
  const triage = await example('triage')
  await signedIn(page, company.owner)
  await page.goto(`/issue/${issue.code}`)
  await company.owner.api.updateIssue({ issue_id: issue.id, delegate_id: triage.userId })
  const card = page.getByRole('region', { name: /^Session of / })
  // The agent runs in its own process.
  await expect(card.getByText('What kind of issue is ENG-1?')).toBeVisible({ timeout: 15_000 })
  await expect(card.getByText('0 of 3')).toBeVisible()
  const top = async (part: Locator) => (await part.boundingBox())?.y ?? 0
  expect(await top(page.getByText(/delegated it to/))).toBeLessThan(await top(card))
  await card.getByRole('button', { name: 'Something is broken' }).click()
  await expect(card.getByRole('article', { name: 'Answer' })).toContainText('ENG-1 is now a bug with priority high.')
  await expect(card.getByText('3 of 3')).toBeVisible()
  // The answered question stays visible; older activity is folded.
  await expect(card.getByText('Olive Owner chose')).toBeVisible()
  await expect(card.getByRole('button', { name: 'classify · ENG-1' })).toHaveCount(0)
  await card.getByRole('button', { name: /^Show all activity/ }).click()
  await expect(card.getByText('Olive Owner chose')).toBeVisible()
  await expect(card.getByRole('button', { name: 'classify · ENG-1' })).toBeVisible()
  await card.getByRole('link', { name: 'Open session' }).click()
  await expect(page).toHaveURL(/\/agent-session\/sess_/)
  await expect(page.getByRole('article', { name: 'Answer' })).toBeVisible()
})
