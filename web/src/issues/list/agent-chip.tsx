import type { AgentSession, Choice, Issue, SessionState } from '@baton/protocol'
import { agentName, stateOf } from '../../agent-sessions/state.tsx'
import { Avatar } from '../../ui/avatar.tsx'
import { cx } from '../../ui/class-names.ts'
import { isolated } from '../../ui/isolated.ts'
import { Dot } from '../../ui/pill.tsx'

/** Shorter labels for the narrow chip. */
const short: Partial<Record<SessionState, string>> = { pending: 'Waiting' }

interface Props {
  issue: Issue
  session: AgentSession | undefined
  people: ReadonlyMap<string, Choice>
  className?: string
}

/** The agent of an issue and the state of its session, linked to the issue. Empty if no agent works on it. */
export function AgentChip({ issue, session, people, className }: Props) {
  const active = session && !session.ended_at && session.state !== 'complete'
  if (!issue.delegate_id && !active) return null
  const agent = people.get(issue.delegate_id ?? session?.app_user_id ?? '')
  const current = session && (!issue.delegate_id || session.app_user_id === issue.delegate_id) ? session : undefined
  const name = agent?.display_name ?? (current ? agentName(people, current) : 'An agent')
  const state = current && stateOf(current)
  // The chip does not show why the session ended.
  const label = current?.ended_at ? state?.label.split(':')[0] : current && (short[current.state] ?? state?.label)
  return (
    <a
      href={`/issue/${issue.code}`}
      tabIndex={-1}
      title={state ? `${isolated(name)}: ${state.label}` : name}
      aria-label={state ? `${isolated(name)}: ${state.label}` : `Delegated to ${isolated(name)}`}
      className={cx(
        'inline-flex h-5 max-w-44 min-w-0 items-center gap-1.5 rounded-full border pr-2 pl-0.5 text-xs whitespace-nowrap hover:bg-hover',
        state?.tone === 'accent' ? 'border-accent/40 bg-accent-wash text-accent-ink' : 'text-ink-2',
        className,
      )}
    >
      <Avatar name={name} src={agent?.avatar_url} agent size={16} />
      {state ? (
        <>
          <Dot tone={state.tone} {...(state.busy && { pulsing: true })} />
          <span className="truncate">{label}</span>
        </>
      ) : (
        <span className="truncate">
          <bdi>{name}</bdi>
        </span>
      )}
    </a>
  )
}
