import type { AgentSession } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Gauge } from 'lucide-react'
import { useEffect } from 'react'
import { installationsQuery, usageQuery } from '../data/agent-apps.ts'
import { refreshSession } from '../data/agent-sessions.ts'
import { useMe } from '../data/me.ts'
import { membersQuery } from '../data/workspaces.ts'
import { isolated } from '../ui/isolated.ts'
import { reachedLimits } from './limits.ts'
import { Hint } from './status.tsx'

/** In place of the composer: which limit was reached, and who can raise it. */
export function BudgetReached({ session, agent }: { session: AgentSession; agent: string }) {
  const { isManager } = useMe()
  const { data: installations } = useQuery(installationsQuery)
  const appId = installations?.find(({ app_user_id }) => app_user_id === session.app_user_id)?.app_id
  const { data: usage } = useQuery({ ...usageQuery(appId ?? ''), enabled: appId !== undefined })
  const budget = usage && JSON.stringify([usage.budget, usage.month_reached])
  // Another budget, or the next month, may have lifted the limit.
  useEffect(() => {
    if (budget) void refreshSession(session.id).catch(() => {})
  }, [budget, session.id])
  const isMonth = session.budget_reached === 'month'
  const limits = usage ? reachedLimits(session, usage) : []
  return (
    <Hint amber icon={<Gauge size={14} aria-hidden />}>
      <p className="min-w-40 flex-1">
        {isMonth ? (
          <>
            <bdi>{agent}</bdi> has reached its budget for this month
          </>
        ) : (
          'This session has reached its budget'
        )}
        {limits.length > 0 && `: ${limits.join(', ')}`}. No message can be sent until it is raised
        {isMonth && ' or the next month begins'}. {!isManager && <WhoCanRaise />}
      </p>
      {isManager && appId && (
        <Link
          to="/settings/agent-apps/$appId"
          params={{ appId }}
          hash="budget"
          className="font-medium underline underline-offset-2"
        >
          Change budget
        </Link>
      )}
    </Hint>
  )
}

const namedManagers = 3

function WhoCanRaise() {
  const { data: members = [] } = useQuery(membersQuery)
  const managers = members.filter(({ role }) => role !== 'member').map(({ display_name }) => isolated(display_name))
  const named = managers.slice(0, namedManagers)
  const all = named.length < managers.length || named.length === 0 ? [...named, 'another manager'] : named
  const names = named.length === 0 ? 'A manager' : new Intl.ListFormat('en', { type: 'disjunction' }).format(all)
  return `${names} can raise it.`
}
