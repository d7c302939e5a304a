import { expect, test } from 'vitest'
import { ownDatabase } from './empty-databases.ts'
import { install, type Json, newcomer } from './outside.ts'
import { isSigned, Receiver } from './receiver.ts'
import { ServiceProcess } from './service-process.ts'

test('a person delegates an issue to an agent, and both see its state until it is stopped', async () => {
  const { env, remove } = await ownDatabase()
  const receiver = await Receiver.start()
  const service = await ServiceProcess.start({ BATON_WEBHOOK_ALLOW: 'localhost', ...env })
  await handOver(service.url, receiver).finally(() => service.kill('SIGTERM'))
  await receiver.stop()
  await remove()
}, 120_000)

async function handOver(url: string, receiver: Receiver) {
  const { person: ada, userId, teamId } = await newcomer(url)
  const issue = (await ada('POST', '/issues', { title: 'Login fails', team_id: teamId })).body
  const { app, appUserId, installationId, webhookSecret } = await install(url, ada, receiver.url)

  let arriving = receiver.next()
  const delegated = await ada('PUT', `/issues/${issue.id}`, { delegate_id: appUserId })
  expect(delegated.body).toMatchObject({ delegate_id: appUserId, assignee_id: userId })
  const created = await arriving
  expect(isSigned(created, webhookSecret)).toBe(true)
  expect(created.headers['svc-event']).toBe('AgentSessionEvent')
  expect(created.body).toMatchObject({ action: 'created', installation_id: installationId, app_user_id: appUserId })
  const { id } = created.body.data.agent_session
  const session = `/agent-sessions/${id}`
  const post = async (content: object, more: object = {}) => {
    const { status, body } = await app('POST', `${session}/activities`, { content, ...more })
    expect(status, JSON.stringify(body)).toBe(201)
    return body
  }
  const state = async () => (await ada('GET', session)).body.state
  /** The data of the event that the agent receives for Ada's action. */
  const receivedDuring = async (act: () => Promise<{ status: number }>) => {
    arriving = receiver.next()
    expect((await act()).status).toBeLessThan(300)
    const prompted = await arriving
    expect(isSigned(prompted, webhookSecret)).toBe(true)
    expect(prompted.body.action).toBe('prompted')
    return prompted.body.data
  }
  const say = (body: string, signal_metadata?: object) => () =>
    ada('POST', `${session}/activities`, {
      content: { type: 'prompt', body },
      ...(signal_metadata && { signal_metadata }),
    })

  expect(await state()).toBe('pending')
  await post({ type: 'thought', body: 'Looking.' })
  expect(await state()).toBe('active')
  const changed = await app('PATCH', session, {
    plan: [{ content: 'Find it', status: 'inProgress' }],
    added_external_urls: [{ label: 'Change 1', url: 'https://example.com/changes/1' }],
  })
  expect(changed).toMatchObject({ status: 200, body: { state: 'active', plan: [{ status: 'inProgress' }] } })
  const question = await post(
    { type: 'elicitation', body: 'Which branch?' },
    { signal: 'select', signal_metadata: { options: [{ value: 'main' }, { value: 'next' }] } },
  )
  expect(await state()).toBe('awaitingInput')

  const answer = { in_reply_to: question.id, selected: ['main'] }
  expect((await receivedDuring(say('main', answer))).agent_activity).toMatchObject({
    signal: null,
    signal_metadata: answer,
  })
  expect(await state()).toBe('pending')
  await post({ type: 'response', body: 'Done.' })
  expect(await state()).toBe('complete')

  const again = await receivedDuring(say('One more thing'))
  expect(again.agent_session.state).toBe('pending')
  expect(again.agent_activity.content).toEqual({ type: 'prompt', body: 'One more thing' })

  const stopped = await receivedDuring(() => ada('POST', `${session}/stop`))
  expect(stopped.agent_activity).toMatchObject({ signal: 'stop', signal_metadata: { reason: 'stopped' } })
  expect(stopped.agent_session).toMatchObject({ state: 'stopping', end_reason: 'stopped', ended_at: null })
  await post({ type: 'response', body: 'Stopped here.' })
  const over = (await ada('GET', session)).body
  expect(over).toMatchObject({ state: 'complete', end_reason: 'stopped', ended_at: expect.any(String) })
  const late = await app('POST', `${session}/activities`, { content: { type: 'thought', body: 'But…' } })
  expect(late).toMatchObject({ status: 409, body: { code: 'SESSION_ENDED', details: { end_reason: 'stopped' } } })
  const { data } = (await ada('GET', `${session}/activities`)).body
  expect(data.map(({ type }: Json) => type)).toEqual([
    'thought',
    'elicitation',
    'prompt',
    'response',
    'prompt',
    'prompt',
    'response',
  ])
}
