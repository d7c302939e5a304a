import { describe, expect } from 'vitest'
import { done, teamwork } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, type TestPerson, test, verifies } from '../../test/harness.ts'
import { type IssueScene, issueScene, makeIssue } from '../../test/issues.ts'
import type { Queryable, Tx } from '../db/database.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { newId } from '../ids.ts'
import { holdCoverage } from '../installations/agents.ts'
import { transact } from '../unit-of-work.ts'
import { type ChangeOfMany, changeIssues, removeIssues } from './many.ts'

const callerOf = ({ user, workspaceId }: TestPerson): Member => ({
  kind: 'person',
  id: user.id,
  name: user.display_name,
  email: user.email,
  tokenHash: Buffer.alloc(32),
  scopes: null,
  workspaceId,
  role: 'owner',
  loginMethod: null,
  recent: false,
})

/** Runs the change as this person. Returns how many statements it took. */
async function change(app: TestApp, by: TestPerson, ids: string[], to: ChangeOfMany): Promise<number> {
  let statements = 0
  const counted = (tx: Tx): Tx => {
    const count =
      <T>(send: (statement: Sql) => Promise<T>) =>
      (statement: Sql) => {
        statements++
        return send(statement)
      }
    const queries: Queryable = {
      rows: count((statement) => tx.rows(statement)) as Queryable['rows'],
      row: count((statement) => tx.row(statement)) as Queryable['row'],
      run: count((statement) => tx.run(statement)),
    }
    return { ...tx, ...queries }
  }
  await transact(app.ctx, callerOf(by), async (unit) => {
    await holdCoverage(unit.tx, by.workspaceId)
    await changeIssues({ ...unit, tx: counted(unit.tx) }, ids, () => to)
  })
  return statements
}

/** Inserts many issues at once, without their events. */
async function fill(app: TestApp, { id, team, member }: IssueScene, count: number, prefix: string) {
  const ids = Array.from({ length: count }, () => newId('iss'))
  await app.ctx.db.run(sql`
    insert into issues (id, workspace_id, code, title, description, status, priority, type, team_id, reporter_id,
      assignee_id, delegation_revision, personal, sort_order, created_at, updated_at)
    select one, ${id}, ${prefix} || '-' || n, 'One of many', '', 'todo', 'low', 'task', ${team.id}, ${member.user.id},
      ${member.user.id}, 0, false, n, ${app.clock.now()}, ${app.clock.now()}
    from unnest(${ids}::text[]) with ordinality as t (one, n)`)
  return ids
}

describe('many issues', () => {
  test('change with a number of statements that depends only on the groups of 200', async ({ app }) => {
    const scene = await issueScene(app)
    const few = await change(app, scene.owner, await fill(app, scene, 2, 'FEW'), { assignee_id: null })
    const ids = await fill(app, scene, 1000, 'MANY')
    const to = { assignee_id: scene.admin.user.id }
    const events = await eventsOf(app, scene.id, async () => {
      expect(await change(app, scene.owner, ids, to)).toBeLessThanOrEqual(5 * (few + 2))
    })
    expect(events).toHaveLength(1000)
    expect(new Set(names(events))).toEqual(new Set(['Issue update']))
    const counts = await app.ctx.db.row(sql`
      select (select count(*)::int from issues where assignee_id = ${scene.admin.user.id}) as issues,
        (select count(*)::int from issue_changes where workspace_id = ${scene.id} and issue_id = any(${ids})) as history,
        (select count(*)::int from inbox_entries where user_id = ${scene.admin.user.id}) as inbox`)
    expect(counts).toEqual({ issues: 1000, history: 1000, inbox: 1000 })
  })

  test('get new labels, and only those that change are recorded', async ({ app }) => {
    const scene = await issueScene(app)
    const { id, owner } = scene
    const label = async (name: string) => (await done(owner.post('/labels', { name }))).id
    const [old, kept, target] = [await label('Old'), await label('Kept'), await label('Target')].sort()
    const issues = [
      await makeIssue(scene, { label_ids: [old, kept] }),
      await makeIssue(scene, { label_ids: [old, target] }),
      await makeIssue(scene, { label_ids: [target] }),
    ]
    const ids = issues.map((issue) => issue.id)
    const events = await eventsOf(app, id, () =>
      transact(app.ctx, callerOf(owner), (unit) =>
        changeIssues(unit, ids, ({ label_ids }) => ({
          label_ids: label_ids.map((one) => (one === old ? (target as string) : one)),
        })),
      ),
    )
    expect(events.map(({ body }) => [body.data.id, body.updated_from.label_ids])).toEqual([
      [ids[0], [old, kept]],
      [ids[1], [old, target]],
    ])
    const after = await Promise.all(ids.map(async (one) => (await done(owner.get(`/issues/${one}`))).label_ids))
    expect(after).toEqual([[kept, target].sort(), [target], [target]])
  })

  test(
    'that move get codes of the new team, and lose agents that do not cover it',
    verifies('installation.issue-moved-out'),
    async ({ app, receiver }) => {
      const { id, owner, member, team, outside, robot, delegated, issueIn, reread, rereadSession } = await teamwork(
        app,
        receiver,
      )
      const cycle = await done(owner.post('/cycles', { name: 'One', team_id: team.id }))
      const { issue, session } = await delegated(member)
      const plain = await issueIn(team.id, { cycle_id: cycle.id })
      const events = await eventsOf(app, id, () => change(app, owner, [plain.id, issue.id], { team_id: outside.id }))
      expect(names(events)).toEqual(['Issue update', 'Issue update'])
      expect(events.map(({ team_ids }) => [...team_ids].sort())).toEqual(events.map(() => [team.id, outside.id].sort()))
      expect(await reread(issue)).toMatchObject({
        code: 'DES-1',
        team_id: outside.id,
        delegate_id: null,
        delegation_revision: issue.delegation_revision + 1,
        assignee_id: member.user.id,
      })
      expect(await reread(plain)).toMatchObject({ code: 'DES-2', cycle_id: null })
      expect((await done(owner.get(`/issues/${issue.code}`))).id).toBe(issue.id)
      expect(await rereadSession(session)).toMatchObject({ state: 'complete', end_reason: 'team_removed' })
      expect((await robot.get(`/issues/${issue.id}`)).status).toBe(403)
    },
  )

  test('are deleted with one remove each', verifies('issue.delete-emits-one-remove'), async ({ app, receiver }) => {
    const { id, owner, member, team, delegated, issueIn, rereadSession } = await teamwork(app, receiver)
    const { issue, session } = await delegated(member)
    const plain = await issueIn(team.id)
    const kept = await issueIn(team.id)
    const events = await eventsOf(app, id, () =>
      transact(app.ctx, callerOf(owner), (unit) => removeIssues(unit, [issue.id, plain.id])),
    )
    expect(names(events)).toEqual(['Issue remove', 'Issue remove'])
    expect(await rereadSession(session)).toMatchObject({ state: 'complete', end_reason: 'issue_deleted' })
    const { data } = await done(owner.get('/issues'))
    expect(data.map((one: { id: string }) => one.id)).toEqual([kept.id])
  })
})
