import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useRef, useState } from 'react'
import { refreshSession } from '../data/agent-sessions.ts'
import { api, queries } from '../data/api.ts'
import { messageOf } from '../ui/problem.ts'

/** What a person chose of what a question offers. */
export interface Answer {
  question: AgentActivity
  selected: string[]
}

/** Writes to an agent. What could not be sent is kept by whoever wrote it; sending it again never says it twice. */
export function useSend(session: AgentSession) {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const tried = useRef<{ said: string; idempotencyKey: string } | null>(null)
  const send = async (body: string, answer?: Answer): Promise<boolean> => {
    const input = {
      session_id: session.id,
      content: { type: 'prompt' as const, body },
      ...(answer && { signal_metadata: { in_reply_to: answer.question.id, selected: answer.selected } }),
    }
    const said = JSON.stringify(input)
    if (tried.current?.said !== said) tried.current = { said, idempotencyKey: newKey() }
    setBusy(true)
    setProblem(null)
    try {
      await api.postActivity(input, { idempotencyKey: tried.current.idempotencyKey })
      tried.current = null
      await refreshSession(session.id).catch(() => {})
      return true
    } catch (error) {
      setProblem(messageOf(error))
      return false
    } finally {
      setBusy(false)
    }
  }
  return { send, busy, problem }
}

/** Random without `randomUUID`, which browsers keep from pages that came without TLS. */
const newKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Asks the agent to stop; it is stopping when the server says so. */
export async function stopSession(session: AgentSession) {
  const stopping = await api.stopAgentSession({ session_id: session.id })
  queries.setQueryData(['session', session.id], stopping)
  await refreshSession(session.id).catch(() => {})
}
