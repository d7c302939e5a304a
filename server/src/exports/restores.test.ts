import { describe, expect } from 'vitest'
import { archiveScene } from '../../test/archive-scene.ts'
import { type Entry, exportOf, manifestOf, packed, restoreOf, rowsOf, unpack, withRows } from '../../test/archives.ts'
import { type TestApp, type TestPerson, test, verifies, within } from '../../test/harness.ts'
import { createBuiltInAgent } from '../agents/inside-agents.ts'
import { Sql, sql } from '../db/sql.ts'
import { createDemo } from '../demo/create.ts'
import { demoLoginOf } from '../demo/login.ts'
import { tables } from './contents.ts'
import { workOnArchives } from './worker.ts'

/** The tables that the contract does not restore, or restores only for the person. */
const notRestored = new Set(['memberships', 'team_members', 'issue_watchers'])

/** The rows of an archive that a restore keeps, with placeholders in place of users. */
function contentOf(entries: Entry[]) {
  const content: Record<string, unknown[]> = {}
  for (const { name } of tables) {
    if (notRestored.has(name)) continue
    content[name] = rowsOf(entries, name).map(({ email, agent_kind, created_at, ...row }) =>
      name === 'users' ? row : { ...row, ...(created_at && { created_at }), ...(name === 'agent_sessions' && ended) },
    )
  }
  const files = entries.filter(({ path }) => path.startsWith('files/'))
  const { workspace, files: totals } = manifestOf(entries)
  return { content, files, workspace, totals }
}
/** Open sessions end with the restore. */
const ended = { state: null, end_reason: null, ended_at: null }

async function verified(app: TestApp, person: TestPerson, email = person.user.email) {
  await app.ctx.db.run(sql`
    update users set email = ${email}, email_verified_at = ${app.clock.now()} where id = ${person.user.id}`)
  return person
}

const workspacesOf = async (person: TestPerson) => (await person.get('/auth/me')).body.workspaces as { id: string }[]

