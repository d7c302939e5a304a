import { expect } from 'vitest'
import { done, say } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { insideScene, lastBody } from '../../test/inside-agents.ts'

test(
  'the built-in agent suggests what at least 3 of the 5 most similar issues agree on, and nothing else',
  verifies('triage.built-in'),
  async ({ app }) => {
    const { owner, member, builtIn, createIssue, sessionOn, readActivities } = await insideScene(app)
    const label = await done(owner.post('/labels', { name: 'Checkout' }))
    const rare = await done(owner.post('/labels', { name: 'Rare' }))
    const suggested = async (issue: { id: string }) =>
      (await done(member.get(`/issues/${issue.id}/suggestions`))).data.map(
        ({ field, value }: { field: string; value: string }) => [field, value],
      )
    const ask = async (title: string) => {
      const issue = await createIssue({ title, type: 'task' })
      await say(member, issue, `@[Baton](${builtIn}) triage`)
      await app.work()
      return issue
    }
    const similar = [
      { type: 'bug', priority: 'high', label_ids: [label.id, rare.id] },
      { type: 'bug', priority: 'high', label_ids: [label.id] },
    ]
    const cards = ['Swiss card payment fails at checkout', 'Card payment at checkout fails in Switzerland']
    for (const [n, fields] of similar.entries()) await createIssue({ title: cards[n], ...fields })
    await createIssue({ title: 'Invoices show the wrong tax', type: 'bug', priority: 'high', label_ids: [label.id] })
    // Two agree: too few. The issue that does not resemble it does not count.
    expect(await suggested(await ask('Payment by card fails at the checkout'))).toEqual([])

    const third = { type: 'bug', priority: 'high', label_ids: [label.id] }
    await createIssue({ title: 'Checkout: card payment fails for Swiss cards', ...third })
    const issue = await ask('Card payment fails during checkout')
    expect((await suggested(issue)).sort()).toEqual([
      ['label', label.id],
      ['priority', 'high'],
      ['type', 'bug'],
    ])
    expect(await done(member.get(`/issues/${issue.id}`))).toMatchObject({
      type: 'task',
      priority: 'no_priority',
      label_ids: [],
    })
    const answers = (await readActivities(await sessionOn(issue))).filter(({ type }) => type === 'response')
    expect(lastBody(answers)).toMatch(/\*\*Suggested\*\*\n- type \*\*bug\*\*\. Similar issues have it: ENG-\d+/)
    expect(lastBody(answers)).toContain('label **Checkout**')
  },
)
