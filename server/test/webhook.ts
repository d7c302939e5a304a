import { expect } from 'vitest'
import type { TestApp } from './harness.ts'
import type { Received, Receiver } from './receiver.ts'

/** A workspace with a webhook for issues of all teams, and functions that create issues and read deliveries. */
export async function webhookScene(app: TestApp, receiver: Receiver, label = 'Chat') {
  const { id: workspaceId, owner, admin, member } = await app.workspace()
  const { body: webhook } = await owner.post('/webhooks', {
    label,
    url: receiver.url,
    all_teams: true,
    resource_types: ['Issue'],
  })
  const path = `/webhooks/${webhook.id}`
  return {
    owner,
    admin,
    member,
    workspaceId,
    webhook,
    path,
    issue: async (title = 'A bug') => (await owner.post('/issues', { title })).body,
    deliveries: async (query = '') => (await owner.get(`${path}/deliveries${query}`)).body.data,
    state: async () => (await owner.get(path)).body.state,
  }
}

export const only = (received: Received[]): Received => {
  expect(received).toHaveLength(1)
  return received[0] as Received
}
