import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { codeOf, installedLinearApp, linearForm, typeOf } from '../../test/linear.ts'
import { sql } from '../db/sql.ts'
import { stateIdOf } from '../linear-shape/ids.ts'
import { queryType } from './queries.ts'
import type { ObjectType } from './type.ts'
import { activityType, issueType, sessionType, teamType } from './types.ts'

async function scene(app: TestApp, options: Parameters<typeof installedLinearApp>[2] = {}) {
  const workspace = await app.workspace()
  const team = (await workspace.owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  return { ...workspace, team, robot: await installedLinearApp(app, workspace.owner, options) }
}

const nested = (depth: number) => {
  let query = 'id'
  for (let level = 0; level < depth - 2; level++) query = `parent{${query}}`
  return `{issue(id:"ENG-1"){${query}}}`
}

/** As many objects, each of cost 1 in every issue. */
const objects = (count: number) => Array.from({ length: count }, (_, n) => `a${n}:state{id}`).join(' ')

/** The objects that the fragments of @linear/sdk 98 select. foreign/linear-sdk.test.ts sends its own documents. */
const withId = (...names: string[]) => ['id', ...names.map((name) => `${name}{id}`)].join(' ')
const sdkReactions = `reactions{${withId('comment', 'externalUser', 'initiativeUpdate', 'issue', 'projectUpdate', 'user')}}`
const sdkIssue = `${withId(
  ...['delegate', 'botActor', 'sourceComment', 'cycle', 'syncedWith', 'externalUserCreator', 'asksRequester'],
  ...['asksExternalUserRequester', 'lastAppliedTemplate', 'parent', 'projectMilestone', 'project', 'team'],
  ...['recurringIssueTemplate', 'assignee', 'creator', 'snoozedBy', 'favorite', 'state'],
)} ${sdkReactions} sharedAccess{isShared sharedWithCount sharedWithUsers{id}}`
const sdkComment = `${withId('agentSession', 'issue', 'parent', 'project', 'user', 'resolvingUser')} ${sdkReactions}`
const sdkProject = withId('status', 'convertedFromIssue', 'lastUpdate', 'creator', 'lead', 'favorite')
const sdkTeam = withId('activeCycle', 'defaultIssueState', 'startWorkflowState', 'triageIssueState', 'parent')
const sdkSession = `${withId('appUser', 'sourceComment', 'comment', 'creator', 'issue', 'dismissedBy')} externalLinks{url}`

const nestedList = (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)}`

const exactly = (bytes: number) => `{viewer{id}}#${'x'.repeat(bytes - 13)}`

/** How many statements run outside of transactions. */
async function statementsDuring({ ctx: { db } }: TestApp, work: () => Promise<unknown>): Promise<number> {
  const rows = db.rows.bind(db)
  let statements = 0
  db.rows = (statement) => {
    statements++
    return rows(statement)
  }
  try {
    await work()
  } finally {
    db.rows = rows
  }
  return statements
}

