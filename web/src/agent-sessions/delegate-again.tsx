import type { AgentSession, Choice } from '@baton/protocol'
import { RotateCcw } from 'lucide-react'
import { useRef } from 'react'
import { api } from '../data/api.ts'
import { putIssue } from '../data/issues.ts'
import { useMe } from '../data/me.ts'
import { useDelegate } from '../delegation/delegate.tsx'
import { delegateIssues } from '../delegation/delegate-issues.ts'
import { useAction } from '../ui/action.ts'
import { Button } from '../ui/button.tsx'
import { showError } from '../ui/toast.tsx'

interface Props {
  session: AgentSession
  /** `kind` is null if the agent was removed or is not visible to this user. */
  agent: { name: string; kind: Choice['agent_kind'] }
}

/** Delegates the issue to the same agent again, or opens the picker if it is unavailable. */
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
    // Delegating to the current delegate changes nothing, so the delegation is removed first.
    const free =
      now.delegate_id === app_user_id ? await api.updateIssue({ issue_id: issue.id, delegate_id: null }) : now
    putIssue(free)
    await delegateIssues({
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
