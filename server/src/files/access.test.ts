import { describe, expect } from 'vitest'
import { sessionScene } from '../../test/agent-sessions.ts'
import { content, contentAs, png, upload } from '../../test/files.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { connectMcp } from '../../test/mcp.ts'

const shown = (id: string) => `Look: ![x](${id})`

async function scene(app: TestApp) {
  const workspace = await app.workspace()
  const { body: team } = await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  const draft = async (by = workspace.owner) => (await upload(by, png(), 'door.png')).body.id as string
  return { ...workspace, team, draft }
}

describe('a file', () => {
  test('belongs to its uploader until a saved text shows it', verifies('file.reference-links'), async ({ app }) => {
    const { owner, member, team, draft } = await scene(app)
    const robot = await app.installed(owner, { scopes: ['read'] })
    const { body: issue } = await owner.post('/issues', { title: 'One', team_id: team.id })
    const { body: project } = await owner.post('/projects', { title: 'Plan', team_ids: [team.id] })
    const saves: ((id: string) => Promise<{ status: number }>)[] = [
      (id) => owner.put(`/issues/${issue.id}`, { description: shown(id) }),
      (id) => owner.post('/issues', { title: 'Two', team_id: team.id, description: shown(id) }),
      (id) => owner.post('/issues/batch', { issues: [{ title: 'Three', team_id: team.id, description: shown(id) }] }),
      (id) => owner.post('/projects', { title: 'Plan', team_ids: [team.id], description: shown(id) }),
      (id) => owner.put(`/projects/${project.id}`, { description: `[x](${id})` }),
      (id) => owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: shown(id) }),
      (id) => owner.post('/comments', { target_type: 'project', target_id: project.id, text: shown(id) }),
    ]
    for (const save of saves) {
      const id = await draft()
      expect((await member.get(`/files/${id}`)).status).toBe(404)
      expect(await robot.get(`/files/${id}`)).toMatchObject({ status: 403, body: { code: 'TEAM_ACCESS_DENIED' } })
      expect((await save(id)).status).toBeLessThan(300)
      for (const reader of [owner, member, robot]) expect((await reader.get(`/files/${id}`)).status).toBe(200)
    }
    // An id outside a link is only text.
    const id = await draft()
    await owner.put(`/issues/${issue.id}`, { description: `${id} (${id}) ![x](${id} ` })
    expect((await member.get(`/files/${id}`)).status).toBe(404)
    const { body: comment } = await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
    await owner.put(`/comments/${comment.id}`, { text: shown(id) })
    expect((await contentAs(app, member, id)).status).toBe(200)
  })

  test('is not opened by writing its id', verifies('file.reference-no-escalation'), async ({ app }) => {
    const { owner, member, team, draft } = await scene(app)
    const id = await draft()
    const { body: mine } = await owner.post('/issues', {
      title: 'Mine',
      personal: true,
      description: shown(await draft()),
    })
    const secret = (await owner.get(`/issues/${mine.id}/related`)).body.files[0].id
    const { body: issue } = await owner.post('/issues', { title: 'One', team_id: team.id })
    for (const one of [id, secret]) {
      await member.put(`/issues/${issue.id}`, { description: shown(one) })
      await member.post('/comments', { target_type: 'issue', target_id: issue.id, text: shown(one) })
      for (const path of [`/files/${one}`, `/files/${one}/content`]) {
        expect((await member.get(path)).status).toBe(404)
      }
      expect((await member.post(`/files/${one}/link`)).status).toBe(404)
    }
    expect((await member.get(`/issues/${issue.id}/related`)).body.files).toEqual([])
    // Nor when the owner, who can read it, saves another text of the same issue.
    await owner.put(`/issues/${issue.id}`, { title: 'Other title' })
    expect((await member.get(`/files/${id}`)).status).toBe(404)
  })

  test("of a personal item is its owner's", verifies('file.personal', 'file.made-personal'), async ({ app }) => {
    const { owner, admin, member, team, draft } = await scene(app)
    const robot = await app.installed(owner, { scopes: ['read', 'write'] })
    const [id, elsewhere] = [await draft(), await draft()]
    const text = `${shown(id)} ${shown(elsewhere)}`
    const { body: issue } = await owner.post('/issues', { title: 'One', team_id: team.id, description: text })
    const { body: other } = await owner.post('/issues', {
      title: 'Two',
      team_id: team.id,
      description: shown(elsewhere),
    })
    expect((await contentAs(app, member, id)).status).toBe(200)
    await owner.put(`/issues/${issue.id}`, { personal: true })
    for (const client of [member, admin]) {
      for (const path of [`/files/${id}`, `/files/${id}/content`, `/issues/${issue.id}/related`]) {
        expect((await client.get(path)).status).toBe(404)
      }
      expect((await client.delete(`/files/${id}`)).status).toBe(404)
    }
    for (const path of [`/files/${id}`, `/files/${id}/content`, `/issues/${issue.id}/related`]) {
      expect(await robot.get(path)).toMatchObject({ status: 403, body: { code: 'TEAM_ACCESS_DENIED' } })
    }
    expect((await contentAs(app, owner, id)).status).toBe(200)
    expect((await contentAs(app, member, elsewhere)).status).toBe(200)
    expect(
      (await admin.get('/workspaces/me/storage')).body.largest.map((file: { id: string }) => file.id),
    ).not.toContain(id)
    expect((await robot.get(`/issues/${other.id}/related`)).body.files.map((file: { id: string }) => file.id)).toEqual([
      elsewhere,
    ])
    const { body: plan } = await owner.post('/projects', {
      title: 'Plan',
      personal: true,
      description: shown(await draft()),
    })
    expect((await owner.get(`/projects/${plan.id}/files`)).body.data).toHaveLength(1)
    expect((await member.get(`/projects/${plan.id}/files`)).status).toBe(404)
    expect((await robot.get(`/projects/${plan.id}/files`)).status).toBe(403)
  })

  test('of an internal comment is hidden from apps', verifies('file.internal-comment'), async ({ app }) => {
    const { owner, member, team, draft } = await scene(app)
    const robot = await app.installed(owner, { scopes: ['read'] })
    const id = await draft()
    const { body: issue } = await owner.post('/issues', { title: 'One', team_id: team.id })
    await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: shown(id), internal: true })
    expect((await member.get(`/files/${id}`)).status).toBe(200)
    for (const path of [`/files/${id}`, `/files/${id}/content`]) expect((await robot.get(path)).status).toBe(404)
    expect((await robot.post(`/files/${id}/link`)).status).toBe(404)
  })

  test('of another workspace does not exist', verifies('file.other-workspace'), async ({ app }) => {
    const [here, there] = [await scene(app), await scene(app)]
    const id = await there.draft()
    const { body: theirs } = await there.owner.post('/issues', { title: 'One', description: shown(id) })
    const { body: issue } = await here.owner.post('/issues', { title: 'One', description: shown(id) })
    for (const path of [`/files/${id}`, `/files/${id}/content`]) expect((await here.owner.get(path)).status).toBe(404)
    expect((await here.owner.post(`/files/${id}/link`)).status).toBe(404)
    expect((await here.owner.delete(`/files/${id}`)).status).toBe(404)
    expect((await here.owner.get(`/issues/${issue.id}/related`)).body.files).toEqual([])
    const refused = await app.unchanged(() =>
      upload(here.owner, png(), 'a', { target_type: 'issue', target_id: theirs.id }),
    )
    expect(refused.status).toBe(404)
    const query = `?workspace_id=${here.owner.workspaceId}`
    const asked = await content(app, `/api/v1/files/${id}/content${query}`, {
      authorization: `Bearer ${here.owner.token}`,
    })
    expect(asked.status).toBe(404)
    const own = await content(app, `/api/v1/files/${id}/content?workspace_id=${there.owner.workspaceId}`, {
      authorization: `Bearer ${there.owner.token}`,
    })
    expect(own.status).toBe(200)
  })

  test('of a team is for its apps', verifies('file.app-teams'), async ({ app }) => {
    const { owner, team } = await scene(app)
    const { body: other } = await owner.post('/teams', { name: 'Design', key: 'DES' })
    const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    const [own, their] = await Promise.all(
      [team, other].map(async ({ id }) => (await owner.post('/issues', { title: 'One', team_id: id })).body),
    )
    const { body: file } = await upload(robot, png(), 'a', { target_type: 'issue', target_id: own.id })
    const { body: foreign } = await upload(owner, png(), 'a', { target_type: 'issue', target_id: their.id })
    expect((await robot.get(`/files/${file.id}`)).status).toBe(200)
    for (const path of [`/files/${foreign.id}`, `/files/${foreign.id}/content`]) {
      expect(await robot.get(path)).toMatchObject({ status: 403, body: { code: 'TEAM_ACCESS_DENIED' } })
    }
    const refused = await app.unchanged(() => upload(robot, png(), 'a', { target_type: 'issue', target_id: their.id }))
    expect(refused).toMatchObject({ status: 403, body: { code: 'TEAM_ACCESS_DENIED' } })
    for (const scopes of [['read'], ['comments:create']]) {
      const weak = await app.installed(owner, { scopes })
      expect(await app.unchanged(() => upload(weak, png()))).toMatchObject({
        status: 403,
        body: { code: 'INSUFFICIENT_SCOPE', details: { required: 'write' } },
      })
    }
  })

  test(
    'is uploaded into a session by its own app',
    verifies('file.app-session-upload', 'file.reference-links'),
    async ({ app }) => {
      const { owner, member, newIssue } = await sessionScene(app)
      const [robot, other] = [await app.installed(owner, { scopes: ['app:assignable'] }), await app.installed(owner)]
      const { body: session } = await robot.post('/agent-sessions', { issue_id: (await newIssue()).id })
      const path = `/agent-sessions/${session.id}/files?name=shot.png`
      const { status, body: file } = await robot.post(path, undefined, { raw: png() })
      expect(status).toBe(201)
      const posted = await robot.post(`/agent-sessions/${session.id}/activities`, {
        content: { type: 'response', body: shown(file.id) },
      })
      expect(posted.status).toBe(201)
      expect((await contentAs(app, member, file.id)).status).toBe(200)
      for (const client of [other]) {
        expect(await app.unchanged(() => client.post(path, undefined, { raw: png() }))).toMatchObject({ status: 404 })
        expect((await client.get(`/files/${file.id}`)).status).toBe(404)
      }
      // A message links the files of its author, a thought those of the app.
      const draft = (await upload(owner, png())).body.id
      await owner.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'prompt', body: shown(draft) } })
      expect((await member.get(`/files/${draft}`)).status).toBe(200)
      const mine = (await upload(other, png())).body.id
      await robot.post(`/agent-sessions/${session.id}/activities`, { content: { type: 'thought', body: shown(mine) } })
      expect((await member.get(`/files/${mine}`)).status).toBe(404)
    },
  )

  test('is a picture for models', verifies('file.mcp-picture'), async ({ app }) => {
    const { owner, team } = await scene(app)
    const { body: other } = await owner.post('/teams', { name: 'Design', key: 'DES' })
    const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    const [own, their] = await Promise.all(
      [team, other].map(async ({ id }) => (await owner.post('/issues', { title: 'One', team_id: id })).body),
    )
    const { body: foreign } = await upload(owner, png(), 'a', { target_type: 'issue', target_id: their.id })
    const client = await connectMcp(app, robot.token)
    const call = (name: string, input: Record<string, unknown>) => client.callTool({ name, arguments: input })
    const made = await call('upload_file', {
      name: 'shot.png',
      target_type: 'issue',
      target_id: own.id,
      content: png(4, 4).toString('base64'),
    })
    const { id } = made.structuredContent as { id: string }
    const { content: parts } = await call('get_file', { file_id: id })
    expect(parts).toMatchObject([
      { type: 'text' },
      { type: 'image', mimeType: 'image/png', data: png(4, 4).toString('base64') },
    ])
    expect(await call('get_file', { file_id: foreign.id })).toMatchObject({
      isError: true,
      structuredContent: { code: 'TEAM_ACCESS_DENIED' },
    })
    const text = await upload(owner, 'Hello', 'a.txt', { target_type: 'issue', target_id: own.id })
    expect((await call('get_file', { file_id: text.body.id })).content).toHaveLength(1)
    for (const bad of ['not base64!', Buffer.alloc(700 * 1024 + 1).toString('base64')]) {
      expect(await call('upload_file', { name: 'a', content: bad })).toMatchObject({ isError: true })
    }
    expect(
      await call('upload_file', { name: 'a', content: Buffer.alloc(700 * 1024).toString('base64') }),
    ).not.toMatchObject({
      isError: true,
    })
  })
})

