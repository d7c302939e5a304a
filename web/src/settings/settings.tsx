import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useMe } from '../data/me.ts'

const pages = [
  { to: '/settings/account', title: 'Account', forManagers: false },
  { to: '/settings/notifications', title: 'Notifications', forManagers: false },
  { to: '/settings/workspace', title: 'Workspace', forManagers: true },
  { to: '/settings/members', title: 'Members', forManagers: false },
  { to: '/settings/teams', title: 'Teams', forManagers: false },
  { to: '/settings/labels', title: 'Labels', forManagers: false },
  { to: '/settings/templates', title: 'Templates', forManagers: false },
  { to: '/settings/cycles', title: 'Cycles', forManagers: false },
  { to: '/settings/automations', title: 'Automations', forManagers: false },
  { to: '/settings/agent-apps', title: 'Agent apps', forManagers: false },
  { to: '/settings/import', title: 'Import', forManagers: true },
  { to: '/settings/placeholders', title: 'Placeholders', forManagers: true },
  { to: '/settings/git', title: 'Git', forManagers: true },
  { to: '/settings/storage', title: 'Storage', forManagers: true },
  { to: '/settings/webhooks', title: 'Webhooks', forManagers: true },
  { to: '/settings/audit-log', title: 'Audit log', forManagers: true },
  { to: '/settings/export', title: 'Export and delete', forManagers: true },
  { to: '/settings/api', title: 'API', forManagers: false },
] as const

/** Settings navigation and the open settings page. */
export function Settings() {
  const { isManager } = useMe()
  const { pathname } = useLocation()
  const nav = useRef<HTMLElement>(null)
  // On narrow screens the list scrolls; keep the current page visible, also when the screen is turned.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs again when the page changes
  useEffect(() => {
    const element = nav.current
    if (!element) return
    const show = () =>
      element.querySelector('[data-status=active]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
    const resized = new ResizeObserver(show)
    resized.observe(element)
    return () => resized.disconnect()
  }, [pathname])
  return (
    <div data-settings className="flex h-full max-lg:flex-col">
      <nav
        ref={nav}
        aria-label="Settings"
        className="shrink-0 border-b bg-canvas max-md:pl-13 lg:w-48 lg:border-r lg:border-b-0 lg:p-3"
      >
        <p className="hidden px-2 pt-1 pb-2 text-base font-semibold lg:block">Settings</p>
        <ul className="flex gap-px overflow-x-auto max-lg:h-12 max-lg:items-center max-lg:pr-3 md:max-lg:pl-3 lg:flex-col">
          {pages
            .filter(({ forManagers }) => isManager || !forManagers)
            .map(({ to, title }) => (
              <li key={to}>
                <Link
                  to={to}
                  className="block rounded px-2 py-1 whitespace-nowrap text-ink-2 hover:bg-hover hover:text-ink data-[status=active]:bg-hover data-[status=active]:font-medium data-[status=active]:text-ink"
                >
                  {title}
                </Link>
              </li>
            ))}
        </ul>
      </nav>
      <div className="min-h-0 min-w-0 flex-1">
        <Outlet />
      </div>
    </div>
  )
}
