import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { test, verifies } from '../../test/harness.ts'
import {
  allOf,
  bad,
  denied,
  everyVerb,
  id,
  ids,
  missing,
  noSuch,
  type Robot,
  refused,
  reachScene as scene,
  sorted,
} from '../../test/reach.ts'
import { sql } from '../db/sql.ts'

describe('projects', () => {
  test(
    'of other teams, without a team and personal ones are out of reach',
    verifies('project.app-other-team-403', 'project.app-personal-403', 'scope.other-team-project-denied'),
    async ({ app }) => {
      const { projects, robot, everywhere } = await scene(app)
      const outside: [Robot, string, object][] = [
        [robot, projects.other, denied],
        [robot, projects.teamless, denied],
        [robot, projects.personal, denied],
        [everywhere, projects.personal, denied],
        [robot, noSuch('prj'), missing],
        [everywhere, noSuch('prj'), missing],
      ]
      for (const [client, project, answer] of outside) {
        const verbs = everyVerb(client, `/projects/${project}`, { title: 'Mine now' })
        await refused(app, allOf(verbs, answer))
      }
      expect(ids(await robot.get('/projects'))).toEqual(sorted(projects.covered, projects.both))
      const shared = sorted(projects.covered, projects.both, projects.other, projects.teamless)
      expect(ids(await everywhere.get('/projects'))).toEqual(shared)
      expect((await robot.get(`/projects/${projects.both}`)).status).toBe(200)
      expect((await everywhere.get(`/projects/${projects.teamless}`)).status).toBe(200)
      expect((await robot.delete(`/projects/${projects.covered}`)).status).toBe(204)
    },
  )

  test('can be created by an app for teams it covers, and the app owns them', async ({ app }) => {
    const { robot, everywhere, team, otherTeam, owner, member } = await scene(app)
    const post = (client: Client, body: object) => () => client.post('/projects', { title: 'A plan', ...body })
    await refused(app, {
      'no teams': [post(robot, {}), bad('team_ids')],
      'empty teams': [post(robot, { team_ids: [] }), bad('team_ids')],
      'uncovered team': [post(robot, { team_ids: [otherTeam] }), denied],
      'one uncovered team': [post(robot, { team_ids: [team, otherTeam] }), denied],
      'unknown team': [post(robot, { team_ids: [team, noSuch('team')] }), bad('team_ids')],
      personal: [post(robot, { personal: true }), bad('personal')],
      'personal, everywhere': [post(everywhere, { personal: true }), bad('personal')],
      'led by an app': [post(robot, { team_ids: [team], lead_id: robot.userId }), bad('lead_id')],
    })
    expect((await post(robot, { team_ids: [team] })()).body.owner_id).toBe(robot.userId)
    const { body } = await post(everywhere, { owner_id: member.user.id })()
    expect(body).toMatchObject({ owner_id: member.user.id, team_ids: [] })
    expect((await owner.put(`/projects/${body.id}`, { title: 'A better plan' })).status).toBe(200)
  })

  test('cannot be moved out of its reach by an app', async ({ app }) => {
    const { robot, everywhere, projects, team, otherTeam } = await scene(app)
    const put = (client: Client, project: string, change: object) => () => client.put(`/projects/${project}`, change)
    await refused(app, {
      'adds an uncovered team': [put(robot, projects.covered, { team_ids: [team, otherTeam] }), denied],
      'moves to an uncovered team': [put(robot, projects.covered, { team_ids: [otherTeam] }), denied],
      'leaves every team': [put(robot, projects.covered, { team_ids: [] }), denied],
      'keeps only the uncovered team': [put(robot, projects.both, { team_ids: [otherTeam] }), denied],
      'unknown team': [put(robot, projects.covered, { team_ids: [team, noSuch('team')] }), bad('team_ids')],
      personal: [put(robot, projects.covered, { personal: true }), bad('personal')],
      'personal, everywhere': [put(everywhere, projects.teamless, { personal: true }), bad('personal')],
    })
    expect((await put(robot, projects.both, { team_ids: [team, otherTeam], title: 'Ours' })()).status).toBe(200)
    await refused(app, {
      'drops an uncovered team': [put(robot, projects.both, { team_ids: [team] }), denied],
      'deletes a project with an uncovered team': [() => robot.delete(`/projects/${projects.both}`), denied],
    })
    expect((await put(everywhere, projects.covered, { team_ids: [] })()).body.team_ids).toEqual([])
    const { body: own } = await everywhere.post('/projects', { title: 'Mine' })
    await refused(app, { own: [put(everywhere, own.id, { personal: true }), bad('personal')] })
  })
})

