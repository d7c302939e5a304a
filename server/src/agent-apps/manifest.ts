import { Manifest } from '@baton/protocol'
import type { Config } from '../config.ts'
import { invalid } from '../http/errors.ts'
import { plain } from '../http/plain-schema.ts'
import { bodyProblems, ofItem } from '../http/validate.ts'
import { judgeUrl } from '../outbound/target.ts'

const schemaUrl = ({ rootUrl }: Config) => `${rootUrl}/.well-known/agent-app-manifest.schema.json`

/** The schema of manifests as any JSON Schema validator can use it. */
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

/** manifest.one-message-per-bad-field: a problem of the schema comes before one of the further rules. */
export function checkManifest(config: Config, value: unknown): asserts value is Manifest {
  const problems = schemaProblems(value)
  for (const [field, message] of ruleProblems(config, value)) if (!problems.has(field)) problems.set(field, message)
  if (problems.size > 0) throw invalid(Object.fromEntries(problems))
}

/** Rules that the schema cannot express. Values of a wrong type are left to the schema. */
function* ruleProblems(config: Config, value: unknown): Generator<[string, string]> {
  const at = (path: string) => path.split('.').reduce((part: unknown, key) => (part as MaybeObject)?.[key], value)
  const rules: (readonly [path: string, problem: (text: string) => string | undefined])[] = [
    ['$schema', (text) => (text === schemaUrl(config) ? undefined : `must be ${schemaUrl(config)}`)],
    ['icon_url', (text) => urlProblem(text, config)],
    ['developer.url', (text) => (isWebAddress(text) ? undefined : 'must be an http or https address')],
    ['webhook.url', (text) => urlProblem(text, config)],
    ['install_page_url', (text) => installPageProblem(text, ownHosts())],
  ]
  function ownHosts() {
    const uris = at('oauth.redirect_uris')
    return [at('developer.url'), ...(Array.isArray(uris) ? uris : [])].flatMap((url) =>
      typeof url === 'string' && isWebAddress(url) ? [new URL(url).host] : [],
    )
  }
  for (const [path, problemOf] of rules) {
    const text = at(path)
    const problem = typeof text === 'string' ? problemOf(text) : undefined
    if (problem) yield [path, problem]
  }
  const scopes = at('oauth.scopes')
  if (at('compat') !== undefined && Array.isArray(scopes) && !scopes.includes('read')) {
    yield ['oauth.scopes', 'must contain read, which compat requires']
  }
  const uris = at('oauth.redirect_uris')
  for (const [index, uri] of Array.isArray(uris) ? uris.entries() : []) {
    const problem = typeof uri === 'string' ? redirectProblem(uri) : undefined
    if (problem) return yield ['oauth.redirect_uris', ofItem(index, problem)]
  }
}

type MaybeObject = Record<string, unknown> | undefined

function urlProblem(text: string, { webhookAllow }: Config) {
  const judged = judgeUrl(text, webhookAllow)
  return 'refused' in judged ? judged.refused : undefined
}

const unsafeCharacters = /[\p{Cc}\s\\]/u

const isWebAddress = (text: string) =>
  /^https?:\/\/[^/?#@]+(?:[/?#]|$)/i.test(text) && !unsafeCharacters.test(text) && URL.canParse(text)

/** Only on a host that the manifest names anyway, so that the button leads to no third party (install.url-button). */
function installPageProblem(text: string, hosts: string[]): string | undefined {
  const problem = browserAddressProblem(text)
  if (problem) return problem
  return hosts.includes(new URL(text).host) ? undefined : 'must have the host of developer.url or of a redirect URI'
}

/** Private hosts are permitted: only browsers are sent to a redirect URI, never the service. */
function redirectProblem(text: string): string | undefined {
  return browserAddressProblem(text) ?? (text.includes('#') ? 'must not have a fragment' : undefined)
}

function browserAddressProblem(text: string): string | undefined {
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(text) ?? []
  if (!authority) return 'must be an https address'
  if (unsafeCharacters.test(text) || !URL.canParse(text)) return 'must be a URL'
  // It is sent in a Location header unchanged. International host names have an ASCII form.
  if (!/^[\x21-\x7e]+$/.test(text)) return 'must contain only ASCII characters'
  return authority.includes('@') ? 'must not contain a user name or password' : undefined
}
