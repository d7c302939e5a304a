import type { FoundComment } from '@baton/protocol'
import { limits } from '@baton/protocol'
import { expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { test } from '../../test/harness.ts'
import { bad, reachScene } from '../../test/reach.ts'

const find = async (person: Client, query: string): Promise<FoundComment[]> => {
  const { status, body } = await person.get(`/comments/search?query=${encodeURIComponent(query)}`)
  expect(status).toBe(200)
  return body.data
}
const textsOf = async (person: Client, query: string) => (await find(person, query)).map(({ text }) => text)

test('finds comments by all words, newest first, with the issue or project', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { body: issue } = await owner.post('/issues', { title: 'The door sticks' })
  const { body: project } = await owner.post('/projects', { title: 'Renovation' })
  const post = (target_type: string, target_id: string, text: string, fields = {}) =>
    member.post('/comments', { target_type, target_id, text, ...fields })
  const { body: first } = await post('issue', issue.id, 'The Hinge squeaks in winter')
  await post('issue', issue.id, 'The hinge is new', { internal: true })
  await post('project', project.id, '100% of hinges_replaced')

  expect(await find(owner, 'SQUEAKS hin')).toEqual([{ ...first, target: { code: issue.code, title: issue.title } }])
  const texts = ['100% of hinges_replaced', 'The hinge is new', 'The Hinge squeaks in winter']
  expect(await textsOf(owner, 'hinge')).toEqual(texts)
  expect(await find(owner, '100%')).toMatchObject([{ target: { code: null, title: 'Renovation' } }])
  expect(await textsOf(owner, 'hinges_rep')).toEqual(texts.slice(0, 1))
  expect(await textsOf(owner, 'hingesXrep')).toEqual([])
  // Words that the index cannot find are ignored.
  expect(await textsOf(owner, 'a hinge ??')).toEqual(texts)
  expect(await textsOf(owner, 'in ?? _%_')).toEqual([])

  const page = (await owner.get('/comments/search?query=hinge&limit=2')).body
  expect(page.data).toHaveLength(2)
  const rest = (await owner.get(`/comments/search?query=hinge&limit=2&cursor=${page.next_cursor}`)).body
  expect(rest).toMatchObject({ data: [{ id: first.id }], next_cursor: null })
})

test('finds only what the person can see', async ({ app }) => {
  const { owner, member } = await app.workspace()
  const { owner: stranger } = await app.workspace()
  const personal = { title: 'Mine', personal: true }
  const { body: issue } = await member.post('/issues', personal)
  const { body: project } = await member.post('/projects', personal)
  for (const [target_type, { id }] of [
    ['issue', issue],
    ['project', project],
  ] as const) {
    expect((await member.post('/comments', { target_type, target_id: id, text: `secret ${target_type}` })).status).toBe(
      201,
    )
  }
  expect(await textsOf(member, 'secret')).toEqual(['secret project', 'secret issue'])
  expect(await textsOf(owner, 'secret')).toEqual([])
  expect(await textsOf(stranger, 'secret')).toEqual([])
})

test('is for members only, and limits the query', async ({ app }) => {
  const { owner, everywhere } = await reachScene(app)
  expect(await everywhere.get('/comments/search?query=some')).toMatchObject({ status: 403 })
  expect(await owner.get('/comments/search')).toMatchObject(bad('query'))
  expect(await owner.get('/comments/search?query=')).toMatchObject(bad('query'))
  expect(await owner.get(`/comments/search?query=${'x'.repeat(limits.query)}`)).toMatchObject({ status: 200 })
  expect(await owner.get(`/comments/search?query=${'x'.repeat(limits.query + 1)}`)).toMatchObject(bad('query'))
})
