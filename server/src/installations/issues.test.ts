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

describe('issues', () => {
  test(
    'of other teams, without a team and personal ones are out of reach',
    verifies(
      'issue.app-other-team-403',
      'issue.app-personal-issue-403',
      'scope.other-team-issue-denied',
      'scope.personal-issue-denied',
    ),
    async ({ app }) => {
      const { issues, robot, everywhere, member } = await scene(app)
      const outside: [Robot, string][] = [
        [robot, issues.other],
        [robot, issues.teamless],
        [robot, issues.personal],
        [everywhere, issues.personal],
        [robot, (await member.get(`/issues/${issues.other}`)).body.code],
        [robot, (await member.get(`/issues/${issues.personal}`)).body.code],
      ]
      for (const [client, key] of outside) {
        const verbs = {
          ...everyVerb(client, `/issues/${key}`, { title: 'Mine now' }),
          history: () => client.get(`/issues/${key}/history`),
        }
        await refused(app, allOf(verbs, denied))
      }
      for (const key of [noSuch('iss'), 'ENG-99', (await (await scene(app)).member.get('/issues')).body.data[0].id]) {
        const verbs = everyVerb(robot, `/issues/${key}`, { title: 'Mine now' })
        await refused(app, allOf(verbs, missing))
      }
    },
  )

  test(
    'of covered teams can be read, changed and deleted',
    verifies('scope.read-allows-reading', 'scope.write-allows-change'),
    async ({ app }) => {
      const { issues, projects, robot, everywhere, member } = await scene(app)
      const { code } = (await member.get(`/issues/${issues.covered}`)).body
      for (const key of [issues.covered, code]) expect((await robot.get(`/issues/${key}`)).status).toBe(200)
      expect((await robot.get(`/projects/${projects.covered}`)).status).toBe(200)
      expect((await robot.get(`/comments?target_type=issue&target_id=${issues.covered}`)).status).toBe(200)
      expect((await robot.put(`/issues/${code}`, { title: 'Better' })).body.title).toBe('Better')
      const history = await robot.get(`/issues/${code}/history`)
      expect(history.body.data[0]).toMatchObject({ actor: { id: robot.userId }, changes: { title: { to: 'Better' } } })
      expect((await robot.delete(`/issues/${issues.covered}`)).status).toBe(204)
      expect((await everywhere.put(`/issues/${issues.teamless}`, { title: 'Better' })).status).toBe(200)
    },
  )

  test(
    'are listed only if in reach, whatever the filter',
    verifies('issue.app-list-only-covered-teams', 'scope.lists-show-covered-teams-only'),
    async ({ app }) => {
      const { issues, robot, everywhere, otherTeam, projects, member } = await scene(app)
      for (const issue of Object.values(issues).slice(0, 3)) {
        await member.put(`/issues/${issue}`, { project_id: projects.both, assignee_id: member.user.id })
      }
      const filters = ['', `?project_id=${projects.both}`, `?assignee_id=${member.user.id}`, '?status=backlog']
      for (const filter of [...filters, '?query=something']) {
        expect(ids(await robot.get(`/issues${filter}`)), filter).toEqual([issues.covered])
        const expected = sorted(issues.covered, issues.other, issues.teamless)
        expect(ids(await everywhere.get(`/issues${filter}`)), filter).toEqual(expected)
      }
      expect(ids(await robot.get(`/issues?team_id=${otherTeam}`))).toEqual([])
      expect(ids(await everywhere.get(`/issues?team_id=${otherTeam}`))).toEqual([issues.other])
    },
  )

  test(
    'can be created by an app only in a team it covers',
    verifies(
      'issue.app-create-needs-team',
      'issue.app-create-uncovered-team-403',
      'scope.create-issue-needs-team',
      'scope.create-issue-in-other-team-denied',
    ),
    async ({ app }) => {
      const { robot, everywhere, team, otherTeam } = await scene(app)
      const post = (client: Client, body: object) => () => client.post('/issues', { title: 'A bug', ...body })
      await refused(app, {
        'no team': [post(robot, {}), bad('team_id')],
        'null team': [post(robot, { team_id: null }), bad('team_id')],
        'no team, everywhere': [post(everywhere, {}), bad('team_id')],
        'unknown team': [post(robot, { team_id: noSuch('team') }), bad('team_id')],
        'uncovered team': [post(robot, { team_id: otherTeam }), denied],
        personal: [post(everywhere, { personal: true }), bad('personal')],
        'personal in a team': [post(robot, { team_id: team, personal: true }), bad('personal')],
      })
      expect((await post(robot, { team_id: team })()).status).toBe(201)
      expect((await post(everywhere, { team_id: otherTeam, personal: false })()).status).toBe(201)
    },
  )

  test(
    'can be created by an app only in an early status',
    verifies(
      'issue.app-create-status-allowed',
      'issue.app-status-forbidden-on-create',
      'issue.app-status-forbidden-on-create-details',
    ),
    async ({ app }) => {
      const { robot, team } = await scene(app)
      const allowed = ['backlog', 'todo', 'in_progress', 'qa']
      const post = (status: string) => robot.post('/issues', { title: 'A bug', team_id: team, status })
      for (const status of allowed) expect((await post(status)).body.status).toBe(status)
      for (const status of ['release', 'done']) {
        const answer = { status: 403, body: { code: 'APP_STATUS_FORBIDDEN', details: { status, allowed } } }
        await refused(app, { [status]: [() => post(status), answer] })
      }
    },
  )

  test(
    'can be moved by an app only to in_progress and qa',
    verifies(
      'issue.app-update-status-in-progress-allowed',
      'issue.app-update-status-qa-allowed',
      'issue.app-status-forbidden-on-update',
      'issue.app-status-forbidden-on-update-details',
    ),
    async ({ app }) => {
      const { robot, issues, member } = await scene(app)
      const allowed = ['in_progress', 'qa']
      const put = (status: string) => robot.put(`/issues/${issues.covered}`, { status })
      for (const status of allowed) expect((await put(status)).body.status).toBe(status)
      for (const status of ['backlog', 'todo', 'release', 'done']) {
        // Even if the issue already has this status.
        await member.put(`/issues/${issues.covered}`, { status })
        const answer = { status: 403, body: { code: 'APP_STATUS_FORBIDDEN', details: { status, allowed } } }
        await refused(app, { [status]: [() => put(status), answer] })
      }
    },
  )

  test(
    'cannot be moved out of its reach by an app',
    verifies('issue.app-move-to-uncovered-team-refused'),
    async ({ app }) => {
      const { robot, everywhere, issues, team, otherTeam } = await scene(app)
      const put = (client: Client, change: object) => () => client.put(`/issues/${issues.covered}`, change)
      await refused(app, {
        'uncovered team': [put(robot, { team_id: otherTeam }), denied],
        'no team': [put(robot, { team_id: null }), denied],
        'unknown team': [put(robot, { team_id: noSuch('team') }), bad('team_id')],
        personal: [put(robot, { personal: true }), bad('personal')],
        'personal, everywhere': [put(everywhere, { personal: true }), bad('personal')],
      })
      expect((await put(robot, { team_id: team, personal: false })()).status).toBe(200)
      expect((await put(everywhere, { team_id: otherTeam })()).body.team_id).toBe(otherTeam)
      expect((await put(everywhere, { team_id: null })()).body.team_id).toBeNull()
      // Not even an issue that the app reported.
      const own = await id(everywhere.post('/issues', { title: 'Mine', team_id: team }))
      await refused(app, { own: [() => everywhere.put(`/issues/${own}`, { personal: true }), bad('personal')] })
    },
  )

  test(
    'cannot be delegated by an app',
    verifies(
      'delegation.app-sets-delegate-400',
      'delegation.app-changes-delegate-400',
      'delegation.app-clears-delegate-400',
      'delegation.app-sets-delegate-on-create-400',
      'delegation.app-any-delegate-key-refused',
    ),
    async ({ app }) => {
      const { robot, everywhere, issues, team, member } = await scene(app)
      const answer = { status: 400, body: { code: 'INVALID_DELEGATE', details: { reason: 'app_actor' } } }
      const odd = ['', 5, {}, [], 'x'.repeat(101)]
      const values = [null, robot.userId, everywhere.userId, member.user.id, 'nobody', ...odd]
      const tryAll = () =>
        refused(
          app,
          Object.fromEntries(
            values.flatMap((delegate_id) => [
              [
                `post ${JSON.stringify(delegate_id)}`,
                [() => robot.post('/issues', { title: 'A', team_id: team, delegate_id }), answer],
              ],
              [
                `put ${JSON.stringify(delegate_id)}`,
                [() => robot.put(`/issues/${issues.covered}`, { title: 'A', delegate_id }), answer],
              ],
            ]),
          ),
        )
      // The refusal comes before other errors.
      await refused(app, { untitled: [() => robot.post('/issues', { delegate_id: null, unknown: 1 }), answer] })
      await tryAll()
      await app.ctx.db.run(sql`update issues set delegate_id = ${robot.userId} where id = ${issues.covered}`)
      await tryAll()
      expect((await robot.get(`/issues/${issues.covered}`)).body.delegate_id).toBe(robot.userId)
    },
  )

  test('can be given only references that are in reach of the app', async ({ app }) => {
    const { robot, everywhere, owner, member, issues, projects, team, otherTeam } = await scene(app)
    const milestone = (project_id: string) => id(owner.post('/milestones', { project_id, name: 'Beta' }))
    const cycle = (team_id: string) => id(owner.post('/cycles', { team_id, name: 'Week 1' }))
    const away = { milestone: await milestone(projects.other), cycle: await cycle(otherTeam) }
    const tables: [field: string, unknown: object, outside: object[]][] = [
      ...['parent_id', 'blocks_ids', 'blocked_by_ids'].map((field): [string, object, object[]] => {
        const naming = (issue: string) => ({ [field]: field === 'parent_id' ? issue : [issue] })
        return [field, naming(noSuch('iss')), [issues.other, issues.teamless, issues.personal].map(naming)]
      }),
      [
        'project_id',
        { project_id: noSuch('prj') },
        [projects.other, projects.teamless, projects.personal].map((project_id) => ({ project_id })),
      ],
      ['milestone_id', { milestone_id: noSuch('mil') }, [{ milestone_id: away.milestone }]],
      ['cycle_id', { cycle_id: noSuch('cyc') }, [{ cycle_id: away.cycle }]],
    ]
    const post = (body: object) => robot.post('/issues', { title: 'A', team_id: team, ...body })
    const put = (body: object) => robot.put(`/issues/${issues.covered}`, body)
    await app.unchanged(async () => {
      for (const [field, unknown, outside] of tables) {
        for (const call of [post, put]) {
          const answer = await call(unknown)
          expect(answer).toMatchObject(bad(field))
          for (const body of outside) expect(await call(body), field).toMatchObject({ status: 422, body: answer.body })
        }
      }
    })
    // A milestone is out of reach if its project is, even if a person added the issue to the project.
    await member.put(`/issues/${issues.covered}`, { project_id: projects.other })
    const toMilestone = () => robot.put(`/issues/${issues.covered}`, { milestone_id: away.milestone })
    await refused(app, { milestone: [toMilestone, bad('milestone_id')] })

    const sibling = await id(member.post('/issues', { title: 'Sibling', team_id: team }))
    const good = {
      parent_id: sibling,
      blocks_ids: [sibling],
      project_id: projects.both,
      milestone_id: await milestone(projects.both),
      cycle_id: await cycle(team),
    }
    expect((await robot.put(`/issues/${issues.covered}`, good)).body).toMatchObject(good)
    const anywhere = { parent_id: issues.teamless, blocks_ids: [issues.other], project_id: projects.teamless }
    expect((await everywhere.put(`/issues/${issues.covered}`, anywhere)).body).toMatchObject(anywhere)
  })

  test('keep blocks that are out of reach of the app that updates them', async ({ app }) => {
    const { robot, everywhere, member, issues, team } = await scene(app)
    const sibling = await id(member.post('/issues', { title: 'Sibling', team_id: team }))
    const path = `/issues/${issues.covered}`
    for (const field of ['blocks_ids', 'blocked_by_ids']) {
      await member.put(path, { blocks_ids: [], blocked_by_ids: [] })
      await member.put(path, { [field]: [issues.other] })
      await refused(app, {
        none: [() => robot.put(path, { [field]: [] }), bad(field)],
        another: [() => robot.put(path, { [field]: [sibling] }), bad(field)],
        'one more': [() => robot.put(path, { [field]: [issues.other, issues.teamless] }), bad(field)],
      })
      const both = sorted(issues.other, sibling)
      expect((await robot.put(path, { [field]: both })).body[field]).toEqual(both)
      expect((await robot.put(path, { [field]: [issues.other] })).body[field]).toEqual([issues.other])
      expect((await everywhere.put(path, { [field]: [] })).body[field]).toEqual([])
    }
  })
})
