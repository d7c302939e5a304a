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
import { exactTime, Time } from '../ui/time.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { actionLabels, sentenceOf } from './labels.ts'
import { useNames } from './names.ts'

export function AuditScreen() {
  return (
    <ManagersOnly title="Audit log">
      <Log />
    </ManagersOnly>
  )
}

function Log() {
  const [action, setAction] = useState<AuditAction | ''>('')
  const query = useInfiniteQuery({
    queryKey: ['audit-log', action],
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam }) =>
      api.listAuditEntries({ limit: 50, ...(action && { action }), ...(pageParam && { cursor: pageParam }) }),
    getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
  })
  return (
    <Page
      title="Audit log"
      actions={
        <Select
          aria-label="Action"
          className="w-56 max-sm:w-40"
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
        <Entry key={entry.id} entry={entry} text={sentenceOf(entry, names)} />
      ))}
    </ul>
  )
}

function Entry({ entry, text }: { entry: AuditEntry; text: string }) {
  const { action, actor, subject_id, details, created_at } = entry
  return (
    <li className="px-4 py-2">
      <details className="group">
        <summary className="flex list-none flex-wrap items-center gap-x-3 gap-y-0.5">
          <Avatar name={actor?.name ?? 'Baton'} size={20} />
          <span className="min-w-52 flex-1">
            <strong className="font-semibold">
              <bdi>{actor?.name ?? 'Baton'}</bdi>
            </strong>{' '}
            {text}
          </span>
          <Time at={created_at} className="tabular text-xs text-ink-3" />
        </summary>
        <dl className="mt-2 mb-1 ml-8 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs">
          <dt className="text-ink-3">Time</dt>
          <dd className="tabular">{exactTime(created_at)}</dd>
          <dt className="text-ink-3">Action</dt>
          <dd className="font-mono">{action}</dd>
          <dt className="text-ink-3">Subject</dt>
          <dd className="font-mono wrap-anywhere">{subject_id}</dd>
          {Object.entries(details).map(([name, value]) => (
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