describe('deleting', () => {
  test('is for its uploader and managers', verifies('file.delete-rights'), async ({ app }) => {
    const { owner, admin, member, join, team } = await scene(app)
    const other = await join('member')
    const { body: issue } = await owner.post('/issues', { title: 'One', team_id: team.id })
    const add = async () => (await upload(member, png(), 'a', { target_type: 'issue', target_id: issue.id })).body.id
    for (const [deleter, rounds] of [
      [member, 1],
      [admin, 1],
      [owner, 1],
    ] as const) {
      for (let round = 0; round < rounds; round++) {
        const id = await add()
        const { url } = (await owner.post(`/files/${id}/link`)).body
        const refused = await app.unchanged(() => other.delete(`/files/${id}`))
        expect(refused).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
        const robot = await app.installed(owner)
        expect(await app.unchanged(() => robot.delete(`/files/${id}`))).toMatchObject({ status: 403 })
        expect((await deleter.delete(`/files/${id}`)).status).toBe(204)
        for (const path of [`/files/${id}`, `/files/${id}/content`]) expect((await owner.get(path)).status).toBe(404)
        expect((await owner.post(`/files/${id}/link`)).status).toBe(404)
        expect((await owner.delete(`/files/${id}`)).status).toBe(404)
        expect((await content(app, new URL(url).pathname)).status).toBe(404)
        expect((await owner.get(`/issues/${issue.id}/related`)).body.files).toEqual([])
      }
    }
  })
})

