import type { AgentSession } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { type Conversation, ended, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'

/** A session that ended immediately, as people see it. */
const over = (app: TestApp, end_reason: AgentSession['end_reason']) => {
  const now = app.clock.now().toISOString()
  return { state: 'complete', end_reason, ended_at: now, updated_at: now }
}

const writes = ({ say, change }: Conversation) => [
  () => say('thought'),
  () => say('response'),
  () => change({ plan: [] }),
  () => change({ external_urls: [] }),
]

test(
  'uninstalling ends all sessions of the app immediately, without waiting for it',
  verifies(
    'session.uninstall-ends',
    'session.immediate-end-state-complete',
    'session.end-reason-values',
    'session.ended-error-details',
  ),
  async ({ app }) => {
    const { owner, member, robot, delegated, begun, mentioned, newProject, id } = await sessionScene(app)
    const sessions = [await delegated(), await begun(), await mentioned(await newProject())]
    await sessions[0]?.say('elicitation')
    const stopping = await delegated()
    await stopping.stop()
    const other = await app.installed(owner)
    const { body: spared } = await other.post('/agent-sessions', { issue_id: (await stopping.get()).issue?.id })
    app.clock.advance({ seconds: 5 })
    const events = await eventsOf(app, id, async () => {
      expect((await owner.delete(`/installations/${robot.installationId}`)).status).toBe(204)
    })
    expect(names(events)).not.toContain('AgentSessionEvent prompted')
    for (const { get } of [...sessions, stopping]) {
      expect(await get(member)).toMatchObject(over(app, 'uninstalled'))
    }
    for (const session of [...sessions, stopping]) {
      expect(await app.unchanged(() => session.say('thought'))).toMatchObject(refusal(401, 'INSTALLATION_REVOKED'))
      expect(await app.unchanged(() => session.write('Hm'))).toMatchObject(ended('uninstalled'))
      expect(await app.unchanged(() => session.stop())).toMatchObject(ended('uninstalled'))
    }
    expect((await other.get(`/agent-sessions/${spared.id}`)).body).toEqual(spared)
  },
)

test('deleting the app ends all its sessions immediately', verifies('session.app-delete-ends'), async ({ app }) => {
  const { owner, member, robot, delegated } = await sessionScene(app)
  const session = await delegated()
  expect((await owner.delete(`/agent-apps/${robot.app.id}`)).status).toBe(204)
  expect(await session.get(member)).toMatchObject(over(app, 'uninstalled'))
})

test(
  'an immediate end replaces the reason of a session that is still stopping',
  verifies('session.immediate-end-replaces-reason'),
  async ({ app }) => {
    const { owner, member, robot, team, otherTeam, delegated } = await sessionScene(app)
    const stopping = async (reason: 'stopped' | 'undelegated') => {
      const session = await delegated()
      const issueId = (await session.get()).issue?.id
      if (reason === 'stopped') await session.stop()
      else await member.put(`/issues/${issueId}`, { delegate_id: null })
      expect(await session.get()).toMatchObject({ state: 'stopping', end_reason: reason, ended_at: null })
      return { ...session, issueId }
    }
    const cover = (team_ids: string[]) => owner.patch(`/installations/${robot.installationId}`, { team_ids })
    const moved = await stopping('stopped')
    await member.put(`/issues/${moved.issueId}`, { team_id: otherTeam.id })
    expect(await moved.get(member)).toMatchObject(over(app, 'team_removed'))
    const deleted = await stopping('undelegated')
    await member.delete(`/issues/${deleted.issueId}`)
    expect(await deleted.get(member)).toMatchObject(over(app, 'issue_deleted'))
    const uncovered = await stopping('undelegated')
    await cover([otherTeam.id])
    expect(await uncovered.get(member)).toMatchObject(over(app, 'team_removed'))
    await cover([team.id])
    const uninstalled = await stopping('stopped')
    // One that had stopped before keeps its reason.
    const answered = await stopping('stopped')
    await answered.say('response')
    await owner.delete(`/installations/${robot.installationId}`)
    expect(await uninstalled.get(member)).toMatchObject(over(app, 'uninstalled'))
    expect((await answered.get(member)).end_reason).toBe('stopped')
  },
)

describe('a loss of coverage', () => {
  test(
    'ends only the sessions on items that are no longer covered',
    verifies(
      'session.team-removed-ends-issue-session',
      'session.team-removed-ends-project-session',
      'session.team-removed-spares-covered',
      'session.immediate-end-state-complete',
      'session.write-after-team-removed',
      'session.ended-refuses-writes',
      'session.ended-error-details',
    ),
    async ({ app }) => {
      const scene = await sessionScene(app)
      const { owner, robot, team, otherTeam, delegated, begun, mentioned, newIssue, newProject, id } = scene
      const cover = (team_ids: string[]) => owner.patch(`/installations/${robot.installationId}`, { team_ids })
      await cover([team.id, otherTeam.id])
      const lost = [
        await delegated(),
        await begun(),
        await mentioned(await newIssue()),
        await mentioned(await newProject()),
      ]
      const kept = [
        await delegated({ team_id: otherTeam.id }),
        await mentioned(await newProject({ team_ids: [team.id, otherTeam.id] })),
      ]
      const before = await Promise.all(kept.map(({ get }) => get()))
      app.clock.advance({ seconds: 5 })
      const events = await eventsOf(app, id, async () => {
        expect((await cover([otherTeam.id])).status).toBe(200)
      })
      expect(names(events)).not.toContain('AgentSessionEvent prompted')
      for (const session of lost) {
        expect(await session.get()).toMatchObject(over(app, 'team_removed'))
        for (const write of writes(session)) expect(await app.unchanged(write)).toMatchObject(ended('team_removed'))
        expect(await app.unchanged(() => session.write('Hm'))).toMatchObject(ended('team_removed'))
      }
      expect(await Promise.all(kept.map(({ get }) => get()))).toEqual(before)
      for (const session of kept) expect((await session.say('thought')).status).toBe(201)
    },
  )

  test(
    'also follows from moving the issue or project, or making it personal',
    verifies('session.write-after-team-removed', 'session.immediate-end-state-complete', 'session.end-reason-values'),
    async ({ app }) => {
      const { owner, member, otherTeam, delegated, mentioned, newProject } = await sessionScene(app)
      const moved = await delegated()
      const hidden = await delegated()
      const project = await newProject()
      const planned = await mentioned(project)
      await member.put(`/issues/${(await moved.get()).issue?.id}`, { team_id: otherTeam.id })
      await member.put(`/issues/${(await hidden.get()).issue?.id}`, { personal: true })
      await owner.put(`/projects/${project.id}`, { team_ids: [otherTeam.id] })
      for (const session of [moved, hidden, planned]) {
        expect(await session.get()).toMatchObject(over(app, 'team_removed'))
        for (const write of writes(session)) expect(await app.unchanged(write)).toMatchObject(ended('team_removed'))
      }
    },
  )

  test('hides later changes of the issue from the app', async ({ app }) => {
    const { member, otherTeam, mentioned, newIssue } = await sessionScene(app)
    const issue = await newIssue({ title: 'Before' })
    const session = await mentioned(issue)
    const before = await session.get()
    await member.put(`/issues/${issue.id}`, { team_id: otherTeam.id, title: 'After' })
    await member.put(`/comments/${session.comment.id}`, { text: 'Secret' })
    const { issue: shown, comment } = await session.get()
    expect({ issue: shown, comment }).toEqual({ issue: before.issue, comment: before.comment })
  })
})

test(
  'deleting an issue or a project ends its sessions, and people can still read them',
  verifies(
    'session.issue-delete-ends',
    'project.delete-ends-sessions',
    'session.immediate-end-state-complete',
    'session.end-reason-values',
    'session.ended-error-details',
  ),
  async ({ app }) => {
    const { owner, member, delegated, begun, mentioned, newProject, newIssue, id } = await sessionScene(app)
    const session = await delegated()
    const issue = (await session.get()).issue as { id: string }
    const onIssue = [session, await begun({ issue_id: issue.id }), await mentioned(issue)]
    const project = await newProject()
    const onProject = [await mentioned(project)]
    const spared = await begun({ issue_id: (await newIssue()).id })
    app.clock.advance({ seconds: 5 })
    const events = await eventsOf(app, id, async () => {
      expect((await owner.delete(`/issues/${issue.id}`)).status).toBe(204)
      expect((await owner.delete(`/projects/${project.id}`)).status).toBe(204)
    })
    expect(names(events)).not.toContain('AgentSessionEvent prompted')
    for (const one of [...onIssue, ...onProject]) {
      const shown = await one.get()
      expect(shown).toMatchObject({ ...over(app, 'issue_deleted'), comment: null })
      expect(await one.get(member)).toEqual(shown)
      for (const write of writes(one)) expect(await app.unchanged(write)).toMatchObject(ended('issue_deleted'))
    }
    for (const one of onIssue) expect((await one.get()).issue).toMatchObject(issue)
    expect(await spared.get()).toMatchObject({ state: 'pending', ended_at: null })
  },
)

test('sessions on a personal item stay hidden from others after it was deleted', async ({ app }) => {
  const { owner, member, delegated, newProject, mentioned } = await sessionScene(app)
  const session = await delegated()
  const issue = (await session.get()).issue as { id: string }
  const project = await newProject()
  const planned = await mentioned(project)
  await member.put(`/issues/${issue.id}`, { personal: true })
  await owner.put(`/projects/${project.id}`, { personal: true })
  const see = async (by: typeof owner) => [(await by.get(session.path)).status, (await by.get(planned.path)).status]
  expect([await see(member), await see(owner)]).toEqual([
    [200, 404],
    [404, 200],
  ])
  await member.delete(`/issues/${issue.id}`)
  await owner.delete(`/projects/${project.id}`)
  expect([await see(member), await see(owner)]).toEqual([
    [200, 404],
    [404, 200],
  ])
})

test('a later end does not overwrite an end by timeout', async ({ app }) => {
  const { owner, delegated } = await sessionScene(app)
  const session = await delegated()
  await session.stop()
  app.clock.advance({ seconds: 60 })
  const before = await session.get()
  app.clock.advance({ seconds: 1 })
  await owner.delete(`/issues/${before.issue?.id}`)
  expect(await session.get()).toEqual(before)
})
