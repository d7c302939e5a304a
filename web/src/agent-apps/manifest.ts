import type { AgentApp } from '@baton/protocol'
import type { Json } from './json.ts'

export const resourceTypes = ['Issue', 'Comment', 'Project'] as const
/** Such an app is delivered to whoever listens. */
export const listenUrl = 'https://listen.invalid/'

type Tree = { [key: string]: Json }
const isTree = (value: Json | undefined): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const written = (manifest: Json) => JSON.stringify(manifest, null, 2)

/** As little as is needed to begin. */
export const blank = (developer: string): Json => ({
  schemaVersion: '1.0.0',
  name: '',
  developer: { name: developer },
  oauth: { redirect_uris: [''], scopes: ['read', 'comments:create', 'app:assignable', 'app:mentionable'] },
  webhook: { url: listenUrl, resource_types: [] },
})

export const example = (developer: string): Json => ({
  schemaVersion: '1.0.0',
  name: 'Release notes',
  description: 'Writes release notes from the issues of a project.',
  icon_url: 'https://agents.example.com/release-notes.png',
  developer: { name: developer, url: 'https://agents.example.com' },
  distribution: 'private',
  oauth: {
    redirect_uris: ['https://agents.example.com/oauth/callback'],
    scopes: ['read', 'comments:create', 'app:assignable', 'app:mentionable'],
  },
  webhook: { url: 'https://agents.example.com/webhook', enabled: true, resource_types: ['Issue'] },
})

/** The manifest that an app was made of. */
export const manifestOf = (app: AgentApp): Json => ({
  schemaVersion: '1.0.0',
  name: app.name,
  ...(app.description !== null && { description: app.description }),
  ...(app.icon_url !== null && { icon_url: app.icon_url }),
  developer: { name: app.developer.name, ...(app.developer.url !== null && { url: app.developer.url }) },
  distribution: app.distribution,
  oauth: { redirect_uris: app.redirect_uris, scopes: app.requested_scopes },
  ...(app.webhook.url && {
    webhook: { url: app.webhook.url, enabled: app.webhook.enabled, resource_types: app.webhook.resource_types },
  }),
})

/** What stands at a dotted path. */
export const valueAt = (manifest: Json, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)]
    return isTree(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, manifest)

export const textAt = (manifest: Json, path: string) => {
  const value = valueAt(manifest, path)
  return typeof value === 'string' ? value : ''
}

export const textsAt = (manifest: Json, path: string): string[] => {
  const value = valueAt(manifest, path)
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : []
}

/** With another value at a path; undefined takes it out. Everything else stays as it was written. */
export function withValue(manifest: Json, path: string, value: Json | undefined): Json {
  const [key = '', ...rest] = path.split('.')
  const tree = isTree(manifest) ? manifest : {}
  if (rest.length === 0) {
    const { [key]: _, ...others } = tree
    return value === undefined ? others : { ...tree, [key]: value }
  }
  return { ...tree, [key]: withValue(tree[key] ?? {}, rest.join('.'), value) }
}
