import { Link, useRouterState } from '@tanstack/react-router'
import {
  Bot,
  ChartColumn,
  Check,
  ChevronsUpDown,
  CircleUser,
  FolderKanban,
  Inbox,
  Keyboard,
  Layers,
  ListChecks,
  type LucideIcon,
  Plus,
  Search,
  Settings,
  Sparkles,
  SquarePen,
} from 'lucide-react'
import type { ReactNode } from 'react'
import { enterWorkspace } from '../data/api.ts'
import { useUnreadCount } from '../data/inbox.ts'
import { useMe } from '../data/me.ts'
import { showOverlay } from '../data/overlay.ts'
import { useViews } from '../data/views.ts'
import { useTeams } from '../data/workspaces.ts'
import { type Place, parseIssueSearch, placeOf } from '../issues/fields/search.ts'
import { SavedViews } from '../issues/views/saved-views.tsx'
import { signOut } from '../login/sign-out.ts'
import { Avatar } from '../ui/avatar.tsx'
import { IconButton } from '../ui/button.tsx'
import { Menu } from '../ui/menu.tsx'

const row =
  'flex h-7 items-center gap-2 rounded px-2 text-ink-2 hover:bg-hover hover:text-ink aria-[current=page]:bg-hover aria-[current=page]:font-medium aria-[current=page]:text-ink'

const Item = ({ icon: Icon, children, count }: { icon: LucideIcon; children: ReactNode; count?: number }) => (
  <>
    <Icon size={15} aria-hidden className="shrink-0" />
    <span className="min-w-0 flex-1 truncate">{children}</span>
    {count ? (
      <span className="tabular rounded-full bg-accent-wash px-1.5 text-xs font-semibold text-accent-ink">
        {count}
        <span className="sr-only"> unread</span>
      </span>
    ) : null}
  </>
)

/** The item of the sidebar that lists the issues on screen; null on other screens. */
function usePlace(): Place | null {
  const { user } = useMe()
  const views = useViews()
  const search = useRouterState({
    select: ({ location }) => (location.pathname === '/issues' ? location.search : null),
  })
  return search && placeOf(parseIssueSearch(search as Record<string, unknown>), user.id, views)
}

export function Sidebar() {
  const place = usePlace()
  const at = (own: Place) => ({ 'aria-current': place === own ? ('page' as const) : undefined })
  const { user } = useMe()
  const unread = useUnreadCount()
  const teams = useTeams()
  return (
    <div className="flex h-full flex-col gap-3 p-2.5">
      <div className="flex items-center gap-1">
        <WorkspaceMenu />
        <IconButton label="Search" icon={Search} command="palette" onClick={() => showOverlay({ name: 'palette' })} />
        <IconButton
          label="Create issue"
          icon={SquarePen}
          command="create.issue"
          onClick={() => showOverlay({ name: 'create-issue' })}
        />
      </div>
      <nav aria-label="Workspace" className="min-h-0 flex-1 space-y-4 overflow-y-auto">
        <ul className="space-y-px">
          <li>
            <Link to="/inbox" className={row}>
              <Item icon={Inbox} count={unread}>
                Inbox
              </Item>
            </Link>
          </li>
          <li>
            <Link
              to="/issues"
              search={{ assignee: user.id }}
              activeOptions={{ exact: true }}
              inactiveProps={at('mine')}
              className={row}
            >
              <Item icon={CircleUser}>My issues</Item>
            </Link>
          </li>
          <li>
            <Link to="/issues" search={{}} activeOptions={{ exact: true }} inactiveProps={at('all')} className={row}>
              <Item icon={Layers}>All issues</Item>
            </Link>
          </li>
          <li>
            <Link to="/projects" className={row}>
              <Item icon={FolderKanban}>Projects</Item>
            </Link>
          </li>
          <li>
            <Link to="/agents" className={row}>
              <Item icon={Bot}>Agents</Item>
            </Link>
          </li>
          <li>
            <Link to="/reviews" className={row}>
              <Item icon={ListChecks}>Reviews</Item>
            </Link>
          </li>
          <li>
            <Link to="/triage" className={row}>
              <Item icon={Sparkles}>Triage</Item>
            </Link>
          </li>
          <li>
            <Link to="/insights" className={row}>
              <Item icon={ChartColumn}>Insights</Item>
            </Link>
          </li>
        </ul>
        <section>
          <h2 className="px-2 pb-1 text-2xs font-medium text-ink-3">Teams</h2>
          <ul className="space-y-px">
            {teams.map(({ id, key, name }) => (
              <li key={id}>
                <Link
                  to="/issues"
                  search={{ team: key }}
                  activeOptions={{ exact: true }}
                  inactiveProps={at(`team ${key}`)}
                  className={row}
                >
                  <span
                    aria-hidden
                    className="flex size-[15px] shrink-0 items-center justify-center rounded-sm bg-line-strong/60 text-[9px] font-bold text-ink-2"
                  >
                    {key[0]}
                  </span>
                  <span className="min-w-0 flex-1 truncate">
                    <bdi>{name}</bdi>
                  </span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
        <SavedViews row={row} place={place} />
      </nav>
      <div className="flex items-center gap-1 border-t pt-2">
        <Link
          to="/settings/account"
          className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded px-1.5 hover:bg-hover"
        >
          <Avatar name={user.display_name} size={20} />
          <span className="truncate">
            <bdi>{user.display_name}</bdi>
          </span>
        </Link>
        <IconButton
          label="Keyboard shortcuts"
          icon={Keyboard}
          command="help"
          onClick={() => showOverlay({ name: 'help' })}
        />
        <Link
          to="/settings"
          aria-label="Settings"
          title="Settings"
          className="inline-flex size-7 items-center justify-center rounded text-ink-3 hover:bg-hover hover:text-ink"
        >
          <Settings size={15} aria-hidden />
        </Link>
      </div>
    </div>
  )
}

function WorkspaceMenu() {
  const { workspaces, workspace } = useMe()
  const enter = (id: string) => {
    enterWorkspace(id)
    location.assign('/')
  }
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="flex h-8 min-w-0 flex-1 items-center gap-2 rounded px-1.5 font-semibold hover:bg-hover"
        >
          <img src="/assets/baton.svg" alt="" width={20} height={20} />
          <span className="min-w-0 flex-1 truncate text-left">
            <bdi>{workspace?.name ?? 'Baton'}</bdi>
          </span>
          <ChevronsUpDown size={13} aria-hidden className="text-ink-3" />
        </button>
      }
      items={[
        ...workspaces.map(({ id, name }) => ({
          label: name,
          ...(id === workspace?.id && { icon: Check }),
          onPick: () => enter(id),
        })),
        null,
        { label: 'Create workspace', icon: Plus, onPick: () => location.assign('/workspaces/new') },
        null,
        { label: 'Sign out', onPick: () => void signOut('/sign-in') },
      ]}
    />
  )
}
