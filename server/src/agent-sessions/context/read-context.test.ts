import { describe, expect } from 'vitest'
import { at, done, say, teamwork } from '../../../test/delegation.ts'
import { test, verifies } from '../../../test/harness.ts'
import { inside, named, readPromptContext, textsOf } from '../../../test/prompt-context.ts'
import { parseXml, type Tag } from '../../../test/xml.ts'
import { sql } from '../../db/sql.ts'

const shape = ({ tags, ...tag }: Tag) => ({ ...tag, inside: tags.map(({ name }) => name) })

describe('the context of a new session', () => {
  test(
    'has the issue with its labels, project and parent',
    verifies(
      'context.issue-tag',
      'context.issue-label-tags',
      'context.issue-project-parent-tags',
      'context.repository-hint',
      'context.repository-hint-absent',
      'context.delegation-has-no-primary-thread',
    ),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, delegated, receivedDuring } = await teamwork(app, receiver)
      const bare = await receivedDuring(() =>
        delegated(member, { title: 'Bare <&>', description: '**Since** <b>Monday</b>' }),
      )
      const [plain] = bare.map(({ body }) => body.data)
      const tags = parseXml(plain.prompt_context)
      expect(tags.map(({ name }) => name)).toEqual(['issue'])
      const { issue } = plain.agent_session
      expect(tags.map(shape)).toEqual([
        {
          name: 'issue',
          attributes: { identifier: issue.identifier, url: issue.url },
          text: '',
          inside: ['title', 'description', 'team'],
        },
      ])
      expect(textsOf(tags[0]?.tags ?? [])).toEqual(['Bare <&>', '**Since** <b>Monday</b>', 'Engineering'])

      const labels: string[] = []
      for (const name of ['bug', 'slow']) labels.push((await done(owner.post('/labels', { name }))).id)
      const project = await done(owner.post('/projects', { title: 'Speed', team_ids: [team.id] }))
      const parent = await done(owner.post('/issues', { title: 'Slow pages', team_id: team.id }))
      const repositories = [{ repository: 'acme/web' }, { repository: 'acme/api', url: 'https://git.example.com/api' }]
      await done(owner.patch(`/teams/${team.id}`, { repositories }))
      const full = await receivedDuring(() =>
        delegated(member, { label_ids: labels, project_id: project.id, parent_id: parent.id }),
      )
      const rich = full[0]?.body.data.prompt_context
      const [first, ...rest] = parseXml(rich)
      expect(first?.tags.map(({ name }) => name)).toEqual([
        ...['title', 'description', 'team', 'label', 'label', 'project', 'parent-issue'],
      ])
      expect(textsOf(first?.tags ?? []).slice(3)).toEqual(['bug', 'slow', 'Speed', `${parent.code} Slow pages`])
      expect(rest.map(({ name }) => name)).toEqual(['repository-hint', 'repository-hint'])
      expect(readPromptContext(rich).hints).toEqual(['acme/web', 'acme/api'])
      expect(robot.userId).toBe(full[0]?.body.app_user_id)
    },
  )

  test(
    'leaves out a project and a parent that the app does not reach',
    verifies('context.parent-out-of-reach', 'context.project-out-of-reach'),
    async ({ app, receiver }) => {
      const { owner, member, team, outside, delegated, receivedDuring } = await teamwork(app, receiver)
      const contextWith = async (fields: object) => {
        const [received] = await receivedDuring(() => delegated(member, fields))
        return received?.body.data.prompt_context as string
      }
      const issueOf = (team_id: string | null, title: string) => done(owner.post('/issues', { title, team_id }))
      const projectOf = (team_ids: string[], title: string) => done(owner.post('/projects', { title, team_ids }))
      for (const hidden of [await issueOf(outside.id, 'Far parent'), await issueOf(null, 'Teamless parent')]) {
        const context = await contextWith({ parent_id: hidden.id })
        expect(inside(parseXml(context), 'issue', 'parent-issue')).toEqual([])
        for (const secret of [hidden.code, hidden.title, hidden.url, hidden.id]) expect(context).not.toContain(secret)
      }
      for (const hidden of [await projectOf([outside.id], 'Far plan'), await projectOf([], 'Teamless plan')]) {
        const context = await contextWith({ project_id: hidden.id })
        expect(inside(parseXml(context), 'issue', 'project')).toEqual([])
        for (const secret of [hidden.title, hidden.id]) expect(context).not.toContain(secret)
      }
      const parent = await issueOf(team.id, 'Near parent')
      const project = await projectOf([outside.id, team.id], 'Near plan')
      const near = parseXml(await contextWith({ parent_id: parent.id, project_id: project.id }))
      expect(textsOf(inside(near, 'issue', 'parent-issue'))).toEqual([`${parent.code} Near parent`])
      expect(textsOf(inside(near, 'issue', 'project'))).toEqual(['Near plan'])
    },
  )

  test(
    'has the project and parent of every team for an app that covers all teams',
    verifies('context.parent-out-of-reach', 'context.project-out-of-reach'),
    async ({ app, receiver }) => {
      const { owner, member, outside, delegated, receivedDuring } = await teamwork(app, receiver, { everywhere: true })
      const parent = await done(owner.post('/issues', { title: 'Teamless parent' }))
      const project = await done(owner.post('/projects', { title: 'Far plan', team_ids: [outside.id] }))
      const [received] = await receivedDuring(() => delegated(member, { parent_id: parent.id, project_id: project.id }))
      const tags = parseXml(received?.body.data.prompt_context)
      expect(textsOf(inside(tags, 'issue', 'parent-issue'))).toEqual([`${parent.code} Teamless parent`])
      expect(textsOf(inside(tags, 'issue', 'project'))).toEqual(['Far plan'])
      // issue.team is null for an issue without a team.
      const teamless = await receivedDuring(() => delegated(member, { team_id: null }))
      expect(teamless[0]?.body.data.agent_session.issue).toMatchObject({ identifier: 'X-2', team: null })
    },
  )

  test(
    'has the earlier comments by thread, without internal ones',
    verifies(
      'context.previous-comments-shape',
      'context.previous-comments-oldest-first',
      'context.primary-directive-thread',
      'context.delegation-has-no-primary-thread',
      'context.other-threads',
      'context.comment-tag',
      'context.internal-comments-left-out',
    ),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, issueIn, receivedDuring } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const visible: { id: string; text: string; created_at: string }[] = []
      const talk = async (by: typeof owner, text: string, more = {}) => {
        app.clock.advance({ seconds: 1 })
        const comment = await say(by, issue, text, more)
        if (!comment.internal) visible.push(comment)
        return comment
      }
      const first = await talk(member, 'It is <slow>')
      const secret = await talk(owner, 'Their contract ends soon', { internal: true })
      await talk(owner, 'Very soon', { under: secret })
      const second = await talk(owner, 'Which page?')
      await talk(owner, 'Since when?', { under: first })
      await talk(robot as never, 'I may help', { under: second })
      const arrived = await receivedDuring(() => talk(member, `${at(robot)} look`, { under: first }))
      const { previous_comments, prompt_context } = arrived[0]?.body.data ?? {}
      const authors = [member, owner, owner].map(({ user }) => ({ id: user.id, name: user.display_name }))
      authors.push({ id: robot.userId, name: robot.app.name })
      expect(previous_comments).toEqual(
        visible
          .slice(0, 4)
          .map(({ id, text, created_at }, index) => ({ id, body: text, author: authors[index], created_at })),
      )
      const tags = parseXml(prompt_context)
      const comment = (index: number, name: string) => ({
        name: 'comment',
        attributes: { author: name, 'created-at': visible[index]?.created_at },
        text: visible[index]?.text,
        inside: [],
      })
      const [primary, ...more] = named(tags, 'primary-directive-thread')
      expect(more).toEqual([])
      expect(primary?.attributes).toEqual({ 'comment-id': first.id })
      expect(primary?.tags.map(shape)).toEqual([
        comment(0, member.user.display_name),
        comment(2, owner.user.display_name),
        comment(4, member.user.display_name),
      ])
      const others = named(tags, 'other-thread')
      expect(others.map(({ attributes }) => attributes)).toEqual([{ 'comment-id': second.id }])
      expect(others[0]?.tags.map(shape)).toEqual([comment(1, owner.user.display_name), comment(3, robot.app.name)])
      expect(arrived[0]?.raw.toString()).not.toContain('soon')

      // For a delegation, all threads are other threads.
      const delegation = await receivedDuring(() => member.put(`/issues/${issue.id}`, { delegate_id: robot.userId }))
      const context = delegation[0]?.body.data
      expect(context.previous_comments.map(({ id }: { id: string }) => id)).toEqual(visible.map(({ id }) => id))
      const threads = parseXml(context.prompt_context)
      expect(named(threads, 'primary-directive-thread')).toEqual([])
      expect(readPromptContext(context.prompt_context).others).toEqual([first.id, second.id])
      expect(textsOf(inside(threads, 'other-thread', 'comment'))).toHaveLength(5)
      expect(delegation[0]?.raw.toString()).not.toContain('soon')
    },
  )

  test(
    'has the comments before a mention that an edit added',
    verifies('context.previous-comments-cap'),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, issueIn, receivedDuring } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const before = await say(owner, issue, 'Before')
      const root = await say(member, issue, 'Somebody?')
      await say(owner, issue, 'After')
      const arrived = await receivedDuring(() => member.put(`/comments/${root.id}`, { text: `${at(robot)}?` }))
      const { previous_comments, prompt_context } = arrived[0]?.body.data ?? {}
      expect(previous_comments).toMatchObject([{ id: before.id }])
      expect(readPromptContext(prompt_context).primary).toEqual([`${at(robot)}?`])
    },
  )

  test(
    'has the latest hundred comments before the triggering one',
    verifies('context.previous-comments-cap', 'context.previous-comments-oldest-first'),
    async ({ app, receiver }) => {
      const { id, owner, member, robot, team, issueIn, receivedDuring } = await teamwork(app, receiver)
      const issue = await issueIn(team.id)
      const comments = []
      for (let number = 1; number <= 99; number++) comments.push(await say(owner, issue, `Number ${number}`))
      const bodies = async (work: () => Promise<unknown>) => {
        const [arrived] = await receivedDuring(work)
        return arrived?.body.data.previous_comments.map(({ body }: { body: string }) => body)
      }
      const mention = () => say(member, issue, `${at(robot)} one`)
      const expected = comments.map(({ text }) => text)
      expect(await bodies(mention)).toEqual(expected)
      expected.push(`${at(robot)} one`)
      expect(await bodies(() => say(member, issue, `${at(robot)} two`))).toEqual(expected)
      expected.push(`${at(robot)} two`)
      const delegate = () => member.put(`/issues/${issue.id}`, { delegate_id: robot.userId })
      expect(await bodies(delegate)).toEqual(expected.slice(1))
      // Comments of deleted accounts stay.
      await app.ctx.db.run(sql`update comments set author_id = null where workspace_id = ${id}`)
      const [arrived] = await receivedDuring(() => say(member, issue, `${at(robot)} three`))
      expect(arrived?.body.data.previous_comments[0].author).toEqual({ id: '', name: expect.any(String) })
    },
  )
})

