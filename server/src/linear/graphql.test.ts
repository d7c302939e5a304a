import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { codeOf, installedLinearApp, typeOf } from '../../test/linear.ts'
import { idOf, stateIdOf, uuidOf } from '../linear-shape/ids.ts'

async function scene(app: TestApp, options: Parameters<typeof installedLinearApp>[2] = {}) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const issue = (
    await member.post('/issues', {
      title: 'Fix the door',
      description: 'It squeaks.',
      team_id: team.id,
      priority: 'high',
    })
  ).body
  const robot = await installedLinearApp(app, owner, options)
  const openSession = async () =>
    (
      await robot.data(
        'mutation($i:AgentSessionCreateOnIssue!){agentSessionCreateOnIssue(input:$i){agentSession{id}}}',
        {
          i: { issueId: issue.code },
        },
      )
    ).agentSessionCreateOnIssue.agentSession.id as string
  return { ...workspace, team, issue, robot, openSession }
}

const activityCreate =
  'mutation($i:AgentActivityCreateInput!){agentActivityCreate(input:$i){success agentActivity{id content{...on AgentActivityResponseContent{body} ...on AgentActivityActionContent{parameter}}}}}'

const cursorOf = (time: string) => Buffer.from(JSON.stringify([time, 'iss_x'])).toString('base64url')

