import { describe, expect } from 'vitest'
import { type AutomationScene, automationScene } from '../../test/automations.ts'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { newId } from '../ids.ts'

describe('limits', () => {
  /** Runs that finished just now. */
  const fillWith = (
    app: AutomationScene['app'],
    { id }: { id: string },
    count: number,
    state: string,
    reason: string | null,
  ) =>
    app.ctx.db.run(sql`
      insert into automation_runs (id, workspace_id, automation_id, version, cause, state, reason, created_at, finished_at)
      select r.id, a.workspace_id, a.id, 1, 'manual', ${state}, ${reason}, ${app.clock.now()}, ${app.clock.now()}
      from automations a, unnest(${Array.from({ length: count }, () => newId('run'))}::text[]) as r (id)
      where a.id = ${id}`)

  test('skip the 61st run of an hour', verifies('automation.rate-limited'), async ({ app }) => {
    const { automate, owner, newIssue, runsOf, work, commentsOn } = await automationScene(app)
    const automation = await automate()
    await fillWith(app, automation, 59, 'done', null)
    const [last, over] = [await newIssue({}, owner), await newIssue({}, owner)]
    await work()
    expect((await runsOf(automation)).slice(0, 2)).toMatchObject([
      { state: 'skipped', reason: 'rate_limited', issue: { id: over.id } },
      { state: 'done', issue: { id: last.id } },
    ])
    expect(await commentsOn(over)).toEqual([])
    app.clock.advance({ hours: 1, milliseconds: -1 })
    await newIssue({}, owner)
    await work()
    expect((await runsOf(automation))[0]).toMatchObject({ reason: 'rate_limited' })
    app.clock.advance({ milliseconds: 1 })
    await newIssue({}, owner)
    await work()
    expect((await runsOf(automation))[0]).toMatchObject({ state: 'done' })
  })

  test(
    'pause after a hundred skips in an hour',
    verifies('automation.too-many-pauses', 'automation.enable-checks'),
    async ({ app }) => {
      const { automate, owner, member, newIssue, reread, work } = await automationScene(app)
      const automation = await automate()
      await fillWith(app, automation, 60, 'done', null)
      await fillWith(app, automation, 98, 'skipped', 'rate_limited')
      await newIssue({}, owner)
      await work()
      expect(await reread(automation)).toMatchObject({ state: 'on' })
      await newIssue({}, owner)
      await work()
      expect(await reread(automation)).toMatchObject({ state: 'paused', paused_reason: 'too_many_runs' })
      const enable = () => member.post(`/automations/${automation.id}/enable`)
      expect(await app.unchanged(enable)).toMatchObject({
        status: 422,
        body: { details: { trigger: expect.any(String) } },
      })
      app.clock.advance({ hours: 1 })
      expect(await done(enable())).toMatchObject({ state: 'on' })
    },
  )

  test(
    'count 500 runs a day and 1,000 an hour in a workspace',
    verifies('automation.rate-limited'),
    async ({ app }) => {
      const { automate, owner, newIssue, runsOf, work } = await automationScene(app)
      const automation = await automate()
      const other = await automate({ filter: { text: 'nothing' } })
      await fillWith(app, automation, 499, 'done', null)
      app.clock.advance({ hours: 2 })
      const next = async () => {
        await newIssue({}, owner)
        await work()
        return (await runsOf(automation))[0]
      }
      expect(await next()).toMatchObject({ state: 'done' })
      expect(await next()).toMatchObject({ state: 'skipped', reason: 'rate_limited' })
      app.clock.advance({ hours: 24 })
      await fillWith(app, other, 999, 'done', null)
      expect(await next()).toMatchObject({ state: 'done' })
      expect(await next()).toMatchObject({ reason: 'rate_limited' })
    },
  )
})
