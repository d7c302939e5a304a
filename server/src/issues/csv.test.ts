import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { done } from '../../test/delegation.ts'
import { test, verifies } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'
import type { Member } from '../http/caller.ts'
import { csvPages } from './csv.ts'

/** Reads CSV by RFC 4180, into one object per row. */
function parse(text: string): Record<string, string>[] {
  const rows: string[][] = [[]]
  for (const [cell, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/g)) {
    if (cell === '') break
    rows.at(-1)?.push(quoted === undefined ? (plain ?? '') : quoted.replaceAll('""', '"'))
    if (end === '\r\n') rows.push([])
  }
  const [head = [], ...rest] = rows.filter((row) => row.length > 0)
  return rest.map((row) => Object.fromEntries(head.map((name, at) => [name, row[at] ?? ''])))
}

const csv = async (by: Client, query = '') => {
  const { status, body, headers } = await by.get(`/issues.csv${query}`)
  expect(status).toBe(200)
  expect(headers.get('content-type')).toBe('text/csv; charset=utf-8')
  return parse(body)
}

const listed = async (by: Client, query = '') => {
  const ids: string[] = []
  let cursor = ''
  do {
    const { data, next_cursor } = await done(by.get(`/issues?limit=100${query.replace('?', '&')}${cursor}`))
    ids.push(...data.map(({ id }: { id: string }) => id))
    cursor = next_cursor ? `&cursor=${encodeURIComponent(next_cursor)}` : ''
  } while (cursor)
  return ids
}

describe('the CSV of issues', () => {
  test('contains exactly the issues of the list', verifies('export.csv'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, team, other } = scene
    const label = await done(owner.post('/labels', { name: 'Red' }))
    const project = await done(owner.post('/projects', { title: 'Secret plan', team_ids: [other.id] }))
    await makeIssue(scene, { status: 'todo', label_ids: [label.id], assignee_id: member.user.id })
    await makeIssue(scene, { team_id: other.id, priority: 'urgent', type: 'bug' })
    await makeIssue(scene, { team_id: null, personal: true, title: 'Mine alone' })
    const parent = await makeIssue(scene, { team_id: other.id, project_id: project.id })
    await makeIssue(scene, { parent_id: parent.id, project_id: project.id, title: 'A needle', status: 'done' })
    const many = Array.from({ length: 250 }, (_, at) => ({ title: `Issue ${at}` }))
    await done(owner.post('/issues/import', { issues: many }))
    const robot = await app.installed(owner, { scopes: ['read'], teamIds: [team.id] })
    for (const by of [owner, member, robot]) {
      for (const query of [
        '',
        `?team_id=${team.id}`,
        '?status=todo',
        '?priority=urgent&type=bug',
        `?label_id=${label.id}`,
        `?assignee_id=${member.user.id}`,
        `?project_id=${project.id}`,
        `?parent_id=${parent.id}`,
        '?query=needle',
        '?delegate_id=usr_x',
      ]) {
        expect((await csv(by, query)).map(({ id }) => id)).toEqual(await listed(by, query))
      }
    }
    const [row] = await csv(owner, '?query=needle')
    expect(row).toMatchObject({ title: 'A needle', team: 'Engineering', project: 'Secret plan', parent: parent.code })
    // The app covers neither the project nor the parent.
    expect((await csv(robot, '?query=needle'))[0]).toMatchObject({ title: 'A needle', project: '', parent: '' })
    for (const query of ['?limit=3', '?status=open']) expect((await owner.get(`/issues.csv${query}`)).status).toBe(422)
    const writer = await app.installed(owner, { scopes: ['write'] })
    expect((await writer.get('/issues.csv')).body.code).toBe('INSUFFICIENT_SCOPE')
  })

  test('is safe in a spreadsheet', verifies('export.csv-formula'), async ({ app }) => {
    const scene = await issueScene(app)
    const titles = ['=1+1', '+1', '-1', '@sum', '\tx', '\rx', 'a=1', '"quoted", with\r\na line break']
    for (const title of titles) await makeIssue(scene, { title, description: title })
    const rows = await csv(scene.owner)
    const expected = titles.map((title) => (/^[=+\-@\t\r]/.test(title) ? `'${title}` : title)).reverse()
    expect(rows.map(({ title }) => title)).toEqual(expected)
    expect(rows.map(({ description }) => description)).toEqual(expected)
  })

  test.for([
    [200, 200],
    [201, 201],
    [202, 201],
    [1, 1],
  ])('of at most %i issues has %i of 201', verifies('export.csv'), async ([most, count], { app }) => {
    const { owner, id } = await issueScene(app)
    const issues = Array.from({ length: 201 }, (_, at) => ({ title: `Issue ${at}` }))
    await done(owner.post('/issues/import', { issues }))
    const caller: Member = {
      kind: 'person',
      id: owner.user.id,
      name: owner.user.display_name,
      email: owner.user.email,
      tokenHash: Buffer.alloc(32),
      scopes: null,
      loginMethod: null,
      recent: false,
      workspaceId: id,
      role: 'owner',
    }
    const ids: string[] = []
    for await (const rows of csvPages(app.ctx, caller, {}, most)) ids.push(...rows.map((row) => row.id))
    expect(ids).toEqual((await listed(owner)).slice(0, count))
  })
})