describe('reading', () => {
  test(
    'answers the viewer, its organization, and items by UUID, id and code',
    verifies('linear.viewer-organization', 'linear.issue-by-id-or-code', 'linear.authorization-without-bearer'),
    async ({ app }) => {
      const { robot, issue, team, id, owner } = await scene(app)
      const { viewer } = await robot.data('{viewer{id app email organization{id name} __typename}}')
      expect(viewer).toMatchObject({
        app: true,
        email: null,
        organization: { id: uuidOf(id), name: 'Acme' },
        __typename: 'User',
      })
      const other = (await owner.post('/teams', { name: 'Other', key: 'OTH' })).body
      const formerCode = issue.code
      await owner.put(`/issues/${issue.id}`, { team_id: other.id })
      for (const asked of [uuidOf(issue.id), issue.id, formerCode, 'OTH-1']) {
        const found = await robot.data('query($id:String!){issue(id:$id){id identifier previousIdentifiers number}}', {
          id: asked,
        })
        expect(found.issue).toEqual({
          id: uuidOf(issue.id),
          identifier: 'OTH-1',
          previousIdentifiers: [formerCode],
          number: 1,
        })
      }
      expect(idOf('iss', uuidOf(issue.id))).toBe(issue.id)
      for (const asked of [uuidOf(team.id), team.id, 'ENG', 'eng']) {
        expect((await robot.data('query($id:String!){team(id:$id){id key}}', { id: asked })).team).toEqual({
          id: uuidOf(team.id),
          key: 'ENG',
        })
      }
    },
  )

  test(
    'leaves out unknown nested fields, and takes variables of any type',
    verifies(
      'linear.unknown-nested-field',
      'linear.unknown-variable-type',
      'linear.constructor-fields',
      'linear.mentions-readable',
    ),
    async ({ app }) => {
      const { robot, issue, member } = await scene(app)
      const text = `Ask @[${member.user.display_name}](${member.user.id})`
      await member.put(`/issues/${issue.id}`, { description: text })
      const query = `query($id:String!,$x:DateTimeOrDuration!){issue(id:$id){
        title snoozedUntilAt{x} description favorite{id} reactions{id} sharedAccess{isShared sharedWithUsers{id}}
        comments(filter:{createdAt:{gte:$x}}){nodes{id reactions{id}} pageInfo{hasNextPage endCursor}}}
        organization{projectStatuses{id}} searchIssues(term:"door"){nodes{reactions{id} sharedAccess{isShared}} totalCount}
        none:searchIssues(term:"door",filter:{title:{eq:"x"}}){nodes{id} totalCount}}`
      const data = await robot.data(query, { id: issue.id, x: '2020-01-01T00:00:00Z' })
      expect(data).toEqual({
        issue: {
          title: 'Fix the door',
          description: `Ask @${member.user.display_name}`,
          reactions: [],
          sharedAccess: { isShared: false, sharedWithUsers: [] },
          comments: { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } },
        },
        organization: { projectStatuses: [] },
        searchIssues: { nodes: [{ reactions: [], sharedAccess: { isShared: false } }], totalCount: 1 },
        none: { nodes: [], totalCount: 0 },
      })
    },
  )

  test('has six fixed states', verifies('linear.states-fixed'), async ({ app }) => {
    const { robot, owner } = await scene(app)
    await owner.post('/teams', { name: 'Other', key: 'OTH' })
    const { teams } = await robot.data('{teams{nodes{states{nodes{id name type position}}}}}')
    const [first, second] = teams.nodes
    expect(first.states).toEqual(second.states)
    expect(first.states.nodes.map(({ name, type, position }: never) => [name, type, position])).toEqual([
      ['Backlog', 'backlog', 0],
      ['Todo', 'unstarted', 1],
      ['In Progress', 'started', 2],
      ['QA', 'started', 3],
      ['Release', 'started', 4],
      ['Done', 'completed', 5],
    ])
    const { team, workflowStates } = await robot.data(
      '{team(id:"ENG"){states(filter:{type:{eq:"started"}}){nodes{id position}}} workflowStates(filter:{team:{key:{eq:"ENG"}},name:{eq:"QA"}}){nodes{id}}}',
    )
    expect(team.states.nodes).toHaveLength(3)
    expect(team.states.nodes[0]).toEqual({ id: stateIdOf('in_progress'), position: 2 })
    expect(workflowStates.nodes).toEqual([{ id: stateIdOf('qa') }])
  })

  test(
    'hides nested items that the app cannot see',
    verifies('linear.nested-out-of-reach', 'linear.relations'),
    async ({ app }) => {
      const { owner, team, issue } = await scene(app)
      const secret = (await owner.post('/teams', { name: 'Secret', key: 'SEC' })).body
      const project = (await owner.post('/projects', { title: 'Hidden', team_ids: [secret.id] })).body
      const [hidden, shown] = await Promise.all(
        [secret, team].map(async ({ id }) => (await owner.post('/issues', { title: 'Other', team_id: id })).body),
      )
      await owner.put(`/issues/${issue.id}`, {
        parent_id: hidden.id,
        blocks_ids: [hidden.id, shown.id],
        project_id: project.id,
      })
      const robot = await installedLinearApp(app, owner, { teamIds: [team.id] })
      const query =
        'query($id:String!){issue(id:$id){parent{id} project{id} relations{nodes{type relatedIssue{identifier}}} inverseRelations{nodes{type issue{identifier}}}}}'
      expect((await robot.data(query, { id: issue.id })).issue).toEqual({
        parent: null,
        project: null,
        relations: { nodes: [{ type: 'blocks', relatedIssue: { identifier: shown.code } }] },
        inverseRelations: { nodes: [] },
      })
      expect((await robot.data(query, { id: shown.id })).issue.inverseRelations).toEqual({
        nodes: [{ type: 'blocks', issue: { identifier: issue.code } }],
      })
      const refused = await robot.query(query, { id: hidden.id })
      expect([refused.status, codeOf(refused), typeOf(refused)]).toEqual([200, 'TEAM_ACCESS_DENIED', 'forbidden'])
      expect(codeOf(await robot.query('query($id:String!){project(id:$id){id}}', { id: project.id }))).toBe(
        'TEAM_ACCESS_DENIED',
      )
    },
  )

  test(
    'pages newest first in both directions',
    verifies('linear.connection-order', 'linear.filters', 'linear.filter-unknown'),
    async ({ app }) => {
      const { owner, team, issue, robot } = await scene(app)
      const codes: string[] = [issue.code]
      let part = issue
      for (let number = 2; number <= 7; number++) {
        app.clock.advance({ seconds: 1 })
        part = (await owner.post('/issues', { title: `Part ${number}`, team_id: team.id, parent_id: issue.id })).body
        codes.unshift(part.code)
      }
      const page = async (args: string) =>
        (
          await robot.data(
            `{issues(${args}){nodes{identifier} pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}`,
          )
        ).issues
      const seen: string[] = []
      for (let after = ''; ; ) {
        const { nodes, pageInfo } = await page(`first:3${after}`)
        seen.push(...nodes.map(({ identifier }: { identifier: string }) => identifier))
        if (!pageInfo.hasNextPage) break
        after = ` after:"${pageInfo.endCursor}"`
      }
      expect(seen).toEqual(codes)
      const last = await page('last:3')
      expect(last.nodes.map(({ identifier }: { identifier: string }) => identifier)).toEqual(codes.slice(-3))
      expect(last.pageInfo.hasPreviousPage).toBe(true)
      const before = await page(`last:3 before:"${last.pageInfo.startCursor}"`)
      expect(before.nodes.map(({ identifier }: { identifier: string }) => identifier)).toEqual(codes.slice(1, 4))
      app.clock.advance({ seconds: 1 })
      await owner.put(`/issues/${issue.id}`, { title: 'Changed', status: 'in_progress' })
      expect((await page('first:1 orderBy:updatedAt')).nodes).toEqual([{ identifier: issue.code }])
      expect((await page('filter:{state:{type:{eq:"started"}}}')).nodes).toEqual([{ identifier: issue.code }])
      expect((await page('filter:{or:[{title:{containsIgnoreCase:"PART 3"}},{number:{gt:6}}]}')).nodes).toHaveLength(2)
      expect(
        (await page('filter:{parent:{null:true},assignee:{null:true},team:{key:{in:["ENG"]}}}')).nodes,
      ).toHaveLength(1)
      const { issue: children } = await robot.data(
        `{issue(id:"${issue.code}"){children(filter:{state:{type:{neq:"completed"}}}){nodes{id}}}}`,
      )
      expect(children.children.nodes).toHaveLength(6)
      await owner.put(`/issues/${part.id}`, { status: 'done' })
      const { issue: open } = await robot.data(
        `{issue(id:"${issue.code}"){children(filter:{state:{type:{neq:"completed"}}}){nodes{id}}}}`,
      )
      expect(open.children.nodes).toHaveLength(5)
      for (const name of ['Bug', 'Other']) await owner.post('/labels', { name })
      expect((await robot.data('{issueLabels(filter:{name:{eq:"Bug"}}){nodes{name}}}')).issueLabels.nodes).toEqual([
        { name: 'Bug' },
      ])
      for (const [args, named] of [
        ['first:251', 'first'],
        ['first:0', 'first'],
        ['filter:{creator:{id:{eq:"x"}}}', 'creator'],
        ['filter:{title:{startsWith:"x"}}', 'startsWith'],
        ['filter:{labels:{every:{name:{eq:"x"}}}}', 'every'],
        ['after:"nonsense"', 'after'],
        [`orderBy:updatedAt after:"${cursorOf('2026-02-30T00:00:00.000Z')}"`, 'after'],
        [`orderBy:updatedAt before:"${cursorOf('2026-01-01T99:99:99Z')}"`, 'before'],
      ] as const) {
        const refused = await robot.query(`{issues(${args}){nodes{id}}}`)
        expect([args, refused.status, typeOf(refused), refused.body.data]).toEqual([args, 200, 'invalid input', null])
        expect(refused.body.errors[0].message).toContain(named)
      }
      expect((await page('first:250')).nodes).toHaveLength(7)
    },
  )

  test('lists comments of an issue or a thread only', verifies('linear.filters'), async ({ app }) => {
    const { owner, issue, robot } = await scene(app)
    const say = async (text: string, more = {}) =>
      (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text, ...more })).body
    const rootComment = await say('Hello')
    await say('Reply', { parent_comment_id: rootComment.id })
    const bodies = async (filter: object) =>
      (await robot.data('query($f:CommentFilter){comments(filter:$f){nodes{body}}}', { f: filter })).comments.nodes.map(
        ({ body }: { body: string }) => body,
      )
    expect(await bodies({ issue: { id: { eq: issue.id } } })).toEqual(['Reply', 'Hello'])
    expect(await bodies({ parent: { id: { eq: uuidOf(rootComment.id) } } })).toEqual(['Reply'])
    const refused = await robot.query('{comments{nodes{id}}}')
    expect([typeOf(refused), refused.status]).toEqual(['invalid input', 200])
  })

  test('lists activities since a time, that time included', verifies('linear.filters'), async ({ app }) => {
    const { robot, openSession } = await scene(app)
    const session = await openSession()
    const times: string[] = []
    for (const body of ['One', 'Two', 'Three']) {
      app.clock.advance({ seconds: 1 })
      times.push(app.clock.now().toISOString())
      await robot.data(activityCreate, { i: { agentSessionId: session, content: { type: 'thought', body } } })
    }
    const since = async (time?: string) => {
      const { agentSession } = await robot.data(
        'query($id:String!,$f:X){agentSession(id:$id){activities(filter:$f){nodes{content{... on AgentActivityThoughtContent{body}}}}}}',
        { id: session, ...(time ? { f: { createdAt: { gte: time } } } : {}) },
      )
      return agentSession.activities.nodes.flatMap(({ content }: { content: { body?: string } }) => content.body ?? [])
    }
    expect(await since()).toEqual(['Three', 'Two', 'One'])
    expect(await since(times[1])).toEqual(['Three', 'Two'])
    expect(await since(new Date(Date.parse(times[1] as string) + 1).toISOString())).toEqual(['Three'])
  })
})

