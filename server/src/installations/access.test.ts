import { setTimeout } from 'node:timers/promises'
import type { AppScope } from '@baton/protocol'
import { describe, expect } from 'vitest'
import type { RequirementId } from '../../../conformance/requirements.ts'
import type { Client, Response } from '../../test/client.ts'
import { eventsOf, names } from '../../test/events.ts'
import { type TestApp, type TestPerson, test, verifies, verifiesOnPostgres } from '../../test/harness.ts'
import { type Sql, sql } from '../db/sql.ts'

type Robot = Awaited<ReturnType<TestApp['installed']>>

const denied = { status: 403, body: { code: 'TEAM_ACCESS_DENIED' } }
const missing = { status: 404, body: { code: 'RESOURCE_NOT_FOUND' } }
const bad = (field: string) => ({
  status: 422,
  body: { code: 'VALIDATION_ERROR', details: { [field]: expect.any(String) } },
})
const lacking = (required: string) => ({ status: 403, body: { code: 'INSUFFICIENT_SCOPE', details: { required } } })
const noSuch = (prefix: string) => `${prefix}_${'0'.repeat(26)}`
const ids = (answer: Response) => answer.body.data.map(({ id }: { id: string }) => id).sort()
const sorted = (...all: string[]) => all.sort()

const id = async (call: Promise<Response>): Promise<string> => {
  const { status, body } = await call
  expect(status, JSON.stringify(body)).toBe(201)
  return body.id
}

/** Two teams, of which `robot` covers the first and `everywhere` all; what stands in each, in none, and in private. */
async function scene(app: TestApp) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = await id(owner.post('/teams', { name: 'Engineering', key: 'ENG' }))
  const otherTeam = await id(owner.post('/teams', { name: 'Design', key: 'DES' }))
  const make = (by: TestPerson, path: string, body: object) => id(by.post(path, { title: 'Something', ...body }))
  const issues = {
    covered: await make(member, '/issues', { team_id: team }),
    other: await make(member, '/issues', { team_id: otherTeam }),
    teamless: await make(member, '/issues', {}),
    personal: await make(member, '/issues', { personal: true }),
  }
  const projects = {
    covered: await make(member, '/projects', { team_ids: [team] }),
    both: await make(member, '/projects', { team_ids: [team, otherTeam] }),
    other: await make(member, '/projects', { team_ids: [otherTeam] }),
    teamless: await make(member, '/projects', {}),
    personal: await make(member, '/projects', { personal: true }),
  }
  const robot = await app.installed(owner, { teamIds: [team] })
  const everywhere = await app.installed(owner)
  return { ...workspace, team, otherTeam, issues, projects, robot, everywhere }
}

type Scene = Awaited<ReturnType<typeof scene>>

/** Each call is refused in this way, and changes nothing. */
async function refused(app: TestApp, calls: Record<string, [() => Promise<Response>, object]>) {
  await app.unchanged(async () => {
    for (const [name, [call, answer]] of Object.entries(calls)) expect(await call(), name).toMatchObject(answer)
  })
}

const allOf = (calls: Record<string, () => Promise<Response>>, answer: object) =>
  Object.fromEntries(Object.entries(calls).map(([name, call]) => [name, [call, answer] as [typeof call, object]]))

const everyVerb = (client: Client, path: string, change: object): Record<string, () => Promise<Response>> => ({
  get: () => client.get(path),
  put: () => client.put(path, change),
  delete: () => client.delete(path),
})

