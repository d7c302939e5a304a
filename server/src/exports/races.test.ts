import { expect } from 'vitest'
import { archiveScene } from '../../test/archive-scene.ts'
import { exportOf, rowsOf, unpack } from '../../test/archives.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import type { Tx } from '../db/database.ts'

test(
  'an export is one snapshot, whatever is written meanwhile',
  verifiesOnPostgres('export.consistent'),
  async ({ app }) => {
    const { owner, issue, project, comment } = await archiveScene(app)
    const { db } = app.ctx
    const tx = db.tx.bind(db)
    let written = false
    // After the first table was read, another connection changes and deletes rows of the others.
    db.tx = (work) =>
      tx((real) => {
        const rows = async <Row>(statement: Parameters<Tx['rows']>[0]) => {
          const page = await real.rows<Row>(statement)
          if (!written && statement.text.includes('from teams t')) {
            written = true
            await owner.put(`/projects/${project.id}`, { title: 'Later' })
            await owner.put(`/issues/${issue.id}`, { title: 'Later' })
            await owner.delete(`/comments/${comment.id}`)
            await owner.post('/labels', { name: 'Later' })
          }
          return page
        }
        return work({ ...real, rows })
      })
    try {
      const entries = await unpack(await exportOf(app, owner))
      expect(written).toBe(true)
      expect(rowsOf(entries, 'projects').map(({ title }) => title)).toEqual(['New shop'])
      expect(rowsOf(entries, 'issues').map(({ title }) => title)).toContain('Fix the door')
      expect(rowsOf(entries, 'comments').map(({ id }) => id)).toContain(comment.id)
      expect(rowsOf(entries, 'labels').map(({ name }) => name)).toEqual(['Door'])
    } finally {
      db.tx = tx
    }
  },
)

test(
  'two people restore the same archive at once',
  verifiesOnPostgres('export.restore-maps-ids'),
  async ({ app, startApp }) => {
    const { owner } = await archiveScene(app)
    const archive = await exportOf(app, owner)
    const other = await startApp()
    const beside = await startApp({}, other)
    const people = [await other.person(), await other.person()]
    for (const person of people) {
      expect((await person.post('/restores', undefined, { raw: archive })).status).toBe(201)
    }
    await Promise.all([other.workOnArchives(), beside.workOnArchives()])
    await other.workOnArchives()
    const workspaces = await Promise.all(people.map(async (person) => (await person.get('/auth/me')).body.workspaces))
    expect(workspaces.map(({ length }) => length)).toEqual([1, 1])
    expect(workspaces[0][0].id).not.toBe(workspaces[1][0].id)
  },
)
