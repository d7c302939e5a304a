import { type AgentAppManifest, BatonClient } from '@baton/sdk'
import { expect } from 'vitest'
import { test } from '../../server/test/harness.ts'
import { ensureRegistered } from './registration.ts'

const manifest: AgentAppManifest = {
  schemaVersion: '1.0.0',
  name: 'Robot',
  developer: { name: 'Robots Inc' },
  oauth: { redirect_uris: ['https://robots.example.com/callback'], scopes: ['read', 'app:assignable'] },
  webhook: { url: 'https://listen.invalid/' },
}

test('updates the registered app if any field of the manifest has changed, and only then', async ({ app }) => {
  const { owner } = await app.workspace()
  const { token, workspaceId, user } = owner
  const client = new BatonClient({ baseUrl: app.rootUrl, token, workspaceId })
  const account = {
    url: app.rootUrl,
    baseUrl: `${app.rootUrl}/api/v1`,
    token,
    email: user.email,
    workspace: { id: workspaceId, name: 'Acme' },
    client,
  }
  const notes: string[] = []
  const register = async (changed: AgentAppManifest, settings = {}) => {
    notes.length = 0
    return ensureRegistered(account, changed, settings, (text) => notes.push(text))
  }
  const { app: created, settings } = await register(manifest)

  const icon_url = 'https://robots.example.com/icon.png'
  const oauth = { ...manifest.oauth, scopes: ['read' as const] }
  const versions: AgentAppManifest[] = [
    { ...manifest, name: 'Robbie' },
    { ...manifest, description: 'Mends things' },
    { ...manifest, icon_url },
    { ...manifest, developer: { name: 'Robots Ltd' } },
    { ...manifest, developer: { name: 'Robots Ltd', url: 'https://robots.example.com' } },
    { ...manifest, oauth },
    { ...manifest, webhook: { url: 'https://listen.invalid/', resource_types: ['Issue'] } },
    manifest,
  ]
  for (const version of versions) {
    const before = (await register(version, settings)).app
    expect(notes).toEqual(['Updated the registered app: manifest.json has changed.'])
    const { name, description = null, icon_url = null, developer } = version
    expect(before).toMatchObject({ id: created.id, name, description, icon_url, developer })

    const unchanged = await app.unchanged(() => register(version, settings))
    expect(unchanged).toMatchObject({ app: before })
    expect(notes).toEqual([])
  }
})
