import { lazy, type ReactNode, Suspense } from 'react'
import { loadIssues, useIssues } from '../../data/issues.ts'
import { Button } from '../../ui/button.tsx'
import { messageOf } from '../../ui/problem.ts'
import { Failed, Skeletons } from '../../ui/states.tsx'
import type { IssueSearch } from '../fields/search.ts'

const NoIssues = lazy(() => import('./list-messages.tsx').then((module) => ({ default: module.NoIssues })))
const ListLimit = lazy(() => import('./list-messages.tsx').then((module) => ({ default: module.ListLimit })))

interface Props {
  shown: number
  search: IssueSearch
  onSearch: (next: (before: IssueSearch) => IssueSearch) => void
  children: ReactNode
}

/** The list, or an empty, loading or error state. Issues already read stay usable when reading the rest fails. */
export function ListOrEmpty({ shown, search, onSearch, children }: Props) {
  const { issues, complete, limited, error } = useIssues()
  if (issues.length === 0 && error) return <Failed error={error} onRetry={() => void loadIssues()} />
  if (shown === 0 && !complete && !error) return <Skeletons rows={14} />
  return (
    <div className="flex h-full flex-col">
      {error ? <Incomplete error={error} /> : null}
      <div className="min-h-0 flex-1">
        <Suspense>
          {shown > 0 ? children : <NoIssues search={search} onSearch={onSearch} total={issues.length} />}
        </Suspense>
      </div>
      <Suspense>{limited && <ListLimit />}</Suspense>
    </div>
  )
}

const Incomplete = ({ error }: { error: unknown }) => (
  <div
    role="status"
    className="flex shrink-0 items-center gap-2 border-b bg-warn-wash px-4 py-1.5 text-xs text-warn-ink"
  >
    <span className="min-w-0 flex-1">Some issues could not be loaded. {messageOf(error)}</span>
    <Button size="sm" onClick={() => void loadIssues()}>
      Try again
    </Button>
  </div>
)
