import { describe, expect } from 'vitest'
import { invalid, refusal } from '../../test/agent-sessions.ts'
import { done } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { asApp } from '../../test/oauth.ts'
import { one, triageScene } from '../../test/suggestions.ts'

type Suggested = { id: string; field: string; value: string; state: string }
const idsOf = (suggestions: Suggested[]) => suggestions.map(({ id }) => id)

describe('accepting', () => {
  test(
    'applies all chosen suggestions as one change by the person, with one event',
    verifies('triage.accept'),
    async ({ app }) => {
      const { asked, newProject, owner, member, label, red, id } = await triageScene(app)
      const { issue, suggest, open, decide, read } = await asked({ label_ids: [red.id] })
      const project = await newProject()
      const { data } = await done(
        suggest([
          one('priority', 'urgent'),
          one('type', 'story'),
          one('label', label.id),
          one('assignee', owner.user.id),
          one('project', project.id),
        ]),
      )
      const [priority, ...others] = idsOf(data)
      const events = await eventsOf(app, id, async () => {
        const answer = await done(decide({ accept: others, decline: [priority] }, member))
        expect(answer.data.map(({ state }: Suggested) => state)).toEqual(['declined', ...others.map(() => 'accepted')])
        expect(answer.data[1]).toMatchObject({ decided_by: member.user.id, decided_at: expect.any(String) })
      })
      expect(names(events)).toEqual(['Issue update'])
      expect(events[0]?.body.actor).toMatchObject({ id: member.user.id, type: 'user' })
      expect(Object.keys(events[0]?.body.updated_from).sort()).toEqual([
        'assignee_id',
        'label_ids',
        'project_id',
        'type',
        'updated_at',
      ])
      expect(await read()).toMatchObject({
        priority: issue.priority,
        type: 'story',
        label_ids: [label.id, red.id].sort(),
        assignee_id: owner.user.id,
        project_id: project.id,
      })
      expect(await open()).toEqual([])
    },
  )

  test('a duplicate does what marking it does, once', verifies('triage.accept-duplicate'), async ({ app }) => {
    const { asked, newIssue, member, id } = await triageScene(app)
    const { issue, suggest, decide, read } = await asked()
    const original = await newIssue()
    const { data } = await done(suggest([one('duplicate_of', original.id), one('priority', 'low')]))
    const events = await eventsOf(app, id, () => done(decide({ accept: idsOf(data) }, member)))
    expect(names(events)).toEqual(['Issue update'])
    expect(await read()).toMatchObject({ status: 'done', priority: 'low', delegate_id: null })
    const related = await done(member.get(`/issues/${issue.id}/related`))
    expect(related.duplicate_of).toMatchObject({ id: original.id })
    const { data: history } = await done(member.get(`/issues/${issue.id}/history`))
    const marks = history.filter(({ changes }: { changes: object }) => 'duplicate_of_id' in changes)
    expect(marks).toMatchObject([{ actor: { id: member.user.id } }])
  })
})

test('declining changes the suggestion alone', verifies('triage.decline'), async ({ app }) => {
  const { asked, member, id } = await triageScene(app)
  const { suggest, decide, read, open } = await asked()
  const before = await read()
  const { data } = await done(suggest([one('priority', 'high'), one('type', 'bug')]))
  const events = await eventsOf(app, id, async () => {
    const answer = await done(decide({ decline: [data[0].id] }, member))
    expect(answer.data).toEqual([
      { ...data[0], state: 'declined', decided_by: member.user.id, decided_at: expect.any(String) },
    ])
  })
  expect(names(events)).toEqual([])
  expect(await read()).toEqual(before)
  expect(idsOf(await open())).toEqual([data[1].id])
})

