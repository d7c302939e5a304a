import { programLimits, reactionNames } from '@baton/protocol'
import { expect } from 'vitest'
import { done } from '../../test/delegation.ts'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { sql } from '../db/sql.ts'

async function scene(app: TestApp) {
  const { owner, id } = await app.workspace()
  const issue = await done(owner.post('/issues', { title: 'Original' }))
  return { owner, id, issue, related: () => done(owner.get(`/issues/${issue.id}/related`)) }
}

test('at most 500 watchers are listed, the caller among them', verifies('watch.automatic'), async ({ app }) => {
  const { owner, id, issue, related } = await scene(app)
  const { watchersListed } = programLimits
  const add = async (from: number, to: number) => {
    const ids = sql`select 'usr_0' || lpad(n::text, 25, '0') as id from generate_series(${from}::int, ${to}::int) n`
    const now = app.clock.now()
    await app.ctx.db.run(sql`
      insert into users (id, user_kind, display_name, email, created_at)
      select id, 'human', 'Watcher', id || '@example.com', ${now} from (${ids}) u`)
    await app.ctx.db.run(sql`
      insert into memberships (workspace_id, user_id, role, joined_at) select ${id}, id, 'member', ${now} from (${ids}) u`)
    await app.ctx.db.run(sql`
      insert into issue_watchers (issue_id, user_id, workspace_id, state, created_at)
      select ${issue.id}, id, ${id}, 'watching', ${now} from (${ids}) u`)
  }
  // The reporter watches too.
  for (const [from, to, listed] of [
    [2, watchersListed - 1, watchersListed - 1],
    [watchersListed, watchersListed, watchersListed],
    [watchersListed + 1, watchersListed + 1, watchersListed],
  ] as const) {
    await add(from, to)
    const { watchers } = await related()
    expect([watchers.length, watchers[0].user_id]).toEqual([listed, owner.user.id])
  }
})

test('at most 100 duplicates are listed, the newest', verifies('duplicate.marks-and-undo'), async ({ app }) => {
  const { owner, id, issue, related } = await scene(app)
  const { duplicatesListed } = programLimits
  const issues = Array.from({ length: duplicatesListed + 1 }, (_, number) => ({ title: `Copy ${number}` }))
  await done(owner.post('/issues/import', { issues }))
  const rest = sql`select id from issues where workspace_id = ${id} and id <> ${issue.id} order by id`
  const copies = (await app.ctx.db.rows<{ id: string }>(rest)).map((copy) => copy.id)
  const mark = (ids: string[]) =>
    app.ctx.db.run(sql`
      insert into issue_duplicates (issue_id, workspace_id, duplicate_of_id, created_at)
      select copy, ${id}, ${issue.id}, ${app.clock.now()} from unnest(${ids}::text[]) copy`)
  await mark(copies.slice(0, duplicatesListed))
  const listed = async () => (await related()).duplicates.map((copy: { id: string }) => copy.id)
  expect(await listed()).toEqual(copies.slice(0, duplicatesListed).toReversed())
  await mark(copies.slice(duplicatesListed))
  expect(await listed()).toEqual(copies.slice(1).toReversed())
})

test('at most 2,000 reactions are listed, of the newest comments', verifies('reaction.once'), async ({ app }) => {
  const { owner, id, issue } = await scene(app)
  const { reactionsListed } = programLimits
  const names = [...reactionNames].sort()
  const count = reactionsListed / names.length
  const now = app.clock.now()
  const comment = sql`'cmt_0' || lpad(n::text, 25, '0')`
  const react = async (from: number, to: number) => {
    const numbers = sql`generate_series(${from}::int, ${to}::int) n`
    await app.ctx.db.run(sql`
      insert into comments (id, workspace_id, issue_id, author_id, text, mentioned_user_ids, is_resolved, internal, created_at,
        updated_at)
      select ${comment}, ${id}, ${issue.id}, ${owner.user.id}, 'One', '{}', false, false, ${now}, ${now} from ${numbers}`)
    await app.ctx.db.run(sql`
      insert into reactions (comment_id, name, user_id, workspace_id, created_at)
      select ${comment}, name, ${owner.user.id}, ${id}, ${now} from ${numbers}, unnest(${names}::text[]) name`)
  }
  const listed = async () => {
    const { data } = await done(owner.get(`/reactions?target_type=issue&target_id=${issue.id}`))
    return [data.length, Number(data.at(-1).comment_id.slice(5))]
  }
  expect(Number.isInteger(count)).toBe(true)
  await react(1, count)
  expect(await listed()).toEqual([reactionsListed, 1])
  await react(count + 1, count + 1)
  expect(await listed()).toEqual([reactionsListed, 2])
})
