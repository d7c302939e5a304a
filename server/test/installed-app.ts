import type { TestApp } from './harness.ts'
import { consent, exchange, redirectUri } from './oauth.ts'
import type { Received, Receiver } from './receiver.ts'

/** An app with a webhook, installed by its owner for one of two teams. */
export async function installedAppScene(
  app: TestApp,
  receiver: Receiver,
  { resourceTypes = [] as string[], name = 'Robot' } = {},
) {
  const workspace = await app.workspace()
  const { owner } = workspace
  const a = (await owner.post('/teams', { name: 'A', key: 'AAA' })).body
  const b = (await owner.post('/teams', { name: 'B', key: 'BBB' })).body
  const manifest = {
    schemaVersion: '1.0.0',
    name,
    developer: { name: 'Robots Inc' },
    oauth: { redirect_uris: [redirectUri], scopes: ['read', 'write'] },
    webhook: { url: receiver.url, resource_types: resourceTypes },
  }
  const { body: client } = await owner.post('/agent-apps', manifest)
  const at = { ...workspace, team: a, client }
  const approve = async (decision: object, scope = 'read write') => {
    const granted = await consent(owner, client.client_id, decision, { scope })
    return (await exchange(app, at, granted)).body
  }
  const tokens = await approve({ team_ids: [a.id] })
  const path = `/installations/${tokens.installation_id}`
  const receivedDuring = async (work: () => Promise<unknown>): Promise<Received[]> => {
    await app.deliver()
    receiver.take()
    await work()
    await app.deliver()
    return receiver.take()
  }
  return { ...at, a, b, manifest, approve, tokens, path, receivedDuring, appPath: `/agent-apps/${client.app.id}` }
}
