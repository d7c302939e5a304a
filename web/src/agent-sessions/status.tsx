import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Clock, Moon, TriangleAlert, Unplug } from 'lucide-react'
import type { ReactNode } from 'react'
import { createdDeliveryQuery } from '../data/created-delivery.ts'
import { useMe } from '../data/me.ts'
import { cx } from '../ui/class-names.ts'
import { isolated } from '../ui/isolated.ts'
import { formatDuration, useNow } from '../ui/time.tsx'
import { DelegateAgain } from './delegate-again.tsx'
import type { useAgent } from './header.tsx'
import { endReasons } from './state.tsx'

interface Props {
  session: AgentSession
  activities: AgentActivity[]
  agent: ReturnType<typeof useAgent>
}

/** A notice about the session where its state alone is not enough. */
export function SessionStatus({ session, activities, agent }: Props) {
  if (session.ended_at) return <Ended session={session} agent={agent} />
  if (session.state === 'stopping') return <Stopping session={session} activities={activities} agent={agent} />
  if (agent.isDisconnected) return <NotConnected session={session} agent={agent} />
  // An agent that never answered is not stale: the event may not have reached it.
  if (session.unresponsive_since) return <Unresponsive session={session} agent={agent} />
  if (session.state === 'stale') return <Silent session={session} activities={activities} agent={agent} />
  return null
}

export const Hint = ({ icon, children, amber }: { icon: ReactNode; children: ReactNode; amber?: boolean }) => (
  <div
    role="status"
    className={cx(
      'flex items-start gap-2 rounded border px-2.5 py-1.5',
      amber ? 'border-warn/40 bg-warn-wash text-warn-ink' : 'bg-sunken text-ink-2',
    )}
  >
    <span className="mt-0.5 shrink-0">{icon}</span>
    <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">{children}</div>
  </div>
)

/** Shows a value that changes every second; screen readers get fixed text instead. */
const Ticking = ({ children, still }: { children: string; still: string }) => (
  <>
    <span aria-hidden className="tabular">
      {children}
    </span>
    <span className="sr-only">{still}</span>
  </>
)

function NotConnected({ session, agent }: Omit<Props, 'activities'>) {
  const waits = session.state === 'complete' || session.state === 'error' ? 'Messages wait' : 'The work waits'
  return (
    <Hint amber icon={<Unplug size={14} aria-hidden />}>
      <p>
        <bdi>{agent.name}</bdi> is not connected. {waits} until its program runs again:{' '}
        <code className="font-mono text-xs">baton run</code> or <code className="font-mono text-xs">baton listen</code>.
      </p>
    </Hint>
  )
}

function Unresponsive({ session, agent }: Omit<Props, 'activities'>) {
  const { isManager } = useMe()
  const runsInside = agent.isOthers || agent.kind === 'deployment' || agent.kind === 'personal'
  const now = useNow(1000)
  const waited = Math.max(0, now - Date.parse(session.created_at))
  return (
    <Hint amber icon={<TriangleAlert size={14} aria-hidden />}>
      <p>
        No answer from <bdi>{agent.name}</bdi> for <Ticking still="some time">{formatDuration(waited)}</Ticking>.{' '}
        {runsInside
          ? 'It runs inside this instance, which may be busy. Ask the operator whether a worker is running.'
          : `It may be offline or may not have received the request.${isManager ? '' : ' An owner or admin can check its deliveries.'}`}
      </p>
      {isManager && !runsInside && <DeliveryLink session={session} />}
    </Hint>
  )
}

/** Links to the delivery that announced the session to the agent. */
function DeliveryLink({ session }: { session: AgentSession }) {
  const { data } = useQuery(createdDeliveryQuery(session))
  if (!data) return null
  const className = 'font-medium underline underline-offset-2'
  if (!data.deliveryId) {
    return (
      <Link to="/settings/agent-apps/$appId/deliveries" params={{ appId: data.appId }} className={className}>
        View deliveries
      </Link>
    )
  }
  return (
    <Link
      to="/settings/agent-apps/$appId/deliveries/$deliveryId"
      params={{ appId: data.appId, deliveryId: data.deliveryId }}
      className={className}
    >
      View delivery
    </Link>
  )
}

function Silent({ session, activities, agent }: Props) {
  const now = useNow(30_000)
  const lastActivityAt = activities.findLast(({ author }) => author.kind === 'app')?.created_at ?? session.created_at
  const minutes = Math.floor((now - Date.parse(lastActivityAt)) / 60_000)
  const long = minutes < 1 ? 'a while' : minutes === 1 ? '1 minute' : minutes < 60 ? `${minutes} minutes` : null
  return (
    <Hint amber icon={<Moon size={14} aria-hidden />}>
      <p>
        <bdi>{agent.name}</bdi> has been silent for {long ?? formatDuration(now - Date.parse(lastActivityAt))} and may
        still return. Send a message to restart it.
      </p>
    </Hint>
  )
}

/** Time the agent has to finish after Stop. */
const stoppingTimeoutMs = 60_000

function Stopping({ session, activities, agent }: Props) {
  const now = useNow(1000)
  const requestedAt = activities.findLast(({ signal }) => signal === 'stop')?.created_at ?? session.updated_at
  const left = Math.max(0, Math.min(stoppingTimeoutMs, stoppingTimeoutMs - (now - Date.parse(requestedAt))))
  return (
    <Hint icon={<Ring part={left / stoppingTimeoutMs} />}>
      <p>
        {session.end_reason === 'undelegated' ? 'The delegation was removed. ' : ''}
        <bdi>{agent.name}</bdi> can send a final message.{' '}
        <Ticking still="Stops automatically within a minute.">
          {left > 0 ? `Stops automatically in ${Math.ceil(left / 1000)} s.` : 'Stopping now.'}
        </Ticking>
      </p>
    </Hint>
  )
}

const Ring = ({ part }: { part: number }) => (
  <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden className="-rotate-90">
    <circle cx="8" cy="8" r="6" fill="none" strokeWidth="2" className="stroke-line" />
    <circle
      cx="8"
      cy="8"
      r="6"
      fill="none"
      strokeWidth="2"
      pathLength={1}
      strokeDasharray={`${part} 1`}
      className="stroke-warn transition-[stroke-dasharray] duration-1000 ease-linear"
    />
  </svg>
)

const afterwards: Partial<Record<NonNullable<AgentSession['end_reason']>, string>> = {
  stopped: 'Stopped. This session is closed.',
  undelegated: 'The delegation was removed. This session is closed.',
  uninstalled: 'The agent was uninstalled. This session is closed.',
  team_removed: 'The agent lost access to this team. This session is closed.',
  issue_deleted: 'The issue or project was deleted.',
}

function Ended({ session, agent }: Omit<Props, 'activities'>) {
  const { end_reason } = session
  return (
    <Hint icon={<Clock size={14} aria-hidden />}>
      <p className="min-w-40 flex-1">
        {(end_reason && (afterwards[end_reason] ?? endReasons[end_reason])) ?? 'The session has ended.'}
        {session.comment && ` Mention ${isolated(agent.name)} in a comment to start a new one.`}
      </p>
      <DelegateAgain session={session} agent={agent} />
    </Hint>
  )
}
