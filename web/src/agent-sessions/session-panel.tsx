import type { AgentActivity, AgentSession } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Failed, Skeletons } from '../ui/states.tsx'
import { Activities } from './activities.tsx'
import { Composer } from './composer.tsx'
import { openQuestion } from './conversation.ts'
import { SessionHeader, useAgent } from './header.tsx'
import { Links } from './links.tsx'
import { Plan } from './plan.tsx'
import { activitiesQuery } from './queries.ts'
import { AnswerWays } from './question.tsx'
import { Standing } from './standing.tsx'

const nothing: AgentActivity[] = []

/** Everything about a session: how it stands and its plan on top, what was said, and where to write below. */
export function SessionPanel({ session, actions }: { session: AgentSession; actions?: ReactNode }) {
  const { data, error, refetch } = useQuery(activitiesQuery(session.id))
  const activities = data ?? nothing
  const agent = useAgent(session)
  return (
    <div data-session={session.id} className="flex h-full min-h-0 flex-col">
      <div className="shrink-0 space-y-2 border-b px-3 py-3">
        <SessionHeader session={session} activities={activities} actions={actions} />
        <Plan plan={session.plan} open={session.plan.length <= 8} />
        <Links urls={session.external_urls} />
      </div>
      {data ? (
        <Activities session={session} activities={data} className="flex-1 px-3 pt-2" />
      ) : (
        <div className="min-h-0 flex-1">
          {error ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons />}
        </div>
      )}
      <div className="shrink-0 space-y-2 border-t px-3 py-2.5 empty:hidden">
        <Reply session={session} activities={activities} agent={agent.name} />
      </div>
    </div>
  )
}

/** What can be said to the agent now, and why not. */
export function Reply(props: { session: AgentSession; activities: AgentActivity[]; agent: string }) {
  const { session, activities, agent } = props
  const question = openQuestion(session, activities)
  const hears = !session.ended_at && session.state !== 'stopping'
  return (
    <>
      <Standing session={session} activities={activities} agent={agent} />
      {question && <AnswerWays session={session} question={question} />}
      {hears && <Composer key={session.id} session={session} question={question} agent={agent} />}
    </>
  )
}
