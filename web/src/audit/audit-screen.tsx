import type { AuditAction, AuditEntry } from '@baton/protocol'
import { useInfiniteQuery } from '@tanstack/react-query'
import { ScrollText } from 'lucide-react'
import { useState } from 'react'
import { api } from '../data/api.ts'
import { Avatar } from '../ui/avatar.tsx'
import { Button } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { Page } from '../ui/layout.tsx'
import { Loaded } from '../ui/loaded.tsx'
import { Empty } from '../ui/states.tsx'
import { timeAgo } from '../ui/time.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { type Change, Changes, changesOf } from './changes.tsx'
import { ExportLog } from './export-log.tsx'
import { actionLabels, sentenceOf } from './labels.ts'
import { useActors, useNames } from './names.ts'

export function AuditScreen() {
  return (
    <ManagersOnly title="Audit log">
      <Log />
    </ManagersOnly>
  )
}

function Log() {
  const [action, setAction] = useState<AuditAction | ''>('')
  const [actorId, setActorId] = useState('')
  const query = useInfiniteQuery({
    queryKey: ['audit-log', action, actorId],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      api.listAuditEntries({
        limit: 50,
        ...(action && { action }),
        ...(actorId && { actor_id: actorId }),
        ...(pageParam && { cursor: pageParam }),
      }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })
  const actors = useActors(query.data?.pages.flatMap((page) => page.data) ?? [])
  return (
    <Page
      title="Audit log"
      actions={<ExportLog />}
      below={
        <div className="flex flex-wrap gap-2 px-4 pb-2">
          <Select
            aria-label="Person"
            className="w-56 max-sm:w-full"
            value={actorId}
            onChange={(event) => setActorId(event.target.value)}
          >
            <option value="">All people and agents</option>
            {actors.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </Select>
          <Select
            aria-label="Action"
            className="w-56 max-sm:w-full"
            value={action}
            onChange={(event) => setAction(event.target.value as AuditAction | '')}
          >
            <option value="">All events</option>
            {(Object.keys(actionLabels) as AuditAction[]).map((option) => (
              <option key={option} value={option}>
                {actionLabels[option]}
              </option>
            ))}
          </Select>
        </div>
      }
    >
      <Loaded query={query} rows={12}>
        {({ pages }) => <Entries entries={pages.flatMap((page) => page.data)} />}
      </Loaded>
      {query.hasNextPage && (
        <div className="p-4 text-center">
          <Button busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
            Show earlier
          </Button>
        </div>
      )}
    </Page>
  )
}

function Entries({ entries }: { entries: AuditEntry[] }) {
  const names = useNames(entries)
  if (entries.length === 0) {
    return (
      <Empty icon={ScrollText} title="No matching events">
        Changes to access, secrets, apps, webhooks and teams appear here.
      </Empty>
    )
  }
  return (
    <ul aria-label="Audit log" className="divide-y">
      {entries.map((entry) => (
        <Entry key={entry.id} entry={entry} text={sentenceOf(entry, names)} changes={changesOf(entry, names)} />
      ))}
    </ul>
  )
}

const withZone = new Intl.DateTimeFormat('en', {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
})

/** "Mar 2, 2026, 09:00:00 GMT+1", in the time zone of the browser. */
const timeWithZone = (moment: string) => withZone.format(new Date(moment))

function Entry({ entry, text, changes }: { entry: AuditEntry; text: string; changes: Change[] }) {
  const { action, actor, subject_id, details, created_at } = entry
  const others = Object.entries(details).filter(([name]) => changes.length === 0 || !shownAsChanges.has(name))
  return (
    <li className="px-4 py-2">
      <details className="group">
        <summary className="flex list-none flex-wrap items-start gap-x-3 gap-y-0.5">
          <Avatar name={actor?.name ?? 'Baton'} size={20} />
          <div className="min-w-52 flex-1 basis-0">
            <strong className="font-semibold">
              <bdi>{actor?.name ?? 'Baton'}</bdi>
            </strong>{' '}
            {text}
            <div className="group-open:hidden">
              <Changes changes={changes} />
            </div>
          </div>
          <time dateTime={created_at} title={timeAgo(created_at)} className="tabular text-xs text-ink-3 max-sm:ml-8">
            {timeWithZone(created_at)}
          </time>
        </summary>
        <dl className="mt-2 mb-1 ml-8 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs">
          {changes.length > 0 && (
            <>
              <dt className="text-ink-3">Changes</dt>
              <dd>
                <Changes changes={changes} whole />
              </dd>
            </>
          )}
          <dt className="text-ink-3">Time (UTC)</dt>
          <dd className="tabular">{created_at}</dd>
          <dt className="text-ink-3">Action</dt>
          <dd className="font-mono">{action}</dd>
          <dt className="text-ink-3">Subject</dt>
          <dd className="font-mono wrap-anywhere">{subject_id}</dd>
          {others.map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-ink-3">{name.replaceAll('_', ' ')}</dt>
              <dd className="font-mono wrap-anywhere">{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
            </div>
          ))}
        </dl>
      </details>
    </li>
  )
}

/** Details that the changes already say. */
const shownAsChanges = new Set(['changes', 'fields', 'from', 'all_teams', 'team_ids'])
