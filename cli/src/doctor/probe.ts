import { randomUUID } from 'node:crypto'
import { type AgentSession, type EventToSign, signWebhook } from '@baton/sdk'

export interface Receiver {
  url: string
  secret: string
  timeoutMs: number
  signal: AbortSignal
}

export interface Answer {
  /** Null if there was no answer. */
  status: number | null
  tookMs: number
  location: string | null
  problem: string | null
}

interface Signed {
  body: Uint8Array
  headers: Record<string, string>
}

export async function send({ url, timeoutMs, signal }: Receiver, { body, headers }: Signed): Promise<Answer> {
  const started = performance.now()
  const tookMs = () => Math.round(performance.now() - started)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      body: Buffer.from(body),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
    // As in the service, the status decides; the body may be endless.
    await response.body?.cancel()
    return { status: response.status, tookMs: tookMs(), location: response.headers.get('location'), problem: null }
  } catch (error) {
    signal.throwIfAborted()
    const timedOut = error instanceof Error && error.name === 'TimeoutError'
    const problem = timedOut ? `no answer within ${timeoutMs / 1000} s` : 'the connection failed'
    return { status: null, tookMs: tookMs(), location: null, problem }
  }
}

export const accepted = ({ status }: Answer) => status !== null && status >= 200 && status < 300
/** A 5xx is not a refusal: the receiver may have crashed. */
export const refused = ({ status }: Answer) => status !== null && status >= 400 && status < 500
export const describe = ({ status, problem }: Answer) => (status === null ? `nothing (${problem})` : `${status}`)

export const sign = ({ secret }: Receiver, event: EventToSign, now = new Date()): Signed =>
  signWebhook(event, { secret, now })

export const ping = (): EventToSign => ({
  type: 'Ping',
  action: 'create',
  data: { event_id: `evt_${randomUUID()}`, webhook_id: 'whk_doctor', label: 'baton doctor' },
})

const fakeInstallation = { installation_id: 'ins_doctor', app_user_id: 'usr_doctor_agent' }

/** A session that does not exist in the service. */
export function fakeSession() {
  const id = `sess_${randomUUID()}`
  const at = new Date().toISOString()
  const person = { id: 'usr_doctor', name: 'baton doctor' }
  const agent_session: AgentSession = {
    id,
    state: 'pending',
    unresponsive_since: null,
    issue: { id: `iss_${randomUUID()}`, identifier: 'DOC-1', title: 'A test of baton doctor', url: '', team: null },
    comment: null,
    creator: person,
    app_user_id: fakeInstallation.app_user_id,
    plan: [],
    external_urls: [],
    changes: null,
    usage: null,
    budget_reached: null,
    created_at: at,
    updated_at: at,
    ended_at: null,
    end_reason: null,
  }
  const envelope = { type: 'AgentSessionEvent' as const, created_at: at, ...fakeInstallation }
  const prompted = (seq: number, body: string, signal: 'stop' | null): EventToSign => ({
    ...envelope,
    action: 'prompted',
    data: {
      event_id: `evt_${randomUUID()}`,
      agent_session,
      agent_activity: {
        id: `act_${randomUUID()}`,
        seq,
        type: 'prompt',
        content: { type: 'prompt', body },
        signal,
        signal_metadata: signal ? { reason: 'stopped' } : null,
        author: person,
        created_at: at,
      },
    },
  })
  return {
    created: (): EventToSign => ({
      ...envelope,
      action: 'created',
      data: {
        event_id: `evt_${randomUUID()}`,
        agent_session,
        previous_comments: [],
        guidance: [],
        prompt_context: '<context>This is a test of baton doctor. Do nothing.</context>',
      },
    }),
    prompted: () => prompted(2, 'A test of baton doctor.', null),
    stop: () => prompted(3, 'Stop', 'stop'),
  }
}
