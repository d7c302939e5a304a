import { Outlet, useRouterState } from '@tanstack/react-router'
import { Menu as MenuIcon } from 'lucide-react'
import { lazy, Suspense, useEffect, useState } from 'react'
import { currentWorkspaceId } from '../data/api.ts'
import { useMe } from '../data/me.ts'
import { useOverlay } from '../data/overlay.ts'
import { usePeople } from '../data/workspaces.ts'
import { IconButton } from '../ui/button.tsx'
import { cx } from '../ui/class-names.ts'
import { MarkdownIssueLink } from '../ui/markdown-issue-link.ts'
import { MarkdownPeople } from '../ui/markdown-people.ts'
import { Skeletons } from '../ui/states.tsx'
import { GlobalCommands } from './commands.tsx'
import { ConnectionBanner } from './connection-banner.tsx'
import { Sidebar } from './sidebar.tsx'

const IssueChip = lazy(() => import('../issues/issue/issue-chip.tsx').then((module) => ({ default: module.IssueChip })))
const Overlays = lazy(() => import('./overlays.tsx'))
const DeletionBanner = lazy(() => import('./overlays.tsx').then((module) => ({ default: module.DeletionBanner })))

/** Sidebar, banner and dialogs around every screen of a workspace. */
export function Shell() {
  const [drawer, setDrawer] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const { workspaces } = useMe()
  const isMember = workspaces.some(({ id }) => id === currentWorkspaceId())
  useEffect(() => {
    // Removed from this workspace: open another one, or the page that creates one.
    if (!isMember) location.assign('/')
  }, [isMember])
  const overlay = useOverlay()
  // A dialog has a scrim of its own.
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation and dialogs close the drawer
  useEffect(() => setDrawer(false), [path, overlay])
  return (
    <div className="flex h-full">
      <a
        href="#main"
        className="sr-only z-60 rounded bg-ink px-3 py-2 text-on-ink focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to content
      </a>
      {drawer && (
        // biome-ignore lint/a11y/noStaticElementInteractions: closes with the pointer; the keyboard uses Escape
        // biome-ignore lint/a11y/useKeyWithClickEvents: see above
        <div className="fixed inset-0 z-30 bg-black/35 md:hidden" onClick={() => setDrawer(false)} />
      )}
      <aside
        aria-label="Sidebar"
        className={cx(
          'z-30 w-60 shrink-0 border-r bg-sunken max-md:fixed max-md:inset-y-0 max-md:left-0 max-md:w-68 max-md:transition-transform max-md:duration-150',
          !drawer && 'max-md:invisible max-md:-translate-x-full',
        )}
      >
        <Sidebar />
      </aside>
      <div className="fixed top-2.5 left-3 z-20 md:hidden">
        <IconButton label="Menu" icon={MenuIcon} aria-expanded={drawer} onClick={() => setDrawer(true)} />
      </div>
      <main id="main" tabIndex={-1} className="flex min-w-0 flex-1 flex-col bg-canvas outline-none">
        <ConnectionBanner />
        <Suspense>
          <DeletionBanner />
        </Suspense>
        <div className="min-h-0 flex-1">
          <Suspense fallback={<Skeletons />}>
            <MarkdownPeople value={usePeople()}>
              <MarkdownIssueLink value={IssueChip}>
                <Outlet />
              </MarkdownIssueLink>
            </MarkdownPeople>
          </Suspense>
        </div>
      </main>
      <GlobalCommands closeDrawer={drawer ? () => setDrawer(false) : undefined} />
      <Suspense>
        <Overlays />
      </Suspense>
    </div>
  )
}