describe('a document', () => {
  test(
    'is refused over a limit, and answered at it',
    verifies('linear.bound-size', 'linear.bound-fragment-cycle', 'linear.bound-cost'),
    async ({ app }) => {
      const { robot, owner, team } = await scene(app)
      await owner.post('/issues', { title: 'One', team_id: team.id })
      const aliases = (count: number) => `{${Array.from({ length: count }, (_, n) => `a${n}:__typename`).join(' ')}}`
      const fields = (count: number) => `{viewer{${Array.from({ length: count - 1 }, (_, n) => `a${n}:id`).join(' ')}}}`
      const tokens = (count: number) => `{viewer(x:[${'1 '.repeat(count - 11)}]){id}}`
      for (const [name, over, within] of [
        ['bytes', exactly(64 * 1024 + 1), exactly(64 * 1024)],
        ['tokens', tokens(10_001), tokens(9_000)],
        ['depth', nested(11), nested(10)],
        ['fields', fields(1001), fields(1000)],
        ['root fields', aliases(11), aliases(10)],
        [
          'cycle',
          '{viewer{...A}} fragment A on User{...B} fragment B on User{...A}',
          '{viewer{...A}} fragment A on User{...B} fragment B on User{id}',
        ],
        ['self', 'fragment A on User{id ...A} {viewer{...A}}', '{viewer{id}}'],
        // 1 for the list, and 99 times 101: the issue and its objects.
        ['cost', `{issues(first:99){nodes{${objects(100)}}} viewer{id}}`, `{issues(first:99){nodes{${objects(100)}}}}`],
        [
          'cost of pages in pages',
          '{issues(first:250){nodes{children(first:100){nodes{id}}}}}',
          '{issues(first:250){nodes{children(first:20){nodes{id}}}}}',
        ],
        [
          'bomb',
          `{viewer{...A0}} ${Array.from({ length: 30 }, (_, n) => `fragment A${n} on User{${n < 29 ? `...A${n + 1} ...A${n + 1}` : 'id'}}`).join(' ')}`,
          '{viewer{id}}',
        ],
        ['nested value', `{viewer(x:${nestedList(34)}){id}}`, `{viewer(x:${nestedList(32)}){id}}`],
        ['nesting', `{${'a{'.repeat(4000)}a${'}'.repeat(4000)}}`, '{viewer{id}}'],
        [
          'statements',
          `{issue(id:"ENG-1"){${Array.from({ length: 49 }, (_, n) => `a${n}:team{id}`).join(' ')}}}`,
          `{issue(id:"ENG-1"){${Array.from({ length: 47 }, (_, n) => `a${n}:team{id}`).join(' ')}}}`,
        ],
      ] as const) {
        const refused = await app.unchanged(() => robot.query(over))
        expect({ name, status: refused.status, type: typeOf(refused), data: refused.body.data }).toEqual({
          name,
          status: 400,
          type: 'graphql error',
          data: undefined,
        })
        const answered = await robot.query(within)
        expect({ name, status: answered.status, errors: answered.body.errors }).toEqual({
          name,
          status: 200,
          errors: undefined,
        })
      }
    },
  )

  test('of @linear/sdk 98 for 250 items is answered', verifies('linear.bound-cost'), async ({ app }) => {
    const { robot, owner, team } = await scene(app)
    await owner.post('/issues', { title: 'One', team_id: team.id })
    for (const [list, fragment, type, filter = ''] of [
      ['issues', sdkIssue, 'Issue'],
      ['comments', sdkComment, 'Comment', `filter:{issue:{id:{eq:"ENG-1"}}}`],
      ['projects', sdkProject, 'Project'],
      ['teams', sdkTeam, 'Team'],
      ['agentSessions', sdkSession, 'AgentSession'],
    ]) {
      const page = 'pageInfo{startCursor endCursor hasPreviousPage hasNextPage}'
      const { status, body } = await robot.query(
        `query($first:Int){${list}(first:$first ${filter}){nodes{...${type}} ${page}}} fragment ${type} on ${type}{${fragment}}`,
        { first: 250 },
      )
      expect({ list, status, errors: body.errors }).toEqual({ list, status: 200, errors: undefined })
    }
  })

  test('costs no more than its size when it repeats fragments', verifies('linear.bound-size'), async ({ app }) => {
    const { robot } = await scene(app)
    const count = 1200
    const chain = Array.from(
      { length: count },
      (_, n) => `fragment C${n} on User{${n < count - 1 ? `...C${n + 1}` : 'id'}}`,
    )
    // 512 paths of 1,200 fragments each: copying a path at each step would occupy the process for minutes.
    const doubled = Array.from({ length: 9 }, (_, n) => {
      const inner = n < 8 ? `...A${n + 1}` : '...C0'
      return `fragment A${n} on User{${inner} ${inner}}`
    })
    expect(await robot.data(`{viewer{...A0}} ${doubled.join(' ')} ${chain.join(' ')}`)).toEqual({
      viewer: { id: robot.viewerId },
    })
    const long = `fragment F on User{id(x:[${'1 '.repeat(8900)}])}`
    expect(await robot.data(`{viewer{${'...F '.repeat(450)}}} ${long}`)).toEqual({ viewer: { id: robot.viewerId } })
  })

  test(
    'must be one query or mutation',
    verifies('linear.refused-forms', 'linear.no-introspection', 'linear.unknown-root-field', 'linear.foreign-origin'),
    async ({ app }) => {
      const { robot, owner } = await scene(app)
      const send = (body: unknown, headers = {}) => robot.linear.postRoot('/linear/graphql', body, { headers })
      const raw = (text: string, type = 'application/json') =>
        robot.linear.postRoot('/linear/graphql', undefined, { raw: text, headers: { 'content-type': type } })
      const label = 'mutation{issueLabelCreate(input:{name:"x"}){success}}'
      const got = await fetch(`${app.rootUrl}/linear/graphql`, { headers: { authorization: robot.token } })
      expect(got.status).toBe(405)
      for (const refused of [
        () => send([{ query: label }]),
        () => send(null),
        () => send({ query: 5 }),
        () => send({ query: label, variables: [] }),
        () => send({ query: label, surprise: 1 }),
        () => send({ query: `${label} {viewer{id}}` }),
        () => send({ query: `query A{viewer{id}} ${label}`, operationName: 'C' }),
        () => send({ query: 'subscription{issues{id}}' }),
        () => send({ query: '{viewer{' }),
        () => send({ query: 'type A{b:Int}' }),
        () => raw('{"query":'),
        () => raw(label, 'text/plain'),
        () => send({ query: '{__schema{types{name}}}' }),
        () => send({ query: '{viewer{id ...A}} fragment A on User{organization{__type(name:"X"){name}}}' }),
        () => send({ query: '{viewer{a:id a:name}}' }),
        () => send({ query: '{viewer{...Missing}}' }),
        () => send({ query: '{viewer}' }),
      ]) {
        const response = await app.unchanged(refused)
        expect([response.status, typeOf(response)]).toEqual([400, 'graphql error'])
        expect(JSON.stringify(response.body)).not.toMatch(/Did you mean/)
      }
      expect((await send({ query: `query A{viewer{__typename}} ${label}`, operationName: 'A' })).body.data).toEqual({
        viewer: { __typename: 'User' },
      })
      const unknown = await app.unchanged(() =>
        robot.query(`mutation{issueLabelCreate(input:{name:"x"}){success} reactionCreate(input:{}){success}}`),
      )
      expect([unknown.status, typeOf(unknown), unknown.body.data]).toEqual([200, 'feature not accessible', null])
      expect((await robot.query('{viewer{id} cycles{nodes{id}}}')).body).toMatchObject({
        data: { viewer: { id: robot.viewerId } },
        errors: [{ path: ['cycles'], extensions: { type: 'feature not accessible' } }],
      })
      const foreign = await app.unchanged(() => send({ query: label }, { origin: 'https://evil.example.com' }))
      expect([foreign.status, codeOf(foreign)]).toEqual([403, 'CSRF_REFUSED'])
      expect((await send({ query: '{viewer{id}}' }, { origin: app.ctx.config.rootUrl })).status).toBe(200)
      expect((await owner.get('/labels')).body.data).toEqual([])
    },
  )

  test('reads many issues with few statements', verifies('linear.bound-statements'), async ({ app }) => {
    const { robot, owner, team, member } = await scene(app)
    const label = (await owner.post('/labels', { name: 'Bug' })).body
    const project = (await owner.post('/projects', { title: 'Plan', team_ids: [team.id] })).body
    const issues = Array.from({ length: 250 }, (_, n) => ({
      title: `Issue ${n}`,
      team_id: team.id,
      label_ids: [label.id],
      project_id: project.id,
      assignee_id: member.user.id,
    }))
    await owner.post('/issues/import', { issues })
    const statements = await statementsDuring(app, async () => {
      const { issues: page } = await robot.data(
        '{issues(first:250){nodes{team{key} state{name} assignee{name} labels{nodes{name}} project{name}}}}',
      )
      expect(page.nodes).toHaveLength(250)
      expect(page.nodes[249]).toEqual({
        team: { key: 'ENG' },
        state: { name: 'Backlog' },
        assignee: { name: member.user.display_name },
        labels: { nodes: [{ name: 'Bug' }] },
        project: { name: 'Plan' },
      })
    })
    expect(statements).toBeLessThanOrEqual(50)
  })

  test('runs no more statements than its fields declare', verifies('linear.bound-statements'), async ({ app }) => {
    const { robot, owner, team } = await scene(app)
    const issue = (await owner.post('/issues', { title: 'One', team_id: team.id })).body
    await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })
    const label = (await owner.post('/labels', { name: 'Bug' })).body
    const project = (await owner.post('/projects', { title: 'Plan', team_ids: [team.id] })).body
    const opened = await robot.data(
      `mutation{agentSessionCreateOnIssue(input:{issueId:"${issue.id}"}){agentSession{id}}}`,
    )
    const sessionId = opened.agentSessionCreateOnIssue.agentSession.id
    const posted = await robot.data(
      `mutation{agentActivityCreate(input:{agentSessionId:"${sessionId}",content:{type:thought,body:"x"}}){agentActivity{id}}}`,
    )
    const activityId = posted.agentActivityCreate.agentActivity.id
    const argumentsOf: Record<string, string> = {
      user: `(id:"${robot.viewerId}")`,
      team: `(id:"ENG")`,
      workflowState: `(id:"${stateIdOf('todo')}")`,
      workflowStates: `(filter:{type:{eq:"started"}})`,
      issueRepositorySuggestions: `(issueId:"ENG-1",candidateRepositories:[])`,
      issue: `(id:"ENG-1")`,
      searchIssues: `(term:"One")`,
      comment: `(id:"${activityId}")`,
      comments: `(filter:{issue:{id:{eq:"ENG-1"}}})`,
      issueLabel: `(id:"${label.id}")`,
      project: `(id:"${project.id}")`,
      agentSession: `(id:"${sessionId}")`,
      agentActivity: `(id:"${activityId}")`,
    }
    // The caller is found with one statement.
    const idle = await statementsDuring(app, () => robot.data('{__typename}'))
    const over: string[] = []
    const check = async (name: string, query: string, declared: number) => {
      const ran = (await statementsDuring(app, () => robot.data(query))) - idle
      if (ran > declared) over.push(`${name} runs ${ran} and declares ${declared}`)
    }
    const statementsOf = (type: ObjectType, name: string) => type.fields[name]?.statements ?? 0
    for (const name of Object.keys(queryType.fields)) {
      await check(name, `{${name}${argumentsOf[name] ?? ''}{__typename}}`, statementsOf(queryType, name))
    }
    for (const [root, type, query] of [
      ['issue', issueType, (inner: string) => `{issue(id:"ENG-1"){${inner}}}`],
      ['agentSession', sessionType, (inner: string) => `{agentSession(id:"${sessionId}"){${inner}}}`],
      ['agentActivity', activityType, (inner: string) => `{agentActivity(id:"${activityId}"){${inner}}}`],
      ['team', teamType, (inner: string) => `{team(id:"ENG"){${inner}}}`],
    ] as const) {
      for (const [name, { type: inner }] of Object.entries(type.fields)) {
        const declared = statementsOf(queryType, root) + statementsOf(type, name)
        await check(`${root}.${name}`, query(inner ? `${name}{__typename}` : name), declared)
      }
    }
    expect(over).toEqual([])
  })
})