describe('guidance', () => {
  test(
    'is the workspace’s, then the team’s, and no other',
    verifies('context.guidance-shape-and-order', 'context.guidance-tags', 'context.guidance-sources-only'),
    async ({ app, receiver }) => {
      const { owner, team, outside, delegated, receivedDuring } = await teamwork(app, receiver)
      await done(owner.patch(`/teams/${outside.id}`, { guidance: 'Not for you.' }))
      const readGuidance = async () => {
        const [arrived] = await receivedDuring(() => delegated())
        const { guidance, prompt_context } = arrived?.body.data ?? {}
        const rules = inside(parseXml(prompt_context), 'guidance', 'guidance-rule')
        return { guidance, rules: rules.map(({ attributes, text }) => ({ ...attributes, text })), prompt_context }
      }
      const silent = await readGuidance()
      expect(silent).toMatchObject({ guidance: [], rules: [] })
      expect(silent.prompt_context).not.toContain('guidance')
      await done(owner.patch('/workspaces/me', { guidance: 'Be brief.' }))
      expect(await readGuidance()).toMatchObject({
        guidance: [{ origin: 'workspace', body: 'Be brief.' }],
        rules: [{ origin: 'workspace', text: 'Be brief.' }],
      })
      await done(owner.patch(`/teams/${team.id}`, { guidance: 'Write tests.' }))
      const { guidance, rules } = await readGuidance()
      expect(guidance).toEqual([
        { origin: 'workspace', body: 'Be brief.' },
        { origin: 'team', team_id: team.id, body: 'Write tests.' },
      ])
      expect(rules).toEqual([
        { origin: 'workspace', text: 'Be brief.' },
        { origin: 'team', team: 'ENG', text: 'Write tests.' },
      ])
    },
  )

  test(
    'on a project is that of each covered team, by key; the context has the project in place of the issue',
    verifies('context.project-comment', 'context.project-guidance-per-team', 'context.repository-hint-absent'),
    async ({ app, receiver }) => {
      const { owner, member, robot, team, outside, receivedDuring } = await teamwork(app, receiver)
      const third = await done(owner.post('/teams', { name: 'Accounts', key: 'ACC' }))
      await done(owner.patch(`/installations/${robot.installationId}`, { team_ids: [team.id, third.id] }))
      for (const [one, guidance] of [
        [team, 'Write tests.'],
        [outside, 'Not for you.'],
        [third, 'Count twice.'],
      ] as const) {
        await done(owner.patch(`/teams/${one.id}`, { guidance, repositories: [{ repository: 'acme/web' }] }))
      }
      const label = await done(owner.post('/labels', { name: 'big' }))
      const project = await done(
        member.post('/projects', {
          title: 'A plan',
          description: 'All of *it*',
          team_ids: [team.id, outside.id, third.id],
          label_ids: [label.id],
        }),
      )
      const earlier = await say(owner, project, 'When?')
      const arrived = await receivedDuring(() => say(member, project, `${at(robot)} when?`))
      const { guidance, previous_comments, prompt_context, agent_session } = arrived[0]?.body.data ?? {}
      expect(agent_session.issue).toBeNull()
      expect(guidance).toEqual([
        { origin: 'team', team_id: third.id, body: 'Count twice.' },
        { origin: 'team', team_id: team.id, body: 'Write tests.' },
      ])
      expect(previous_comments).toMatchObject([{ id: earlier.id }])
      const tags = parseXml(prompt_context)
      expect(tags.map(({ name }) => name)).toEqual([
        ...['project', 'primary-directive-thread', 'other-thread', 'guidance'],
      ])
      expect(tags[0]?.attributes).toEqual({ url: project.url })
      expect(readPromptContext(prompt_context)).toMatchObject({
        title: 'A plan',
        description: 'All of *it*',
        teams: ['Accounts', 'Design', 'Engineering'],
        labels: ['big'],
        others: [earlier.id],
        rules: ['Count twice.', 'Write tests.'],
        hints: [],
      })
    },
  )
})
