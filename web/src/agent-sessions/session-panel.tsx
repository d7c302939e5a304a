import type { AgentActivity, AgentSession, PullRequest } from '@baton/protocol'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef } from 'react'
import { activitiesQuery } from '../data/activities.ts'
import { useMarkWatched } from '../data/inbox-read.ts'
import { pullRequestsOfSession } from '../data/pull-requests.ts'
import { PullRequests } from '../pull-requests/pull-requests.tsx'
import { cx } from '../ui/class-names.ts'
import { inOneLine } from '../ui/one-line.ts'
import { Failed, Skeletons } from '../ui/states.tsx'
import { exactTime } from '../ui/time.tsx'
import { Activities } from './activities.tsx'
import { BudgetReached } from './budget.tsx'
import { Composer } from './composer.tsx'
import { openQuestion, remainingChoice } from './conversation.ts'
import { SessionHeader, useAgent } from './header.tsx'
import { Links } from './links.tsx'
import { Plan } from './plan.tsx'
import { AnswerOptions } from './question.tsx'
import { Results } from './results.tsx'
import { ReviewBar } from './review-bar.tsx'
import { canStop } from './state.tsx'
import { SessionStatus } from './status.tsx'

const nothing: AgentActivity[] = []
const noPullRequests: PullRequest[] = []
const beside = 'lg:grid lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_minmax(0,1fr)_auto]'
const isWide = () => matchMedia('(min-width: 860px)').matches

/** The whole session: header and plan, activities, composer. */
export function SessionPanel({ session }: { session: AgentSession }) {
  const { data, error, refetch } = useQuery(activitiesQuery(session.id))
  const activities = data ?? nothing
  const ref = useRef<HTMLDivElement>(null)
  useMarkWatched(session.id, ref)
  const pullRequests = useQuery(pullRequestsOfSession(session.id)).data ?? noPullRequests
  const shown = new Set(pullRequests.map(({ url }) => url))
  // Plan, links and changes are beside the activities on wide screens and above them on narrow ones.
  const hasAside =
    session.plan.length + session.external_urls.length + pullRequests.length > 0 ||
    session.changes !== null ||
    session.usage !== null
  return (
    <div ref={ref} data-session={session.id} className={cx('flex h-full min-h-0 flex-col', beside)}>
      <div className="shrink-0 border-b px-4 py-3 max-lg:border-b-0">
        <SessionHeader session={session} activities={activities} />
      </div>
      <div
        className={cx(
          'shrink-0 space-y-2.5 px-3 pb-2.5 max-lg:border-b',
          'lg:col-start-2 lg:row-span-3 lg:row-start-1 lg:overflow-y-auto lg:border-l lg:bg-canvas lg:py-3',
          !hasAside && 'max-lg:py-0',
        )}
      >
        <Plan plan={session.plan} open={isWide()} />
        <PullRequests list={pullRequests} />
        <Links urls={session.external_urls.filter(({ url }) => !shown.has(url.replace(/\/+$/, '')))} />
        <Results session={session} />
        <About session={session} />
      </div>
      {data ? (
        <Activities session={session} activities={data} className="flex-1 px-3 pt-2" />
      ) : (
        <div className="min-h-0 flex-1">
          {error ? <Failed error={error} onRetry={() => void refetch()} /> : <Skeletons />}
        </div>
      )}
      <div className="shrink-0 space-y-2 border-t px-3 py-2.5 empty:hidden">
        <ReviewBar sessionId={session.id} />
        <Reply session={session} activities={activities} />
      </div>
    </div>
  )
}

/** Details of the session; on narrow screens the page title shows them instead. */
const About = ({ session }: { session: AgentSession }) => (
  <dl className="grid grid-cols-[5rem_minmax(0,1fr)] gap-x-2 gap-y-1.5 px-1 pt-1 text-xs max-lg:hidden [&>dt]:text-ink-3">
    {session.issue && (
      <>
        <dt>Issue</dt>
        <dd className="truncate">
          <Link
            to="/issue/$code"
            params={{ code: session.issue.identifier }}
            className="font-medium underline-offset-2 hover:underline"
          >
            {session.issue.identifier} {session.issue.title}
          </Link>
        </dd>
        {session.issue.team && (
          <>
            <dt>Team</dt>
            <dd className="truncate">
              <bdi>{session.issue.team.name}</bdi>
            </dd>
          </>
        )}
      </>
    )}
    {session.comment && (
      <>
        <dt>Comment</dt>
        <dd className="line-clamp-3 wrap-anywhere">{inOneLine(session.comment.body)}</dd>
      </>
    )}
    <dt>Requested by</dt>
    <dd className="truncate">
      <bdi>{session.creator.name}</bdi>
    </dd>
    <dt>Started</dt>
    <dd>{exactTime(session.created_at)}</dd>
    {session.ended_at && (
      <>
        <dt>Ended</dt>
        <dd>{exactTime(session.ended_at)}</dd>
      </>
    )}
  </dl>
)

/** The composer, or the reason why there is none. */
export function Reply({ session, activities }: { session: AgentSession; activities: AgentActivity[] }) {
  const agent = useAgent(session)
  const question = openQuestion(session, activities)
  const choice = question ?? remainingChoice(session, activities)
  const isOpen = !session.ended_at && session.state !== 'stopping'
  return (
    <>
      <SessionStatus session={session} activities={activities} agent={agent} />
      {isOpen && agent.isOthers && (
        <p className="text-ink-2">
          Only <bdi>{session.creator.name}</bdi> can write to this personal agent.
          {canStop(session) && ' Any member can stop it.'}
        </p>
      )}
      {isOpen && !agent.isOthers && session.budget_reached && <BudgetReached session={session} agent={agent.name} />}
      {isOpen && !agent.isOthers && !session.budget_reached && (
        <>
          {choice && <AnswerOptions session={session} question={choice} waits={choice === question} />}
          <Composer key={session.id} session={session} question={question} agent={agent.name} />
        </>
      )}
    </>
  )
}
