import { CircleDot, SearchX } from 'lucide-react'
import { maxIssues } from '../../data/issues.ts'
import { showOverlay } from '../../data/overlay.ts'
import { Button } from '../../ui/button.tsx'
import { Empty } from '../../ui/states.tsx'
import { type IssueSearch, isFiltered, withoutFilters } from '../fields/search.ts'

interface Props {
  search: IssueSearch
  onSearch: (next: (before: IssueSearch) => IssueSearch) => void
  /** The number of issues without the filters. */
  total: number
}

/** The empty state of the list: no issue matches the filters, or there are none yet. */
export function NoIssues({ search, onSearch, total }: Props) {
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
        {total.toLocaleString('en')} {total === 1 ? 'issue is' : 'issues are'} hidden by the filters above.
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

/** Shown below the list if the workspace has more issues than are loaded. */
export const ListLimit = () => (
  <div className="flex shrink-0 items-center gap-2 border-t px-4 py-1 text-xs text-ink-3">
    <p className="min-w-0 flex-1">
      This list has the {maxIssues.toLocaleString('en')} newest issues. Search finds older ones.
    </p>
    <Button look="quiet" size="sm" command="palette" onClick={() => showOverlay({ name: 'palette' })}>
      Search
    </Button>
  </div>
)
