import { createHmac } from 'node:crypto'
import { describe, expect } from 'vitest'
import { type TestApp, test, verifies } from '../../test/harness.ts'
import { installedLinearApp, linearManifest, linearRedirect } from '../../test/linear.ts'
import { allScopes } from '../../test/oauth.ts'
import type { Receiver } from '../../test/receiver.ts'
import { idOf, stateIdOf, uuidOf } from '../linear-shape/ids.ts'

async function scene(app: TestApp, receiver: Receiver, options: { teamIds?: 'own'; resourceTypes?: string[] } = {}) {
  const workspace = await app.workspace()
  const { owner, member } = workspace
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  await owner.patch(`/teams/${team.id}`, { guidance: 'Be brief.' })
  await owner.put(`/teams/${team.id}/members/${member.user.id}`)
  const label = (await owner.post('/labels', { name: 'Bug' })).body
  const issue = (
    await member.post('/issues', {
      title: 'Fix the door',
      description: 'It squeaks.',
      team_id: team.id,
      priority: 'urgent',
      label_ids: [label.id],
      assignee_id: member.user.id,
    })
  ).body
  const robot = await installedLinearApp(app, owner, {
    receiver,
    resourceTypes: options.resourceTypes ?? [],
    ...(options.teamIds ? { teamIds: [team.id] } : {}),
  })
  const robotId = idOf('usr', robot.viewerId)
  const receivedDuring = async (work: () => Promise<unknown>) => {
    await app.deliver()
    receiver.take()
    await work()
    await app.deliver()
    return receiver.take()
  }
  return { ...workspace, team, label, issue, robot, robotId, receivedDuring }
}

