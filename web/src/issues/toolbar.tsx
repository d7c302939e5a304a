import { Plus } from 'lucide-react'
import { lazy, memo, Suspense } from 'react'
import { issueStore } from '../data/issues.ts'
import { useMe } from '../data/me.ts'
import { showOverlay } from '../data/overlay.ts'
import { useViews } from '../data/views.ts'
import { Button } from '../ui/button.tsx'
import { useStore } from '../ui/store.ts'
import { GroupAndSort, LayoutSwitch } from './display.tsx'
import type { Directory } from './fields/directory.ts'
import { nameOf } from './fields/field.tsx'
import { fields, idFromUrl } from './fields/fields.tsx'
import { type IssueSearch, queryOf, searchOf, withoutFilters } from './fields/search.ts'
import { Filters } from './filters.tsx'
import { SaveView } from './views/save-view.tsx'

const ExportCsv = lazy(() => import('./export-csv.tsx'))

interface Props {
  search: IssueSearch
  directory: Directory
  count: number
  /** Ids of the listed issues. */
  idsOf: () => string[]
  onSearch: (next: (before: IssueSearch) => IssueSearch, how?: { replace: boolean }) => void
  onLeave: () => void
}

/** Title, filters and layout of the list. */
export const Toolbar = memo(function Toolbar({ search, directory, count, idsOf, onSearch, onLeave }: Props) {
  const complete = useStore(issueStore, ({ complete }) => complete)
  return (
    <header className="shrink-0 border-b bg-canvas">
      <div className="flex h-12 items-center gap-2 px-4 max-md:pl-13">
        <h1 className="min-w-0 truncate text-base font-semibold">{useTitle(search, directory)}</h1>
        <span className="flex-1 text-ink-3 tabular" role="status">
          {count.toLocaleString('en')}
          <span className="sr-only"> issues</span>
          {!complete && <span className="max-sm:sr-only"> so far, loading more</span>}
        </span>
        <Suspense fallback={<span className="size-7" />}>
          <ExportCsv search={search} directory={directory} idsOf={idsOf} />
        </Suspense>
        <LayoutSwitch search={search} onSearch={onSearch} />
        <Button
          look="primary"
          icon={Plus}
          command="create.issue"
          aria-label="New issue"
          onClick={() => showOverlay({ name: 'create-issue' })}
        >
          <span className="max-sm:hidden">New issue</span>
        </Button>
      </div>
      <Filters
        search={search}
        directory={directory}
        onSearch={onSearch}
        onLeave={onLeave}
        actions={
          <>
            <SaveView search={search} />
            <GroupAndSort search={search} onSearch={onSearch} />
          </>
        }
      />
    </header>
  )
})

/** The name of the saved view, the team, or My issues. */
function useTitle(search: IssueSearch, directory: Directory): string {
  const { user } = useMe()
  const views = useViews()
  const query = queryOf(search)
  const view = query && views.find((one) => queryOf(searchOf(one.query)) === query)
  if (view) return view.name
  const { team, assignee, ...others } = search
  const narrowed = queryOf(others) !== queryOf(withoutFilters(search))
  if (team && !/[,!]/.test(team) && !narrowed)
    return nameOf(fields.team, idFromUrl(fields.team, team, directory), directory)
  if ((assignee === user.id || assignee === 'me') && !team && !narrowed) return 'My issues'
  return 'Issues'
}
