import type { Attempt, Delivery, DeliveryStatus, EndpointState, FailureReason, PingResult } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { Pill, type Tone } from '../ui/pill.tsx'

const states: Record<EndpointState, { label: string; tone: Tone }> = {
  enabled: { label: 'Enabled', tone: 'ok' },
  disabled: { label: 'Disabled', tone: 'neutral' },
  failing: { label: 'Failing', tone: 'bad' },
}

export const EndpointPill = ({ state }: { state: EndpointState }) => (
  <Pill tone={states[state].tone} dot="still">
    {states[state].label}
  </Pill>
)

const statuses: Record<DeliveryStatus, { label: string; tone: Tone }> = {
  pending: { label: 'Pending', tone: 'info' },
  succeeded: { label: 'Delivered', tone: 'ok' },
  failed: { label: 'Failed', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'neutral' },
}
export const statusLabel = (status: DeliveryStatus) => statuses[status].label

/** Pending after a failure is another thing than pending at first, and another while the endpoint is off. */
export function DeliveryPill({ status, attempts, held }: Pick<Delivery, 'status' | 'attempts'> & { held: boolean }) {
  if (held && status === 'pending') {
    return (
      <Pill tone="neutral" dot="still">
        Held
      </Pill>
    )
  }
  const retrying = status === 'pending' && attempts.length > 0
  return (
    <Pill tone={retrying ? 'warn' : statuses[status].tone} dot={status === 'pending' ? 'pulsing' : 'still'}>
      {retrying ? 'Retrying' : statuses[status].label}
    </Pill>
  )
}

const events: Record<string, string> = {
  'AgentSessionEvent created': 'Session opened',
  'AgentSessionEvent prompted': 'Message in a session',
  'PermissionChange teamAccessChanged': 'Teams of the app changed',
  'OAuthApp revoked': 'App uninstalled',
  'Ping create': 'Test ping',
}
const deeds: Record<string, string> = { create: 'created', update: 'changed', remove: 'removed' }

/** What a delivery tells its receiver, in words. */
export const eventInWords = ({ type, action }: Pick<Delivery, 'type' | 'action'>) =>
  events[`${type} ${action}`] ?? `${type} ${deeds[action] ?? action}`

interface Reason {
  /** After "It failed: ". */
  short: string
  meaning: string
  check: string
}

export const reasons: Record<FailureReason, Reason> = {
  timeout: {
    short: 'no answer within 5 seconds',
    meaning: 'The receiver did not begin to answer within 5 seconds, finding its address and connecting included.',
    check:
      'Answer with 2xx first and do the slow work afterwards. Check that the receiver is running and not overloaded.',
  },
  blocked_destination: {
    short: 'the address is not allowed',
    meaning:
      'The URL leads to a place that webhooks may not reach: a private or local address, or another port than 443 and 8443.',
    check:
      'Use a public https address. For your own machine use npx baton listen, or have whoever runs this instance allow the address.',
  },
  network_error: {
    short: 'the receiver could not be reached',
    meaning: 'No connection was made: the name was not found, the connection was refused, or it broke off.',
    check: 'Check the host name and its DNS, that the receiver is running, and that no firewall stands in between.',
  },
  tls_error: {
    short: 'the certificate was not accepted',
    meaning:
      'The encrypted connection failed, because the certificate has expired, names another host, or is not signed by a known authority.',
    check: 'Renew the certificate and serve its whole chain. Self-signed certificates are not accepted.',
  },
  redirect: {
    short: 'it answered with a redirect',
    meaning:
      'The receiver sent the delivery on to another address. Redirects are not followed, because the body is signed for one receiver.',
    check: 'Set the URL to the final address, with the right scheme, host and slash at the end.',
  },
  http_error: {
    short: 'it answered with an error',
    meaning: 'The receiver was reached and answered with something other than 2xx.',
    check:
      "Look at what it answered and at the receiver's own log. A 401 or 403 often means that the signature was checked with an old secret.",
  },
}

type Outcome = Pick<Attempt, 'reason' | 'http_status'>

/** "It answered 500", "No answer within 5 seconds". */
export function outcomeInWords({ reason, http_status }: Outcome): string {
  if (http_status !== null) return `Answered ${http_status}${reason === 'redirect' ? ', a redirect' : ''}`
  const { short } = reason ? reasons[reason] : { short: 'delivered' }
  return short.charAt(0).toUpperCase() + short.slice(1)
}

/** What came of a test, whole. */
export function pingInWords({ ok, status, reason, duration_ms }: PingResult): string {
  if (ok) return `The receiver answered ${status} after ${duration_ms} ms.`
  const why = status === null ? '' : ` (${status})`
  return reason
    ? `After ${duration_ms} ms: ${reasons[reason].short}${why}. ${reasons[reason].check}`
    : `The receiver answered ${status} after ${duration_ms} ms.`
}

/** 1,234 ms is "1.2 s". */
export const took = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

export const heldInWords = (held: number) =>
  held === 1 ? '1 delivery is held' : `${held >= limits.heldCounted ? '10,000 or more' : held} deliveries are held`
