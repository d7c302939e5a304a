import { Manifest } from '@baton/protocol'
import type { Config } from '../config.ts'
import { invalid } from '../http/errors.ts'
import { plain } from '../http/plain-schema.ts'
import { bodyProblems, ofItem } from '../http/validate.ts'
import { judgeUrl } from '../outbound/target.ts'

const schemaUrl = ({ rootUrl }: Config) => `${rootUrl}/.well-known/agent-app-manifest.schema.json`

/** What manifests are held against, under its address, for any validator. */
export function servedSchema(config: Config) {
  const { properties, ...rest } = plain(Manifest) as { properties: object }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: schemaUrl(config),
    title: 'AgentAppManifest',
    ...rest,
    properties: { ...properties, $schema: { const: schemaUrl(config) } },
  }
}

const schemaProblems = bodyProblems(Manifest)

/** 2.2: one message for each field that cannot stand, whether the schema or a rule beyond it says so. */
export function checkManifest(config: Config, value: unknown): asserts value is Manifest {
  const problems = schemaProblems(value)
  for (const [field, message] of ruleProblems(config, value)) if (!problems.has(field)) problems.set(field, message)
  if (problems.size > 0) throw invalid(Object.fromEntries(problems))
}

/** What has not even the right type is the schema's business. */
function* ruleProblems(config: Config, value: unknown): Generator<[string, string]> {
  const at = (path: string) => path.split('.').reduce((part: unknown, key) => (part as Loose)?.[key], value)
  const rules: (readonly [path: string, problem: (text: string) => string | undefined])[] = [
    ['$schema', (text) => (text === schemaUrl(config) ? undefined : `must be ${schemaUrl(config)}`)],
    ['icon_url', (text) => urlProblem(text, config)],
    ['developer.url', (text) => (isWebAddress(text) ? undefined : 'must be an http or https address')],
    ['webhook.url', (text) => urlProblem(text, config)],
  ]
  for (const [path, problemOf] of rules) {
    const text = at(path)
    const problem = typeof text === 'string' ? problemOf(text) : undefined
    if (problem) yield [path, problem]
  }
  const uris = at('oauth.redirect_uris')
  for (const [index, uri] of Array.isArray(uris) ? uris.entries() : []) {
    const problem = typeof uri === 'string' ? redirectProblem(uri) : undefined
    if (problem) return yield ['oauth.redirect_uris', ofItem(index, problem)]
  }
}

type Loose = Record<string, unknown> | undefined

function urlProblem(text: string, { webhookAllow }: Config) {
  const judged = judgeUrl(text, webhookAllow)
  return 'refused' in judged ? judged.refused : undefined
}

const strange = /[\p{Cc}\s\\]/u

const isWebAddress = (text: string) =>
  /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && !strange.test(text) && URL.canParse(text)

/** Where a browser is sent with a code. Any host will do, also one inside a network; only the browser goes there. */
function redirectProblem(text: string): string | undefined {
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(text) ?? []
  if (!authority) return 'must be an https address'
  if (strange.test(text) || !URL.canParse(text)) return 'must be a URL'
  // It goes into a header as it is; another alphabet's host has a form in this one.
  if (!/^[\x21-\x7e]+$/.test(text)) return 'must be written in ASCII'
  if (authority.includes('@')) return 'must not hold a user name or password'
  return text.includes('#') ? 'must not have a fragment' : undefined
}
