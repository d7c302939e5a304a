import { expect } from 'vitest'
import { png, storedKeys, upload } from '../../test/files.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'
import { sweep } from '../housekeeping.ts'

test(
  'concurrent uploads stay within the limit of the workspace',
  verifiesOnPostgres('file.workspace-limit'),
  async ({ startApp }) => {
    const app = await startApp({ BATON_WORKSPACE_BYTES: '1000' })
    const { owner, admin, member } = await app.workspace()
    const clients = [owner, admin, member]
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) => upload(clients[index % 3] as typeof owner, Buffer.alloc(150, index))),
    )
    const accepted = answers.filter(({ status }) => status === 201)
    expect(accepted).toHaveLength(6)
    for (const { status, body } of answers)
      if (status !== 201) expect([status, body.code]).toEqual([409, 'STORAGE_LIMIT_REACHED'])
    const { used } = (await app.ctx.db.row<{ used: number }>(sql`
    select sum(bytes)::int as used from files where state = 'ready'`)) as { used: number }
    expect(used).toBe(900)
    expect(await storedKeys(app)).toHaveLength(6)
  },
)

test(
  'a file loses its last two items at the same time',
  verifiesOnPostgres('file.draft-swept'),
  async ({ startApp }) => {
    const app = await startApp()
    const { owner, admin } = await app.workspace()
    for (let round = 0; round < 10; round++) {
      const { body: file } = await upload(owner, png())
      const [one, other] = await Promise.all(
        ['One', 'Two'].map(
          async (title) => (await owner.post('/issues', { title, description: `![x](${file.id})` })).body.id,
        ),
      )
      await Promise.all([owner.delete(`/issues/${one}`), admin.delete(`/issues/${other}`)])
      const stored = await app.ctx.db.row<{ unlinked: boolean }>(sql`
      select unlinked_at is not null as unlinked from files where id = ${file.id}`)
      expect(stored).toEqual({ unlinked: true })
    }
  },
)

test(
  'a draft that is linked while the sweep runs is kept or gone, with its link',
  verifiesOnPostgres('file.draft-swept'),
  async ({ startApp }) => {
    const app = await startApp()
    const { owner } = await app.workspace()
    for (let round = 0; round < 10; round++) {
      const { body: file } = await upload(owner, png())
      app.clock.advance({ hours: 24 })
      const [, { body: issue }] = await Promise.all([
        sweep(app.ctx),
        owner.post('/issues', { title: 'One', description: `![x](${file.id})` }),
      ])
      const { body } = await owner.get(`/issues/${issue.id}/related`)
      const stored = await app.ctx.db.row<{ state: string; links: number }>(sql`
      select state, (select count(*)::int from file_links where file_id = f.id) as links from files f where id = ${file.id}`)
      expect(body.files).toHaveLength(stored?.state === 'ready' ? 1 : 0)
      expect(stored?.links).toBe(stored?.state === 'ready' ? 1 : 0)
    }
  },
)
