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
import { exactly, Time } from '../ui/time.tsx'
import { ManagersOnly } from '../workspaces/managers-only.tsx'
import { aboutWhat, useNames } from './names.ts'
import { auditWords } from './words.ts'

/** Who changed access, and how: newest first. */
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
          aria-label="Kind of change"
          className="w-56 max-sm:w-40"
          value={action}
          onChange={(event) => setAction(event.target.value as AuditAction | '')}
        >
          <option value="">Everything</option>
          {(Object.keys(auditWords) as AuditAction[]).map((one) => (
            <option key={one} value={one}>
              {auditWords[one].replace(/^./, (letter) => letter.toUpperCase())}
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
      <Empty icon={ScrollText} title="Nothing of this kind has happened">
        Changes of access, secrets, apps, webhooks and teams are kept here.
      </Empty>
    )
  }
  return (
    <ul aria-label="Audit log" className="divide-y">
      {entries.map((entry) => (
        <Entry key={entry.id} entry={entry} about={aboutWhat(entry, names)} />
      ))}
    </ul>
  )
}

function Entry({ entry, about }: { entry: AuditEntry; about: string[] }) {
  const { action, actor, subject_id, details, created_at } = entry
  const more = Object.entries(details)
  return (
    <li className="px-4 py-2">
      <details className="group">
        <summary className="flex list-none flex-wrap items-center gap-x-3 gap-y-0.5">
          <Avatar name={actor?.name ?? 'Baton'} size={20} />
          <span className="min-w-52 flex-1">
            <strong className="font-semibold">{actor?.name ?? 'Baton'}</strong> {auditWords[action]}
            {about.length > 0 && <span className="text-ink-2">: {about.join(', ')}</span>}
          </span>
          <Time at={created_at} className="tabular text-xs text-ink-3" />
        </summary>
        <dl className="mt-2 mb-1 ml-8 grid grid-cols-[auto_1fr] gap-x-4 gap-y-1 text-xs">
          <dt className="text-ink-3">When</dt>
          <dd className="tabular">{exactly(created_at)}</dd>
          <dt className="text-ink-3">What</dt>
          <dd className="font-mono">{action}</dd>
          <dt className="text-ink-3">About</dt>
          <dd className="font-mono wrap-anywhere">{subject_id}</dd>
          {more.map(([name, value]) => (
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