describe('an archive restored on another instance', () => {
  test(
    'has the same content, ids and codes, and so has its export',
    verifies('export.restore-round-trip'),
    async ({ app, startApp }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      const other = await startApp()
      const person = await other.person()
      const restore = await restoreOf(other, person, archive)
      expect(restore).toMatchObject({ state: 'done', workspace_id: scene.id, problems: [] })
      const owner = within(person, scene.id)
      const again = contentOf(await unpack(await exportOf(other, owner)))
      const first = contentOf(await unpack(archive))
      // The person is new; all others are as before.
      again.content.users = (again.content.users as { id: string }[]).filter(({ id }) => id !== person.user.id)
      for (const name of Object.keys(first.content))
        expect([name, again.content[name]]).toEqual([name, first.content[name]])
      expect(again).toEqual(first)
      const found = await owner.get('/issues/ENG-2')
      expect(found.body).toMatchObject({ id: scene.issue.id, title: 'Fix the door', parent_id: null })
      expect((await owner.get('/issues/ENG-1')).body).toMatchObject({ id: scene.child.id, parent_id: scene.issue.id })
      expect((await owner.post('/issues', { title: 'Next', team_id: scene.team.id })).body.code).toBe('ENG-4')
      expect((await owner.get(`/agent-sessions/${scene.session.id}`)).body).toMatchObject({
        state: 'complete',
        end_reason: 'uninstalled',
      })
    },
  )

  test('keeps the demo company as the API shows it', verifies('export.restore-round-trip'), async ({ startApp }) => {
    const app = await startApp({ BATON_DEMO: '1' })
    await createDemo(app.ctx)
    const login = await demoLoginOf(app.ctx)()
    const signedIn = await app.anonymous.post('/auth/sign-in', login)
    const demo = app.anonymous.with({ authorization: `Bearer ${signedIn.body.token}` }) as TestPerson
    const [workspace] = await workspacesOf(demo)
    const owner = within(demo, workspace?.id as string)
    const other = await startApp()
    const person = await other.person()
    const restore = await restoreOf(other, person, await exportOf(app, owner))
    expect(restore).toMatchObject({ state: 'done', workspace_id: workspace?.id })
    const restored = within(person, workspace?.id as string)
    const all = async (by: TestPerson, path: string) => {
      const items: Record<string, unknown>[] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { body }: { body: { data: never[]; next_cursor: string | null } } = await by.get(
          `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
        )
        items.push(...body.data)
        cursor = body.next_cursor
      }
      // Personal items stay with their owner.
      return items.filter(({ personal }) => !personal).map(({ url, ...item }) => item)
    }
    const issues = await all(owner, '/issues')
    expect(issues.length).toBeGreaterThan(20)
    for (const path of ['/issues', '/projects', '/labels', '/initiatives', '/teams', '/templates']) {
      expect([path, await all(restored, path)]).toEqual([path, await all(owner, path)])
    }
    for (const { id } of issues.slice(0, 25)) {
      const comments = `/comments?target_type=issue&target_id=${id}`
      expect(await all(restored, comments)).toEqual(await all(owner, comments))
      const history = `/issues/${id}/history`
      const withoutNames = (entries: Record<string, unknown>[]) => entries.map(({ former_agents, ...entry }) => entry)
      expect(withoutNames(await all(restored, history))).toEqual(withoutNames(await all(owner, history)))
    }
  })

  test(
    'keeps original times in lists, and records no event, inbox entry or mail',
    verifies('export.restore-round-trip'),
    async ({ app, startApp }) => {
      const { owner } = await archiveScene(app)
      const archive = await exportOf(app, owner)
      const other = await startApp()
      const person = await other.person()
      await restoreOf(other, person, archive)
      for (const table of ['events', 'deliveries', 'inbox_entries', 'mails', 'agent_work']) {
        const rows = await other.ctx.db.rows(sql`select 1 from ${tableNamed(table)}`)
        expect([table, rows.length]).toEqual([table, 0])
      }
    },
  )
})

const tableNamed = (name: string) => new Sql(name, [])

describe('an archive restored on the same instance', () => {
  test('gets new ids, also in texts', verifies('export.restore-maps-ids'), async ({ app }) => {
    const scene = await archiveScene(app)
    const before = await unpack(await exportOf(app, scene.owner))
    const archive = await packed(before)
    const person = await app.person()
    const restore = await restoreOf(app, person, archive)
    expect(restore.state).toBe('done')
    expect(restore.workspace_id).not.toBe(scene.id)
    const owner = within(person, restore.workspace_id)
    const after = await unpack(await exportOf(app, owner))
    const old = new Map(
      tables.flatMap(({ name, prefix }) => (prefix ? rowsOf(before, name).map(({ id }) => [id, name] as const) : [])),
    )
    const text = after
      .filter(({ path }) => path.startsWith('data/'))
      .map(({ data }) => String(data))
      .join('')
    for (const [id, table] of [...old, [scene.id, 'workspaces'] as const]) {
      expect([table, text.includes(id)]).toEqual([table, false])
    }
    const issues = rowsOf(after, 'issues')
    const [child, issue, copy] = issues as [{ id: string }, { id: string; description: string }, { id: string }]
    expect(issues.map(({ code, title }) => [code, title])).toEqual([
      ['ENG-1', 'Oil the hinges'],
      ['ENG-2', 'Fix the door'],
      ['ENG-3', 'Fix the same door'],
    ])
    const [project] = rowsOf(after, 'projects')
    expect(issue.description).toBe(`As in ${child.id}, of ${project?.id}. Not iss_00000000000000000000000000.`)
    expect(rowsOf(after, 'issue_parents')).toEqual([{ issue_id: child.id, parent_id: issue.id }])
    expect(rowsOf(after, 'issue_duplicates')).toMatchObject([{ issue_id: copy.id, duplicate_of_id: issue.id }])
    expect(rowsOf(after, 'views')[0]?.query).toBe(`label=${rowsOf(after, 'labels')[0]?.id}`)
    const files = after.filter(({ path }) => path.startsWith('files/')).map(({ data }) => data)
    expect(files).toEqual(before.filter(({ path }) => path.startsWith('files/')).map(({ data }) => data))
    // The first workspace is untouched.
    expect((await scene.owner.get('/issues/ENG-2')).body).toMatchObject({ id: scene.issue.id })
    const unchanged = await unpack(await exportOf(app, scene.owner))
    expect(contentOf(unchanged)).toEqual(contentOf(before))
  })
})

describe('a restored workspace', () => {
  test(
    'has the caller as only member and placeholders for others, even with an account here',
    verifies('export.restore-adds-no-members'),
    async ({ app }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      // An account with the owner's address exists, verified; the caller is another person.
      await verified(app, scene.owner)
      const person = await app.person()
      const { workspace_id } = await restoreOf(app, person, archive)
      const restored = within(person, workspace_id)
      expect((await restored.get('/workspaces/me/members')).body.data).toMatchObject([
        { id: person.user.id, role: 'owner' },
      ])
      for (const other of [scene.owner, scene.admin, scene.member]) {
        expect((await workspacesOf(other)).map(({ id }) => id)).toEqual([scene.id])
        expect((await within(other, workspace_id).get('/issues')).body.code).toBe('WORKSPACE_ACCESS_DENIED')
      }
      const placeholders = await app.ctx.db.rows<{
        display_name: string
        email: string | null
        password_hash: null
      }>(sql`
      select id, display_name, email, password_hash, email_verified_at from users where placeholder_in = ${workspace_id}`)
      expect(placeholders.map((user) => user.display_name)).toEqual(
        expect.arrayContaining(['Robot', scene.owner.user.display_name, scene.member.user.display_name]),
      )
      for (const user of placeholders) {
        expect(user).toMatchObject({ password_hash: null, email_verified_at: null })
        if (user.email !== null) expect(user.email).toBe(`${(user as { id?: string }).id}@placeholder.invalid`)
      }
      const assigned = await restored.get('/issues/ENG-2')
      expect(assigned.body.assignee_id).not.toBe(scene.member.user.id)
    },
  )

  test(
    'gives items to the caller if their verified address is in the archive',
    verifies('export.restore-adds-no-members'),
    async ({ app, startApp }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      const other = await startApp()
      const { email } = scene.member.user
      const person = await verified(
        other,
        await other.person(),
        email.toUpperCase().replace('@EXAMPLE.COM', '@example.com'),
      )
      const { workspace_id } = await restoreOf(other, person, archive)
      const restored = within(person, workspace_id)
      expect((await restored.get('/issues/ENG-2')).body).toMatchObject({
        assignee_id: person.user.id,
        reporter_id: scene.owner.user.id,
      })
      expect((await restored.get('/issues/ENG-1')).body.reporter_id).toBe(person.user.id)
    },
  )

  test(
    'gives nothing to an address that is not verified',
    verifies('export.restore-adds-no-members'),
    async ({ app, startApp }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      const other = await startApp()
      const person = await other.person()
      await other.ctx.db.run(sql`update users set email = ${scene.member.user.email} where id = ${person.user.id}`)
      const { workspace_id } = await restoreOf(other, person, archive)
      expect((await within(person, workspace_id).get('/issues/ENG-2')).body.assignee_id).toBe(scene.member.user.id)
    },
  )

  test('can be used: teams, issues, files and search', async ({ app, startApp }) => {
    const scene = await archiveScene(app)
    const archive = await exportOf(app, scene.owner)
    const other = await startApp()
    const person = await other.person()
    const { workspace_id } = await restoreOf(other, person, archive)
    const restored = within(person, workspace_id)
    expect((await restored.get('/teams')).body.data).toMatchObject([{ name: 'Engineering' }])
    expect((await restored.get(`/teams/${scene.team.id}/members`)).body.data).toMatchObject([{ id: person.user.id }])
    expect((await restored.put(`/issues/${scene.issue.id}`, { status: 'done' })).status).toBe(200)
    expect((await restored.get('/agents?include_deployment=true')).body.data).toMatchObject([{ display_name: 'Baton' }])
    const stored = await other.ctx.db.rows(sql`
      select id, state, encode(sha256, 'escape') from files where workspace_id = ${workspace_id} and state = 'ready'`)
    expect(stored).toHaveLength(2)
    // The type follows from the content, not from the archive.
    expect((await restored.get(`/files/${scene.files.file}`)).body).toMatchObject({
      media_type: 'text/plain',
      inline: false,
    })
    expect((await restored.get(`/files/${scene.files.file}/content`)).body).toBe('The key is under the mat.\n')
    expect((await restored.get('/audit-log?action=workspace.restored')).body.data).toHaveLength(1)
  })
})

describe('a restore', () => {
  test(
    'needs a recent login and is only its own person’s',
    verifies('export.restore-no-authority'),
    async ({ app }) => {
      const person = await app.person()
      const other = await app.person()
      const { body } = await person.post('/restores', undefined, { raw: 'x' })
      expect((await other.get(`/restores/${body.id}`)).status).toBe(404)
      await app.workOnArchives()
      app.clock.advance({ minutes: 16 })
      await app.unchanged(async () => {
        expect((await person.post('/restores', undefined, { raw: 'x' })).body.code).toBe('REAUTH_REQUIRED')
        expect((await app.anonymous.post('/restores', undefined, { raw: 'x' })).body.code).toBe('UNAUTHORIZED')
      })
    },
  )

  test(
    'is continued after its worker stopped in the middle',
    verifies('export.restore-round-trip'),
    async ({ app, startApp }) => {
      const scene = await archiveScene(app)
      const archive = await exportOf(app, scene.owner)
      const other = await startApp()
      const person = await other.person()
      const { body } = await person.post('/restores', undefined, { raw: archive })
      const stopping = new AbortController()
      const stopMidway = (...args: Parameters<typeof createBuiltInAgent>) => {
        stopping.abort()
        return createBuiltInAgent(...args)
      }
      await workOnArchives(other.ctx, stopMidway, stopping.signal)
      expect((await person.get(`/restores/${body.id}`)).body).toMatchObject({ state: 'running', workspace_id: null })
      // It exists, and no one can see it.
      expect(await other.ctx.db.rows(sql`select 1 from workspaces`)).toHaveLength(1)
      expect(await workspacesOf(person)).toEqual([])
      await other.workOnArchives()
      expect((await person.get(`/restores/${body.id}`)).body).toMatchObject({ state: 'done', workspace_id: scene.id })
      expect(await other.ctx.db.rows(sql`select 1 from workspaces`)).toHaveLength(1)
      expect((await within(person, scene.id).get('/issues/ENG-2')).body.id).toBe(scene.issue.id)
    },
  )

  test('is one at a time for a person', async ({ app }) => {
    const person = await app.person()
    await person.post('/restores', undefined, { raw: 'x' })
    await app.unchanged(async () => {
      expect((await person.post('/restores', undefined, { raw: 'x' })).status).toBe(429)
    })
    expect((await (await app.person()).post('/restores', undefined, { raw: 'x' })).status).toBe(201)
    await app.workOnArchives()
    expect((await person.post('/restores', undefined, { raw: 'x' })).status).toBe(201)
    await app.workOnArchives()
  })

  test(
    'changes no login, token, installation, webhook, other workspace or other user',
    verifies('export.restore-no-authority'),
    async ({ app }) => {
      const scene = await archiveScene(app)
      const entries = await unpack(await exportOf(app, scene.owner))
      const victim = scene.member.user.id
      const person = await app.person()
      const tablesBefore = await protectedRows(app, [person.user.id])
      const loginsBefore = await logins(app)
      // The archive claims that a stranger is the victim, and that its workspace is the one that exists.
      const forged = withRows(entries, 'users', (rows) =>
        rows.map((row) =>
          row.id === victim ? { ...row, display_name: 'Changed', email: 'changed@example.com' } : row,
        ),
      )
      const { workspace_id, state } = await restoreOf(app, person, await packed(forged))
      expect(state).toBe('done')
      const created = await app.ctx.db.rows<{ id: string }>(sql`
      select id from users where placeholder_in = ${workspace_id}
      union select user_id from inside_agents where workspace_id = ${workspace_id}`)
      const own = [workspace_id, person.user.id, ...created.map(({ id }) => id)]
      expect(await protectedRows(app, own)).toEqual(tablesBefore)
      expect(await logins(app)).toEqual(loginsBefore)
    },
  )
})

/** All logins, also those of the person who restores. */
const logins = ({ ctx }: TestApp) =>
  ctx.db.rows(sql`
    select encode(token_hash, 'hex') as token, user_id, method, expires_at, proved_at from logins order by 1`)

/** Rows that decide who may do what, without those of the new workspace. */
async function protectedRows({ ctx }: TestApp, own: string[]) {
  const rows: Record<string, string[]> = {}
  for (const table of [
    'users',
    'passkeys',
    'sso_identities',
    'personal_tokens',
    'grants',
    'access_tokens',
    'refresh_tokens',
    'installations',
    'agent_apps',
    'endpoints',
    'git_connections',
    'invitations',
    'memberships',
    'workspaces',
    'issues',
    'inside_agents',
  ]) {
    const found = await ctx.db.rows<{ row: string }>(sql`
      select (to_jsonb(t) - 'last_used_at' - 'active_at')::text as row from ${tableNamed(table)} t`)
    rows[table] = found
      .map(({ row }) => row)
      .filter((row) => !own.some((id) => row.includes(id)))
      .sort()
  }
  return rows
}