describe('issues', () => {
  test(
    'of other teams, of none and of persons are out of reach',
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
    'are listed where they are in reach, whatever is asked for',
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
    'are created by an app in a team it covers',
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
    'are created by an app in an early status',
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
    'are moved by an app to in_progress and qa alone',
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
        // Even when it is what the issue has already.
        await member.put(`/issues/${issues.covered}`, { status })
        const answer = { status: 403, body: { code: 'APP_STATUS_FORBIDDEN', details: { status, allowed } } }
        await refused(app, { [status]: [() => put(status), answer] })
      }
    },
  )

  test(
    'are not taken out of reach by an app',
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
      // What an app reported is not its own to hide either.
      const own = await id(everywhere.post('/issues', { title: 'Mine', team_id: team }))
      await refused(app, { own: [() => everywhere.put(`/issues/${own}`, { personal: true }), bad('personal')] })
    },
  )

  test(
    'are not delegated by an app',
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
      const values = [null, robot.userId, everywhere.userId, member.user.id, 'nobody']
      const tryAll = () =>
        refused(
          app,
          Object.fromEntries(
            values.flatMap((delegate_id) => [
              [
                `post ${delegate_id}`,
                [() => robot.post('/issues', { title: 'A', team_id: team, delegate_id }), answer],
              ],
              [
                `put ${delegate_id}`,
                [() => robot.put(`/issues/${issues.covered}`, { title: 'A', delegate_id }), answer],
              ],
            ]),
          ),
        )
      await tryAll()
      await app.ctx.db.run(sql`update issues set delegate_id = ${robot.userId} where id = ${issues.covered}`)
      await tryAll()
      expect((await robot.get(`/issues/${issues.covered}`)).body.delegate_id).toBe(robot.userId)
    },
  )

  test('refer to what the app reaches, and to nothing else', async ({ app }) => {
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
    // A milestone of a project that people gave the issue is out of reach as its project is.
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

  test('keep the blocks that an app does not reach', async ({ app }) => {
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

describe('projects', () => {
  test(
    'of other teams, of none and of persons are out of reach',
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

  test('are created by an app for teams it covers, and are its own', async ({ app }) => {
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

  test('stay in reach of the app that changes them', async ({ app }) => {
    const { robot, everywhere, projects, team, otherTeam } = await scene(app)
    const put = (client: Client, project: string, change: object) => () => client.put(`/projects/${project}`, change)
    await refused(app, {
      'adds an uncovered team': [put(robot, projects.covered, { team_ids: [team, otherTeam] }), denied],
      'leaves for another team': [put(robot, projects.covered, { team_ids: [otherTeam] }), denied],
      'leaves every team': [put(robot, projects.covered, { team_ids: [] }), denied],
      'keeps the uncovered team alone': [put(robot, projects.both, { team_ids: [otherTeam] }), denied],
      'unknown team': [put(robot, projects.covered, { team_ids: [team, noSuch('team')] }), bad('team_ids')],
      personal: [put(robot, projects.covered, { personal: true }), bad('personal')],
      'personal, everywhere': [put(everywhere, projects.teamless, { personal: true }), bad('personal')],
    })
    expect((await put(robot, projects.both, { team_ids: [team, otherTeam], title: 'Ours' })()).status).toBe(200)
    await refused(app, {
      'drops an uncovered team': [put(robot, projects.both, { team_ids: [team] }), denied],
      'deletes what is others’ too': [() => robot.delete(`/projects/${projects.both}`), denied],
    })
    expect((await put(everywhere, projects.covered, { team_ids: [] })()).body.team_ids).toEqual([])
    const { body: own } = await everywhere.post('/projects', { title: 'Mine' })
    await refused(app, { own: [put(everywhere, own.id, { personal: true }), bad('personal')] })
  })
})

describe('comments', () => {
  const on = (target_type: 'issue' | 'project', target_id: string) => ({ target_type, target_id })
  const list = (client: Client, { target_type, target_id }: ReturnType<typeof on>) =>
    client.get(`/comments?target_type=${target_type}&target_id=${target_id}`)

  const outside = ({ robot, everywhere, issues, projects }: Scene): [Robot, ReturnType<typeof on>, object][] => [
    [robot, on('issue', issues.other), denied],
    [robot, on('issue', issues.teamless), denied],
    [robot, on('issue', issues.personal), denied],
    [everywhere, on('issue', issues.personal), denied],
    [robot, on('project', projects.other), denied],
    [robot, on('project', projects.teamless), denied],
    [everywhere, on('project', projects.personal), denied],
    [robot, on('issue', noSuch('iss')), missing],
    [robot, on('project', noSuch('prj')), missing],
  ]

  test(
    'stand on what the app reaches',
    verifies(
      'comment.app-other-team-403',
      'comment.app-personal-issue-403',
      'comment.app-read-other-team-403',
      'scope.other-team-comment-denied',
    ),
    async ({ app }) => {
      const all = await scene(app)
      const { robot, everywhere, member, issues, projects } = all
      for (const [client, target, answer] of outside(all)) {
        await refused(app, {
          [`post ${target.target_type}`]: [() => client.post('/comments', { ...target, text: 'Hello' }), answer],
          [`list ${target.target_type}`]: [() => list(client, target), answer],
        })
        if (answer === missing) continue
        const comment = await id(member.post('/comments', { ...target, text: 'Among us' }))
        const verbs = everyVerb(client, `/comments/${comment}`, { is_resolved: true })
        await refused(app, allOf(verbs, answer))
      }
      const inside: [Robot, ReturnType<typeof on>][] = [
        [robot, on('issue', issues.covered)],
        [robot, on('project', projects.both)],
        [everywhere, on('issue', issues.teamless)],
        [everywhere, on('project', projects.teamless)],
      ]
      for (const [client, target] of inside) {
        const comment = await id(client.post('/comments', { ...target, text: 'Hello' }))
        expect(ids(await list(client, target))).toContain(comment)
        expect((await client.get(`/comments/${comment}`)).status).toBe(200)
      }
    },
  )

  test('of an app leave its reach with what they stand on', async ({ app }) => {
    const { robot, member, issues, otherTeam } = await scene(app)
    const comment = await id(robot.post('/comments', { ...on('issue', issues.covered), text: 'Hello' }))
    await member.put(`/issues/${issues.covered}`, { team_id: otherTeam })
    const verbs = everyVerb(robot, `/comments/${comment}`, { text: 'Bye' })
    await refused(app, allOf(verbs, denied))
  })

  test('that are internal do not exist for apps', verifies('comment.internal-hidden-from-apps'), async ({ app }) => {
    const { robot, everywhere, member, issues } = await scene(app)
    const target = on('issue', issues.covered)
    const shown = await id(member.post('/comments', { ...target, text: 'For all' }))
    const internal = await id(member.post('/comments', { ...target, text: 'For us', internal: true }))
    const inThread = await id(
      member.post('/comments', { ...target, text: 'For us', internal: true, parent_comment_id: shown }),
    )
    const elsewhere = await id(
      member.post('/comments', { ...on('issue', issues.other), text: 'For us', internal: true }),
    )
    for (const client of [robot, everywhere]) {
      expect(ids(await list(client, target))).toEqual([shown])
      for (const hidden of [internal, inThread, elsewhere]) {
        const verbs = everyVerb(client, `/comments/${hidden}`, { is_resolved: true })
        await refused(app, allOf(verbs, missing))
      }
      const reply = (parent_comment_id: string) => () =>
        client.post('/comments', { ...target, text: 'Hm', parent_comment_id })
      const unknown = await reply(noSuch('cmt'))()
      expect(await reply(internal)()).toMatchObject({ status: 422, body: unknown.body })
      await refused(app, {
        'reply to internal': [reply(internal), bad('parent_comment_id')],
        'reply to internal in a thread': [reply(inThread), bad('parent_comment_id')],
        internal: [() => client.post('/comments', { ...target, text: 'Psst', internal: true }), bad('internal')],
      })
    }
    expect(ids(await list(member, target))).toEqual(sorted(shown, internal, inThread))
  })

  test('of others are not for an app to change or delete', async ({ app }) => {
    const { robot, everywhere, owner, member, issues } = await scene(app)
    const target = on('issue', issues.covered)
    const forbidden = { status: 403, body: { code: 'FORBIDDEN' } }
    for (const author of [member, everywhere]) {
      const theirs = await id(author.post('/comments', { ...target, text: 'Mine' }))
      await refused(app, {
        change: [() => robot.put(`/comments/${theirs}`, { text: 'Yours' }), forbidden],
        delete: [() => robot.delete(`/comments/${theirs}`), forbidden],
      })
      expect((await robot.put(`/comments/${theirs}`, { is_resolved: true })).body.is_resolved).toBe(true)
    }
    const own = await id(robot.post('/comments', { ...target, text: 'Mine' }))
    expect((await robot.put(`/comments/${own}`, { text: 'Better' })).body.text).toBe('Better')
    expect((await robot.delete(`/comments/${own}`)).status).toBe(204)
    // A manager deletes an app's comment as anybody's.
    const another = await id(robot.post('/comments', { ...target, text: 'Mine' }))
    expect((await member.delete(`/comments/${another}`)).status).toBe(403)
    expect((await owner.delete(`/comments/${another}`)).status).toBe(204)
  })
})

test(
  'what an app writes is attributed to its app user',
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

describe('while a call waits', () => {
  /** Runs `call` when the row is held, and lets go of it when `change` is made. */
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
    'what it is about leaves the reach of the app',
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

describe('planning', () => {
  test('labels and initiatives are for the whole workspace', async ({ app }) => {
    const { robot, owner } = await scene(app)
    for (const path of ['/labels', '/initiatives']) {
      const theirs = await id(owner.post(path, { name: 'Theirs' }))
      const own = await id(robot.post(path, { name: 'Mine' }))
      expect(ids(await robot.get(path))).toEqual(sorted(theirs, own))
      expect((await robot.put(`${path}/${theirs}`, { name: 'Ours' })).body.name).toBe('Ours')
      expect((await robot.delete(`${path}/${theirs}`)).status).toBe(204)
    }
  })

  test('milestones and cycles are there with their project or team', async ({ app }) => {
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
  test('an app sees those it covers', verifies('identity.teams-select-covered-teams'), async ({ app }) => {
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
    'have the apps installed for them as members',
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

describe('identity', () => {
  test('an app learns who it is', verifies('identity.auth-me-app', 'identity.app-user-kinds'), async ({ app }) => {
    const { robot } = await scene(app)
    expect((await robot.get('/auth/me')).body).toEqual({
      user: { id: robot.userId, display_name: robot.app.name, user_kind: 'application', agent_kind: 'app' },
      app: { id: robot.app.id, name: robot.app.name },
      installation_id: robot.installationId,
    })
  })

  test(
    'an app names the workspace it is installed in',
    verifies(
      'identity.workspaces-me-app',
      'workspace.header-missing-app-token-400',
      'workspace.header-not-the-apps-403',
    ),
    async ({ app }) => {
      const { robot, id: workspaceId } = await scene(app)
      const stranger = await app.workspace()
      expect((await robot.get('/workspaces/me')).body.id).toBe(workspaceId)
      const bare = app.nobody.with({ authorization: `Bearer ${robot.token}` })
      const lost = robot.with({ 'x-workspace-id': stranger.id })
      for (const path of ['/workspaces/me', '/issues', '/teams/select', '/auth/me']) {
        const required = { status: 400, body: { code: 'WORKSPACE_REQUIRED' } }
        expect(await bare.get(path), path).toMatchObject(path === '/auth/me' ? { status: 200 } : required)
        expect(await lost.get(path), path).toMatchObject({ status: 403, body: { code: 'WORKSPACE_ACCESS_DENIED' } })
      }
    },
  )
})

describe('scopes', () => {
  /** Calls by the narrowest scope that allows them. */
  const calls = ({ issues, projects, team }: Scene, comment: string) => {
    const target = { target_type: 'issue', target_id: issues.covered, text: 'Hello' }
    return {
      read: [
        ['GET', '/issues'],
        ['GET', `/issues/${issues.covered}`],
        ['GET', '/projects'],
        ['GET', `/projects/${projects.covered}`],
        ['GET', `/comments?target_type=issue&target_id=${issues.covered}`],
        ['GET', '/teams'],
        ['GET', '/labels'],
        ['GET', '/workspaces/me/members'],
      ],
      'issues:create': [['POST', '/issues', { title: 'A bug', team_id: team }]],
      'comments:create': [
        ['POST', '/comments', target],
        ['POST', '/comments', { ...target, parent_comment_id: comment }],
      ],
      write: [
        ['PUT', `/issues/${issues.covered}`, { title: 'Changed' }],
        ['PUT', `/projects/${projects.covered}`, { title: 'Changed' }],
        ['PUT', `/comments/${comment}`, { is_resolved: true }],
        ['POST', '/labels', { name: 'Red' }],
        ['POST', '/projects', { title: 'A plan', team_ids: [team] }],
        ['DELETE', `/comments/${comment}`],
        ['DELETE', `/projects/${projects.covered}`],
        ['DELETE', `/issues/${issues.covered}`],
      ],
    } as Record<string, [string, string, object?][]>
  }

  const cases: { scopes: AppScope[]; grants: string[]; shows: RequirementId[] }[] = [
    { scopes: ['read'], grants: ['read'], shows: ['scope.read-refuses-writing', 'scope.narrowest-named'] },
    { scopes: [], grants: ['read'], shows: ['scope.empty-grant-is-read'] },
    {
      scopes: ['write'],
      grants: ['issues:create', 'comments:create', 'write'],
      shows: [
        'scope.write-implies-issues-create',
        'scope.write-implies-comments-create',
        'scope.write-does-not-imply-read',
      ],
    },
    {
      scopes: ['issues:create'],
      grants: ['issues:create'],
      shows: ['scope.issues-create-allows-post-issues', 'scope.issues-create-nothing-else'],
    },
    {
      scopes: ['comments:create'],
      grants: ['comments:create'],
      shows: ['scope.comments-create-allows-post-comments', 'scope.comments-create-nothing-else'],
    },
    { scopes: ['app:assignable', 'app:mentionable'], grants: [], shows: ['scope.no-scope-routes'] },
    {
      scopes: ['issues:create', 'comments:create', 'app:assignable', 'app:mentionable'],
      grants: ['issues:create', 'comments:create'],
      shows: [
        'scope.reading-needs-read',
        'scope.change-without-write-refused',
        'scope.insufficient-scope-names-scope',
        'scope.insufficient-scope-header',
      ],
    },
  ]

  for (const { scopes, grants, shows } of cases) {
    test(
      `${scopes.join(', ') || 'no scope'} allows ${grants.join(', ') || 'nothing'}`,
      verifies(...shows),
      async ({ app }) => {
        const all = await scene(app)
        const robot = await app.installed(all.owner, { scopes, teamIds: [all.team] })
        const target = { target_type: 'issue', target_id: all.issues.covered }
        const comment = await id(robotOrMember(all, robot, grants).post('/comments', { ...target, text: 'Hello' }))
        const needed = calls(all, comment)
        await app.unchanged(async () => {
          for (const [required, list] of Object.entries(needed).filter(([scope]) => !grants.includes(scope))) {
            for (const [method, path, body] of list) {
              const answer = await robot.request(method, path, body)
              expect(answer, `${method} ${path}`).toMatchObject(lacking(required))
              expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer error="insufficient_scope"/)
            }
          }
        })
        for (const [method, path, body] of grants.flatMap((scope) => needed[scope] ?? [])) {
          const { status, body: answer } = await robot.request(method, path, body)
          expect(status, `${method} ${path} ${JSON.stringify(answer)}`).toBeLessThan(300)
        }
        for (const path of ['/auth/me', '/workspaces/me', '/teams/select']) {
          expect((await robot.get(path)).status).toBe(200)
        }
      },
    )
  }

  /** Who may delete a comment wrote it, so the app's own where it can write one. */
  const robotOrMember = ({ member }: Scene, robot: Robot, grants: string[]) =>
    grants.includes('comments:create') ? robot : member

  test(
    'a scope that leaves the manifest leaves the token',
    verifies('scope.removed-from-manifest'),
    async ({ app }) => {
      const { owner, issues, team } = await scene(app)
      const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team] })
      const change = () => robot.put(`/issues/${issues.covered}`, { title: 'Changed' })
      const ask = async (scopes: string[]) => {
        const { status } = await owner.put(`/agent-apps/${robot.app.id}`, {
          schemaVersion: '1.0.0',
          name: robot.app.name,
          developer: { name: 'Robots Inc' },
          oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes },
        })
        expect(status).toBe(200)
      }
      expect((await change()).status).toBe(200)
      await ask(['read'])
      await refused(app, { write: [change, lacking('write')] })
      expect((await robot.get('/issues')).status).toBe(200)
      await ask([])
      await refused(app, { read: [() => robot.get('/issues'), lacking('read')], write: [change, lacking('write')] })
      expect((await robot.get('/auth/me')).status).toBe(200)
    },
  )
})
