import type { AgentSession } from '@baton/protocol'
import { Link } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { Elapsed, useAgent } from '../agent-sessions/header.tsx'
import { progressOf } from '../agent-sessions/plan.tsx'
import { StatePill } from '../agent-sessions/state.tsx'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { isolated } from '../ui/isolated.ts'
import { inOneLine } from '../ui/one-line.ts'
import { rowItem, useRows } from '../ui/rows.ts'
import { Empty } from '../ui/states.tsx'
import { Time } from '../ui/time.tsx'
import { type AgentSearch, type Status, statuses, statusLabels, statusOf } from './search.ts'

/** Only the first done sessions are shown, because there can be many; sessions in other states are all shown. */
const doneAtFirst = 25

interface Props {
  sessions: AgentSession[]
  filters: AgentSearch
  me: string
}

/** Sessions grouped by status. */
export function SessionRows({ sessions, filters, me }: Props) {
  const [most, setMost] = useState(doneAtFirst)
  const groups = useMemo(() => {
    const wanted = sessions.filter(
      (session) =>
        (!filters.agent || session.app_user_id === filters.agent) &&
        (!filters.mine || session.creator.id === me) &&
        (!filters.status || statusOf(session) === filters.status),
    )
    return statuses
      .map((status) => ({ status, all: wanted.filter((session) => statusOf(session) === status) }))
      .filter(({ all }) => all.length > 0)
      .map(({ status, all }) => ({ status, all, shown: status === 'done' ? all.slice(0, most) : all }))
  }, [sessions, filters, me, most])
  const { list } = useRows('session')
  if (groups.length === 0) return <Empty title="No matching sessions">Change or clear the filters.</Empty>
  return (
    <div {...list}>
      {groups.map(({ status, all, shown }) => (
        <section key={status} aria-label={statusLabels[status]}>
          <GroupTitle status={status} count={all.length} />
          <ul>
            {shown.map((session) => (
              <Row key={session.id} session={session} />
            ))}
          </ul>
          {all.length > shown.length && (
            <Button look="quiet" size="sm" className="mx-3 my-2" onClick={() => setMost(most + 100)}>
              Show more ({all.length - shown.length})
            </Button>
          )}
        </section>
      ))}
    </div>
  )
}

const GroupTitle = ({ status, count }: { status: Status; count: number }) => (
  <h2
    className={cx(
      'sticky top-0 z-10 flex h-8 items-center gap-2 border-b bg-sunken px-4 text-xs font-medium',
      status === 'waiting' ? 'text-accent-ink' : 'text-ink-2',
    )}
  >
    {statusLabels[status]}
    <span className="tabular text-ink-3">{count}</span>
  </h2>
)

function Row({ session }: { session: AgentSession }) {
  const agent = useAgent(session)
  const { done, total } = progressOf(session.plan)
  return (
    <li className={cx('border-b', rowItem)}>
      <Link
        data-row={session.id}
        to="/agent-session/$sessionId"
        params={{ sessionId: session.id }}
        className="flex min-h-9 items-center scroll-mt-8 gap-2.5 px-4 py-1 outline-hidden max-sm:flex-wrap max-sm:gap-y-0.5"
      >
        <Avatar agent name={agent.name} src={agent.avatarUrl} size={20} />
        <span className="w-28 shrink-0 truncate font-medium max-sm:w-auto">
          <bdi>{agent.name}</bdi>
        </span>
        <span className="flex min-w-0 flex-1 gap-2 max-sm:order-last max-sm:basis-full">
          {session.issue ? (
            <>
              <span className="tabular shrink-0 text-ink-3 sm:w-16">{session.issue.identifier}</span>
              <span className="line-clamp-2">{session.issue.title}</span>
            </>
          ) : (
            <span className="truncate text-ink-2">
              {session.comment ? inOneLine(session.comment.body) : 'On a project'}
            </span>
          )}
        </span>
        <span className="tabular w-12 shrink-0 text-right text-xs text-ink-3 max-sm:hidden">
          {total > 0 && `${done} of ${total}`}
        </span>
        <span className="shrink-0 max-sm:ml-auto sm:w-38">
          <StatePill session={session} />
        </span>
        <span className="flex w-20 shrink-0 items-center justify-end gap-1.5 text-xs text-ink-3 max-md:hidden">
          {statusOf(session) === 'working' ? <Elapsed session={session} /> : <Time at={session.updated_at} />}
        </span>
        <span className="shrink-0 max-md:hidden" title={`Requested by ${isolated(session.creator.name)}`}>
          <Avatar name={session.creator.name} agent={session.creator.id === session.app_user_id} size={20} />
          <span className="sr-only">
            Requested by <bdi>{session.creator.name}</bdi>
          </span>
        </span>
      </Link>
    </li>
  )
}
