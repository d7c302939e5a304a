import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useRef } from 'react'
import { refreshSession } from '../data/agent-sessions.ts'
import { api, isBatonError, queries } from '../data/api.ts'
import { useAction } from '../ui/action.ts'

/** The options a person chose in answer to a question. */
export interface Answer {
  question: AgentActivity
  selected: string[]
}

/** Sends a message to the agent. Retrying the same message reuses its idempotency key, so it arrives once. */
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
    await api.postActivity(input, { idempotencyKey: tried.current.idempotencyKey }).catch(async (error) => {
      // Another session of the app may have used up the month: the session then shows it in place of the composer.
      if (isBatonError(error, 'BUDGET_REACHED')) await refreshSession(session.id).catch(() => {})
      throw error
    })
    tried.current = null
    await refreshSession(session.id).catch(() => {})
  })
  return { send: run, busy, problem }
}

/** `crypto.randomUUID` is missing on pages served without TLS. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Requests Stop; the state changes when the server confirms it. */
export async function stopSession(session: AgentSession) {
  const stopping = await api.stopAgentSession({ session_id: session.id })
  queries.setQueryData(['session', session.id], stopping)
  await refreshSession(session.id).catch(() => {})
}
