import { setTimeout } from 'node:timers/promises'
import { describe, expect } from 'vitest'
import { at, done, say, type Teamwork, teamwork, workScopes } from '../../test/delegation.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifiesOnPostgres } from '../../test/harness.ts'
import { type Sql, sql } from '../db/sql.ts'

/** Delegations and open sessions that no installation covers. There must never be any. */
async function uncovered(app: TestApp, workspaceId: string) {
  const covered = (teams: Sql) => sql`n.revoked_at is null and not personal and (n.all_teams or n.team_ids && ${teams})`
  return app.ctx.db.rows(sql`
    select i.id from issues i join installations n on n.app_user_id = i.delegate_id
    where i.workspace_id = ${workspaceId} and not (${covered(sql`array[i.team_id]`)})
    union all
    select s.id from agent_sessions s join installations n on n.id = s.installation_id join issues i on i.id = s.issue_id
    where s.workspace_id = ${workspaceId} and s.ended_at is null and not (${covered(sql`array[i.team_id]`)})
    union all
    select s.id from agent_sessions s join installations n on n.id = s.installation_id join projects p on p.id = s.project_id
    where s.workspace_id = ${workspaceId} and s.ended_at is null
      and not (${covered(sql`array(select team_id from project_teams where project_id = p.id)`)})`)
}

/** Takes a lock, starts the calls, which wait for it, and releases it. */
async function raceBehindLock(app: TestApp, lock: Sql, calls: (() => Promise<unknown>)[], meanwhile?: Sql) {
  const running: Promise<unknown>[] = []
  await app.ctx.db.tx(async (tx) => {
    await tx.run(lock)
    for (const call of calls) {
      running.push(call())
      await setTimeout(150)
    }
    if (meanwhile) await tx.run(meanwhile)
  })
  return Promise.all(running)
}

const rounds = 8

