import { describe, expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { callTool } from '../../test/mcp.ts'
import { allOf, denied, id, ids, missing, noSuch, reachScene, refused, sorted } from '../../test/reach.ts'

describe('an app that covers selected teams', () => {
  test(
    'lists, reads and creates labels, but does not change them',
    verifies('app.label-create', 'app.label-change-needs-all-teams'),
    async ({ app }) => {
      const { robot, everywhere, owner } = await reachScene(app)
      const theirs = await id(owner.post('/labels', { name: 'Theirs' }))
      const own = await id(robot.post('/labels', { name: 'Mine', color: '#1f6feb' }))
      expect(ids(await robot.get('/labels'))).toEqual(sorted(theirs, own))
      expect((await robot.get(`/labels/${theirs}`)).body.name).toBe('Theirs')
      const changes = [theirs, own].flatMap((label) => [
        () => robot.put(`/labels/${label}`, { name: 'Ours' }),
        () => robot.request('PATCH', `/labels/${label}`, { color: null }),
        () => robot.delete(`/labels/${label}`),
      ])
      await refused(app, allOf(Object.fromEntries(changes.entries()), denied))
      const tool = await app.unchanged(() => callTool(robot, 'update_label', { label_id: theirs, name: 'Ours' }))
      expect(tool).toMatchObject({ isError: true })
      expect(JSON.stringify(tool)).toContain('TEAM_ACCESS_DENIED')

      expect((await everywhere.put(`/labels/${theirs}`, { name: 'Ours' })).body.name).toBe('Ours')
      expect((await everywhere.delete(`/labels/${own}`)).status).toBe(204)
      expect((await owner.get('/labels')).body.data).toMatchObject([{ name: 'Ours' }])
    },
  )

  test(
    'reads initiatives, but does not create or change them',
    verifies('app.initiative-needs-all-teams'),
    async ({ app }) => {
      const { robot, everywhere, owner } = await reachScene(app)
      const theirs = await id(owner.post('/initiatives', { name: 'Theirs' }))
      expect(ids(await robot.get('/initiatives'))).toEqual([theirs])
      expect((await robot.get(`/initiatives/${theirs}`)).body.name).toBe('Theirs')
      await refused(
        app,
        allOf(
          {
            create: () => robot.post('/initiatives', { name: 'Mine' }),
            update: () => robot.put(`/initiatives/${theirs}`, { name: 'Ours' }),
            patch: () => robot.request('PATCH', `/initiatives/${theirs}`, { name: 'Ours' }),
            delete: () => robot.delete(`/initiatives/${theirs}`),
          },
          denied,
        ),
      )
      const own = await id(everywhere.post('/initiatives', { name: 'Mine' }))
      expect((await everywhere.put(`/initiatives/${theirs}`, { name: 'Ours' })).body.name).toBe('Ours')
      expect((await everywhere.delete(`/initiatives/${theirs}`)).status).toBe(204)
      expect(ids(await owner.get('/initiatives'))).toEqual([own])
    },
  )

  test('sees the members of those teams only', verifies('app.members-of-covered-teams'), async ({ app }) => {
    const { robot, everywhere, owner, admin, member, team, otherTeam } = await reachScene(app)
    await owner.put(`/teams/${team}/members/${member.user.id}`)
    await owner.put(`/teams/${otherTeam}/members/${admin.user.id}`)
    const other = await app.installed(owner, { teamIds: [otherTeam] })
    const everyone = [owner, admin, member].map(({ user }) => user.id)
    const covered = sorted(owner.user.id, member.user.id)
    const apps = [robot, everywhere, other].map(({ userId }) => userId)
    const people = (of: { id: string; user_kind: string }[]) =>
      of.filter(({ user_kind }) => user_kind === 'human').map((one) => one.id)

    expect(ids(await robot.get('/workspaces/me/members'))).toEqual(covered)
    for (const caller of [everywhere, member]) {
      expect(ids(await caller.get('/workspaces/me/members'))).toEqual(sorted(...everyone))
    }
    const select = async (caller: typeof robot | typeof member, query = '') =>
      (await caller.get(`/users/select${query}`)).body.data
    expect(people(await select(robot)).sort()).toEqual(covered)
    expect(people(await select(everywhere)).sort()).toEqual(sorted(...everyone))
    expect(await select(robot, `?query=${encodeURIComponent(admin.user.display_name)}`)).toEqual([])
    // Apps are members of the teams that they cover.
    const seen = (await select(robot)).map((one: { id: string }) => one.id)
    expect(apps.map((one) => seen.includes(one))).toEqual([true, true, false])

    for (const [tool, expected] of [
      ['list_members', covered],
      ['select_users', covered],
    ] as const) {
      const { structuredContent, content } = await callTool(robot, tool)
      const shown = JSON.stringify(structuredContent ?? content)
      for (const one of everyone) expect(shown.includes(one), tool).toBe(expected.includes(one))
      const all = JSON.stringify(await callTool(everywhere, tool))
      for (const one of everyone) expect(all, tool).toContain(one)
    }

    // A person who leaves the team is no longer seen.
    await owner.delete(`/teams/${team}/members/${member.user.id}`)
    expect(ids(await robot.get('/workspaces/me/members'))).toEqual([owner.user.id])
    expect((await robot.get('/workspaces/me/members?limit=1')).body.next_cursor).toBeNull()
  })
})

describe('one item by its id', () => {
  test(
    'a user is read by those who see them in the list',
    verifies('app.members-of-covered-teams'),
    async ({ app }) => {
      const { robot, everywhere, owner, member, otherTeam } = await reachScene(app)
      const outside = await app.installed(owner, { teamIds: [otherTeam] })
      const stranger = await app.workspace()
      const { body: scribe } = await member.post('/agents/personal', { name: 'Scribe', instructions: '' })
      for (const caller of [owner, everywhere]) {
        const { data } = (await caller.get('/users/select')).body
        for (const one of data) expect((await caller.get(`/users/${one.id}`)).body).toEqual(one)
        expect(data.map((one: { id: string }) => one.id)).toContain(member.user.id)
      }
      expect((await member.get(`/users/${scribe.id}`)).body).toMatchObject({ agent_kind: 'personal', available: true })
      expect((await robot.get(`/users/${owner.user.id}`)).status).toBe(200)
      await refused(
        app,
        allOf(
          {
            'a member of no covered team': () => robot.get(`/users/${member.user.id}`),
            'an app of no covered team': () => robot.get(`/users/${outside.userId}`),
            'the agent of another person': () => owner.get(`/users/${scribe.id}`),
            'a person of another workspace': () => owner.get(`/users/${stranger.owner.user.id}`),
            'an unknown user': () => owner.get(`/users/${noSuch('usr')}`),
          },
          missing,
        ),
      )
      await owner.delete(`/workspaces/me/members/${member.user.id}`)
      expect(await owner.get(`/users/${member.user.id}`)).toMatchObject(missing)
    },
  )

  test('labels, milestones, cycles and initiatives are read by those who see them in the list', async ({ app }) => {
    const { robot, everywhere, owner, admin, member, projects, team, otherTeam } = await reachScene(app)
    const stranger = await app.workspace()
    const kinds = [
      { path: '/labels', near: {}, far: null, prefix: 'lbl' },
      { path: '/initiatives', near: {}, far: null, prefix: 'ini' },
      { path: '/milestones', near: { project_id: projects.both }, far: { project_id: projects.other }, prefix: 'mil' },
      { path: '/cycles', near: { team_id: team }, far: { team_id: otherTeam }, prefix: 'cyc' },
    ]
    for (const { path, near, far, prefix } of kinds) {
      const here = (await owner.post(path, { name: 'Here', ...near })).body
      for (const caller of [admin, member, robot, everywhere]) {
        expect(await caller.get(`${path}/${here.id}`)).toMatchObject({ status: 200, body: here })
      }
      const calls = [() => stranger.owner.get(`${path}/${here.id}`), () => owner.get(`${path}/${noSuch(prefix)}`)]
      if (far) {
        const there = (await owner.post(path, { name: 'There', ...far })).body
        expect((await everywhere.get(`${path}/${there.id}`)).body).toEqual(there)
        calls.push(() => robot.get(`${path}/${there.id}`))
      }
      await refused(app, allOf(Object.fromEntries(calls.entries()), missing))
    }
    const secret = await id(member.post('/milestones', { project_id: projects.personal, name: 'Secret' }))
    expect((await member.get(`/milestones/${secret}`)).status).toBe(200)
    for (const caller of [owner, everywhere]) expect(await caller.get(`/milestones/${secret}`)).toMatchObject(missing)
  })
})

test('/auth/me needs no workspace header with the token of an app', async ({ app }) => {
  const { robot, owner, id: workspaceId } = await reachScene(app)
  const bare = app.anonymous.with({ authorization: `Bearer ${robot.token}` })
  const { status, body } = await bare.get('/auth/me')
  expect(status).toBe(200)
  expect(body).toEqual((await robot.get('/auth/me')).body)
  expect(body.user.id).toBe(robot.userId)
  const elsewhere = await app.workspace()
  expect(await bare.get('/auth/me', { headers: { 'x-workspace-id': elsewhere.id } })).toMatchObject({ status: 403 })
  expect((await bare.get('/auth/me', { headers: { 'x-workspace-id': workspaceId } })).status).toBe(200)
  expect((await owner.get('/auth/me')).status).toBe(200)
})