describe('an agent session', () => {
  test(
    'is announced in the format of Linear',
    verifies(
      'linear.event-created',
      'linear.event-headers',
      'linear.event-verified-by-sdk',
      'linear.viewer-organization',
    ),
    async ({ app, receiver }) => {
      const { owner, admin, member, id, team, label, issue, robot, robotId, receivedDuring } = await scene(
        app,
        receiver,
        {
          teamIds: 'own',
        },
      )
      const comment = (await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: 'Before' }))
        .body
      const [delivery] = await receivedDuring(() => member.put(`/issues/${issue.id}`, { delegate_id: robotId }))
      expect(delivery?.headers).toMatchObject({
        'linear-event': 'AgentSessionEvent',
        'linear-signature': delivery?.headers['svc-signature'],
        'linear-delivery': uuidOf(String(delivery?.headers['svc-delivery'])),
        'linear-timestamp': String(app.clock.now().getTime()),
      })
      // What the SDK computes; that it accepts the delivery is tested in foreign/.
      const signatureBy = (secret: string) =>
        createHmac('sha256', secret)
          .update(delivery?.raw ?? '')
          .digest('hex')
      expect(delivery?.headers['linear-signature']).toBe(signatureBy(robot.webhook_secret))
      expect(delivery?.headers['linear-signature']).not.toBe(signatureBy('another'))
      const [session] = (await owner.get('/agent-sessions')).body.data
      expect(delivery?.body).toEqual({
        type: 'AgentSessionEvent',
        action: 'created',
        createdAt: expect.any(String),
        organizationId: uuidOf(id),
        webhookId: expect.any(String),
        oauthClientId: robot.client_id,
        appUserId: robot.viewerId,
        webhookTimestamp: app.clock.now().getTime(),
        agentSession: {
          id: uuidOf(session.id),
          status: 'pending',
          type: 'commentThread',
          issueId: uuidOf(issue.id),
          issue: {
            id: uuidOf(issue.id),
            identifier: issue.code,
            title: 'Fix the door',
            description: 'It squeaks.',
            url: issue.url,
            teamId: uuidOf(team.id),
            team: { id: uuidOf(team.id), key: 'ENG', name: 'Engineering' },
            priority: 1,
            priorityLabel: 'Urgent',
            labels: [{ id: uuidOf(label.id), name: 'Bug', color: null }],
            assignee: expect.objectContaining({ id: uuidOf(member.user.id), email: member.user.email }),
            project: null,
          },
          commentId: null,
          comment: null,
          creatorId: uuidOf(member.user.id),
          creator: expect.objectContaining({
            id: uuidOf(member.user.id),
            name: member.user.display_name,
            email: member.user.email,
          }),
          appUserId: robot.viewerId,
          organizationId: uuidOf(id),
          url: issue.url,
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
          endedAt: null,
        },
        promptContext: expect.stringContaining('Fix the door'),
        previousComments: [expect.objectContaining({ id: uuidOf(comment.id), body: 'Before' })],
        guidance: [
          {
            body: 'Be brief.',
            origin: { type: 'Team', team: { id: uuidOf(team.id), key: 'ENG', name: 'Engineering' } },
          },
        ],
      })
      // The admin is in no team of the app, so the members list does not show them.
      const [mentioned] = await receivedDuring(() =>
        admin.post('/comments', { target_type: 'issue', target_id: issue.id, text: `@[Robot](${robotId}) look` }),
      )
      expect(mentioned?.body.agentSession).toMatchObject({
        comment: { body: '@Robot look', userId: uuidOf(admin.user.id) },
        creator: { email: null },
      })
    },
  )

  test(
    'is prompted and stopped',
    verifies('linear.event-prompted', 'linear.event-select-answer'),
    async ({ app, receiver }) => {
      const { member, issue, robot, robotId, receivedDuring } = await scene(app, receiver)
      const [created] = await receivedDuring(() => member.put(`/issues/${issue.id}`, { delegate_id: robotId }))
      const sessionId = created?.body.agentSession.id
      const path = `/agent-sessions/${idOf('sess', sessionId)}`
      const options = [
        { value: 'red', label: 'Red' },
        { value: 'blue', label: 'Blue' },
      ]
      const asked = await robot.data('mutation($i:X!){agentActivityCreate(input:$i){agentActivity{id}}}', {
        i: {
          agentSessionId: sessionId,
          content: { type: 'elicitation', body: 'Which?' },
          signal: 'select',
          signalMetadata: { options, allowMultiple: true },
        },
      })
      const answer = { in_reply_to: idOf('act', asked.agentActivityCreate.agentActivity.id), selected: ['red', 'blue'] }
      const [prompted] = await receivedDuring(() =>
        member.post(`${path}/activities`, { content: { type: 'prompt', body: 'Red, Blue' }, signal_metadata: answer }),
      )
      expect(prompted?.body).toMatchObject({
        action: 'prompted',
        agentActivity: {
          agentSessionId: sessionId,
          content: { type: 'prompt', body: 'red, blue' },
          signal: null,
          userId: uuidOf(member.user.id),
          user: { id: uuidOf(member.user.id), name: member.user.display_name },
          createdAt: expect.any(String),
        },
      })
      const [stopped] = await receivedDuring(() => member.post(`${path}/stop`))
      expect(stopped?.body).toMatchObject({
        action: 'prompted',
        agentActivity: { signal: 'stop', content: { type: 'prompt' } },
      })
    },
  )
})

