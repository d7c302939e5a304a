import type { NewChanges } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { bringTo, ended, missing, refusal, sessionScene } from '../../test/agent-sessions.ts'
import { test, verifies } from '../../test/harness.ts'
import { Watch } from '../../test/watch.ts'

const commit = '1f2e3d4c5b6a79880f1e2d3c4b5a69788f9e0d1c'
const file = (path: string, more: object = {}) => ({
  path,
  old_path: null,
  status: 'modified',
  additions: 1,
  deletions: 0,
  patch: `diff --git a/${path} b/${path}\n+ünï`,
  omitted: null,
  ...more,
})
const changes = (more: object = {}) =>
  ({
    repository: 'acme/shop',
    remote_url: 'https://code.example.com:8443/acme/shop.git',
    base: { ref: 'main', commit },
    head_commit: commit.replace('1', '2'),
    branch: 'baton/eng-12-4f7k2p',
    pushed: false,
    files_total: 2,
    additions: 3,
    deletions: 1,
    files: [
      file('src/door.ts', { old_path: 'src/window.ts', status: 'renamed' }),
      file('logo.png', { patch: null, omitted: 'binary', additions: null }),
    ],
    ...more,
  }) as NewChanges
const ofSize = (bytes: number, count = 1) =>
  Array.from({ length: count }, (_, n) => file(`f${n}`, { patch: 'x'.repeat(bytes) }))

