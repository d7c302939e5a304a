import { programLimits, type Reaction, reactionNames } from '@baton/protocol'
import { describe, expect } from 'vitest'
import { done, say } from '../../test/delegation.ts'
import { eventsOf } from '../../test/events.ts'
import { test, verifies } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'
import { sql } from '../db/sql.ts'

describe('reactions', () => {
  test('count once per caller and comment, and change nothing else', verifies('reaction.once'), async ({ app }) => {
    const scene = await issueScene(app)
    const { id, owner, member, team } = scene
    const issue = await makeIssue(scene)
    const [first, second] = [await say(owner, issue, 'One'), await say(owner, issue, 'Two')]
    const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    const list = async (by: typeof owner | typeof robot = owner) =>
      (await done(by.get(`/reactions?target_type=issue&target_id=${issue.id}`))).data
    app.clock.advance({ minutes: 1 })
    const events = await eventsOf(app, id, async () => {
      for (const by of [member, member, owner, robot]) {
        expect((await by.put(`/comments/${first.id}/reactions/heart`)).status).toBe(204)
      }
      await member.put(`/comments/${first.id}/reactions/eyes`)
      await member.put(`/comments/${second.id}/reactions/rocket`)
    })
    expect(events).toEqual([])
    const ids = [owner.user.id, member.user.id, robot.userId]
    expect(await list()).toEqual([
      { comment_id: second.id, name: 'rocket', count: 1, user_ids: [member.user.id] },
      { comment_id: first.id, name: 'eyes', count: 1, user_ids: [member.user.id] },
      { comment_id: first.id, name: 'heart', count: 3, user_ids: expect.arrayContaining(ids) },
    ])
    expect((await list(robot)).at(-1).user_ids[0]).toBe(robot.userId)
    expect((await owner.get(`/comments/${first.id}`)).body).toEqual(first)
    expect((await owner.get(`/issues/${issue.id}`)).body).toEqual(issue)

    for (let time = 0; time < 2; time++) {
      expect((await member.delete(`/comments/${first.id}/reactions/heart`)).status).toBe(204)
    }
    expect((await list()).at(-1)).toMatchObject({ name: 'heart', count: 2 })
    await owner.delete(`/comments/${second.id}`)
    expect(await list()).toHaveLength(2)
  })

  test('are the eight of the list, on issues and projects', verifies('reaction.once'), async ({ app }) => {
    const { owner } = await issueScene(app)
    const project = await done(owner.post('/projects', { title: 'Plan' }))
    const comment = await say(owner, project, 'Hm')
    for (const name of reactionNames) {
      expect((await owner.put(`/comments/${comment.id}/reactions/${name}`)).status).toBe(204)
    }
    const { data } = await done(owner.get(`/reactions?target_type=project&target_id=${project.id}`))
    expect(data.map(({ name }: { name: string }) => name).sort()).toEqual([...reactionNames].sort())
    for (const method of ['PUT', 'DELETE'] as const) {
      const refused = await app.unchanged(() => owner.request(method, `/comments/${comment.id}/reactions/party`))
      expect(refused).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
    }
  })

  test('name at most 100 users, the caller first', verifies('reaction.once'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, id } = scene
    const issue = await makeIssue(scene)
    const comment = await say(owner, issue, 'Hm')
    const add = (from: number, to: number) =>
      app.ctx.db.tx(async (tx) => {
        await tx.run(sql`
        insert into users (id, user_kind, email, display_name, created_at)
        select 'usr_' || lpad(n::text, 26, '0'), 'human', n || '@example.com', 'User', now() from generate_series(${from}::int, ${to}::int) n`)
        await tx.run(sql`
        insert into reactions (comment_id, name, user_id, workspace_id, created_at)
        select ${comment.id}, 'heart', 'usr_' || lpad(n::text, 26, '0'), ${id}, now() from generate_series(${from}::int, ${to}::int) n`)
      })
    const read = async () =>
      (await done(member.get(`/reactions?target_type=issue&target_id=${issue.id}`))).data[0] as Reaction
    await add(101, 199)
    await member.put(`/comments/${comment.id}/reactions/heart`)
    const { reactionUsers } = programLimits
    expect(await read()).toMatchObject({ count: reactionUsers, user_ids: { length: reactionUsers, 0: member.user.id } })
    await add(200, 200)
    expect(await read()).toMatchObject({ count: 101, user_ids: { length: reactionUsers, 0: member.user.id } })
  })

  test('need access to the comment, and write from an app', verifies('reaction.once'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member, team, other } = scene
    const issue = await makeIssue(scene)
    const hidden = await makeIssue(scene, { team_id: null, personal: true })
    const [open, internal, mine] = [
      await say(owner, issue, 'Hm'),
      await say(owner, issue, 'Between us', { internal: true }),
      await say(owner, hidden, 'Note'),
    ]
    const reader = await app.installed(owner, { scopes: ['read', 'comments:create'], teamIds: [team.id] })
    const writer = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    const outside = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [other.id] })
    const elsewhere = (await issueScene(app)).owner
    for (const [by, comment, code] of [
      [reader, open, 'INSUFFICIENT_SCOPE'],
      [writer, internal, 'RESOURCE_NOT_FOUND'],
      [outside, open, 'TEAM_ACCESS_DENIED'],
      [member, mine, 'RESOURCE_NOT_FOUND'],
      [elsewhere, open, 'RESOURCE_NOT_FOUND'],
    ] as const) {
      const refused = await app.unchanged(() => by.put(`/comments/${comment.id}/reactions/heart`))
      expect(refused.body.code).toBe(code)
    }
    await owner.put(`/comments/${internal.id}/reactions/heart`)
    const path = `/reactions?target_type=issue&target_id=${issue.id}`
    expect((await done(writer.get(path))).data).toEqual([])
    expect((await done(member.get(path))).data).toHaveLength(1)
    const theirs = `/reactions?target_type=issue&target_id=${hidden.id}`
    expect((await member.get(theirs)).body.code).toBe('RESOURCE_NOT_FOUND')
    const blind = await app.installed(owner, { scopes: ['write'] })
    expect((await blind.get(path)).body.code).toBe('INSUFFICIENT_SCOPE')
  })
})