describe('rates', () => {
  test(
    'are shared by the tokens of an installation',
    verifies('linear.rate-shared', 'linear.error-ratelimited'),
    async ({ startApp }) => {
      const app = await startApp({ BATON_API_RATE: '5', BATON_INSTALLATION_RATE: '2' })
      const { robot, owner, team } = await scene(app)
      const issue = (await owner.post('/issues', { title: 'One', team_id: team.id })).body
      const second = (
        await app.anonymous.postRoot('/linear/oauth/token', undefined, {
          raw: new URLSearchParams({ grant_type: 'client_credentials', ...robot.secrets }).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded' },
        })
      ).body.access_token
      const other = app.anonymous.with({ authorization: second })
      const first = await robot.query('mutation($i:X!){agentSessionCreateOnIssue(input:$i){agentSession{id}}}', {
        i: { issueId: issue.id },
      })
      expect(first.headers.get('x-ratelimit-requests-limit')).toBe('5')
      // One call was made for the viewer before.
      expect(first.headers.get('x-ratelimit-requests-remaining')).toBe('3')
      expect(Number(first.headers.get('x-ratelimit-requests-reset'))).toBeGreaterThanOrEqual(app.clock.now().getTime())
      expect(first.headers.get('ratelimit-remaining')).toBe('3')
      const id = first.body.data.agentSessionCreateOnIssue.agentSession.id
      const read = '{agentSession(id:"ID"){id}}'.replace('ID', id)
      expect((await other.postRoot('/linear/graphql', { query: read })).body.data.agentSession.id).toBe(id)
      const sessions = await robot.query(read)
      expect([sessions.status, typeOf(sessions), codeOf(sessions)]).toEqual([429, 'ratelimited', 'RATE_LIMIT_EXCEEDED'])
      expect(Number(sessions.headers.get('retry-after'))).toBeGreaterThan(0)
      expect((await other.postRoot('/linear/graphql', { query: '{viewer{id}}' })).status).toBe(200)
      const over = await robot.query('{viewer{id}}')
      expect([over.status, typeOf(over)]).toEqual([429, 'ratelimited'])
      expect(over.headers.get('x-ratelimit-requests-remaining')).toBe('0')
      app.clock.advance({ seconds: 60 })
      expect((await robot.query('{viewer{id}}')).status).toBe(200)
    },
  )
})

