import { describe, expect } from 'vitest'
import { done, say } from '../../test/delegation.ts'
import { test, verifiesOnPostgres } from '../../test/harness.ts'
import { issueScene, makeIssue } from '../../test/issues.ts'

const rounds = 8

describe('concurrently', () => {
  test('one of two edits from the same version succeeds', verifiesOnPostgres('edit.conflict'), async ({ app }) => {
    const scene = await issueScene(app)
    const people = [scene.owner, scene.admin, scene.member]
    for (let round = 0; round < rounds; round++) {
      const issue = await makeIssue(scene)
      const answers = await Promise.all(
        people.map((one, at) =>
          one.put(`/issues/${issue.id}`, { description: `Text ${at}`, if_updated_at: issue.updated_at }),
        ),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409])
      const winner = answers.findIndex(({ status }) => status === 200)
      expect((await scene.owner.get(`/issues/${issue.id}`)).body.description).toBe(`Text ${winner}`)
    }
  })

  test('two marks do not form a cycle', verifiesOnPostgres('duplicate.marks-and-undo'), async ({ app }) => {
    const scene = await issueScene(app)
    for (let round = 0; round < rounds; round++) {
      const [a, b] = [await makeIssue(scene), await makeIssue(scene)]
      const answers = await Promise.all([
        scene.owner.put(`/issues/${a.id}/duplicate-of`, { issue_id: b.id }),
        scene.member.put(`/issues/${b.id}/duplicate-of`, { issue_id: a.id }),
      ])
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 422])
    }
  })

  test('comments that add the same watchers all succeed', verifiesOnPostgres('watch.automatic'), async ({ app }) => {
    const scene = await issueScene(app)
    const people = [scene.owner, scene.admin, scene.member]
    const at = people.map(({ user }) => `@[${user.display_name}](${user.id})`)
    for (let round = 0; round < rounds; round++) {
      const issue = await makeIssue(scene)
      const texts = [at.join(' '), [...at].reverse().join(' '), 'Hm']
      await Promise.all(people.map((one, index) => say(one, issue, texts[index] as string)))
      expect((await done(scene.owner.get(`/issues/${issue.id}/related`))).watchers).toHaveLength(3)
    }
  })

  test('a reaction counts once', verifiesOnPostgres('reaction.once'), async ({ app }) => {
    const scene = await issueScene(app)
    const issue = await makeIssue(scene)
    const comment = await say(scene.owner, issue, 'Hm')
    const react = () => scene.owner.put(`/comments/${comment.id}/reactions/heart`)
    const answers = await Promise.all(Array.from({ length: rounds }, react))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: rounds }, () => 204))
    const { data } = await done(scene.owner.get(`/reactions?target_type=issue&target_id=${issue.id}`))
    expect(data).toMatchObject([{ name: 'heart', count: 1 }])
  })

  test('templates stay within their limit', verifiesOnPostgres('template.crud'), async ({ app }) => {
    const { owner, team } = await issueScene(app)
    const add = () => owner.post('/templates', { name: 'Bug', team_id: team.id, default: true })
    for (let at = 0; at < 46; at++) await done(add())
    const answers = await Promise.all(Array.from({ length: rounds }, add))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(4)
    const { data } = await done(owner.get(`/templates?team_id=${team.id}&limit=100`))
    expect(data.filter((one: { default: boolean }) => one.default)).toHaveLength(1)
  })
})
