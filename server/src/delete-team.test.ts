import { describe, expect } from 'vitest'
import { done, eventNames, teamwork } from '../test/delegation.ts'
import { eventsOf, names } from '../test/events.ts'
import { test, verifiesOnPostgres } from '../test/harness.ts'
import { type IssueScene, issueScene, makeIssue } from '../test/issues.ts'

const removal = ({ team, other }: IssueScene) => `/teams/${team.id}?move_issues_to=${other.id}`

describe('deleting a team', () => {
  test('moves its issues with ordinary updates, and their old codes keep working', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, admin, team, other, id } = scene
    const { body: cycle } = await owner.post('/cycles', { team_id: team.id, name: 'Week 1' })
    const first = await makeIssue(scene, { cycle_id: cycle.id })
    const second = await makeIssue(scene)
    const { body: elsewhere } = await owner.post('/issues', { title: 'Stays', team_id: other.id })
    app.clock.advance({ seconds: 1 })

    const events = await eventsOf(app, id, () => done(admin.delete(removal(scene))))
    expect(names(events)).toEqual(['Issue update', 'Issue update'])
    const { body: moved } = await owner.get(`/issues/${first.code}`)
    expect(moved).toMatchObject({ id: first.id, team_id: other.id, cycle_id: null })
    expect(moved.code).toMatch(/^DES-[23]$/)
    expect((await owner.get(`/issues/${second.id}`)).body.team_id).toBe(other.id)
    expect((await owner.get(`/issues/${elsewhere.id}`)).body).toEqual(elsewhere)
    const { body: history } = await owner.get(`/issues/${first.id}/history`)
    expect(history.data[0]).toMatchObject({
      actor: { id: admin.user.id },
      changes: { team_id: { from: team.id, to: other.id } },
    })
    expect((await owner.get(`/teams/${team.id}`)).status).toBe(404)
    expect((await owner.get('/cycles')).body.data).toEqual([])
    const [entry] = (await owner.get('/audit-log?action=team.deleted')).body.data
    expect(entry).toMatchObject({
      actor: { id: admin.user.id },
      subject_id: team.id,
      details: { name: 'Engineering', key: 'ENG', issues: 2, moved_to: other.id },
    })
  })

  test('a new team with the key counts on from the codes that moved issues keep', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner } = scene
    const moved = await makeIssue(scene)
    await done(owner.delete(removal(scene)))
    const { body: team } = await owner.post('/teams', { name: 'Engine room', key: 'ENG' })
    const { body: fresh } = await owner.post('/issues', { title: 'New', team_id: team.id })
    expect(fresh.code).toBe('ENG-2')
    expect((await owner.get('/issues/ENG-1')).body.id).toBe(moved.id)
  })

  test('deletes its issues with ordinary removes', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, team, id } = scene
    const issues = [await makeIssue(scene), await makeIssue(scene)]
    const events = await eventsOf(app, id, () => done(owner.delete(`/teams/${team.id}?delete_issues=true`)))
    expect(names(events)).toEqual(['Issue remove', 'Issue remove'])
    for (const issue of issues) expect((await owner.get(`/issues/${issue.id}`)).status).toBe(404)
  })

  test('needs to know what becomes of the issues, and nothing else of an empty team', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, team, other } = scene
    const { team: foreign } = await issueScene(app)
    await makeIssue(scene)
    const wrong = {
      '': 'move_issues_to',
      [`?move_issues_to=${team.id}`]: 'move_issues_to',
      [`?move_issues_to=${foreign.id}`]: 'move_issues_to',
      [`?move_issues_to=${other.id}&delete_issues=true`]: 'delete_issues',
      '?delete_issues=false': 'delete_issues',
    }
    for (const [query, field] of Object.entries(wrong)) {
      const refused = await app.unchanged(() => owner.delete(`/teams/${team.id}${query}`))
      expect(refused).toMatchObject({ status: 422, body: { details: { [field]: expect.any(String) } } })
    }
    expect((await app.unchanged(() => member.delete(removal(scene)))).status).toBe(403)
    expect((await app.unchanged(() => owner.delete(`/teams/${foreign.id}?delete_issues=true`))).status).toBe(404)
    expect((await owner.delete(`/teams/${other.id}`)).status).toBe(204)
  })

  test('tells installations that lose it, and ends sessions they can no longer reach', async ({ app, receiver }) => {
    const { owner, team, outside, robot, delegated, rereadSession, receivedDuring } = await teamwork(app, receiver)
    const third = await done(owner.post('/teams', { name: 'Support', key: 'SUP' }))
    const { session } = await delegated()
    const path = `/teams/${team.id}?move_issues_to=${outside.id}`

    const refused = await app.unchanged(() => owner.delete(path))
    expect(refused).toMatchObject({
      status: 409,
      body: { code: 'TEAM_IN_USE', details: { installation_ids: [robot.installationId], webhook_ids: [] } },
    })

    await done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [team.id, third.id] }))
    const received = await receivedDuring(() => done(owner.delete(path)))
    expect(eventNames(received)).toEqual(['PermissionChange teamAccessChanged'])
    expect(received[0]?.body.data).toMatchObject({ team_ids: [third.id], removed_team_ids: [team.id] })
    expect(await rereadSession(session)).toMatchObject({ state: 'complete', end_reason: 'team_removed' })
  })

  test('is refused while a webhook has only this team; a webhook of several loses it', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, team, other } = scene
    const hook = { label: 'A', url: 'https://example.com/hook', all_teams: false, resource_types: ['Issue'] }
    const { body: only } = await owner.post('/webhooks', { ...hook, team_ids: [team.id] })
    const { body: both } = await owner.post('/webhooks', { ...hook, team_ids: [team.id, other.id] })
    const refused = await app.unchanged(() => owner.delete(removal(scene)))
    expect(refused.body.details).toEqual({ installation_ids: [], webhook_ids: [only.id] })
    await done(owner.delete(`/webhooks/${only.id}`))
    await done(owner.delete(removal(scene)))
    expect((await owner.get(`/webhooks/${both.id}`)).body.team_ids).toEqual([other.id])
  })

  test('counts beforehand what goes with it, and deletes the views that show only this team', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, team, other } = scene
    const { team: foreign } = await issueScene(app)
    await makeIssue(scene)
    await done(owner.post('/cycles', { team_id: team.id, name: 'Week 1' }))
    const hook = { label: 'Warehouse', url: 'https://example.com/hook', all_teams: false, resource_types: ['Issue'] }
    const webhook = await done(owner.post('/webhooks', { ...hook, team_ids: [team.id] }))
    const queries = ['team=ENG', 'status=todo&team=ENG&group=none', 'team=ENG%2CDES', 'team=DES', 'q=team%3DENG', '']
    for (const query of queries) await done(member.post('/views', { name: `View ${query}`, query }))
    expect((await owner.get(`/teams/${team.id}/usage`)).body).toEqual({
      issues: 1,
      cycles: 1,
      views: 2,
      installations: [],
      webhooks: [{ id: webhook.id, name: 'Warehouse', only_team: true }],
    })
    expect((await owner.get(`/teams/${other.id}/usage`)).body).toMatchObject({ issues: 0, views: 1, webhooks: [] })
    expect((await owner.get(`/teams/${foreign.id}/usage`)).status).toBe(404)
    expect((await member.get(`/teams/${team.id}/usage`)).status).toBe(403)

    await done(owner.delete(`/webhooks/${webhook.id}`))
    await done(owner.delete(removal(scene)))
    const { body: views } = await member.get('/views')
    expect(views.data.map(({ query }: { query: string }) => query).reverse()).toEqual(queries.slice(2))
  })

  test('issues created meanwhile follow', verifiesOnPostgres('issue.create-201'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, team, other } = scene
    for (let at = 0; at < 5; at++) await makeIssue(scene)
    const [, ...created] = await Promise.all([
      owner.delete(removal(scene)),
      ...Array.from({ length: 10 }, () => owner.post('/issues', { title: 'Late', team_id: team.id })),
    ])
    for (const { status, body } of created) {
      expect([201, 422]).toContain(status)
      if (status === 201) expect((await owner.get(`/issues/${body.id}`)).body.team_id).toBe(other.id)
    }
  })
})
