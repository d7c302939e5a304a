import type { Attempt, Delivery, DeliveryStatus, EndpointState, FailureReason, PingResult } from '@baton/protocol'
import { limits } from '@baton/protocol/limits'
import { cliCommand } from '../data/cli.ts'
import type { Endpoint } from '../data/endpoints.ts'
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

const statuses: Record<DeliveryStatus | 'held', { label: string; tone: Tone }> = {
  pending: { label: 'Pending', tone: 'info' },
  held: { label: 'Held', tone: 'neutral' },
  succeeded: { label: 'Delivered', tone: 'ok' },
  failed: { label: 'Failed', tone: 'bad' },
  canceled: { label: 'Canceled', tone: 'neutral' },
}
export const statusLabel = (status: keyof typeof statuses) => statuses[status].label

/** Shows a held delivery as Held, and a pending one as Retrying after a failure. */
export function DeliveryPill({ delivery: { status, attempts, held } }: { delivery: Delivery }) {
  const retrying = status === 'pending' && attempts.length > 0
  const { label, tone } = held
    ? statuses.held
    : retrying
      ? { label: 'Retrying', tone: 'warn' as const }
      : statuses[status]
  return (
    <Pill tone={tone} dot={status === 'pending' && !held ? 'pulsing' : 'still'}>
      {label}
    </Pill>
  )
}

const eventLabels: Record<string, string> = {
  'AgentSessionEvent created': 'Session created',
  'AgentSessionEvent prompted': 'Session message',
  'PermissionChange teamAccessChanged': 'App teams changed',
  'OAuthApp revoked': 'App uninstalled',
  'Ping create': 'Test ping',
}
const actionLabels: Record<string, string> = { create: 'created', update: 'changed', remove: 'deleted' }

/** "Issue changed", "Test ping", "Test: Issue changed". */
export function eventLabel({ type, action, test }: Pick<Delivery, 'type' | 'action' | 'test'>): string {
  const label = eventLabels[`${type} ${action}`] ?? `${type} ${actionLabels[action] ?? action}`
  return test && type !== 'Ping' ? `Test: ${label}` : label
}

/** "ENG-4 Issue changed", "Test ping". */
export const deliveryTitle = (delivery: Delivery) =>
  delivery.issue ? `${delivery.issue.code} ${eventLabel(delivery)}` : eventLabel(delivery)

interface FailureText {
  /** Starts in lower case, to follow other text. */
  short: string
  meaning: string
  check: string
}

const failureReasons: Record<FailureReason, FailureText> = {
  timeout: {
    short: 'no response within 5 seconds',
    meaning: 'The receiver did not start to respond within 5 seconds, including DNS and connecting.',
    check: 'Respond with 2xx first and do slow work afterwards. Check that the receiver is running and not overloaded.',
  },
  blocked_destination: {
    short: 'the address is not allowed',
    meaning: 'Webhooks may not use private or local addresses, or ports other than 443 and 8443.',
    check:
      'Use a public https URL. For your own machine, use the command baton listen, or ask the operator of this instance to allow the address.',
  },
  network_error: {
    short: 'the receiver could not be reached',
    meaning: 'The connection failed: the host name was not found, or the connection was refused or interrupted.',
    check: 'Check the host name and DNS, that the receiver is running, and that no firewall blocks the connection.',
  },
  tls_error: {
    short: 'the certificate was not accepted',
    meaning:
      'The TLS connection failed: the certificate has expired, is for another host, or is not signed by a known authority.',
    check: 'Renew the certificate and serve the full chain. Self-signed certificates are not accepted.',
  },
  redirect: {
    short: 'the receiver responded with a redirect',
    meaning: 'Redirects are not followed, because the body is signed for one receiver.',
    check: 'Set the URL to the final address, including scheme, host and trailing slash.',
  },
  http_error: {
    short: 'the receiver responded with an error',
    meaning: 'The receiver responded with a status other than 2xx.',
    check:
      'Check the response and the log of the receiver. A 401 or 403 often means that it verified the signature with an old secret.',
  },
}

const noListener: FailureText = {
  short: 'no listener was connected',
  meaning: 'This app has no URL of its own: its deliveries go to the command baton listen, which was not running.',
  check: `Run ${cliCommand('listen --forward-to URL')} next to your program, then redeliver.`,
}

type Receiver = Pick<Endpoint, 'usesListener'>

export const failureText = (reason: FailureReason, { usesListener }: Receiver) =>
  usesListener && reason === 'network_error' ? noListener : failureReasons[reason]

type Outcome = Pick<Attempt, 'reason' | 'http_status'>

/** "Responded 500", "No response within 5 seconds". */
export function outcomeText({ reason, http_status }: Outcome, receiver: Receiver): string {
  if (http_status !== null) return `Responded ${http_status}${reason === 'redirect' ? ' (redirect)' : ''}`
  const { short } = reason ? failureText(reason, receiver) : { short: 'delivered' }
  return short.charAt(0).toUpperCase() + short.slice(1)
}

export function pingText({ ok, status, reason, duration_ms }: PingResult, receiver: Receiver): string {
  if (ok) return `The receiver responded ${status} after ${duration_ms} ms.`
  const why = status === null ? '' : ` (${status})`
  if (!reason) return `The receiver responded ${status} after ${duration_ms} ms.`
  const { short, check } = failureText(reason, receiver)
  return `After ${duration_ms} ms: ${short}${why}. ${check}`
}

/** 1234 becomes "1.2 s". */
export const durationText = (ms: number) => (ms < 1000 ? `${ms} ms` : `${(ms / 1000).toFixed(1)} s`)

export const heldText = (held: number) =>
  held === 1 ? '1 delivery is held' : `${held >= limits.heldCounted ? '10,000 or more' : held} deliveries are held`