test(
  'a decision names 1 to 20 suggestions of the issue, each once',
  verifies('triage.decided-twice'),
  async ({ app }) => {
    const { asked, member, robot, id } = await triageScene(app)
    const { issue, suggest, decide } = await asked()
    const other = await asked()
    const [mine] = (await done(suggest([one('priority', 'high')]))).data
    const [theirs] = (await done(other.suggest([one('priority', 'high')]))).data
    const tooMany = Array.from({ length: 21 }, (_, n) => `sug_${n}`)
    const cases: [object, string][] = [
      [{}, 'accept'],
      [{ accept: [], decline: [] }, 'accept'],
      [{ accept: tooMany.slice(0, 11), decline: tooMany.slice(11) }, 'accept'],
      [{ accept: [mine.id], decline: [mine.id] }, 'decline.0'],
      [{ accept: [mine.id, theirs.id] }, 'accept.1'],
    ]
    for (const [body, field] of cases) {
      expect(await app.unchanged(() => decide(body))).toMatchObject({
        ...invalid,
        body: { details: { [field]: expect.any(String) } },
      })
    }
    const { body: created } = await member.post('/personal-tokens', { name: 'Script', scopes: ['read', 'write'] })
    for (const client of [robot, asApp(app, id, created.token)]) {
      const call = () => client.post(`/issues/${issue.id}/suggestions/decide`, { accept: [mine.id] })
      expect(await app.unchanged(call)).toMatchObject(refusal(403, 'SESSION_ONLY_ROUTE'))
    }
  },
)

test(
  'a decided suggestion is refused, and nothing of the call is applied',
  verifies('triage.decided-twice'),
  async ({ app }) => {
    const { asked, member } = await triageScene(app)
    const { suggest, decide } = await asked()
    const { data } = await done(suggest([one('priority', 'high'), one('type', 'bug')]))
    await done(decide({ accept: [data[0].id] }))
    const again = () => decide({ accept: [data[1].id, data[0].id] }, member)
    expect(await app.unchanged(again)).toMatchObject(
      refusal(409, 'SUGGESTION_DECIDED', { suggestion_id: data[0].id, state: 'accepted' }),
    )
  },
)

describe('a suggestion becomes outdated', () => {
  test('when its value is gone, and nothing is applied', verifies('triage.outdated'), async ({ app }) => {
    const { asked, newIssue, owner, label, id } = await triageScene(app)
    const { suggest, decide, read, open } = await asked()
    const original = await newIssue()
    const { data } = await done(
      suggest([one('priority', 'high'), one('label', label.id), one('duplicate_of', original.id)]),
    )
    await done(owner.delete(`/labels/${label.id}`))
    await done(owner.delete(`/issues/${original.id}`))
    const before = await read()
    const events = await eventsOf(app, id, async () => {
      expect(await decide({ accept: idsOf(data) })).toMatchObject(
        refusal(409, 'SUGGESTION_OUTDATED', { suggestion_ids: [data[1].id, data[2].id] }),
      )
    })
    expect(names(events)).toEqual([])
    expect(await read()).toEqual(before)
    expect(idsOf(await open())).toEqual([data[0].id])
    const gone = await done(owner.get(`/issues/${before.id}/suggestions?state=outdated`))
    expect(idsOf(gone.data)).toEqual([data[2].id, data[1].id])
    await done(decide({ accept: [data[0].id] }))
  })

  test('with the change of a person that sets its field', verifies('triage.outdated'), async ({ app }) => {
    const { asked, newIssue, newProject, member, owner, robot, label, red } = await triageScene(app)
    const { issue, suggest, open } = await asked()
    const original = await newIssue()
    const project = await newProject()
    const all = [
      one('priority', 'high'),
      one('type', 'story'),
      one('label', label.id),
      one('label', red.id),
      one('assignee', owner.user.id),
      one('project', project.id),
      one('duplicate_of', original.id),
    ]
    await done(suggest(all))
    const fields = async () => (await open()).map(({ field }: Suggested) => field).sort()
    const every = all.map(({ field }) => field).sort()
    // Other fields, and changes by agents, leave them open.
    await done(member.put(`/issues/${issue.id}`, { title: 'Another title', status: 'todo' }))
    await done(robot.put(`/issues/${issue.id}`, { priority: 'low' }))
    expect(await fields()).toEqual(every)
    const steps: [object, string][] = [
      [{ priority: 'medium' }, 'priority'],
      [{ type: 'bug' }, 'type'],
      [{ label_ids: [red.id] }, 'label'],
      [{ assignee_id: member.user.id }, 'assignee'],
      [{ project_id: project.id }, 'project'],
    ]
    const left = [...every]
    for (const [change, field] of steps) {
      await done(member.put(`/issues/${issue.id}`, change))
      left.splice(left.indexOf(field), 1)
      expect(await fields()).toEqual(left)
    }
    expect((await open()).find(({ field }: Suggested) => field === 'label').value).toBe(label.id)
    await done(member.put(`/issues/${issue.id}/duplicate-of`, { issue_id: (await newIssue()).id }))
    expect(await fields()).toEqual(['label'])
  })
})