describe('changes of a session', () => {
  test(
    'are stored by its app and shown to all who see the session',
    verifies('changes.set-and-read', 'changes.summary-on-session'),
    async ({ app }) => {
      const { delegated, robot, member, admin } = await sessionScene(app)
      const session = await delegated()
      expect(await session.get()).toMatchObject({ changes: null, usage: null, budget_reached: null })
      app.clock.advance({ seconds: 1 })
      const { status, body } = await robot.put(`${session.path}/changes`, changes())
      const updated_at = app.clock.now().toISOString()
      expect({ status, body }).toEqual({ status: 200, body: { ...changes(), version: 1, updated_at } })
      for (const reader of [robot, member, admin]) {
        expect((await reader.get(`${session.path}/changes`)).body).toEqual(body)
      }
      const { files_total, additions, deletions, branch } = changes()
      const summary = { version: 1, files_total, additions, deletions, branch, updated_at }
      expect((await session.get()).changes).toEqual(summary)
      expect((await member.get('/agent-sessions')).body.data[0].changes).toEqual(summary)
    },
  )

  test(
    'are replaced as a whole; the same again has no effect',
    verifies('changes.replace-and-same'),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const session = await delegated()
      const put = (body: object) => robot.put(`${session.path}/changes`, body)
      const first = (await put(changes())).body
      app.clock.advance({ seconds: 1 })
      await app.unchanged(async () => {
        expect((await put(changes())).body).toEqual(first)
        const reordered = Object.fromEntries(Object.entries(changes()).reverse())
        expect((await put(reordered)).body).toEqual(first)
      })
      const next = changes({
        files: [],
        files_total: 0,
        branch: null,
        head_commit: null,
        remote_url: null,
        pushed: true,
      })
      const second = (await put(next)).body
      expect(second).toEqual({ ...next, version: 2, updated_at: app.clock.now().toISOString() })
      expect((await robot.get(`${session.path}/changes`)).body).toEqual(second)
      expect((await put(changes())).body.version).toBe(3)
    },
  )

  test('reach watchers and events', verifies('changes.summary-on-session'), async ({ app, receiver }) => {
    const { delegated, robot, member } = await sessionScene(app, { webhook: receiver.url })
    const session = await delegated()
    const watch = await Watch.as(member, { path: `${session.path}/stream` })
    expect(await watch.next()).toMatchObject({ event: 'session', data: { changes: null } })
    await robot.put(`${session.path}/changes`, changes())
    expect(await watch.next()).toMatchObject({ event: 'session', data: { changes: { version: 1, files_total: 2 } } })
    await session.write('Show me')
    await app.deliver()
    const [created, prompted] = receiver.take().map(({ body }) => body.data.agent_session)
    expect(created).toMatchObject({ changes: null, usage: null, budget_reached: null })
    expect(prompted).toMatchObject({ changes: (await session.get()).changes, usage: null, budget_reached: null })
  })

  test(
    'beyond a limit, or malformed, are refused',
    verifies('changes.limits', 'changes.patch-or-omitted', 'changes.path-rules', 'changes.ref-and-url-safe'),
    async ({ app }) => {
      const { delegated, robot } = await sessionScene(app)
      const session = await delegated()
      const put = (body: object) => robot.put(`${session.path}/changes`, body)
      const one = (more: object) => changes({ files: [file('a', more)] })
      const [patchBytes, patchesBytes] = [65_536, 524_288]
      const patches = patchesBytes / patchBytes
      const bad: Record<string, [field: string, body: object]> = {
        'too many files': ['files', changes({ files: ofSize(1, 301) })],
        'a long patch': ['files.0.patch', one({ patch: 'x'.repeat(patchBytes + 1) })],
        'a patch long in bytes': ['files.0.patch', one({ patch: `${'ü'.repeat(patchBytes / 2)}x` })],
        'long patches': ['files', changes({ files: [...ofSize(patchBytes, patches), file('last', { patch: 'x' })] })],
        'a negative count': ['additions', changes({ additions: -1 })],
        'a negative count of a file': ['files.0.deletions', one({ deletions: -1 })],
        'a negative total': ['files_total', changes({ files_total: -1 })],
        'half a line': ['deletions', changes({ deletions: 0.5 })],
        'a short commit': ['base.commit', changes({ base: { ref: null, commit: commit.slice(1) } })],
        'no commit': ['base.commit', changes({ base: { ref: null, commit: null } })],
        'a commit with other letters': ['head_commit', changes({ head_commit: `g${commit.slice(1)}` })],
        'an unknown status': ['files.0.status', one({ status: 'copied' })],
        'an unknown reason': ['files.0.omitted', one({ patch: null, omitted: 'secret' })],
        'an unknown key': ['more', changes({ more: 1 })],
        'an unknown key of a file': ['files.0.mode', one({ mode: '100644' })],
        'a missing key': ['pushed', changes({ pushed: undefined })],
        'no repository': ['repository', changes({ repository: '' })],
        'patch and reason': ['files.0.omitted', one({ omitted: 'binary' })],
        'neither patch nor reason': ['files.0.patch', one({ patch: null })],
        'an empty path': ['files.0.path', one({ path: '' })],
        'an absolute path': ['files.0.path', one({ path: '/etc/passwd' })],
        'an absolute path of Windows': ['files.0.path', one({ path: 'C:\\boot.ini' })],
        'a long path': ['files.0.path', one({ path: 'x'.repeat(1025) })],
        'a path that leaves the repository': ['files.0.path', one({ path: 'a/../../b' })],
        'an old path that leaves the repository': ['files.0.old_path', one({ old_path: '..' })],
        'a long old path': ['files.0.old_path', one({ old_path: 'x'.repeat(1025) })],
        'a repeated path': ['files.1.path', changes({ files: [file('a'), file('a')] })],
        'a long branch': ['branch', changes({ branch: 'x'.repeat(201) })],
      }
      for (const branch of ['', '-d', '.hidden', 'a b', 'a;b', 'a$(b)', 'a`b`', "a'b", 'ä', 'a\n', 'a~1', 'a@{1}']) {
        bad[`branch ${branch}`] = ['branch', changes({ branch })]
        bad[`ref ${branch}`] = ['base.ref', changes({ base: { ref: branch, commit } })]
      }
      const urls = ['http://a.example/b', 'git@a.example:b', 'https://me@a.example/b', 'https://me:pw@a.example/b']
      const unsafe = [' ', ';', '&', '|', '$', '`', '"', "'", '(', '*', '?', '!', '#', '<', '\\', '\n', '{', '['].map(
        (character) => `https://a.example/b${character}c`,
      )
      for (const url of [...urls, ...unsafe, 'https://-a.example/', 'https://', 'file:///b']) {
        bad[`remote ${url}`] = ['remote_url', changes({ remote_url: url })]
      }
      await app.unchanged(async () => {
        for (const [what, [field, body]] of Object.entries(bad)) {
          const answer = await put(body)
          expect(answer, what).toMatchObject(refusal(422, 'VALIDATION_ERROR'))
          expect(Object.keys(answer.body.details), what).toEqual([field])
        }
      })
      const good: Record<string, object> = {
        'most files': changes({ files: ofSize(1, 300), files_total: 1000 }),
        'the longest patches': changes({ files: ofSize(patchBytes, patches) }),
        'the longest patch in bytes': one({ patch: 'ü'.repeat(patchBytes / 2) }),
        'the longest path': one({ path: 'x'.repeat(1024), old_path: 'x'.repeat(1024), status: 'renamed' }),
        'dots in a path': one({ path: 'a..b/.../.c' }),
        'commits of SHA-256': changes({ base: { ref: null, commit: 'a'.repeat(64) }, head_commit: 'A'.repeat(64) }),
        'the longest branch': changes({ branch: `1${'x'.repeat(199)}` }),
        'every reason': changes({
          files: ['binary', 'too_large', 'encoding', 'redacted', 'submodule'].map((omitted) =>
            file(omitted, { patch: null, omitted }),
          ),
        }),
        'every status': changes({
          files: ['added', 'modified', 'deleted', 'renamed', 'type_changed'].map((status) => file(status, { status })),
        }),
        'an encoded URL': changes({ remote_url: 'https://a.example/My%20Project/_git/b~c' }),
      }
      for (const [what, body] of Object.entries(good)) expect((await put(body)).status, what).toBe(200)
    },
  )

  test('are hidden from those who cannot see the session', verifies('changes.visibility'), async ({ app }) => {
    const scene = await sessionScene(app)
    const { delegated, robot, owner, member, otherTeam } = scene
    const session = await delegated()
    const path = `${session.path}/changes`
    for (const reader of [robot, member]) expect(await reader.get(path)).toMatchObject(missing)
    await robot.put(path, changes())
    const stranger = await app.workspace()
    const otherApp = await app.installed(owner, { teamIds: [otherTeam.id] })
    const outsider = stranger.owner.with({ 'x-workspace-id': scene.id })
    await app.unchanged(async () => {
      expect(await stranger.owner.get(path)).toMatchObject(missing)
      expect(await outsider.get(path)).toMatchObject(refusal(403, 'WORKSPACE_ACCESS_DENIED'))
      expect(await otherApp.get(path)).toMatchObject(missing)
      expect(await otherApp.put(path, changes())).toMatchObject(missing)
      for (const person of [member, owner]) {
        expect(await person.put(path, changes())).toMatchObject(refusal(403, 'FORBIDDEN'))
      }
      expect(await stranger.owner.put(path, changes())).toMatchObject(refusal(403, 'FORBIDDEN'))
    })
    await member.put(`/issues/${(await session.get()).issue?.id}`, { personal: true })
    expect((await member.get(path)).status).toBe(200)
    expect(await owner.get(path)).toMatchObject(missing)
  })

  test('of an ended session are kept and cannot change', verifies('changes.ended-session-409'), async ({ app }) => {
    const { delegated, robot, member } = await sessionScene(app)
    const session = await delegated()
    const path = `${session.path}/changes`
    await robot.put(path, changes())
    await session.stop()
    expect((await robot.put(path, changes({ pushed: true }))).body.version).toBe(2)
    await session.say('response')
    await app.unchanged(async () => {
      expect(await robot.put(path, changes())).toMatchObject(ended('stopped'))
      expect(await robot.put(path, changes({ pushed: true }))).toMatchObject(ended('stopped'))
    })
    for (const reader of [robot, member])
      expect((await reader.get(path)).body).toMatchObject({ version: 2, pushed: true })
  })

  test('do not alter state and timers', verifies('changes.state-unaffected'), async ({ app }) => {
    const { delegated, robot } = await sessionScene(app)
    for (const state of ['pending', 'active', 'awaitingInput', 'complete', 'error', 'stopping', 'stale'] as const) {
      const session = await delegated()
      await bringTo(app, session, state)
      await robot.put(`${session.path}/changes`, changes())
      expect(await session.get(), state).toMatchObject({ state, changes: { version: 1 } })
    }
    const session = await delegated()
    const unresponsive = new Date(app.clock.now().getTime() + 10_000).toISOString()
    app.clock.advance({ minutes: 29 })
    await robot.put(`${session.path}/changes`, changes())
    expect(await session.get()).toMatchObject({ state: 'pending', unresponsive_since: unresponsive })
    app.clock.advance({ minutes: 1 })
    expect(await session.get()).toMatchObject({ state: 'stale', unresponsive_since: unresponsive })
  })
})
