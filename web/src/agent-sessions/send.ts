import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useRef } from 'react'
import { refreshSession } from '../data/agent-sessions.ts'
import { api, queries } from '../data/api.ts'
import { useAction } from '../ui/action.ts'

/** What a person chose of what a question offers. */
export interface Answer {
  question: AgentActivity
  selected: string[]
}

/** Writes to an agent. Sending the same text again after a failure posts it once: it has the same idempotency key. */
export function useSend(session: AgentSession) {
  const tried = useRef<{ body: string; idempotencyKey: string } | null>(null)
  const { run, busy, problem } = useAction(async (body: string, answer?: Answer) => {
    const input = {
      session_id: session.id,
      content: { type: 'prompt' as const, body },
      ...(answer && { signal_metadata: { in_reply_to: answer.question.id, selected: answer.selected } }),
    }
    const json = JSON.stringify(input)
    if (tried.current?.body !== json) tried.current = { body: json, idempotencyKey: newKey() }
    await api.postActivity(input, { idempotencyKey: tried.current.idempotencyKey })
    tried.current = null
    await refreshSession(session.id).catch(() => {})
  })
  return { send: run, busy, problem }
}

/** `crypto.randomUUID` exists only on pages served over TLS. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Asks the agent to stop; it is stopping when the server says so. */
export async function stopSession(session: AgentSession) {
  const stopping = await api.stopAgentSession({ session_id: session.id })
  queries.setQueryData(['session', session.id], stopping)
  await refreshSession(session.id).catch(() => {})
}
