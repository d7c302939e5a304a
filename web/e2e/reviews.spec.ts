import {
  type Company,
  checkAxe,
  expect,
  keyboardOnly,
  narrow,
  type ScriptedAgent,
  scrolledSideways,
  signedIn,
  test,
  verifies,
} from './baton.ts'
import { toast } from './parts.ts'

/** Answers of the agent to these issues, delegated by the member, with review on. */
async function deliver(company: Company, robot: ScriptedAgent, issues: readonly { id: string }[]) {
  const { owner, member, engineering } = company
  await owner.api.setTeamReview({ team_id: engineering.id, mode: 'on', accept_status: 'done' })
  const sessions = []
  for (const [index, { id }] of issues.entries()) {
    await member.api.updateIssue({ issue_id: id, delegate_id: robot.userId })
    const session = await robot.session()
    await session.setPlan([{ content: 'Oil the hinges', status: 'completed' }])
    await session.addUrl('Pull request', `https://code.example.com/acme/shop/pull/${index + 7}`)
    await session.respond(`Answer **${index + 1}** is ready.`)
    sessions.push(session)
  }
  return sessions
}

test(
  'the queue shows the longest waiting first and is worked through by keyboard alone',
  verifies('review.queue-screen'),
  async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Fixer' })
    const [door, hinges, third] = company.issues
    await deliver(company, robot, [door, hinges, third])
    await signedIn(page, company.member)
    await page.goto('/reviews')
    const queue = page.getByRole('list', { name: 'Waiting for review' })
    await expect(queue.getByRole('listitem')).toHaveText([
      new RegExp(door.code),
      new RegExp(hinges.code),
      new RegExp(third.code),
    ])
    const answer = (number: number) => page.getByText(`Answer ${number} is ready.`)
    await expect(answer(1)).toBeVisible()
    await expect(page.getByRole('link', { name: /Pull request/ })).toBeVisible()
    await expect(page.getByRole('region', { name: 'Plan' }).getByText('Oil the hinges')).toBeVisible()
    keyboardOnly(page)

    await page.keyboard.press('j')
    await expect(answer(2)).toBeVisible()
    await page.keyboard.press('b')
    await expect(page.getByLabel('Reason')).toBeFocused()
    await page.keyboard.type('The upper hinge still squeaks.')
    await page.keyboard.press('Control+Enter')
    expect((await robot.prompt()).prompt).toBe('The upper hinge still squeaks.')
    // The next one follows.
    await expect(answer(3)).toBeVisible()
    await expect(queue.getByRole('listitem')).toHaveCount(2)
    await page.keyboard.press('k')
    await expect(answer(1)).toBeVisible()
    await page.keyboard.press('y')
    await expect(queue.getByRole('listitem')).toHaveCount(1)
    expect((await company.owner.api.getIssue({ issue_id: door.id })).status).toBe('done')
    await expect(answer(3)).toBeVisible()
    await page.keyboard.press('y')
    await expect(page.getByText('Nothing waits for a review')).toBeVisible()
  },
)

test('issue and session show the same bar, and narrow screens too', async ({ page, company, agent, secondBrowser }) => {
  const robot = await agent({ name: 'Fixer' })
  const [door, hinges] = company.issues
  const [first, second] = await deliver(company, robot, [door, hinges])
  await signedIn(page, company.member)
  await page.goto(`/issue/${door.code}`)
  const bar = page.getByRole('region', { name: 'Review' }).first()
  await expect(bar).toContainText('Waiting for review')
  await page.goto(`/agent-session/${first?.id}`)
  await expect(bar).toContainText('Waiting for review')
  await bar.getByRole('button', { name: 'Accept' }).click()
  await expect(toast(page, 'Accepted')).toBeVisible()
  await expect(bar).toHaveCount(0)

  await page.goto(`/agent-session/${second?.id}`)
  await page.setViewportSize(narrow)
  await bar.getByRole('button', { name: 'Send back' }).click()
  await expect(bar.getByLabel('Reason')).toBeFocused()
  await checkAxe(page)
  expect(await scrolledSideways(page)).toEqual([])
  // Another person decides meanwhile, and the bar leaves.
  const other = await secondBrowser(company.owner)
  await other.goto('/reviews')
  await other.getByRole('button', { name: 'Accept' }).click()
  await expect(bar).toHaveCount(0)
  await page.goto('/reviews')
  await expect(page.getByText('Nothing waits for a review')).toBeVisible()
  expect(await scrolledSideways(page)).toEqual([])
})

