import type { Issue, IssueChangeRecord } from '@baton/protocol'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { lazy, type ReactNode, Suspense, useState } from 'react'
import type { FeedItem } from '../../comments/comments.tsx'
import { readAll } from '../../data/api.ts'
import { knownIssue } from '../../data/issues.ts'
import { isolated } from '../../ui/isolated.ts'
import { Time } from '../../ui/time.tsx'
import { type Directory, forIssue, useDirectory } from '../fields/directory.ts'
import { nameWithin } from '../fields/field.tsx'
import { fields } from '../fields/fields.tsx'
import { type IssueField, listHistory } from '../fields/issue-field.ts'

const historyQuery = (issueId: string) =>
  queryOptions({
    queryKey: ['history', issueId],
    queryFn: () => readAll('listIssueHistory', { issue_id: issueId }, 300),
  })

const codeOf = (id: unknown) => knownIssue(String(id))?.code ?? 'another issue'

/** Keys that have no menu. Keys that change only as a consequence of others are not shown. */
const otherKeys: Record<string, IssueField['history']> = {
  title: ({ to }) => `renamed it to “${to}”`,
  description: () => 'changed the description',
  duplicate_of_id: ({ to }) => (to ? `marked it as a duplicate of ${codeOf(to)}` : 'unmarked it as a duplicate'),
  code: ({ from, to }) => `changed its ID from ${from} to ${to}`,
  parent_id: ({ to }) => (to ? `made it a sub-issue of ${codeOf(to)}` : 'removed its parent'),
  blocks_ids: (change) => listHistory('marked it as blocking', 'marked it as no longer blocking')(change, codeOf),
  blocked_by_ids: (change) =>
    listHistory('marked it as blocked by', 'marked it as no longer blocked by')(change, codeOf),
}

const fieldOf = new Map(Object.values(fields).map((field) => [field.key as string, field]))

const textOf = ({ changes, former_agents }: IssueChangeRecord, directory: Directory) =>
  Object.entries(changes)
    .flatMap(([key, change]) => {
      const field = fieldOf.get(key)
      if (!field) return otherKeys[key]?.(change, String) ?? []
      return field.history(change, (value) => {
        const former = former_agents.find(({ id }) => id === value)
        return isolated(former?.name ?? nameWithin(field, String(value), directory))
      })
    })
    .join(', ')

/** The changes of an issue, as lines for its activity. */
export function useHistory(issue: Issue): FeedItem[] {
  const { data = [] } = useQuery(historyQuery(issue.id))
  const directory = useDirectory(forIssue)
  return data.flatMap((record) => {
    const { id, actor, created_at } = record
    const text = textOf(record, directory)
    if (!text) return []
    return [
      {
        at: created_at,
        key: id,
        node: (
          <ChangeLine issue={issue} description={record.changes.description}>
            <span className="font-medium text-ink-2">
              <bdi>{actor?.type === 'system' ? 'Automation' : (actor?.name ?? 'A former member')}</bdi>
            </span>
            {record.automation_id && (
              <Suspense fallback={null}>
                <ByAutomation id={record.automation_id} />
              </Suspense>
            )}{' '}
            {text}
            {' · '}
            <Time at={created_at} />
          </ChangeLine>
        ),
      },
    ]
  })
}

const ByAutomation = lazy(() => import('../../comments/by-automation.tsx'))
const DescriptionDiff = lazy(() => import('./description-diff.tsx'))

interface LineProps {
  issue: Issue
  description: IssueChangeRecord['changes'][string] | undefined
  children: ReactNode
}

/** A change in one line. That of a description opens its diff. */
function ChangeLine({ issue, description, children }: LineProps) {
  const [open, setOpen] = useState(false)
  return (
    <div>
      <p className="px-3.5 text-xs text-ink-3">
        {children}
        {description && (
          <>
            {' · '}
            <button
              type="button"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
              className="rounded underline hover:text-ink"
            >
              {open ? 'Hide diff' : 'Show diff'}
            </button>
          </>
        )}
      </p>
      {open && description && (
        <Suspense fallback={null}>
          <DescriptionDiff issue={issue} from={String(description.from)} to={String(description.to)} />
        </Suspense>
      )}
    </div>
  )
}
