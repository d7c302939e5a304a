import { describe, expect } from 'vitest'
import type { Client } from '../../test/client.ts'
import { test, verifies } from '../../test/harness.ts'
import {
  allOf,
  bad,
  denied,
  everyVerb,
  id,
  ids,
  missing,
  noSuch,
  type Robot,
  refused,
  type Scene,
  reachScene as scene,
  sorted,
} from '../../test/reach.ts'

describe('comments', () => {
  const on = (target_type: 'issue' | 'project', target_id: string) => ({ target_type, target_id })
  const list = (client: Client, { target_type, target_id }: ReturnType<typeof on>) =>
    client.get(`/comments?target_type=${target_type}&target_id=${target_id}`)

  const outside = ({ robot, everywhere, issues, projects }: Scene): [Robot, ReturnType<typeof on>, object][] => [
    [robot, on('issue', issues.other), denied],
    [robot, on('issue', issues.teamless), denied],
    [robot, on('issue', issues.personal), denied],
    [everywhere, on('issue', issues.personal), denied],
    [robot, on('project', projects.other), denied],
    [robot, on('project', projects.teamless), denied],
    [everywhere, on('project', projects.personal), denied],
    [robot, on('issue', noSuch('iss')), missing],
    [robot, on('project', noSuch('prj')), missing],
  ]

  test(
    'can be read and written only where the app has access',
    verifies(
      'comment.app-other-team-403',
      'comment.app-personal-issue-403',
      'comment.app-read-other-team-403',
      'scope.other-team-comment-denied',
    ),
    async ({ app }) => {
      const all = await scene(app)
      const { robot, everywhere, member, issues, projects } = all
      for (const [client, target, answer] of outside(all)) {
        await refused(app, {
          [`post ${target.target_type}`]: [() => client.post('/comments', { ...target, text: 'Hello' }), answer],
          [`list ${target.target_type}`]: [() => list(client, target), answer],
        })
        if (answer === missing) continue
        const comment = await id(member.post('/comments', { ...target, text: 'Among us' }))
        const verbs = everyVerb(client, `/comments/${comment}`, { is_resolved: true })
        await refused(app, allOf(verbs, answer))
      }
      const inside: [Robot, ReturnType<typeof on>][] = [
        [robot, on('issue', issues.covered)],
        [robot, on('project', projects.both)],
        [everywhere, on('issue', issues.teamless)],
        [everywhere, on('project', projects.teamless)],
      ]
      for (const [client, target] of inside) {
        const comment = await id(client.post('/comments', { ...target, text: 'Hello' }))
        expect(ids(await list(client, target))).toContain(comment)
        expect((await client.get(`/comments/${comment}`)).status).toBe(200)
      }
    },
  )

  test('of an app are out of reach when their issue is', async ({ app }) => {
    const { robot, member, issues, otherTeam } = await scene(app)
    const comment = await id(robot.post('/comments', { ...on('issue', issues.covered), text: 'Hello' }))
    await member.put(`/issues/${issues.covered}`, { team_id: otherTeam })
    const verbs = everyVerb(robot, `/comments/${comment}`, { text: 'Bye' })
    await refused(app, allOf(verbs, denied))
  })

  test('that are internal are hidden from apps', verifies('comment.internal-hidden-from-apps'), async ({ app }) => {
    const { robot, everywhere, member, issues } = await scene(app)
    const target = on('issue', issues.covered)
    const shown = await id(member.post('/comments', { ...target, text: 'For all' }))
    const internal = await id(member.post('/comments', { ...target, text: 'For us', internal: true }))
    const inThread = await id(
      member.post('/comments', { ...target, text: 'For us', internal: true, parent_comment_id: shown }),
    )
    const elsewhere = await id(
      member.post('/comments', { ...on('issue', issues.other), text: 'For us', internal: true }),
    )
    for (const client of [robot, everywhere]) {
      expect(ids(await list(client, target))).toEqual([shown])
      for (const hidden of [internal, inThread, elsewhere]) {
        const verbs = everyVerb(client, `/comments/${hidden}`, { is_resolved: true })
        await refused(app, allOf(verbs, missing))
      }
      const reply = (parent_comment_id: string) => () =>
        client.post('/comments', { ...target, text: 'Hm', parent_comment_id })
      const unknown = await reply(noSuch('cmt'))()
      expect(await reply(internal)()).toMatchObject({ status: 422, body: unknown.body })
      await refused(app, {
        'reply to internal': [reply(internal), bad('parent_comment_id')],
        'reply to internal in a thread': [reply(inThread), bad('parent_comment_id')],
        internal: [() => client.post('/comments', { ...target, text: 'Psst', internal: true }), bad('internal')],
      })
    }
    expect(ids(await list(member, target))).toEqual(sorted(shown, internal, inThread))
  })

  test('of others cannot be changed or deleted by an app', async ({ app }) => {
    const { robot, everywhere, owner, member, issues } = await scene(app)
    const target = on('issue', issues.covered)
    const forbidden = { status: 403, body: { code: 'FORBIDDEN' } }
    for (const author of [member, everywhere]) {
      const theirs = await id(author.post('/comments', { ...target, text: 'Mine' }))
      await refused(app, {
        change: [() => robot.put(`/comments/${theirs}`, { text: 'Yours' }), forbidden],
        delete: [() => robot.delete(`/comments/${theirs}`), forbidden],
      })
      expect((await robot.put(`/comments/${theirs}`, { is_resolved: true })).body.is_resolved).toBe(true)
    }
    const own = await id(robot.post('/comments', { ...target, text: 'Mine' }))
    expect((await robot.put(`/comments/${own}`, { text: 'Better' })).body.text).toBe('Better')
    expect((await robot.delete(`/comments/${own}`)).status).toBe(204)
    // A manager can delete any comment.
    const another = await id(robot.post('/comments', { ...target, text: 'Mine' }))
    expect((await member.delete(`/comments/${another}`)).status).toBe(403)
    expect((await owner.delete(`/comments/${another}`)).status).toBe(204)
  })
})