describe('other events', () => {
  test('have the data of Linear', verifies('linear.event-data'), async ({ app, receiver }) => {
    const { owner, issue, team, receivedDuring } = await scene(app, receiver, {
      resourceTypes: ['Issue', 'Comment', 'Project'],
    })
    const arrived = await receivedDuring(async () => {
      await owner.put(`/issues/${issue.id}`, { status: 'qa' })
      await owner.post('/comments', { target_type: 'issue', target_id: issue.id, text: `Hi @[Ada](${owner.user.id})` })
      const project = (await owner.post('/projects', { title: 'Plan', team_ids: [team.id] })).body
      await owner.put(`/projects/${project.id}`, { title: 'Big plan' })
    })
    const byName = new Map(arrived.map(({ body }) => [`${body.type} ${body.action}`, body]))
    expect(byName.get('Issue update')).toMatchObject({
      data: { stateId: stateIdOf('qa'), state: { name: 'QA', type: 'started' }, identifier: issue.code },
      updatedFrom: { stateId: stateIdOf('backlog') },
      actor: { id: uuidOf(owner.user.id), type: 'user' },
      url: issue.url,
    })
    expect(byName.get('Comment create')).toMatchObject({
      data: { body: 'Hi @Ada', issueId: uuidOf(issue.id), user: { id: uuidOf(owner.user.id) } },
    })
    expect(byName.get('Project update')).toMatchObject({ data: { name: 'Big plan' }, updatedFrom: { name: 'Plan' } })
  })

  test('tell about access', verifies('linear.event-access'), async ({ app, receiver }) => {
    const { owner, robot, id, team, receivedDuring } = await scene(app, receiver)
    const other = (await owner.post('/teams', { name: 'Other', key: 'OTH' })).body
    const [installation] = (await owner.get('/installations')).body.data
    const [changed] = await receivedDuring(() =>
      owner.patch(`/installations/${installation.id}`, { team_ids: [team.id] }),
    )
    expect(changed?.body).toMatchObject({
      type: 'PermissionChange',
      canAccessAllPublicTeams: false,
      removedTeamIds: [uuidOf(other.id)],
      addedTeamIds: [],
    })
    const ping = await owner.post(`/agent-apps/${robot.app.id}/webhook/test`)
    expect(ping.body.ok).toBe(true)
    expect(receiver.take()[0]?.body).toMatchObject({
      type: 'Ping',
      organizationId: uuidOf(id),
      oauthClientId: robot.client_id,
    })
    const [revoked] = await receivedDuring(() => owner.delete(`/installations/${installation.id}`))
    expect(revoked?.body).toMatchObject({
      type: 'OAuthApp',
      action: 'revoked',
      organizationId: uuidOf(id),
      oauthClientId: robot.client_id,
    })
  })

  test(
    'keep the body that was recorded',
    verifies('linear.event-frozen', 'linear.event-headers', 'linear.compat-removed'),
    async ({ app, receiver }) => {
      const { owner, member, issue, robot, robotId, receivedDuring } = await scene(app, receiver, {
        resourceTypes: ['Issue'],
      })
      receiver.answer = 500
      const [first] = await receivedDuring(() => owner.put(`/issues/${issue.id}`, { title: 'Renamed' }))
      receiver.answer = 200
      await owner.put(`/issues/${issue.id}`, { title: 'Renamed again' })
      const manifest = linearManifest({
        name: robot.app.name,
        oauth: { redirect_uris: [linearRedirect], scopes: allScopes },
        webhook: { url: receiver.url, resource_types: ['Issue'] },
      })
      await owner.put(`/agent-apps/${robot.app.id}`, { ...manifest, compat: undefined })
      app.clock.advance({ minutes: 2 })
      receiver.take()
      await member.put(`/issues/${issue.id}`, { delegate_id: robotId })
      await app.deliver()
      const all = receiver.take()
      const retried = all.find(({ headers }) => headers['svc-delivery'] === first?.headers['svc-delivery'])
      expect(retried?.body).toEqual({ ...first?.body, webhookTimestamp: app.clock.now().getTime() })
      expect(retried?.headers['linear-delivery']).toBe(first?.headers['linear-delivery'])
      const session = all.find(({ body }) => body.type === 'AgentSessionEvent')
      expect(session?.body.data.agent_session).toBeTruthy()
      expect(session?.headers['linear-event']).toBeUndefined()
      const { request } = (await owner.get(`/agent-apps/${robot.app.id}/deliveries/${first?.headers['svc-delivery']}`))
        .body
      expect(request.body).toBe(retried?.raw.toString())
      expect(request.headers['linear-signature']).toBe(retried?.headers['linear-signature'])
    },
  )

  test(
    'are tested with examples in the same format',
    verifies('standard-webhook.test-event', 'linear.event-headers'),
    async ({ app, receiver }) => {
      const { owner, robot } = await scene(app, receiver, { resourceTypes: ['Issue', 'Project', 'Comment'] })
      const { data: examples } = (await app.anonymous.get('/event-types')).body
      expect(new Set(examples.map(({ type }: { type: string }) => type))).toEqual(
        new Set(['Issue', 'Project', 'Comment', 'AgentSessionEvent', 'OAuthApp', 'PermissionChange', 'Ping']),
      )
      for (const { type, action } of examples) {
        const sent = await owner.post(`/agent-apps/${robot.app.id}/webhook/test`, { type, action })
        expect(sent.body).toMatchObject({ ok: true })
        const [received] = receiver.take()
        expect(received?.headers['linear-event']).toBe(type)
        expect(received?.body).toMatchObject({
          type,
          action,
          oauthClientId: robot.client_id,
          appUserId: robot.viewerId,
        })
        expect(received?.body.test).toBe(type === 'Ping' ? undefined : true)
        app.clock.advance({ minutes: 1 })
      }
    },
  )
})
