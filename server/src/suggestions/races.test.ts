import { expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { one, triageScene } from '../../test/suggestions.ts'

const rounds = 8

test(
  'of several people who decide a suggestion at once, one wins',
  verifiesOnPostgres('triage.decided-twice'),
  async ({ app }) => {
    const { asked, newIssue, owner, admin, member } = await triageScene(app)
    for (let round = 0; round < rounds; round++) {
      const { issue, suggest, decide, read } = await asked()
      const original = await newIssue()
      const { data } = await done(suggest([one('priority', 'high'), one('duplicate_of', original.id)]))
      const [priority, duplicate] = data.map(({ id }: { id: string }) => id)
      const answers = await Promise.all([
        decide({ accept: [priority] }, owner),
        decide({ decline: [priority] }, admin),
        decide({ accept: [priority, duplicate] }, member),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      const winner = answers.findIndex(({ status }) => status === 200)
      const after = await read()
      expect(after.priority).toBe(winner === 1 ? issue.priority : 'high')
      expect(after.status).toBe(winner === 2 ? 'done' : issue.status)
    }
  },
)

test(
  'the same key sent several times at once stores one set of suggestions',
  verifiesOnPostgres('triage.suggest-idempotent'),
  async ({ app }) => {
    const { asked } = await triageScene(app)
    const { suggest, open } = await asked()
    const send = () => suggest([one('priority', 'high')], { 'idempotency-key': 'k' })
    const answers = await Promise.all(Array.from({ length: 6 }, send))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data?.[0].id}`)).size).toBe(1)
    expect(await open()).toHaveLength(1)
  },
)