describe('concurrently', () => {
  test(
    'two delegations of an issue to different agents apply one after the other, to the same agent only once',
    verifiesOnPostgres('delegation.revision-increments-on-each-change', 'delegation.opens-session'),
    async ({ app, receiver }) => {
      const { id, owner, member, robot, team, issueIn, sessionsOn, reread } = await teamwork(app, receiver)
      const second = await app.installed(owner, { scopes: workScopes, webhook: receiver.url })
      for (let round = 0; round < rounds; round++) {
        const same = await issueIn(team.id)
        const once = await eventsOf(app, id, () =>
          Promise.all([owner, member].map((one) => done(one.put(`/issues/${same.id}`, { delegate_id: robot.userId })))),
        )
        expect(names(once)).toEqual(['Issue update', 'AgentSessionEvent created'])
        const [only, ...none] = await sessionsOn(same)
        expect(none).toEqual([])
        // The first delegator is the assignee.
        expect(await reread(same)).toMatchObject({ delegation_revision: 1, assignee_id: only.creator.id })

        const issue = await issueIn(team.id)
        await Promise.all([
          done(owner.put(`/issues/${issue.id}`, { delegate_id: robot.userId })),
          done(member.put(`/issues/${issue.id}`, { delegate_id: second.userId })),
        ])
        const { delegate_id, delegation_revision } = await reread(issue)
        expect(delegation_revision).toBe(2)
        const sessions = await sessionsOn(issue)
        expect(sessions).toHaveLength(2)
        for (const { app_user_id, end_reason } of sessions) {
          expect(end_reason).toBe(app_user_id === delegate_id ? null : 'undelegated')
        }
      }
    },
  )

  const removals: Record<string, (scene: Teamwork) => Promise<unknown>> = {
    uninstalling: ({ owner, robot }) => done(owner.delete(`/installations/${robot.installationId}`)),
    'changing the teams of': ({ owner, robot, outside }) =>
      done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [outside.id] })),
  }
  for (const [name, remove] of Object.entries(removals)) {
    test(
      `delegating to, mentioning and ${name} an app leaves no uncovered delegation or session`,
      verifiesOnPostgres('delegation.released-on-team-removal', 'delegation.released-on-uninstall'),
      async ({ app, receiver }) => {
        for (let round = 0; round < rounds; round++) {
          const scene = await teamwork(app, receiver)
          const { id, owner, member, robot, team, issueIn, sessions } = scene
          const issue = await issueIn(team.id)
          const talked = await issueIn(team.id)
          const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id] }))
          const [answer] = await Promise.all([
            member.put(`/issues/${issue.id}`, { delegate_id: robot.userId }),
            say(owner, talked, at(robot)),
            say(owner, project, at(robot)),
            robot.post('/agent-sessions', { issue_id: issue.id }),
            remove(scene),
          ])
          expect(await uncovered(app, id)).toEqual([])
          if (answer.status !== 200) expect(answer.body.code).toBe('DELEGATE_UNAVAILABLE')
          for (const { ended_at } of await sessions()) expect(ended_at).not.toBeNull()
        }
      },
    )
  }

  test(
    'moving an issue to a team that leaves the coverage ends its sessions',
    verifiesOnPostgres('installation.issue-moved-out', 'installation.removed-team-ends-sessions'),
    async ({ app, receiver }) => {
      for (const [order, isDelegated] of [
        [0, true],
        [1, true],
        [0, false],
        [1, false],
      ] as const) {
        const scene = await teamwork(app, receiver)
        const { id, owner, member, robot, team, outside, issueIn, delegated, sessionsOn, reread } = scene
        const coverage = (team_ids: string[]) =>
          done(owner.patch(`/installations/${robot.installationId}`, { team_ids }))
        await coverage([team.id, outside.id])
        const issue = isDelegated ? (await delegated()).issue : await issueIn(team.id)
        await say(member, issue, at(robot))
        const move = () => done(member.put(`/issues/${issue.id}`, { team_id: outside.id }))
        const narrow = () => coverage([team.id])
        // Both must read before either can commit.
        const lock = sql`lock table issue_changes, audit_entries in share mode`
        await raceBehindLock(app, lock, order ? [narrow, move] : [move, narrow])
        expect(await uncovered(app, id)).toEqual([])
        expect(await reread(issue)).toMatchObject({ team_id: outside.id, delegate_id: null })
        for (const session of await sessionsOn(issue)) expect(session.end_reason).toBe('team_removed')
      }
    },
  )

  test(
    'moving a project to a team that leaves the coverage ends its sessions',
    verifiesOnPostgres('installation.removed-team-ends-project-sessions'),
    async ({ app, receiver }) => {
      for (const order of [0, 1]) {
        const { id, owner, member, robot, team, outside, sessions } = await teamwork(app, receiver)
        const coverage = (team_ids: string[]) =>
          done(owner.patch(`/installations/${robot.installationId}`, { team_ids }))
        await coverage([team.id, outside.id])
        const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id] }))
        await say(member, project, at(robot))
        const move = () => done(member.put(`/projects/${project.id}`, { team_ids: [outside.id] }))
        const narrow = () => coverage([team.id])
        const lock = sql`lock table project_teams, audit_entries in share mode`
        await raceBehindLock(app, lock, order ? [narrow, move] : [move, narrow])
        expect(await uncovered(app, id)).toEqual([])
        expect(await sessions()).toMatchObject([{ end_reason: 'team_removed' }])
      }
    },
  )

  test('an app cannot open a session on an item that leaves its coverage', { skip: !process.env.DATABASE_URL }, async ({
    app,
    receiver,
  }) => {
    const { id, member, robot, team, outside, issueIn, sessions } = await teamwork(app, receiver)
    const issue = await issueIn(team.id)
    const project = await done(member.post('/projects', { title: 'A plan', team_ids: [team.id, outside.id] }))
    const [onIssue, onProject] = [await say(member, issue, 'Slow'), await say(member, project, 'Slow')]
    const answers = [
      ...(await raceBehindLock(
        app,
        sql`select 1 from issues where id = ${issue.id} for update`,
        [issue, onIssue].map(
          (one) => () => robot.post('/agent-sessions', one === issue ? { issue_id: one.id } : { comment_id: one.id }),
        ),
        sql`update issues set team_id = ${outside.id} where id = ${issue.id}`,
      )),
      ...(await raceBehindLock(
        app,
        sql`select 1 from projects where id = ${project.id} for update`,
        [() => robot.post('/agent-sessions', { comment_id: onProject.id })],
        sql`delete from project_teams where project_id = ${project.id} and team_id = ${team.id}`,
      )),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404 })
    expect(answers).toHaveLength(3)
    expect(await uncovered(app, id)).toEqual([])
    expect(await sessions()).toEqual([])
  })
})