test('a manager turns review on in the settings of the team', async ({ page, company }) => {
  const { owner, engineering } = company
  await signedIn(page, owner)
  await page.goto(`/settings/teams/${engineering.id}`)
  const box = page.getByRole('checkbox', { name: 'Review the work of agents' })
  await box.click()
  await expect(box).toBeChecked()
  await page.getByLabel('Status after accepting').selectOption('QA')
  await expect(toast(page, 'Saved').first()).toBeVisible()
  await expect
    .poll(() => owner.api.getTeamReview({ team_id: engineering.id }))
    .toEqual({ mode: 'on', accept_status: 'qa' })
  await signedIn(page, company.member)
  await page.goto(`/settings/teams/${engineering.id}`)
  await expect(box).toBeDisabled()
})

test('suggestions are triaged by keyboard alone', async ({ page, company, agent }) => {
  const robot = await agent({ name: 'Fixer' })
  const [door, hinges] = company.issues
  const { api } = company.owner
  const label = await api.createLabel({ name: 'Checkout' })
  for (const issue of [door, hinges]) {
    await company.member.api.createComment({
      target_type: 'issue',
      target_id: issue.id,
      text: `@[Fixer](${robot.userId}) triage`,
    })
    const session = await robot.session()
    await session.client.suggestChanges({
      session_id: session.id,
      suggestions: [
        { field: 'priority', value: 'urgent', reason: 'The shop is closed.' },
        { field: 'label', value: label.id, reason: 'It names the checkout.' },
      ],
    })
  }
  await signedIn(page, company.member)
  await page.goto('/triage')
  const rows = page.getByRole('list', { name: 'Issues to triage' }).getByRole('listitem')
  await expect(rows).toHaveText([new RegExp(hinges.code), new RegExp(door.code)])
  await expect(rows.first()).toContainText('PriorityUrgent')
  await expect(rows.first()).toContainText('LabelCheckout')
  keyboardOnly(page)
  await page.keyboard.press('j')
  await page.keyboard.press('1')
  await expect(rows.first().locator('[aria-pressed="false"]')).toContainText('Urgent')
  await page.keyboard.press('y')
  await expect(rows.first().getByRole('button', { name: /Checkout/ })).toHaveCount(0)
  // The row may change before the answer of the service, and until then no other issue can be decided.
  await expect(toast(page, `${hinges.code}: accepted`)).toBeVisible()
  const after = await api.getIssue({ issue_id: hinges.id })
  expect(after).toMatchObject({ priority: hinges.priority, label_ids: [label.id] })
  await page.keyboard.press('j')
  await page.keyboard.press('n')
  await expect(rows).toHaveText([new RegExp(hinges.code)])
  expect((await api.getIssue({ issue_id: door.id })).label_ids).toEqual(door.label_ids)
  await page.setViewportSize(narrow)
  expect(await scrolledSideways(page)).toEqual([])
})

test(
  "the switch in the team's settings makes, turns off and removes triage",
  verifies('triage.one-per-team'),
  async ({ page, company, agent }) => {
    const robot = await agent({ name: 'Sorter' })
    const { member, engineering } = company
    const triage = async () =>
      (await member.api.listAutomations({ team_id: engineering.id })).data.find(({ preset }) => preset === 'triage')
    await signedIn(page, member)
    await page.goto(`/settings/teams/${engineering.id}`)
    const section = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Triage' }) })
    await section.getByLabel('Agent').selectOption('Sorter')
    await section.getByRole('button', { name: 'Turn on triage' }).click()
    const box = section.getByRole('checkbox', { name: 'Ask Sorter about each new issue' })
    await expect(box).toBeChecked()
    expect(await triage()).toMatchObject({ state: 'on', actions: [{ type: 'ask_agent', agent_id: robot.userId }] })
    await box.click()
    await expect(box).not.toBeChecked()
    expect((await triage())?.state).toBe('off')
    await section.getByRole('button', { name: 'Remove' }).click()
    await expect(section.getByRole('button', { name: 'Turn on triage' })).toBeVisible()
    expect(await triage()).toBeUndefined()
  },
)
