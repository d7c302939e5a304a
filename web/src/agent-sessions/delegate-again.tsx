import type { AgentSession } from '@baton/protocol'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { api, messageOf } from '../api.ts'
import { putIssue } from '../issues/store.ts'
import { Button } from '../ui/button.tsx'
import { say } from '../ui/toast.tsx'

/** Hands the issue to the same agent anew: a new session begins. */
export function DelegateAgain({ session, agent }: { session: AgentSession; agent: string }) {
  const [busy, setBusy] = useState(false)
  const { issue, comment, end_reason, app_user_id } = session
  if (!issue || comment || end_reason === 'issue_deleted' || end_reason === 'uninstalled') return null
  const delegate = async () => {
    setBusy(true)
    try {
      // Whoever has it already gets nothing new: it is taken back first.
      const now = await api.getIssue({ issue_id: issue.id })
      if (now.delegate_id === app_user_id) await api.updateIssue({ issue_id: issue.id, delegate_id: null })
      putIssue(await api.updateIssue({ issue_id: issue.id, delegate_id: app_user_id }))
      say(`${agent} has ${issue.identifier} again.`)
    } catch (error) {
      say(messageOf(error), { tone: 'bad' })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button size="sm" icon={RotateCcw} busy={busy} onClick={() => void delegate()}>
      Delegate again
    </Button>
  )
}
