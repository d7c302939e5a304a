import { CircleDot, SearchX } from 'lucide-react'
import type { ReactNode } from 'react'
import { loadIssues, useIssues } from '../../data/issues.ts'
import { showOverlay } from '../../data/overlay.ts'
import { Button } from '../../ui/button.tsx'
import { messageOf } from '../../ui/problem.ts'
import { Empty, Failed, Skeletons } from '../../ui/states.tsx'
import { type IssueSearch, isFiltered, withoutFilters } from '../fields/search.ts'

interface Props {
  shown: number
  search: IssueSearch
  onSearch: (next: (before: IssueSearch) => IssueSearch) => void
  children: ReactNode
}

/** The list, or an empty, loading or error state. Issues already read stay usable when reading the rest fails. */
export function ListOrEmpty({ shown, search, onSearch, children }: Props) {
  const { issues, complete, error } = useIssues()
  if (issues.length === 0 && error) return <Failed error={error} onRetry={() => void loadIssues()} />
  if (shown === 0 && !complete && !error) return <Skeletons rows={14} />
  if (shown > 0) {
    return (
      <div className="flex h-full flex-col">
        {error ? <Incomplete error={error} /> : null}
        <div className="min-h-0 flex-1">{children}</div>
      </div>
    )
  }
  if (isFiltered(search)) {
    return (
      <Empty
        icon={SearchX}
        title="No matching issues"
        action={
          <Button look="primary" command="issues.clear-filters" onClick={() => onSearch(withoutFilters)}>
            Clear filters
          </Button>
        }
      >
        {issues.length.toLocaleString('en')} {issues.length === 1 ? 'issue is' : 'issues are'} hidden by the filters
        above.
      </Empty>
    )
  }
  return (
    <Empty
      icon={CircleDot}
      title="No issues yet"
      action={
        <Button look="primary" command="create.issue" onClick={() => showOverlay({ name: 'create-issue' })}>
          Create issue
        </Button>
      }
    >
      An issue is one piece of work, such as a feature, a bug or a question. Assign it to a member or delegate it to an
      agent.
    </Empty>
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
