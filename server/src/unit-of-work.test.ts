import { expect } from 'vitest'
import { at, type Teamwork, teamwork } from '../test/delegation.ts'
import { type TestApp, test } from '../test/harness.ts'
import { postActivity } from './agent-sessions/post.ts'
import { stopSession } from './agent-sessions/stop.ts'
import { plus } from './clock.ts'
import { createComment } from './comments/comments.ts'
import type { Context } from './context.ts'
import { type Sql, sql } from './db/sql.ts'
import type { Member } from './http/caller.ts'
import { createIssue } from './issues/create.ts'
import { updateIssue } from './issues/update.ts'
import { transact } from './unit-of-work.ts'

/** The context with a clock that is a second later at each reading. */
function ticking({ ctx, clock }: TestApp) {
  const readings: Date[] = []
  const now = () => {
    readings.push(plus(clock.now(), (readings.length + 1) * 1000))
    return readings.at(-1) as Date
  }
  return { readings, ctx: { ...ctx, clock: { now, after: clock.after.bind(clock) } } satisfies Context }
}

const memberOf = ({ member: { user, workspaceId } }: Teamwork): Member => ({
  kind: 'person',
  id: user.id,
  name: user.display_name,
  email: user.email,
  tokenHash: Buffer.alloc(0),
  scopes: null,
  workspaceId,
  role: 'member',
  loginMethod: null,
  recent: false,
})

/** The distinct values of the column `at` of these rows, with how many rows have them. */
const times = async ({ ctx }: TestApp, rows: Sql) =>
  ctx.db.rows<{ at: string; count: number }>(sql`select at, count(*)::int as count from (${rows}) r group by at`)

test('everything a delegation writes has the same time', async ({ app, receiver }) => {
  const place = await teamwork(app, receiver, { resourceTypes: ['Issue'] })
  const { ctx, readings } = ticking(app)
  const issue = await createIssue(ctx, memberOf(place), {
    title: 'A bug',
    team_id: place.team.id,
    assignee_id: place.owner.user.id,
    delegate_id: place.robot.userId,
  })
  const ofWorkspace = sql`workspace_id = ${place.id}`
  const written = await times(
    app,
    sql`
      select created_at as at from issues where id = ${issue.id}
      union all select updated_at from issues where id = ${issue.id}
      union all select created_at from events where ${ofWorkspace} and type in ('Issue', 'AgentSessionEvent')
      union all select created_at from deliveries where ${ofWorkspace} and type in ('Issue', 'AgentSessionEvent')
      union all select created_at from inbox_entries where ${ofWorkspace}
      union all select created_at from agent_sessions where issue_id = ${issue.id}
      union all select quiet_since from agent_sessions where issue_id = ${issue.id}`,
  )
  expect(readings).toHaveLength(1)
  expect(written).toEqual([{ at: readings[0]?.toISOString(), count: 9 }])
})

test('everything a message to an agent writes has the same time', async ({ app, receiver }) => {
  const place = await teamwork(app, receiver)
  const { session } = await place.delegated()
  const { ctx, readings } = ticking(app)
  const content = { type: 'prompt', body: 'How is it going?' }
  await postActivity(ctx, memberOf(place), session.id, { body: { content }, key: undefined })
  const written = await times(
    app,
    sql`
      select created_at as at from agent_activities where session_id = ${session.id}
      union all select updated_at from agent_sessions where id = ${session.id}
      union all select created_at from events where agent_session_id = ${session.id} and action = 'prompted'`,
  )
  expect(readings).toHaveLength(1)
  expect(written).toEqual([{ at: readings[0]?.toISOString(), count: 3 }])
})

test('a verb reads the clock once', async ({ app, receiver }) => {
  const place = await teamwork(app, receiver)
  const { issue, session } = await place.delegated()
  const caller = memberOf(place)
  const text = `Look, ${at(place.robot)}`
  const verbs: ((ctx: Context) => Promise<unknown>)[] = [
    (ctx) => createComment(ctx, caller, { target_type: 'issue', target_id: issue.id, text }),
    (ctx) => stopSession(ctx, caller, session.id),
    (ctx) => updateIssue(ctx, caller, issue.id, { delegate_id: null }),
  ]
  for (const verb of verbs) {
    const { ctx, readings } = ticking(app)
    await verb(ctx)
    expect(readings).toHaveLength(1)
  }
})

test('a transaction that is tried again has a new time', async ({ app }) => {
  const { ctx, readings } = ticking(app)
  const conflict = Object.assign(new Error('deadlock'), { code: '40P01' })
  const used: Date[] = []
  await transact(ctx, null, async ({ now }) => {
    used.push(now)
    if (used.length === 1) throw conflict
  })
  expect(used).toEqual(readings)
  expect(used).toHaveLength(2)
})
