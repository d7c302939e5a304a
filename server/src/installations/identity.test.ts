import { setTimeout } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import type { Response } from '../../test/client.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { denied, id, reachScene as scene } from '../../test/reach.ts'
import { type Sql, sql } from '../db/sql.ts'

test(
  'content written by an app is attributed to its app user',
  verifies('identity.writes-attributed-to-app-user', 'comment.app-author-is-app-user'),
  async ({ app }) => {
    const { robot, team, id: workspaceId } = await scene(app)
    const events = await eventsOf(app, workspaceId, async () => {
      const { body: issue } = await robot.post('/issues', { title: 'A bug', team_id: team })
      expect(issue.reporter_id).toBe(robot.userId)
      const comment = { target_type: 'issue', target_id: issue.id, text: 'Hello' }
      expect((await robot.post('/comments', comment)).body.author_id).toBe(robot.userId)
      await robot.put(`/issues/${issue.id}`, { status: 'in_progress' })
      await robot.post('/projects', { title: 'A plan', team_ids: [team] })
    })
    expect(names(events)).toEqual(['Issue create', 'Comment create', 'Issue update', 'Project create'])
    const actor = { id: robot.userId, type: 'application', name: robot.app.name }
    expect(events.map(({ body }) => body.actor)).toEqual([actor, actor, actor, actor])
  },
)

describe('while a call waits for a lock', () => {
  /** Runs `call` while the row is locked, and releases the lock after `change`. */
  const during = async (app: TestApp, hold: Sql, change: Sql, call: () => Promise<Response>) => {
    let answer: Promise<Response> | undefined
    await app.ctx.db.tx(async (tx) => {
      await tx.rows(hold)
      answer = call()
      await setTimeout(300)
      await tx.run(change)
    })
    return answer
  }

  test(
    'refuses it if its item leaves the reach of the app',
    verifiesOnPostgres('scope.other-team-issue-denied', 'scope.other-team-comment-denied'),
    async ({ app }) => {
      const { robot, team, otherTeam, member } = await scene(app)
      const calls: Record<string, (issue: string) => Promise<Response>> = {
        put: (issue) => robot.put(`/issues/${issue}`, { title: 'Mine' }),
        delete: (issue) => robot.delete(`/issues/${issue}`),
        comment: (target_id) => robot.post('/comments', { target_type: 'issue', target_id, text: 'Hello' }),
      }
      for (const [name, call] of Object.entries(calls)) {
        const issue = await id(member.post('/issues', { title: 'A bug', team_id: team }))
        const hold = sql`select 1 from issues where id = ${issue} for update`
        const moved = sql`update issues set team_id = ${otherTeam} where id = ${issue}`
        expect(await during(app, hold, moved, () => call(issue)), name).toMatchObject(denied)
        expect((await member.get(`/issues/${issue}`)).body.title).toBe('A bug')
        expect((await member.get(`/comments?target_type=issue&target_id=${issue}`)).body.data).toEqual([])
      }
      const projectCalls: Record<string, (project: string) => Promise<Response>> = {
        put: (project) => robot.put(`/projects/${project}`, { title: 'Mine' }),
        delete: (project) => robot.delete(`/projects/${project}`),
        comment: (target_id) => robot.post('/comments', { target_type: 'project', target_id, text: 'Hello' }),
      }
      for (const [name, call] of Object.entries(projectCalls)) {
        const project = await id(member.post('/projects', { title: 'A plan', team_ids: [team, otherTeam] }))
        const hold = sql`select 1 from projects where id = ${project} for update`
        const left = sql`delete from project_teams where project_id = ${project} and team_id = ${team}`
        expect(await during(app, hold, left, () => call(project)), name).toMatchObject(denied)
        expect((await member.get(`/projects/${project}`)).body.title).toBe('A plan')
      }
    },
  )
})

describe('identity', () => {
  test('an app can read its identity', verifies('identity.auth-me-app', 'identity.app-user-kinds'), async ({ app }) => {
    const { robot } = await scene(app)
    expect((await robot.get('/auth/me')).body).toEqual({
      user: { id: robot.userId, display_name: robot.app.name, user_kind: 'application', agent_kind: 'app' },
      app: { id: robot.app.id, name: robot.app.name },
      installation_id: robot.installationId,
    })
  })

  test(
    'an app can send only the workspace it is installed in',
    verifies(
      'identity.workspaces-me-app',
      'workspace.header-missing-app-token-400',
      'workspace.header-not-the-apps-403',
    ),
    async ({ app }) => {
      const { robot, id: workspaceId } = await scene(app)
      const stranger = await app.workspace()
      expect((await robot.get('/workspaces/me')).body.id).toBe(workspaceId)
      const bare = app.anonymous.with({ authorization: `Bearer ${robot.token}` })
      const lost = robot.with({ 'x-workspace-id': stranger.id })
      for (const path of ['/workspaces/me', '/issues', '/teams/select', '/auth/me']) {
        const required = { status: 400, body: { code: 'WORKSPACE_REQUIRED' } }
        expect(await bare.get(path), path).toMatchObject(path === '/auth/me' ? { status: 200 } : required)
        expect(await lost.get(path), path).toMatchObject({ status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } })
      }
    },
  )
})
