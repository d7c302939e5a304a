import type { AgentCard, AgentInterface } from '@a2a-js/sdk'
import { type A2aCard, type A2aInterface, programLimits } from '@baton/protocol'
import type { AllowedTarget } from '../config.ts'
import type { Context } from '../context.ts'
import { ApiError, invalid } from '../http/errors.ts'
import type { Outcome } from '../outbound/client.ts'
import { judgeUrl } from '../outbound/target.ts'
import { loadClient, loadTypes } from './sdk.ts'
import { plainText } from './text.ts'

/** The interface that Baton uses. Its tenant is part of each request. */
export interface UsedInterface extends A2aInterface {
  tenant: string
}

export interface UsableCard {
  card: A2aCard
  used: UsedInterface
  iconUrl: string | null
  warnings: string[]
}

const wellKnown = '/.well-known/agent-card.json'
const bindings = ['JSONRPC', 'HTTP+JSON'] as const
const [maxSkills, maxName, maxDescription] = [100, 200, 1000]

/** A URL without a path is that of the agent's host. */
export function cardUrlOf(text: string, allow: readonly AllowedTarget[]): string {
  const judged = judgeUrl(text, allow)
  if ('refused' in judged) throw invalid({ card_url: judged.refused })
  return judged.path === '/' ? `${judged.origin}${wellKnown}` : text
}

/** Reads a card. A problem of the address is reported on `card_url`, one of the card as A2A_CARD_UNUSABLE. */
export async function fetchCard(ctx: Context, cardUrl: string): Promise<UsableCard> {
  const { outcome, raw } = await readCard(ctx, cardUrl)
  if (!outcome.ok) throw invalid({ card_url: problemOf(outcome) })
  if (raw === undefined) throw invalid({ card_url: `must be JSON of at most ${programLimits.a2aCardBytes} bytes` })
  return usableCard(raw, ctx.config.webhookAllow)
}

/** Never throws for what the host answers. `raw` is undefined if it is not JSON, or too long. */
export async function readCard({ outbound }: Context, url: string): Promise<{ outcome: Outcome; raw?: unknown }> {
  const headers = { accept: 'application/json', 'a2a-version': '1.0', 'user-agent': 'Baton-A2A/1' }
  const outcome = await outbound.send({ method: 'GET', url, headers }, programLimits.a2aCardBytes)
  if (!outcome.ok || !outcome.whole) return { outcome }
  try {
    return { outcome, raw: JSON.parse(outcome.body.toString('utf8')) }
  } catch {
    return { outcome }
  }
}

function problemOf({ reason, status }: Outcome & { ok: false }) {
  switch (reason) {
    case 'timeout':
      return 'did not answer within 5 seconds'
    case 'blocked_destination':
      return 'must be a public address'
    case 'redirect':
      return `must not redirect; it answered ${status}`
    case 'http_error':
      return `answered ${status}`
    case 'tls_error':
      return 'has no valid certificate'
    case 'network_error':
      return 'cannot be reached'
  }
}

const unusable = (reason: string) => new ApiError('A2A_CARD_UNUSABLE', { reason })

/** Decides whether and how Baton can use a card (a2a.card-unusable). */
export async function usableCard(raw: unknown, allow: readonly AllowedTarget[]): Promise<UsableCard> {
  const card = await parsed(raw)
  if (card.capabilities?.extensions.some(({ required }) => required)) throw unusable('required_extension')
  if (needsMtls(card)) throw unusable('mtls_only')
  const known = card.supportedInterfaces.filter(({ protocolBinding }) => isBinding(protocolBinding))
  if (known.length === 0) throw unusable('no_supported_binding')
  const current = known.filter(({ protocolVersion }) => /^(?:1|0\.3)(?:\.|$)/.test(protocolVersion))
  if (current.length === 0) throw unusable('no_supported_version')
  const used = current.find(({ url }) => !('refused' in judgeUrl(url, allow)))
  if (!used) throw unusable('interface_not_public')
  const warnings: string[] = []
  const iconUrl = card.iconUrl || null
  const usableIcon = iconUrl !== null && !('refused' in judgeUrl(iconUrl, allow)) ? iconUrl : null
  if (iconUrl && !usableIcon) warnings.push('The icon is not at a public https address and is not used.')
  if (card.signatures.length > 0) warnings.push('The signatures of the card are not verified.')
  const security = securityOf(card)
  if (card.securityRequirements.length > 0 && !security.some(({ type }) => type === 'http' || type === 'api_key'))
    warnings.push('The agent asks for OAuth, which Baton does not do itself. Enter a token as a bearer credential.')
  return { card: shown(card), used: interfaceOf(used), iconUrl: usableIcon, warnings }
}

async function parsed(raw: unknown): Promise<AgentCard> {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) throw unusable('not_a_card')
  const [{ AgentCard }, { DefaultAgentCardResolver }] = await Promise.all([loadTypes(), loadClient()])
  try {
    const card =
      'supportedInterfaces' in raw
        ? AgentCard.fromJSON(raw)
        : new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(raw)
    if (typeof card.name !== 'string' || !Array.isArray(card.supportedInterfaces)) throw unusable('not_a_card')
    return card
  } catch {
    throw unusable('not_a_card')
  }
}

const isBinding = (text: string): text is (typeof bindings)[number] => (bindings as readonly string[]).includes(text)

const interfaceOf = ({ url, protocolBinding, protocolVersion, tenant }: AgentInterface): UsedInterface => ({
  url,
  binding: protocolBinding as A2aInterface['binding'],
  protocol_version: plainText(protocolVersion, 20),
  tenant: plainText(tenant ?? '', maxName),
})

/** Whether each way to authenticate needs a client certificate. */
function needsMtls(card: AgentCard): boolean {
  const schemes = securityOf(card)
  const isMtls = (name: string) => schemes.some((scheme) => scheme.name === name && scheme.type === 'mtls')
  const alternatives = card.securityRequirements ?? []
  if (alternatives.length > 0)
    return alternatives.every(({ schemes: needed }) => Object.keys(needed ?? {}).some(isMtls))
  return schemes.length > 0 && schemes.every(({ type }) => type === 'mtls')
}

const schemeTypes = {
  apiKeySecurityScheme: 'api_key',
  httpAuthSecurityScheme: 'http',
  oauth2SecurityScheme: 'oauth2',
  openIdConnectSecurityScheme: 'open_id_connect',
  mtlsSecurityScheme: 'mtls',
} as const

const securityOf = ({ securitySchemes }: AgentCard): A2aCard['security'] =>
  Object.entries(securitySchemes ?? {})
    .slice(0, 20)
    .map(([name, { scheme }]) => ({
      name: plainText(name, maxName),
      type: scheme ? (schemeTypes[scheme.$case] ?? 'unknown') : 'unknown',
    }))

function shown(card: AgentCard): A2aCard {
  const { provider } = card
  return {
    name: plainText(card.name, maxName),
    description: plainText(card.description ?? '', maxDescription),
    provider: provider?.organization
      ? { name: plainText(provider.organization, maxName), url: plainText(provider.url ?? '', 2048) || null }
      : null,
    version: plainText(card.version ?? '', maxName),
    streaming: card.capabilities?.streaming === true,
    security: securityOf(card),
    skills: (card.skills ?? []).slice(0, maxSkills).map(({ id, name, description }) => ({
      id: plainText(id ?? '', maxName),
      name: plainText(name ?? '', maxName),
      description: plainText(description ?? '', maxDescription),
    })),
  }
}
