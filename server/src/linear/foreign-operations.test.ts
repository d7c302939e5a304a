import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { installedLinearApp, linearForm } from '../../test/linear.ts'
import { idOf, uuidOf } from '../linear-shape/ids.ts'

test('answers the operations that other agents send', verifies('linear.foreign-operations'), async ({ app }) => {
  const { owner } = await app.workspace()
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  const issue = (await owner.post('/issues', { title: 'Fix the door', team_id: team.id })).body
  const comment = (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Hello' })).body
  const { data, viewerId } = await installedLinearApp(app, owner)

  // cyrus: checks its token, and opens sessions with a link.
  expect((await data('query { viewer { id email name } }')).viewer.id).toBe(viewerId)
  const onIssue = await data(
    'mutation OnIssue($input: AgentSessionCreateOnIssue!) { agentSessionCreateOnIssue(input: $input) { success lastSyncId agentSession { id } } }',
    { input: { issueId: issue.code, externalLink: 'https://example.com/run' } },
  )
  const { success, lastSyncId, agentSession } = onIssue.agentSessionCreateOnIssue
  expect([success, typeof lastSyncId]).toEqual([true, 'number'])
  const onComment = await data(
    'mutation OnComment($input: AgentSessionCreateOnComment!) { agentSessionCreateOnComment(input: $input) { success lastSyncId agentSession { id } } }',
    { input: { commentId: uuidOf(comment.id) } },
  )
  expect(onComment.agentSessionCreateOnComment.success).toBe(true)

  // linear-agent-bridge: posts with an id of its own, and reads what it may have missed.
  const activity = 'mutation Post($input: AgentActivityCreateInput!) { agentActivityCreate(input: $input) { success } }'
  const input = { id: 'f7b9a0f2-5a6c-4f0e-9d84-2a35d0b3f9aa', agentSessionId: agentSession.id, ephemeral: true }
  await data(activity, { input: { ...input, content: { type: 'thought', body: 'Starting' } } })
  const recent = await data(
    `query Recent($first: Int!, $after: String) { viewer { id } agentSessions(first: $first, after: $after, orderBy: updatedAt) {
      nodes { id updatedAt appUser { id } issue { identifier } } pageInfo { hasNextPage endCursor } } }`,
    { first: 50, after: null },
  )
  expect(recent.agentSessions.nodes[0]).toMatchObject({ appUser: { id: viewerId }, issue: { identifier: issue.code } })
  const missed = await data(
    `query Missed($sessionId: String!, $first: Int!, $after: String, $since: DateTimeOrDuration!) { agentSession(id: $sessionId) {
      id createdAt appUser { id } activities(first: $first, after: $after, orderBy: createdAt, filter: { createdAt: { gte: $since } }) {
        nodes { id createdAt signal content { __typename ... on AgentActivityThoughtContent { body } ... on AgentActivityPromptContent { body } } user { id } }
        pageInfo { hasNextPage endCursor } } } }`,
    { sessionId: agentSession.id, first: 50, since: '2026-01-01T00:00:00.000Z' },
  )
  expect(missed.agentSession.activities.nodes).toMatchObject([
    { content: { __typename: 'AgentActivityThoughtContent', body: 'Starting' }, user: { id: viewerId } },
  ])

  // linear-bot: moves the issue to the first started state, reports, and closes with a plan.
  const { issue: found } = await data(
    `query Issue($id: String!) { issue(id: $id) { id identifier title description url branchName priority state { id name type } assignee { id name email }
      team { id key states(filter: { type: { eq: "started" } }) { nodes { id name position } } } labels { nodes { id name } }
      comments { nodes { id body createdAt user { id name } } } attachments { nodes { url title } } project { id name } parent { identifier } } }`,
    { id: issue.id },
  )
  const [first] = found.team.states.nodes
  const moved = await data(
    'mutation Move($id: String!, $stateId: String!) { issueUpdate(id: $id, input: { stateId: $stateId }) { success issue { state { name } } } }',
    { id: found.id, stateId: first.id },
  )
  expect(moved.issueUpdate.issue.state.name).toBe('In Progress')
  const plan = [{ content: 'Oil the hinges', status: 'completed' }]
  await data(
    'mutation Plan($id: String!, $input: AgentSessionUpdateInput!) { agentSessionUpdate(id: $id, input: $input) { success } }',
    {
      id: agentSession.id,
      input: { plan, addedExternalUrls: [{ label: 'Pull request', url: 'https://example.com/pull/1' }] },
    },
  )
  const said = await data(
    'mutation Say($input: CommentCreateInput!) { commentCreate(input: $input) { success comment { id url } } }',
    {
      input: { issueId: found.id, body: 'Done' },
    },
  )
  expect(said.commentCreate.success).toBe(true)
})

/**
 * The SDK selects each object by a named fragment with all fields of Linear, and reads the item of a mutation by a second
 * request. The SDK itself runs in foreign/.
 */
test(
  'answers the forms of @linear/sdk and of its chat adapter',
  verifies(
    'linear.sdk-58',
    'linear.sdk-98',
    'linear.chat-adapter-mention',
    'linear.oauth-adapter-one-token',
    'linear.constructor-fields',
  ),
  async ({ app, receiver }) => {
    const { owner, member } = await app.workspace()
    const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
    await owner.patch(`/teams/${team.id}`, { repositories: [{ repository: 'acme/shop' }] })
    const issue = (await owner.post('/issues', { title: 'Fix the door', team_id: team.id })).body
    const robot = await installedLinearApp(app, owner, { receiver })
    // The adapter keeps its token until `expires_in` is over.
    const { body: token } = await linearForm(app, 'token', { grant_type: 'client_credentials', ...robot.secrets })
    expect(token.expires_in).toBe(86_400)
    const client = app.anonymous.with({ authorization: `Bearer ${token.access_token}` })
    const send = async (query: string, variables: object = {}) => {
      const { status, body } = await client.postRoot('/linear/graphql', { query, variables })
      expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined })
      return body.data
    }

    await app.deliver()
    receiver.take()
    const text = `@[Robot](${idOf('usr', robot.viewerId)}) look`
    await member.post('/comments', { target_type: 'issue', target_id: issue.id, text })
    await app.deliver()
    const [created] = receiver.take()
    expect(created?.body).toMatchObject({ action: 'created', agentSession: { comment: { body: '@Robot look' } } })
    const id = created?.body.agentSession.id

    const { viewer, organization } = await send(`query viewer { viewer { ...User } organization { ...Organization } }
      fragment User on User { __typename calendarHash id timezone gitHubUserId }
      fragment Organization on Organization { id facets { ...Facet } projectStatuses { ...ProjectStatus } subscription { type } }
      fragment Facet on Facet { id } fragment ProjectStatus on ProjectStatus { id }`)
    expect(viewer).toEqual({ __typename: 'User', id: robot.viewerId })
    expect(organization.projectStatuses).toEqual([])
    const { issue: found } = await send(
      `query issue($id: String!) { issue(id: $id) { ...Issue } }
      fragment Issue on Issue { id trashed slaType cycle { id } reactions { ...Reaction } sharedAccess { ...Access } state { id }
        team { id states(filter: {type: {eq: "started"}}) { nodes { id position } pageInfo { ...PageInfo } } }
        labels { nodes { id } } comments { nodes { reactions { ...Reaction } } pageInfo { ...PageInfo } } }
      fragment Reaction on Reaction { emoji } fragment Access on IssueSharedAccess { isShared sharedWithUsers { id } }
      fragment PageInfo on PageInfo { startCursor endCursor hasPreviousPage hasNextPage }`,
      { id: issue.code },
    )
    expect(found).toMatchObject({
      id: uuidOf(issue.id),
      reactions: [],
      sharedAccess: { isShared: false, sharedWithUsers: [] },
      team: { states: { nodes: [{ position: 2 }, { position: 3 }, { position: 4 }] } },
      comments: { nodes: [{ reactions: [] }], pageInfo: { hasNextPage: false } },
    })

    await send(
      'mutation updateAgentSession($id: String!, $input: AgentSessionUpdateInput!) { agentSessionUpdate(id: $id, input: $input) { lastSyncId agentSession { id } success } }',
      { id, input: { plan: [{ content: 'Oil the hinges', status: 'inProgress' }] } },
    )
    await send(
      'mutation link($id: String!, $input: AgentSessionUpdateExternalUrlInput!) { agentSessionUpdateExternalUrl(id: $id, input: $input) { success } }',
      { id, input: { externalLink: 'https://example.com/run' } },
    )
    const said = await send(
      'mutation createComment($input: CommentCreateInput!) { commentCreate(input: $input) { lastSyncId comment { id } success } }',
      { input: { issueId: found.id, body: 'Started' } },
    )
    await send(
      'mutation updateComment($id: String!, $input: CommentUpdateInput!, $skipEditedAt: Boolean) { commentUpdate(id: $id, input: $input, skipEditedAt: $skipEditedAt) { comment { id } success } }',
      { id: said.commentCreate.comment.id, input: { body: 'Started.' } },
    )
    expect(
      await send('query comment($id: String) { comment(id: $id) { body reactions { emoji } } }', {
        id: said.commentCreate.comment.id,
      }),
    ).toEqual({ comment: { body: 'Started.', reactions: [] } })
    await send(
      'mutation createIssueLabel($input: IssueLabelCreateInput!, $replaceTeamLabels: Boolean) { issueLabelCreate(input: $input, replaceTeamLabels: $replaceTeamLabels) { issueLabel { id } success } }',
      { input: { name: 'Door', teamId: uuidOf(team.id) } },
    )
    const { issueRepositorySuggestions } = await send(
      'query suggest($candidateRepositories: [CandidateRepository!]!, $issueId: String!) { issueRepositorySuggestions(candidateRepositories: $candidateRepositories, issueId: $issueId) { suggestions { confidence repositoryFullName } } }',
      { candidateRepositories: [{ hostname: 'github.com', repositoryFullName: 'acme/shop' }], issueId: found.id },
    )
    expect(issueRepositorySuggestions.suggestions).toEqual([{ confidence: 0.9, repositoryFullName: 'acme/shop' }])

    const posted = await send(
      'mutation createAgentActivity($input: AgentActivityCreateInput!) { agentActivityCreate(input: $input) { agentActivity { id } lastSyncId success } }',
      { input: { agentSessionId: id, content: { type: 'response', body: 'On it.' } } },
    )
    const { agentActivity, agentSession } = await send(
      `query read($activity: String!, $id: String!) {
        agentActivity(id: $activity) { content { ... on AgentActivityResponseContent { type body } } sourceComment { id body } }
        agentSession(id: $id) { status plan externalLink externalLinks { ...Link } dismissedAt activities(first: 50) { nodes { id } } } }
      fragment Link on AgentSessionExternalLink { label url }`,
      { activity: posted.agentActivityCreate.agentActivity.id, id },
    )
    expect(agentActivity).toMatchObject({
      content: { type: 'response', body: 'On it.' },
      sourceComment: { body: 'On it.' },
    })
    expect(agentSession).toMatchObject({
      status: 'complete',
      plan: [{ content: 'Oil the hinges', status: 'inProgress' }],
      externalLink: 'https://example.com/run',
      externalLinks: [{ label: 'Session' }],
      activities: { nodes: [{ id: posted.agentActivityCreate.agentActivity.id }] },
    })
  },
)
