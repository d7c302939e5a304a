import type { AgentSession, Choice } from '@baton/protocol'
import { RotateCcw } from 'lucide-react'
import { useRef } from 'react'
import { api } from '../data/api.ts'
import { putIssue } from '../data/issues.ts'
import { useMe } from '../data/me.ts'
import { useDelegate } from '../delegation/delegate.tsx'
import { handOver } from '../delegation/hand-over.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { showError } from '../ui/toast.tsx'

interface Props {
  session: AgentSession
  /** Without a kind it is not there any more, or not for this person. */
  agent: { name: string; kind: Choice['agent_kind'] }
}

/** Hands the issue to the same agent anew; where that one cannot be had, to another. */
export function DelegateAgain({ session, agent }: Props) {
  const button = useRef<HTMLButtonElement>(null)
  const { user } = useMe()
  const choose = useDelegate()
  const { issue, comment, end_reason, app_user_id } = session
  const { run, busy } = useAction(async () => {
    if (!issue) return
    const now = await api.getIssue({ issue_id: issue.id })
    if (agent.kind === null || end_reason === 'team_removed') {
      choose(button.current, [now])
      return
    }
    // Who has it already is told nothing new: it is taken back first.
    const free =
      now.delegate_id === app_user_id ? await api.updateIssue({ issue_id: issue.id, delegate_id: null }) : now
    putIssue(free)
    await handOver({
      issues: [free],
      agent: { id: app_user_id, name: agent.name },
      me: user.id,
      askAssignee: (unowned) => choose(button.current, [unowned]),
    })
  }, showError)
  if (!issue || comment || end_reason === 'issue_deleted') return null
  return (
    <Button ref={button} size="sm" icon={RotateCcw} busy={busy} onClick={() => void run()}>
      Delegate again
    </Button>
  )
}
