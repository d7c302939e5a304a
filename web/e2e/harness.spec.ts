import { checkAxe, expect, keyboardOnly, signedIn, test } from './baton.ts'
import { Faults } from './faults.ts'

/** Tests of the fixtures: each check can fail, and the agents and receivers are real. */

const broken: Record<string, { act: () => void; fault: RegExp }> = {
  'an error on the console': { act: () => console.error('broken'), fault: /broken/ },
  'an uncaught error': {
    act: () => void setTimeout(() => Promise.reject(new Error('broken'))),
    fault: /uncaught: .*broken/,
  },
  'a violation of the security policy': {
    act: () => {
      const script = document.createElement('script')
      script.textContent = 'document.title = "run"'
      document.head.append(script)
    },
    fault: /blocked by script-src-elem: inline/,
  },
}

for (const [what, { act, fault }] of Object.entries(broken)) {
  test(`${what} is a fault`, async ({ browser, baseURL }) => {
    const faults = new Faults()
    const context = await browser.newContext()
    await faults.watch(context)
    const page = await context.newPage()
    await page.goto(`${baseURL}/docs`)
    faults.check()
    await page.evaluate(act)
    await expect(async () => expect(() => faults.check()).toThrow(fault)).toPass({ timeout: 5000 })
    await context.close()
  })
}

test('fails if an expected fault does not occur', async ({ faults: _ }) => {
  const faults = new Faults()
  faults.expect(/status of 404/)
  expect(() => faults.check()).toThrow(/did not occur/)
})

test('ignores an expected fault', async ({ page, faults }) => {
  faults.expect(/status of 404/)
  await page.goto('/docs/nowhere')
})

test('axe reports a violation', async ({ page }) => {
  await page.goto('/docs')
  await page.evaluate(() => document.body.append(document.createElement('button')))
  await expect(checkAxe(page)).rejects.toThrow(/button-name/)
})

test('keyboardOnly refuses the pointer and focus()', async ({ page }) => {
  await page.goto('/docs')
  const link = page.getByRole('link', { name: 'Baton' }).first()
  await link.hover()
  // After the link that skips to the content.
  await page.keyboard.press('Tab')
  keyboardOnly(page)
  for (const use of [() => link.click(), () => link.focus(), () => page.mouse.move(1, 1), () => page.click('a')]) {
    expect(use).toThrow(/is not the keyboard/)
  }
  await page.keyboard.press('Tab')
  await expect(link).toBeFocused()
})

test('each browser has its own signed-in person', async ({ page, company, secondBrowser }) => {
  const nameIn = async (browser: typeof page) => {
    await browser.goto('/docs')
    return browser.evaluate(async () => (await (await fetch('/api/v1/auth/me')).json()).user?.display_name)
  }
  const other = await secondBrowser(company.member)
  await signedIn(page, company.owner)
  expect(await nameIn(page)).toBe(company.owner.name)
  expect(await nameIn(other)).toBe(company.member.name)
})

test('a scripted agent receives deliveries and posts the activities of the test', async ({ company, agent }) => {
  const robot = await agent({ teamIds: [company.engineering.id] })
  const [issue] = company.issues
  const { api } = company.owner
  await api.updateIssue({ issue_id: issue.id, delegate_id: robot.userId })
  const session = await robot.session()
  const question = await session.select('Which door?', ['front', 'back'])
  await api.postActivity({
    session_id: session.id,
    content: { type: 'prompt', body: 'front' },
    signal_metadata: { in_reply_to: question.id, selected: ['front'] },
  })
  const answer = await robot.prompt()
  expect(answer.selected).toEqual(['front'])
  await api.stopAgentSession({ session_id: session.id })
  await (await robot.stop()).respond('Left as it was.')
  const { data } = await api.listActivities({ session_id: session.id })
  expect(data.map(({ type }) => type)).toEqual(['elicitation', 'prompt', 'prompt', 'response'])
  expect(await api.getAgentSession({ session_id: session.id })).toMatchObject({
    state: 'complete',
    end_reason: 'stopped',
  })
})

test('an example agent answers a delegated issue', async ({ company, example }) => {
  const echo = await example('echo')
  const { api } = company.owner
  const issue = await api.createIssue({ title: 'Hello', team_id: company.engineering.id, delegate_id: echo.userId })
  const state = async () => (await api.listAgentSessions({ issue_id: issue.id })).data[0]?.state
  await expect.poll(state).toBe('complete')
})

test('a receiver answers with the configured status', async ({ company, receiver }) => {
  const there = await receiver()
  const { api } = company.owner
  const { id } = await api.createWebhook({
    label: 'There',
    url: there.url,
    all_teams: true,
    resource_types: ['Issue'],
  })
  there.answer = 500
  expect(await api.testWebhook({ webhook_id: id })).toMatchObject({ ok: false, status: 500 })
  there.answer = 200
  expect(await api.testWebhook({ webhook_id: id })).toMatchObject({ ok: true, status: 200 })
})
