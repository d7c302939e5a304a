import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { done, say, teamwork } from '../../test/delegation.ts'
import { type TestPerson, test, verifies } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'
import { sql } from '../db/sql.ts'

const at = (person: TestPerson) => `@[${person.user.display_name}](${person.user.id})`

const watchers = async (by: Client, issue: { id: string }) =>
  (await done(by.get(`/issues/${issue.id}/related`))).watchers as { user_id: string; muted: boolean }[]

const watching = async (by: Client, issue: { id: string }) =>
  (await watchers(by, issue)).filter(({ muted }) => !muted).map(({ user_id }) => user_id)

const kinds = async (by: Client) =>
  (await by.get('/inbox')).body.data.map(({ kind }: { kind: string }) => kind) as string[]

describe('watchers', () => {
  test(
    'are reporter, assignee, commenters, mentioned users and delegators',
    verifies('watch.automatic'),
    async ({ app, receiver }) => {
      const { owner, admin, member, robot, issueIn, team } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      expect(await watching(owner, issue)).toEqual([member.user.id])
      await done(owner.put(`/issues/${issue.id}`, { assignee_id: admin.user.id }))
      expect((await watching(owner, issue)).sort()).toEqual([admin.user.id, member.user.id].sort())
      await done(owner.put(`/issues/${issue.id}`, { assignee_id: null }))
      expect(await watching(owner, issue)).toHaveLength(2)

      const second = await issueIn(team.id)
      await say(admin, second, 'Hm')
      await say(robot, second, 'I am an agent')
      expect((await watching(owner, second)).sort()).toEqual([admin.user.id, member.user.id].sort())
      const edited = await say(admin, second, 'Hm')
      await done(admin.put(`/comments/${edited.id}`, { text: at(owner) }))
      expect(await watching(owner, second)).toHaveLength(3)

      const third = await issueIn(team.id)
      await say(member, third, `${at(admin)} look`)
      expect((await watching(owner, third)).sort()).toEqual([admin.user.id, member.user.id].sort())
      await done(owner.put(`/issues/${third.id}`, { delegate_id: robot.userId }))
      expect(await watching(owner, third)).toHaveLength(3)
    },
  )

  test('who muted an issue are not added again', verifies('watch.automatic'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member } = scene
    const issue = await makeIssue(scene)
    const muted = await member.put(`/issues/${issue.id}/watch`, { muted: true })
    expect(muted).toMatchObject({ status: 200, body: { user_id: member.user.id, muted: true } })
    await say(member, issue, 'Hm')
    await done(owner.put(`/issues/${issue.id}`, { assignee_id: member.user.id }))
    await say(owner, issue, `${at(member)} look`)
    expect(await watchers(member, issue)).toEqual([
      { user_id: member.user.id, muted: true },
      { user_id: owner.user.id, muted: false },
    ])
    // A mention and an assignment are addressed to the user, so they arrive.
    expect(await kinds(member)).toEqual(['mention', 'assignment'])
    await done(member.put(`/issues/${issue.id}/watch`, { muted: false }))
    await say(owner, issue, 'Now?')
    expect(await kinds(member)).toEqual(['comment', 'mention', 'assignment'])
  })

  test('can stop, until the next cause adds them', async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, member } = scene
    const issue = await makeIssue(scene)
    expect((await owner.delete(`/issues/${issue.id}/watch`)).status).toBe(204)
    expect(await watchers(owner, issue)).toEqual([])
    await say(member, issue, 'Hm')
    expect(await kinds(owner)).toEqual([])
    await say(owner, issue, 'I am back')
    await say(member, issue, 'Good')
    expect(await kinds(owner)).toEqual(['comment'])
    const hidden = await makeIssue(scene, { team_id: null, personal: true })
    const refused = await app.unchanged(() => member.put(`/issues/${hidden.id}/watch`))
    expect(refused).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } })
  })

  test('of an older issue follow from its past', verifies('watch.automatic'), async ({ app, receiver }) => {
    const { owner, admin, member, delegated } = await teamwork(app, receiver)
    const { issue } = await delegated(owner)
    await say(admin, issue, 'Hm')
    const before = (await watching(owner, issue)).sort()
    expect(before).toEqual([owner, admin, member].map(({ user }) => user.id).sort())
    await app.ctx.db.run(sql`delete from issue_watchers where issue_id = ${issue.id}`)
    expect((await watching(owner, issue)).sort()).toEqual(before)
    await done(owner.delete(`/issues/${issue.id}/watch`).then((response) => ({ ...response, body: {} })))
    expect((await watching(owner, issue)).sort()).toEqual(before.filter((id) => id !== owner.user.id))
    await done(member.put(`/issues/${issue.id}`, { status: 'done' }))
    expect(await kinds(admin)).toContain('status')
  })
})