describe('writing', () => {
  test(
    'posts activities',
    verifies('linear.activity-shapes', 'linear.source-comment', 'linear.chat-adapter-stream'),
    async ({ app }) => {
      const { robot, openSession } = await scene(app)
      const session = await openSession()
      const post = (content: object, more = {}) =>
        robot.query(activityCreate, { i: { agentSessionId: session, content, ...more } })
      expect(
        (await post({ type: 'thought', body: 'Hm', action: null }, { ephemeral: true, signal: null })).body.data
          .agentActivityCreate.success,
      ).toBe(true)
      expect(
        (await post({ type: 'action', action: 'Search', parameter: null })).body.data.agentActivityCreate.agentActivity
          .content,
      ).toEqual({ parameter: '' })
      const options = [{ value: 'a' }, { value: 'b', label: 'B', icon: 'x' }]
      const asked = await post(
        { type: 'elicitation', body: 'Which?' },
        { signal: 'select', signalMetadata: { options, allowMultiple: true, color: 'red' } },
      )
      expect(asked.body.errors).toBeUndefined()
      const auth = await post(
        { type: 'elicitation', body: 'Sign in' },
        { signal: 'auth', signalMetadata: { url: 'https://example.com/auth', providerName: 'Git', extra: 1 } },
      )
      expect(auth.body.errors).toBeUndefined()
      expect((await post({ type: 'error', body: 'Failed', reasonCode: 'broken' })).body.errors).toBeUndefined()
      const prompt = await app.unchanged(() => post({ type: 'prompt', body: 'Do it' }))
      expect([codeOf(prompt), typeOf(prompt)]).toEqual(['PROMPT_IS_HUMAN_ONLY', 'invalid input'])
      const done = (await post({ type: 'response', body: '' })).body.data.agentActivityCreate.agentActivity
      expect(done.content).toEqual({ body: 'Done.' })
      const shape = 'id body createdAt user{id}'
      const { agentActivity, comment } = await robot.data(
        `query($id:String!){agentActivity(id:$id){sourceComment{${shape}} user{id} agentSession{id status}} comment(id:$id){${shape}}}`,
        { id: done.id },
      )
      expect(agentActivity.agentSession).toEqual({ id: session, status: 'complete' })
      expect(agentActivity.sourceComment).toEqual({
        id: done.id,
        body: 'Done.',
        createdAt: expect.any(String),
        user: { id: robot.viewerId },
      })
      expect(comment).toEqual(agentActivity.sourceComment)
      const { agentSession } = await robot.data(
        'query($id:String!){agentSession(id:$id){activities(filter:{type:{eq:"elicitation"}}){nodes{signal signalMetadata content{__typename}}}}}',
        { id: session },
      )
      expect(
        agentSession.activities.nodes.map(({ signalMetadata }: { signalMetadata: object }) => signalMetadata),
      ).toEqual([
        { url: 'https://example.com/auth', providerName: 'Git' },
        { options: [{ value: 'a' }, { value: 'b', label: 'B' }], allowMultiple: true },
      ])
    },
  )

  test(
    'refuses types, signals and states that are names of other things',
    verifies('linear.activity-shapes', 'linear.state-change'),
    async ({ app }) => {
      const { robot, openSession, issue } = await scene(app)
      const agentSessionId = await openSession()
      for (const wrong of ['constructor', '__proto__', 'toString']) {
        const [byType, bySignal] = [
          { agentSessionId, content: { type: wrong, body: 'x' } },
          { agentSessionId, content: { type: 'elicitation', body: 'x' }, signal: wrong, signalMetadata: { url: 'x' } },
        ]
        for (const i of [byType, bySignal]) {
          const refused = await app.unchanged(() => robot.query(activityCreate, { i }))
          expect({ i, status: refused.status, type: typeOf(refused) }).toEqual({
            i,
            status: 200,
            type: 'invalid input',
          })
        }
      }
      const update = 'mutation($id:String!,$i:IssueUpdateInput!){issueUpdate(id:$id,input:$i){success}}'
      const withoutNumber = stateIdOf('backlog').slice(0, -1)
      for (const stateId of [withoutNumber, `${withoutNumber}0x2`, `${withoutNumber}2 `]) {
        const refused = await app.unchanged(() => robot.query(update, { id: issue.id, i: { stateId } }))
        expect([refused.status, typeOf(refused)]).toEqual([200, 'invalid input'])
      }
    },
  )

  test(
    'makes an item once for an id that the client chose',
    verifies('linear.client-id-idempotent', 'linear.client-id-comment-issue'),
    async ({ app }) => {
      const { robot, openSession, team, issue, owner } = await scene(app)
      const session = await openSession()
      const clientId = '6e7a1f7e-3a55-4f5e-9b0e-0d5f7c1e2a11'
      const input = { id: clientId, agentSessionId: session, content: { type: 'response', body: 'Finished' } }
      const first = await robot.data(activityCreate, { i: input })
      await owner.post(`/agent-sessions/${idOf('sess', session)}/stop`)
      app.clock.advance({ seconds: 61 })
      const again = await app.unchanged(() => robot.data(activityCreate, { i: input }))
      expect(again).toEqual(first)
      expect(first.agentActivityCreate.agentActivity.id).not.toBe(clientId)
      expect(
        (await robot.data('query($id:String!){agentActivity(id:$id){id}}', { id: clientId })).agentActivity.id,
      ).toBe(first.agentActivityCreate.agentActivity.id)
      const changed = await app.unchanged(() =>
        robot.query(activityCreate, { i: { ...input, content: { type: 'response', body: 'Other' } } }),
      )
      expect([typeOf(changed), codeOf(changed)]).toEqual(['invalid input', 'IDEMPOTENCY_KEY_REUSED'])

      const issueId = '0b1f7a3e-8d1c-4f66-8a55-3b1f7c1e2a22'
      const issueCreate = 'mutation($i:IssueCreateInput!){issueCreate(input:$i){issue{id}}}'
      const made = await robot.data(issueCreate, { i: { id: issueId, teamId: uuidOf(team.id), title: 'New' } })
      expect(
        await app.unchanged(() =>
          robot.data(issueCreate, { i: { title: 'New', teamId: uuidOf(team.id), id: issueId } }),
        ),
      ).toEqual(made)
      expect(
        codeOf(
          await app.unchanged(() =>
            robot.query(issueCreate, { i: { id: issueId, teamId: uuidOf(team.id), title: 'Newer' } }),
          ),
        ),
      ).toBe('IDEMPOTENCY_KEY_REUSED')
      expect((await robot.data('query($id:String!){issue(id:$id){id}}', { id: issueId })).issue).toEqual(
        made.issueCreate.issue,
      )
      // The id of another issue: that one is still found.
      const other = uuidOf((await owner.post('/issues', { title: 'Other', team_id: team.id })).body.id)
      const same = await robot.data(issueCreate, { i: { id: other, teamId: uuidOf(team.id), title: 'Same id' } })
      expect(same.issueCreate.issue.id).not.toBe(other)
      expect((await robot.data('query($id:String!){issue(id:$id){id}}', { id: other })).issue).toEqual({ id: other })
      const stranger = await installedLinearApp(app, owner)
      expect(codeOf(await stranger.query('query($id:String!){issue(id:$id){id}}', { id: issueId }))).toBe(
        'RESOURCE_NOT_FOUND',
      )

      const commentCreate = 'mutation($i:CommentCreateInput!){commentCreate(input:$i){comment{id body}}}'
      const real = uuidOf(issue.id)
      const comment = { id: real, issueId: issue.code, body: 'Hello' }
      const said = await robot.data(commentCreate, { i: comment })
      expect(await app.unchanged(() => robot.data(commentCreate, { i: comment }))).toEqual(said)
      // An alias equal to the id of an issue: that issue is still found.
      expect(await robot.data('query($id:String!){issue(id:$id){id} comment(id:$id){id}}', { id: real })).toEqual({
        issue: { id: real },
        comment: { id: said.commentCreate.comment.id },
      })
    },
  )

  test(
    'changes issues within the rules of the API',
    verifies('linear.state-change', 'linear.delegate-own', 'linear.ignored-inputs', 'linear.error-types'),
    async ({ app, receiver }) => {
      const { robot, issue, owner, member, openSession } = await scene(app, { receiver })
      const update = (input: object) =>
        robot.query(
          'mutation($id:String!,$i:IssueUpdateInput!){issueUpdate(id:$id,input:$i){success issue{state{name} priority title}}}',
          { id: issue.code, i: input },
        )
      for (const status of ['in_progress', 'qa'] as const) {
        expect((await update({ stateId: stateIdOf(status) })).body.data.issueUpdate.success).toBe(true)
        expect((await owner.get(`/issues/${issue.id}`)).body.status).toBe(status)
      }
      for (const status of ['backlog', 'todo', 'release', 'done'] as const) {
        const refused = await app.unchanged(() => update({ stateId: stateIdOf(status) }))
        expect([refused.status, typeOf(refused), codeOf(refused)]).toEqual([200, 'forbidden', 'APP_STATUS_FORBIDDEN'])
      }
      const renamed = await update({ title: 'Renamed', priority: 1, subscriberIds: ['x'], sortOrder: 3 })
      expect(renamed.body).toMatchObject({
        data: { issueUpdate: { issue: { title: 'Renamed', priority: 1 } } },
        extensions: { baton: { ignored: ['subscriberIds', 'sortOrder'] } },
      })
      await owner.put(`/issues/${issue.id}`, { assignee_id: owner.user.id, delegate_id: idOf('usr', robot.viewerId) })
      expect((await update({ delegateId: robot.viewerId })).body.errors).toBeUndefined()
      for (const delegateId of [uuidOf(member.user.id), 'nonsense']) {
        const refused = await app.unchanged(() => update({ delegateId }))
        expect([typeOf(refused), codeOf(refused)]).toEqual(['forbidden', 'INVALID_DELEGATE'])
      }
      const missing = await robot.query('{issue(id:"NO-1"){id}}')
      expect(missing.body.errors[0]).toMatchObject({
        path: ['issue'],
        extensions: { type: 'invalid input', userError: true, baton: { code: 'RESOURCE_NOT_FOUND' } },
      })
      await openSession()
    },
  )

  test(
    'updates sessions and attaches links',
    verifies('linear.session-update', 'linear.session-create', 'linear.attachments'),
    async ({ app }) => {
      const { robot, issue, owner, openSession, id } = await scene(app)
      const noSession = await app.unchanged(() =>
        robot.query('mutation($i:X){attachmentCreate(input:$i){success}}', {
          i: { issueId: issue.id, title: 'PR', url: 'https://example.com/1' },
        }),
      )
      expect(typeOf(noSession)).toBe('invalid input')
      const session = await openSession()
      const update = (input: object) =>
        robot.query(
          'mutation($id:String!,$i:X!){agentSessionUpdate(id:$id,input:$i){agentSession{plan externalLinks{label url}}}}',
          { id: session, i: input },
        )
      const plan = [{ content: 'x'.repeat(600), status: 'inProgress' }]
      const changed = (
        await update({ plan, addedExternalUrls: [{ label: 'y'.repeat(70), url: 'https://example.com/pr' }] })
      ).body.data.agentSessionUpdate.agentSession
      expect([changed.plan[0].content.length, changed.externalLinks[0].label.length]).toEqual([500, 60])
      await robot.data(
        'mutation($id:String!){agentSessionUpdateExternalUrl(id:$id,input:{externalLink:"https://example.com/run"}){success}}',
        { id: session },
      )
      await robot.data(
        'mutation($i:String!){attachmentLinkURL(issueId:$i,url:"https://example.com/2",title:"Log"){success attachment{id}}}',
        { i: issue.code },
      )
      const links = (await robot.data(`{issue(id:"${issue.code}"){attachments{nodes{title url}}}}`)).issue.attachments
        .nodes
      expect(links.map(({ title }: { title: string }) => title).slice(1)).toEqual(['Session', 'Log'])
      const http = await app.unchanged(() => update({ externalUrls: [{ label: 'x', url: 'http://example.com' }] }))
      expect([typeOf(http), codeOf(http)]).toEqual(['invalid input', 'VALIDATION_ERROR'])
      const comment = (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hello' })).body
      const opened = await robot.data(
        'mutation($i:X!){agentSessionCreateOnComment(input:$i){agentSession{externalUrls comment{id}}}}',
        { i: { commentId: uuidOf(comment.id), externalUrls: [{ label: 'Run', url: 'https://example.com/3' }] } },
      )
      expect(opened.agentSessionCreateOnComment.agentSession).toEqual({
        externalUrls: [{ label: 'Run', url: 'https://example.com/3' }],
        comment: { id: uuidOf(comment.id) },
      })
      expect(id).toBeTruthy()
    },
  )

  test(
    'writes comments and labels, and suggests repositories',
    verifies('linear.repository-suggestions'),
    async ({ app }) => {
      const { robot, issue, owner, team } = await scene(app)
      const { commentCreate } = await robot.data('mutation($i:X!){commentCreate(input:$i){comment{id}}}', {
        i: { issueId: uuidOf(issue.id), body: 'One' },
      })
      const changed = await robot.data(
        'mutation($id:String!){commentUpdate(id:$id,input:{body:"Two"}){comment{body editedAt}}}',
        { id: commentCreate.comment.id },
      )
      expect(changed.commentUpdate.comment.body).toBe('Two')
      const { commentDelete } = await robot.data('mutation($id:String!){commentDelete(id:$id){success entityId}}', {
        id: commentCreate.comment.id,
      })
      expect(commentDelete).toEqual({ success: true, entityId: commentCreate.comment.id })
      const { issueLabelCreate } = await robot.data(
        'mutation{issueLabelCreate(input:{name:"Bug",color:"#FF0000"}){issueLabel{id color}}}',
      )
      expect(issueLabelCreate.issueLabel.color).toBe('#ff0000')
      const labels = async (name: string) =>
        (
          await robot.data(`mutation($l:String!){${name}(id:"${issue.code}",labelId:$l){issue{labels{nodes{id}}}}}`, {
            l: issueLabelCreate.issueLabel.id,
          })
        )[name].issue.labels.nodes
      expect(await labels('issueAddLabel')).toEqual([{ id: issueLabelCreate.issueLabel.id }])
      expect(await labels('issueRemoveLabel')).toEqual([])
      await owner.patch(`/teams/${team.id}`, {
        repositories: [
          { repository: 'acme/shop' },
          { repository: 'acme/api', url: 'https://git.example.com/acme/api' },
        ],
      })
      const suggest = async (...names: string[]) =>
        (
          await robot.data(
            'query($c:[X!]!){issueRepositorySuggestions(issueId:"ENG-1",candidateRepositories:$c){suggestions{repositoryFullName confidence}}}',
            { c: names.map((repositoryFullName) => ({ hostname: 'git.example.com', repositoryFullName })) },
          )
        ).issueRepositorySuggestions.suggestions
      expect(await suggest('acme/shop', 'acme/other')).toEqual([{ repositoryFullName: 'acme/shop', confidence: 0.9 }])
      expect(await suggest('acme/shop', 'acme/api')).toEqual([
        { repositoryFullName: 'acme/shop', confidence: 0.5 },
        { repositoryFullName: 'acme/api', confidence: 0.5 },
      ])
    },
  )
})
