import { limits, type View, viewKeys } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { invalid, missing, refusal } from '../../test/agent-sessions.ts'
import type { Client } from '../../test/client.ts'
import { type TestPerson, test, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

const forbidden = refusal(403, 'FORBIDDEN')
const full = refusal(409, 'VIEW_LIMIT_REACHED', { limit: limits.viewsPerPerson })

const keep = async (person: Client, fields = {}): Promise<View> => {
  const { status, body } = await person.post('/views', { name: 'Todo', query: 'status=todo', ...fields })
  expect(status).toBe(201)
  return body
}

const namesOf = async (person: Client) =>
  (await person.get('/views')).body.data.map(({ name }: View) => name) as string[]

describe('a view', () => {
  test('can be created, updated and deleted by its owner', async ({ app }) => {
    const { member } = await app.workspace()
    const created = await member.post('/views', { name: 'Mine', query: 'assignee=me&group=status' })
    const now = app.clock.now().toISOString()
    expect(created).toMatchObject({ status: 201 })
    expect(created.body).toEqual({
      id: expect.stringMatching(/^view_/),
      name: 'Mine',
      shared: false,
      owner_id: member.user.id,
      query: 'assignee=me&group=status',
      created_at: now,
      updated_at: now,
    })
    const path = `/views/${created.body.id}`
    expect((await member.get('/views')).body).toEqual({ data: [created.body], next_cursor: null })

    app.clock.advance({ seconds: 1 })
    const changed = { ...created.body, name: 'Ours', shared: true, updated_at: app.clock.now().toISOString() }
    expect(await member.put(path, { name: 'Ours', shared: true })).toMatchObject({ status: 200, body: changed })
    expect((await member.put(path, { query: '' })).body).toEqual({ ...changed, query: '' })
    expect((await member.delete(path)).status).toBe(204)
    expect(await member.delete(path)).toMatchObject(missing)
    expect(await member.put(path, { name: 'Gone' })).toMatchObject(missing)
    expect((await member.get('/views')).body.data).toEqual([])
  })

  test('stores excluded values, dates and the reporter, and queries of the first version', async ({ app }) => {
    const { member } = await app.workspace()
    for (const query of [
      'status=%21done%2Cqa&due=overdue%2C7d&created=before-2026-12-24&updated=today&reporter=me',
      'team=ENG&status=todo,done&assignee=me&label=none&q=a+b&group=status&sort=due&layout=board',
    ]) {
      expect(await keep(member, { query })).toMatchObject({ query })
    }
  })

  test('is visible to its owner only, or to all members if shared', async ({ app }) => {
    const { owner, admin, member } = await app.workspace()
    const { owner: stranger } = await app.workspace()
    const own = await keep(member, { name: 'Own' })
    const shared = await keep(member, { name: 'Shared', shared: true })
    await keep(owner, { name: 'Of the owner' })
    expect(await namesOf(member)).toEqual(['Shared', 'Own'])
    expect(await namesOf(owner)).toEqual(['Of the owner', 'Shared'])
    expect(await namesOf(admin)).toEqual(['Shared'])
    expect(await namesOf(stranger)).toEqual([])
    for (const [person, view] of [
      [owner, own],
      [admin, own],
      [stranger, own],
      [stranger, shared],
    ] as [TestPerson, View][]) {
      expect(await app.unchanged(() => person.put(`/views/${view.id}`, { name: 'Taken' }))).toMatchObject(missing)
      expect(await app.unchanged(() => person.delete(`/views/${view.id}`))).toMatchObject(missing)
    }
  })

  test('that is shared can be changed by its owner and managers only', async ({ app }) => {
    const { owner, admin, member, join } = await app.workspace()
    const colleague = await join('member')
    const view = await keep(member, { shared: true })
    expect(await app.unchanged(() => colleague.put(`/views/${view.id}`, { name: 'No' }))).toMatchObject(forbidden)
    expect(await app.unchanged(() => colleague.delete(`/views/${view.id}`))).toMatchObject(forbidden)
    const { body } = await admin.put(`/views/${view.id}`, { name: 'Tidy' })
    expect(body).toMatchObject({ name: 'Tidy', owner_id: member.user.id })
    // No longer shared, it is visible to its owner only.
    expect((await admin.put(`/views/${view.id}`, { shared: false })).body).toMatchObject({ owner_id: member.user.id })
    expect(await namesOf(admin)).toEqual([])
    expect(await namesOf(member)).toEqual(['Tidy'])
    const another = await keep(member, { shared: true })
    expect((await owner.delete(`/views/${another.id}`)).status).toBe(204)
    expect(await namesOf(member)).toEqual(['Tidy'])
  })

  test('is deleted when its owner leaves, or kept without an owner if shared', async ({ app }) => {
    const { owner, admin, join } = await app.workspace()
    const { owner: founder, member: guest } = await app.workspace()
    const leaving = await join('member')
    await keep(leaving, { name: 'Own' })
    const { id } = await keep(leaving, { name: 'Shared', shared: true })
    await keep(guest, { name: 'Elsewhere' })
    expect((await owner.delete(`/workspaces/me/members/${leaving.user.id}`)).status).toBe(204)
    expect((await admin.get('/views')).body.data).toMatchObject([{ name: 'Shared', shared: true, owner_id: null }])
    expect(
      await app.ctx.db.rows(sql`select 1 from views where name = 'Own' and owner_id = ${leaving.user.id}`),
    ).toEqual([])
    expect(await leaving.put(`/views/${id}`, { name: 'Mine' })).toMatchObject({ status: 403 })
    // A private view needs an owner.
    expect(await app.unchanged(() => admin.put(`/views/${id}`, { shared: false }))).toMatchObject({
      ...invalid,
      body: { details: { shared: expect.any(String) } },
    })
    expect((await admin.put(`/views/${id}`, { name: 'Kept' })).body).toMatchObject({ name: 'Kept', owner_id: null })
    expect((await admin.delete(`/views/${id}`)).status).toBe(204)
    expect(await namesOf(guest)).toEqual(['Elsewhere'])
    expect(await namesOf(founder)).toEqual([])
  })
})

describe('the query of a view', () => {
  const long = 'x'.repeat(limits.viewValue)
  test.for([
    '',
    viewKeys.map((key) => `${key}=1`).join('&'),
    'label=a&label=b',
    'q=',
    'layout',
    `q=${long}`,
    'q=caf%C3%A9+100%25',
    `${'q=a&'.repeat(499)}q=ab`, // 2000 characters
  ])('may be %j', async (query, { app }) => {
    const { member } = await app.workspace()
    const view = await keep(member, { query })
    expect(view.query).toBe(query)
    expect((await member.put(`/views/${view.id}`, { query })).body.query).toBe(query)
  })

  test('accepts only known keys and values within the limit', async ({ app }) => {
    const { member } = await app.workspace()
    const view = await keep(member)
    const refused = [
      'colour=red',
      'status=todo&cursor=x',
      '__proto__=1',
      '?status=todo',
      'status=todo&&type=bug',
      'q=%',
      'q=%FF',
      'q=%00',
      `q=${long}x`,
      `${'q=a&'.repeat(499)}q=abc`, // 2001 characters
      7,
      null,
    ]
    for (const query of refused) {
      const attempts = [
        () => member.post('/views', { name: 'No', query }),
        () => member.put(`/views/${view.id}`, { query }),
      ]
      for (const attempt of attempts) {
        const response = await app.unchanged(attempt)
        expect(response, String(query)).toMatchObject(invalid)
        expect(Object.keys(response.body.details), String(query)).toEqual(['query'])
      }
    }
    for (const body of [{ query: '' }, { name: '', query: '' }, { name: 'x', query: '', owner_id: 'usr_x' }]) {
      expect(await app.unchanged(() => member.post('/views', body))).toMatchObject(invalid)
    }
  })
})

describe('a person’s views', () => {
  test('are listed in pages and limited to 100', async ({ app }) => {
    const { owner, member } = await app.workspace()
    const made: string[] = []
    for (let count = 0; count < limits.viewsPerPerson; count++) {
      made.unshift((await keep(member, { shared: count % 2 === 0 })).id)
    }
    const body = { name: 'One more', query: '' }
    expect(await app.unchanged(() => member.post('/views', body))).toMatchObject(full)
    // The limit is per person and workspace.
    await keep(owner)
    const { owner: elsewhere } = await app.workspace()
    const invited = await elsewhere.post('/workspaces/me/invitations', { email: member.user.email, role: 'member' })
    await member.post('/invitations/accept', { token: invited.body.token })
    const there = { headers: { 'x-workspace-id': elsewhere.workspaceId } }
    expect((await member.post('/views', body, there)).status).toBe(201)

    const read: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { body } = await member.get(`/views?limit=30${cursor && `&cursor=${cursor}`}`)
      read.push(...body.data.map(({ id }: View) => id))
      cursor = body.next_cursor
    }
    expect(read).toEqual(made)
    expect((await member.delete(`/views/${made[0]}`)).status).toBe(204)
    await keep(member)
  })

  test('stay within the limit when created concurrently', verifiesOnPostgres(), async ({ app }) => {
    const { member } = await app.workspace()
    for (let count = 0; count < limits.viewsPerPerson - 3; count++) await keep(member)
    const made = await Promise.all(Array.from({ length: 8 }, () => member.post('/views', { name: 'x', query: '' })))
    expect(made.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409, 409, 409])
  })
})
