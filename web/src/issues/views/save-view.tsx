import { BookmarkPlus } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { useMe } from '../../data/me.ts'
import { useViews } from '../../data/views.ts'
import { Button } from '../../ui/button.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { type IssueSearch, queryOf, searchOf } from '../fields/search.ts'

const ViewDialog = lazy(() => import('./view-dialog.tsx').then((module) => ({ default: module.ViewDialog })))

/** Saves filters and layout as a view, unless a view already has them. */
export function SaveView({ search }: { search: IssueSearch }) {
  const [open, setOpen] = useState(false)
  const { user } = useMe()
  const views = useViews()
  const query = queryOf(search)
  const plain =
    query === '' || query === `assignee=${user.id}` || (search.team !== undefined && query === `team=${search.team}`)
  const saved = views.some((view) => queryOf(searchOf(view.query)) === query)
  const offered = !plain && !saved
  useCommands(
    offered
      ? [{ id: 'views.save', title: 'Save view', section: 'View', keys: 'shift+v', run: () => setOpen(true) }]
      : [],
  )
  return (
    <>
      {offered && (
        <Button size="sm" look="quiet" icon={BookmarkPlus} aria-label="Save view" onClick={() => setOpen(true)}>
          <span className="max-sm:hidden">Save view</span>
        </Button>
      )}
      <Suspense>{open && <ViewDialog query={query} onClose={() => setOpen(false)} />}</Suspense>
    </>
  )
}
