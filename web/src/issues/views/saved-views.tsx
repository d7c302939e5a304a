import type { View } from '@baton/protocol'
import { Link, useNavigate } from '@tanstack/react-router'
import { Bookmark, MoreHorizontal, Pencil, Trash2, Users } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import { api } from '../../data/api.ts'
import { useMe } from '../../data/me.ts'
import { rereadViews, useViews } from '../../data/views.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { isolated } from '../../ui/isolated.ts'
import { Menu } from '../../ui/menu.tsx'
import { useCommands } from '../../ui/shortcuts.ts'
import { showToast } from '../../ui/toast.tsx'
import { type Place, searchOf } from '../fields/search.ts'

const ViewDialog = lazy(() => import('./view-dialog.tsx').then((module) => ({ default: module.ViewDialog })))

/** The saved views, in the sidebar. */
export function SavedViews({ row, place }: { row: string; place: Place | null }) {
  const views = useViews()
  const { user, isManager } = useMe()
  const navigate = useNavigate()
  const [changing, setChanging] = useState<View | null>(null)
  const [deleting, setDeleting] = useState<View | null>(null)
  useCommands(
    views.map(({ id, name, query }) => ({
      id: `view.${id}`,
      title: name,
      section: 'Views',
      run: () => void navigate({ to: '/issues', search: searchOf(query) }),
    })),
  )
  if (views.length === 0) return null
  const current = ({ id }: View) => ({ 'aria-current': place === `view ${id}` ? ('page' as const) : undefined })
  return (
    <section>
      <h2 className="px-2 pb-1 text-2xs font-medium text-ink-3">Views</h2>
      <ul className="space-y-px">
        {views.map((view) => (
          <li key={view.id} className="group/view relative">
            <Link
              to="/issues"
              search={searchOf(view.query)}
              activeOptions={{ exact: true }}
              inactiveProps={current(view)}
              className={row}
            >
              {view.shared ? (
                <Users size={15} aria-hidden className="shrink-0" />
              ) : (
                <Bookmark size={15} aria-hidden className="shrink-0" />
              )}
              <span className="min-w-0 flex-1 truncate pr-5">
                <bdi>{view.name}</bdi>
              </span>
            </Link>
            {(view.owner_id === user.id || (view.shared && isManager)) && (
              <div className="absolute top-0.5 right-0.5 opacity-0 group-focus-within/view:opacity-100 group-hover/view:opacity-100 max-md:opacity-100">
                <Menu
                  label={`Actions for ${isolated(view.name)}`}
                  trigger={
                    <button
                      type="button"
                      aria-label={`Actions for ${isolated(view.name)}`}
                      className="flex size-6 items-center justify-center rounded text-ink-3 hover:bg-line hover:text-ink"
                    >
                      <MoreHorizontal size={14} aria-hidden />
                    </button>
                  }
                  items={[
                    { label: 'Rename or share', icon: Pencil, onPick: () => setChanging(view) },
                    { label: 'Delete view', icon: Trash2, danger: true, onPick: () => setDeleting(view) },
                  ]}
                />
              </div>
            )}
          </li>
        ))}
      </ul>
      <Suspense>{changing && <ViewDialog view={changing} onClose={() => setChanging(null)} />}</Suspense>
      <Confirm
        open={deleting !== null}
        onClose={() => setDeleting(null)}
        title={`Delete the view “${isolated(deleting?.name)}”?`}
        action="Delete view"
        onConfirm={async () => {
          if (!deleting) return
          await api.deleteView({ view_id: deleting.id })
          await rereadViews()
          showToast(`View “${isolated(deleting.name)}” deleted`)
        }}
      >
        <p>It is removed from {deleting?.shared ? 'everyone’s' : 'your'} sidebar. Its issues are not changed.</p>
      </Confirm>
    </section>
  )
}