describe('planning', () => {
  test('milestones and cycles are in reach if their project or team is', async ({ app }) => {
    const { robot, everywhere, owner, member, projects, team, otherTeam } = await scene(app)
    const kinds = [
      { path: '/milestones', field: 'project_id', near: projects.both, far: projects.other },
      { path: '/cycles', field: 'team_id', near: team, far: otherTeam },
    ]
    for (const { path, field, near, far } of kinds) {
      const here = await id(owner.post(path, { [field]: near, name: 'Here' }))
      const there = await id(owner.post(path, { [field]: far, name: 'There' }))
      for (const query of ['', `?${field}=${near}`]) expect(ids(await robot.get(path + query))).toEqual([here])
      expect(ids(await robot.get(`${path}?${field}=${far}`))).toEqual([])
      expect(ids(await everywhere.get(path))).toEqual(sorted(here, there))
      await refused(app, {
        create: [() => robot.post(path, { [field]: far, name: 'Mine' }), bad(field)],
        update: [() => robot.put(`${path}/${there}`, { name: 'Mine' }), missing],
        delete: [() => robot.delete(`${path}/${there}`), missing],
      })
      const own = await id(robot.post(path, { [field]: near, name: 'Mine' }))
      expect((await robot.put(`${path}/${here}`, { name: 'Ours' })).body.name).toBe('Ours')
      expect((await robot.delete(`${path}/${own}`)).status).toBe(204)
      expect((await everywhere.put(`${path}/${there}`, { name: 'Ours' })).body.name).toBe('Ours')
    }
    const { personal: project_id } = projects
    const secret = await id(member.post('/milestones', { project_id, name: 'Secret' }))
    expect(ids(await everywhere.get('/milestones'))).not.toContain(secret)
    await refused(app, {
      create: [() => everywhere.post('/milestones', { project_id, name: 'Mine' }), bad('project_id')],
      update: [() => everywhere.put(`/milestones/${secret}`, { name: 'Mine' }), missing],
    })
  })
})

describe('teams', () => {
  test('an app can list only the teams it covers', verifies('identity.teams-select-covered-teams'), async ({ app }) => {
    const { robot, everywhere, member, team, otherTeam } = await scene(app)
    for (const path of ['/teams', '/teams/select']) {
      expect(ids(await robot.get(path))).toEqual([team])
      expect(ids(await everywhere.get(path))).toEqual(sorted(team, otherTeam))
      expect(ids(await member.get(path))).toEqual(sorted(team, otherTeam))
    }
    const choices = { data: [{ id: team, key: 'ENG', name: 'Engineering' }], next_cursor: null }
    expect((await robot.get('/teams/select')).body).toEqual(choices)
    const first = await everywhere.get('/teams/select?limit=1')
    const second = await everywhere.get(`/teams/select?limit=1&cursor=${first.body.next_cursor}`)
    expect([...ids(first), ...ids(second)]).toEqual([otherTeam, team])
    for (const path of ['', '/members']) {
      expect((await robot.get(`/teams/${team}${path}`)).status).toBe(200)
      expect(await robot.get(`/teams/${otherTeam}${path}`)).toMatchObject(missing)
      expect((await everywhere.get(`/teams/${otherTeam}${path}`)).status).toBe(200)
    }
  })

  test(
    'list the apps installed for them as members',
    verifies('installation.app-user-joins-covered-teams'),
    async ({ app }) => {
      const { robot, everywhere, owner, member, team, otherTeam } = await scene(app)
      app.clock.advance({ minutes: 1 })
      const late = await app.installed(owner, { teamIds: [otherTeam] })
      const members = async (of: string) => (await member.get(`/teams/${of}/members`)).body.data
      const users = async (of: string) => (await members(of)).map((one: { id: string }) => one.id)
      expect((await users(team)).sort()).toEqual(sorted(owner.user.id, robot.userId, everywhere.userId))
      expect((await users(otherTeam)).sort()).toEqual(sorted(owner.user.id, everywhere.userId, late.userId))
      const [newest] = await members(otherTeam)
      const joined_at = app.clock.now().toISOString()
      expect(newest).toEqual({ id: late.userId, display_name: late.app.name, email: null, joined_at })

      const paged: string[] = []
      let cursor = ''
      do {
        const { body } = await member.get(`/teams/${otherTeam}/members?limit=1${cursor && `&cursor=${cursor}`}`)
        paged.push(...body.data.map((one: { id: string }) => one.id))
        cursor = body.next_cursor ?? ''
      } while (cursor)
      expect(paged).toEqual(await users(otherTeam))

      await app.ctx.db.run(sql`
        update installations set revoked_at = ${app.clock.now()} where id = ${late.installationId}`)
      expect(await users(otherTeam)).not.toContain(late.userId)
      expect(ids(await robot.get('/workspaces/me/members'))).not.toContain(robot.userId)
      const stranger = await app.workspace()
      const elsewhere = await id(stranger.owner.post('/teams', { name: 'Elsewhere', key: 'ELS' }))
      const { body } = await stranger.owner.get(`/teams/${elsewhere}/members`)
      expect(body.data.map((one: { id: string }) => one.id)).toEqual([stranger.owner.user.id])
    },
  )
})