test(
  'a file that a text no longer shows stays with its item',
  verifies('file.removed-from-text-stays'),
  async ({ app }) => {
    const { owner, member, draft } = await scene(app)
    const id = await draft()
    const { body: issue } = await owner.post('/issues', { title: 'One', description: shown(id) })
    await owner.put(`/issues/${issue.id}`, { description: 'Nothing' })
    const { body } = await member.get(`/issues/${issue.id}/related`)
    expect(body.files).toMatchObject([{ id, name: 'door.png' }])
    await member.put(`/issues/${issue.id}`, { description: shown(id) })
    expect((await contentAs(app, member, id)).status).toBe(200)
  },
)

test('bodies have the keys that they had', verifies('file.spec-bodies-unchanged'), async ({ app }) => {
  const { owner, team, draft } = await scene(app)
  const keys = (body: object) => Object.keys(body).sort()
  const plain = { issue: {}, project: {}, comment: {} } as Record<string, object>
  const withFile = structuredClone(plain)
  for (const [made, text] of [
    [plain, 'Hello'],
    [withFile, shown(await draft())],
  ] as const) {
    made.issue = (await owner.post('/issues', { title: 'One', team_id: team.id, description: text })).body
    made.project = (await owner.post('/projects', { title: 'One', description: text })).body
    const { id } = made.issue as { id: string }
    made.comment = (await owner.post('/comments', { target_type: 'issue', target_id: id, text })).body
  }
  for (const kind of ['issue', 'project', 'comment']) {
    expect(keys(withFile[kind] as object)).toEqual(keys(plain[kind] as object))
    expect(keys(withFile[kind] as object)).not.toContain('files')
  }
})