describe('inbox entries of watchers', () => {
  test('one for each comment, none for its author or a mentioned user', verifies('watch.inbox'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, admin, member, team } = scene
    const issue = await makeIssue(scene)
    await done(admin.put(`/issues/${issue.id}/watch`))
    const comment = await say(member, issue, `${at(admin)} look`)
    expect((await owner.get('/inbox')).body.data).toMatchObject([
      {
        kind: 'comment',
        subject_id: comment.id,
        title: issue.title,
        url: comment.url,
        actor: { id: member.user.id },
      },
    ])
    expect(await kinds(admin)).toEqual(['mention'])
    expect(await kinds(member)).toEqual([])

    // An edit that mentions a watcher replaces what they got.
    await done(member.put(`/comments/${comment.id}`, { text: `${at(admin)} ${at(owner)} look` }))
    expect(await kinds(owner)).toEqual(['mention'])

    const robot = await app.installed(owner, { scopes: ['read', 'write'], teamIds: [team.id] })
    await say(robot, issue, 'I looked')
    for (const one of [owner, admin, member]) expect((await kinds(one))[0]).toBe('comment')
    await say(owner, issue, 'Between us', { internal: true })
    expect((await kinds(member)).filter((kind) => kind === 'comment')).toHaveLength(2)
  })

  test('one for each move to or from done', verifies('watch.inbox'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, admin, member } = scene
    const issue = await makeIssue(scene)
    await done(admin.put(`/issues/${issue.id}/watch`))
    const move = (status: string) => done(member.put(`/issues/${issue.id}`, { status }))
    await move('todo')
    await move('qa')
    for (const one of [owner, admin]) expect(await kinds(one)).toEqual([])
    await move('done')
    expect((await owner.get('/inbox')).body.data).toMatchObject([
      { kind: 'status', subject_id: issue.id, title: issue.title, url: issue.url, actor: { id: member.user.id } },
    ])
    await move('in_progress')
    for (const one of [owner, admin]) expect(await kinds(one)).toEqual(['status', 'status'])
    expect(await kinds(member)).toEqual([])
    await done(owner.put(`/issues/${issue.id}`, { status: 'done' }))
    expect(await kinds(owner)).toHaveLength(2)
  })

  test('only for watchers with access', verifies('watch.inbox'), async ({ app }) => {
    const scene = await issueScene(app)
    const { owner, admin, member } = scene
    const issue = await makeIssue(scene)
    await done(admin.put(`/issues/${issue.id}/watch`))
    await done(member.put(`/issues/${issue.id}/watch`))
    await done(owner.put(`/issues/${issue.id}`, { personal: true }))
    await say(owner, issue, 'Alone')
    await done(owner.put(`/issues/${issue.id}`, { status: 'done' }))
    expect(await watching(owner, issue)).toEqual([owner.user.id])
    await done(owner.put(`/issues/${issue.id}`, { personal: false }))
    for (const one of [admin, member]) expect(await kinds(one)).toEqual([])
    // A member who leaves is no watcher any more.
    await owner.delete(`/workspaces/me/members/${member.user.id}`)
    expect((await watching(owner, issue)).sort()).toEqual([owner.user.id, admin.user.id].sort())
  })
})
