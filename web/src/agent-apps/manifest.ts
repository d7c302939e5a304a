import type { AgentApp } from '@baton/protocol'
import type { Json } from './json.ts'

export const resourceTypes = ['Issue', 'Comment', 'Project'] as const
/** With this URL, events go to `baton listen` instead of a receiver. */
export const listenUrl = 'https://listen.invalid/'

type JsonObject = { [key: string]: Json }
const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const manifestText = (manifest: Json) => JSON.stringify(manifest, null, 2)

export const blankManifest = (developer: string): Json => ({
  schemaVersion: '1.0.0',
  name: '',
  developer: { name: developer },
  oauth: { redirect_uris: [''], scopes: ['read', 'comments:create', 'app:assignable', 'app:mentionable'] },
  webhook: { url: listenUrl, resource_types: [] },
})

export const exampleManifest = (developer: string): Json => ({
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

/** Rebuilds the manifest from a registered app. */
export const manifestOf = (app: AgentApp): Json => ({
  schemaVersion: '1.0.0',
  name: app.name,
  ...(app.description !== null && { description: app.description }),
  ...(app.icon_url !== null && { icon_url: app.icon_url }),
  developer: { name: app.developer.name, ...(app.developer.url !== null && { url: app.developer.url }) },
  distribution: app.distribution,
  ...(app.install_page_url !== null && { install_page_url: app.install_page_url }),
  ...(app.compat !== null && { compat: app.compat }),
  oauth: { redirect_uris: app.redirect_uris, scopes: app.requested_scopes },
  ...(app.webhook.url && {
    webhook: { url: app.webhook.url, enabled: app.webhook.enabled, resource_types: app.webhook.resource_types },
  }),
})

/** Value at a dotted path. */
export const valueAt = (manifest: Json, path: string): Json | undefined =>
  path.split('.').reduce<Json | undefined>((value, key) => {
    if (Array.isArray(value)) return value[Number(key)]
    return isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
  }, manifest)

export const textAt = (manifest: Json, path: string) => {
  const value = valueAt(manifest, path)
  return typeof value === 'string' ? value : ''
}

export const textsAt = (manifest: Json, path: string): string[] => {
  const value = valueAt(manifest, path)
  return Array.isArray(value) ? value.map((item) => (typeof item === 'string' ? item : '')) : []
}

/** Copy with another value at a dotted path; undefined removes the field. */
export function withValue(manifest: Json, path: string, value: Json | undefined): Json {
  const [key = '', ...rest] = path.split('.')
  const object = isObject(manifest) ? manifest : {}
  if (rest.length === 0) {
    const { [key]: _, ...others } = object
    return value === undefined ? others : { ...object, [key]: value }
  }
  return { ...object, [key]: withValue(object[key] ?? {}, rest.join('.'), value) }
}
