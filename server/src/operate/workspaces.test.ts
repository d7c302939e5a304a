import { pino } from 'pino'
import { expect } from 'vitest'
import { archiveScene } from '../../test/archive-scene.ts'
import { test, verifies } from '../../test/harness.ts'
import { runCommand } from '../../test/operate.ts'
import { rowsOfWorkspace } from '../../test/workspace-rows.ts'
import { sql } from '../db/sql.ts'
import type { Storage } from '../storage/storage.ts'

const keysIn = async (storage: Storage | null) => {
  const keys: string[] = []
  for await (const { key } of storage?.list('files/') ?? []) keys.push(key)
  return keys.sort()
}

test('lists workspaces with owners, members, issues and bytes', verifies('admin.list-workspaces'), async ({ app }) => {
  const scene = await archiveScene(app)
  const { exit, json, text } = await runCommand(app, ['workspaces'])
  expect(exit).toBe(0)
  const { bytes } = (await app.ctx.db.row<{ bytes: number }>(sql`
    select sum(bytes)::int as bytes from files where workspace_id = ${scene.id}`)) as { bytes: number }
  const count = (await app.ctx.db.rows(sql`select 1 from issues where workspace_id = ${scene.id}`)).length
  expect(json.workspaces).toContainEqual({
    id: scene.id,
    name: 'Acme',
    owners: [scene.owner.user.email],
    members: 3,
    issues: count,
    bytes,
    deletion_at: null,
  })
  expect(bytes).toBeGreaterThan(100_000)
  expect(text.join('\n')).toContain(scene.id)
  const { owner } = await app.workspace()
  await owner.post('/issues', { title: 'The only one' })
  const { text: lines } = await runCommand(app, ['workspaces'])
  expect(lines.find((line) => line.startsWith(owner.workspaceId))).toMatch(/; 3 members, 1 issue, 0 bytes of files$/)
})

test(
  'deletes a workspace with its rows, files and agents, and no other',
  verifies('admin.delete-workspace'),
  async ({ app }) => {
    const [doomed, other] = [await archiveScene(app), await archiveScene(app)]
    const { db, storage } = app.ctx
    const before = { rows: await rowsOfWorkspace(db, other.id), keys: await keysIn(storage) }
    const agents = await db.rows<{ id: string }>(sql`
    select user_id as id from inside_agents where workspace_id = ${doomed.id}`)
    expect(agents.length).toBeGreaterThan(0)

    expect(await runCommand(app, ['delete-workspace', doomed.id, '--confirm', 'Acme'])).toMatchObject({ exit: 0 })
    expect(await rowsOfWorkspace(db, doomed.id)).toEqual({})
    expect(JSON.stringify(await app.everything())).not.toContain(doomed.id)
    const users = (await db.rows<{ id: string }>(sql`select id from users`)).map(({ id }) => id)
    for (const { id } of agents) expect(users).not.toContain(id)
    expect(users).not.toContain(doomed.robot.userId)
    expect(users).toContain(doomed.owner.user.id)
    expect(await rowsOfWorkspace(db, other.id)).toEqual(before.rows)
    const left = await keysIn(storage)
    expect(left.length).toBeLessThan(before.keys.length)
    for (const id of Object.values(other.files)) expect(left).toContain(`files/${id}`)
    for (const id of Object.values(doomed.files)) expect(left).not.toContain(`files/${id}`)
    expect((await other.member.get('/issues')).status).toBe(200)
    expect((await doomed.member.get('/issues')).status).toBe(403)
  },
)

test(
  'refuses to delete a workspace without its exact name',
  verifies('admin.delete-workspace-confirm'),
  async ({ app }) => {
    const { id } = await app.workspace('Acme')
    for (const confirm of [[], ['--confirm', 'acme'], ['--confirm', ''], ['--confirm', 'Acme ']]) {
      const refused = await app.unchanged(() => runCommand(app, ['delete-workspace', id, ...confirm]))
      expect(refused.exit).toBe(2)
    }
    const unknown = await app.unchanged(() => runCommand(app, ['delete-workspace', 'wsp_none', '--confirm', 'Acme']))
    expect(unknown.exit).toBe(3)
  },
)

// server/src/deletion/kill.process.test.ts kills a process that deletes in the same way.
test('a deletion that ended midway is finished by the next', {
  ...verifies('admin.delete-workspace-resumes'),
}, async ({ app }) => {
  const { owner, id } = await app.workspace()
  const { body: team } = await owner.post('/teams', { name: 'Engineering', key: 'ENG' })
  await owner.post('/issues', { title: 'Old', team_id: team.id })
  const { db } = app.ctx
  expect(Object.keys(await rowsOfWorkspace(db, id))).toEqual(expect.arrayContaining(['issue_codes', 'issues']))
  const write = (line: string) => {
    if (line.includes('"table":"issue_codes"')) throw new Error('ended')
  }
  const args = ['delete-workspace', id, '--confirm', 'Acme']
  const ending = { ctx: { ...app.ctx, log: pino({ base: null }, { write }) } }
  await expect(runCommand(ending, args)).rejects.toThrow('ended')
  const during = await rowsOfWorkspace(db, id)
  expect(during.issue_codes).toBeUndefined()
  expect(during.issues).toHaveLength(1)

  expect(await runCommand(app, args)).toMatchObject({ exit: 0 })
  expect(await rowsOfWorkspace(db, id)).toEqual({})
  expect(await db.rows(sql`select 1 from workspaces where id = ${id}`)).toEqual([])
  expect(await runCommand(app, args)).toMatchObject({ exit: 3 })
})