test(
  'a root field is refused as its operation is',
  verifies('linear.same-permissions', 'linear.error-auth', 'linear.error-types'),
  async ({ app }) => {
    const { owner, team } = await scene(app)
    const other = (await owner.post('/teams', { name: 'Other', key: 'OTH' })).body
    const issue = (await owner.post('/issues', { title: 'Outside', team_id: other.id })).body
    const comment = (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hm' })).body
    const reader = await installedLinearApp(app, owner, { scopes: ['read'], teamIds: [team.id] })
    const writer = await installedLinearApp(app, owner, { teamIds: [team.id] })
    const cases: [string, string, string][] = [
      [`{issue(id:"${issue.code}"){id}}`, 'TEAM_ACCESS_DENIED', 'TEAM_ACCESS_DENIED'],
      [`{team(id:"OTH"){id}}`, 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
      [`{comment(id:"${comment.id}"){id}}`, 'TEAM_ACCESS_DENIED', 'TEAM_ACCESS_DENIED'],
      [`{comments(filter:{issue:{id:{eq:"${issue.id}"}}}){nodes{id}}}`, 'TEAM_ACCESS_DENIED', 'TEAM_ACCESS_DENIED'],
      ['{project(id:"x"){id}}', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
      ['{issueLabel(id:"x"){id}}', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
      ['{user(id:"x"){id}}', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
      ['{agentSession(id:"x"){id}}', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
      ['{agentActivity(id:"x"){id}}', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
      [`mutation{issueCreate(input:{teamId:"${team.id}",title:"x"}){success}}`, 'INSUFFICIENT_SCOPE', ''],
      [
        `mutation{issueCreate(input:{teamId:"${other.id}",title:"x"}){success}}`,
        'INSUFFICIENT_SCOPE',
        'TEAM_ACCESS_DENIED',
      ],
      [
        `mutation{issueCreate(input:{teamId:"${team.id}",title:"x",stateId:"${stateIdOf('done')}"}){success}}`,
        'INSUFFICIENT_SCOPE',
        'APP_STATUS_FORBIDDEN',
      ],
      [
        `mutation{issueCreate(input:{teamId:"${team.id}",title:"x",delegateId:"x"}){success}}`,
        'INSUFFICIENT_SCOPE',
        'INVALID_DELEGATE',
      ],
      [
        `mutation{issueUpdate(id:"${issue.id}",input:{title:"x"}){success}}`,
        'TEAM_ACCESS_DENIED',
        'TEAM_ACCESS_DENIED',
      ],
      [
        `mutation{commentCreate(input:{issueId:"${issue.id}",body:"x"}){success}}`,
        'INSUFFICIENT_SCOPE',
        'TEAM_ACCESS_DENIED',
      ],
      [`mutation{commentDelete(id:"${comment.id}"){success}}`, 'TEAM_ACCESS_DENIED', 'TEAM_ACCESS_DENIED'],
      ['mutation{issueLabelCreate(input:{name:""}){success}}', 'INSUFFICIENT_SCOPE', 'VALIDATION_ERROR'],
      [
        `mutation{agentSessionCreateOnIssue(input:{issueId:"${issue.id}"}){success}}`,
        'TEAM_ACCESS_DENIED',
        'TEAM_ACCESS_DENIED',
      ],
      [
        'mutation{agentActivityCreate(input:{agentSessionId:"x",content:{type:thought,body:"x"}}){success}}',
        'RESOURCE_NOT_FOUND',
        'RESOURCE_NOT_FOUND',
      ],
      ['mutation{agentSessionUpdate(id:"x",input:{plan:[]}){success}}', 'RESOURCE_NOT_FOUND', 'RESOURCE_NOT_FOUND'],
    ]
    for (const [query, asReader, asWriter] of cases) {
      const refused = await app.unchanged(() => reader.query(query))
      expect({ query, status: refused.status, code: codeOf(refused) }).toEqual({ query, status: 200, code: asReader })
      if (asWriter === '') continue
      const also = await app.unchanged(() => writer.query(query))
      expect({ query, status: also.status, code: codeOf(also) }).toEqual({ query, status: 200, code: asWriter })
    }
    const anonymous = await app.anonymous.postRoot('/linear/graphql', { query: '{viewer{id}}' })
    expect([anonymous.status, typeOf(anonymous)]).toEqual([401, 'authentication error'])
  },
)

test(
  'a token without the scope read reads nothing but what needs no scope',
  verifies('linear.same-permissions', 'linear.nested-out-of-reach'),
  async ({ app }) => {
    const { owner, team, robot } = await scene(app)
    await owner.post('/labels', { name: 'Bug' })
    const issue = (await owner.post('/issues', { title: 'Unread', team_id: team.id })).body
    await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Unread too' })
    const form = { grant_type: 'client_credentials', scope: 'write', ...robot.secrets }
    const { access_token: authorization, scope } = (await linearForm(app, 'token', form)).body
    expect(scope).toBe('write')
    const writer = app.anonymous.with({ authorization })
    const ask = (query: string) => writer.postRoot('/linear/graphql', { query })
    const lists = ['teams', 'users', 'labels'].map((name) => `${name}{nodes{id} pageInfo{hasNextPage}}`).join(' ')
    const empty = { nodes: [], pageInfo: { hasNextPage: false } }
    expect((await ask(`{viewer{id organization{id ${lists}}}}`)).body).toEqual({
      data: {
        viewer: {
          id: robot.viewerId,
          organization: { id: expect.any(String), teams: empty, users: empty, labels: empty },
        },
      },
    })
    const created = await ask(
      `mutation{issueCreate(input:{teamId:"${team.id}",title:"New",parentId:"${issue.id}"}){
        issue{title team{name issues{nodes{title}}} parent{title} creator{id} labels{nodes{name}} comments{nodes{body}}}}}`,
    )
    expect(created.body.data.issueCreate.issue).toEqual({
      title: 'New',
      team: null,
      parent: null,
      creator: { id: robot.viewerId },
      labels: { nodes: [] },
      comments: { nodes: [] },
    })
    expect(codeOf(await ask(`{issue(id:"${issue.code}"){id}}`))).toBe('INSUFFICIENT_SCOPE')
    const session = await ask(
      `mutation{agentSessionCreateOnIssue(input:{issueId:"${issue.id}"}){agentSession{id issue{title}}}}`,
    )
    expect(codeOf(session)).toBe('INSUFFICIENT_SCOPE')
  },
)

test(
  'an internal failure shows no detail, and nothing of a request is logged',
  verifies('linear.logs-no-variables', 'linear.error-types'),
  async ({ startApp }) => {
    const app = await startApp()
    const lines: string[] = []
    for (const level of ['info', 'warn', 'error'] as const) {
      app.ctx.log[level] = ((...parts: unknown[]) => lines.push(JSON.stringify(parts))) as never
    }
    const { robot } = await scene(app)
    await robot.query('query Secretive($x:String!){issue(id:$x){id}}', { x: 'topsecret' })
    await app.ctx.db.run(sql`alter table labels rename to hidden_labels`)
    const failed = await robot.query('query Secretive{issueLabels(filter:{name:{eq:"topsecret"}}){nodes{id}}}')
    expect([failed.status, typeOf(failed)]).toEqual([500, 'internal error'])
    expect(failed.body.errors[0].extensions.baton).toEqual({ code: 'INTERNAL_ERROR', details: {} })
    expect(JSON.stringify(failed.body)).not.toContain('labels')
    expect(lines.length).toBeGreaterThan(0)
    for (const secret of ['topsecret', 'Secretive', robot.token]) expect(lines.join('\n')).not.toContain(secret)
  },
)
