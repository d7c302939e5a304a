import { expect } from 'vitest'
import { test, verifies } from '../../test/harness.ts'
import { installedLinearApp } from '../../test/linear.ts'
import { uuidOf } from '../linear-shape/ids.ts'

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
