import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { type LucideIcon, Square } from 'lucide-react'
import { forwardRef, type ReactNode } from 'react'
import { activitiesQuery } from '../data/activities.ts'
import { useAgents } from '../data/agents.ts'
import { isDisconnected } from '../delegation/available-agents.ts'
import { useAction } from '../ui/action.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { isolated } from '../ui/isolated.ts'
import { type Command, useCommands } from '../ui/shortcuts.ts'
import { exactTime, formatDuration, Time, useNow } from '../ui/time.tsx'
import { showError, showToast } from '../ui/toast.tsx'
import { askedAt } from './conversation.ts'
import { useShortcutTarget } from './focus.ts'
import { stopSession } from './send.ts'
import { agentName, canStop, isOthers, StatePill, stateOf } from './state.tsx'

/** Name, picture and kind of the session's agent. The name of an agent that is not listed comes from its activities. */
export function useAgent(session: AgentSession) {
  const agents = useAgents()
  const { data: activities } = useQuery({ ...activitiesQuery(session.id), enabled: false })
  const agent = agents.get(session.app_user_id)
  const author = agent ? undefined : activities?.find(({ author }) => author.kind === 'app')?.author.name
  return {
    name: author ?? agentName(agents, session),
    avatarUrl: agent?.avatar_url ?? null,
    kind: agent?.agent_kind ?? null,
    isDisconnected: isDisconnected(agent),
    isOthers: isOthers(agents, session),
  }
}

/** Agent, state, elapsed time, requester, and the Stop button. */
export function SessionHeader(props: { session: AgentSession; activities: AgentActivity[]; actions?: ReactNode }) {
  const { session, activities, actions } = props
  const agent = useAgent(session)
  return (
    <header className="flex flex-wrap items-center gap-x-2.5 gap-y-1.5">
      <Avatar agent name={agent.name} src={agent.avatarUrl} size={32} />
      <div className="min-w-40 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-0.5">
          <span className="min-w-0 truncate font-semibold">
            <bdi>{agent.name}</bdi>
          </span>
          <span aria-live="polite">
            <StatePill session={session} />
          </span>
          <Elapsed session={session} since={askedAt(session, activities)} />
        </p>
        <p className="text-xs text-ink-2">
          {requestOf(session)} <Time at={session.created_at} />
        </p>
      </div>
      <div className="flex items-center gap-1">
        <StopButton session={session} agent={agent.name} />
        {actions}
      </div>
    </header>
  )
}

function requestOf({ creator, app_user_id, comment, issue }: AgentSession): string {
  if (creator.id === app_user_id) return 'Started by the agent'
  if (!comment) return `${isolated(creator.name)} delegated`
  return `${isolated(creator.name)} asked in a comment${issue ? '' : ' on a project'}`
}

/** Counts up while the agent works. */
export function Elapsed({ session, since = session.created_at }: { session: AgentSession; since?: string }) {
  const running = !session.ended_at && stateOf(session).busy === true
  const now = useNow(1000, running)
  const until = running ? now : Date.parse(session.ended_at ?? session.updated_at)
  const began = Date.parse(since) <= until ? since : session.created_at
  return (
    <time title={`Since ${exactTime(began)}`} className="tabular text-xs text-ink-3">
      {formatDuration(until - Date.parse(began))}
    </time>
  )
}

const StopIcon: LucideIcon = forwardRef((props, ref) => <Square ref={ref} {...props} fill="currentColor" />)

function StopButton({ session, agent }: { session: AgentSession; agent: string }) {
  const can = canStop(session)
  const { hasFocus, isTarget } = useShortcutTarget('stop', session.id, can)
  const { run: stop, busy } = useAction(() => stopSession(session), showError)
  const byKey = () => {
    if (isTarget()) void stop()
    else showToast('Several sessions can be stopped. Use the Stop button of one of them.')
  }
  const commands: Command[] = [
    {
      id: `session.stop.${session.id}`,
      title: `Stop ${isolated(agent)}`,
      section: 'Agent session',
      keys: 'mod+.',
      evenWhileTyping: true,
      hasFocus,
      run: byKey,
    },
  ]
  useCommands(can ? commands : [])
  if (!can) return null
  return (
    <Button size="sm" icon={StopIcon} busy={busy} command={`session.stop.${session.id}`} onClick={() => void stop()}>
      Stop
    </Button>
  )
}
