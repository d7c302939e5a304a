import { type NavigateOptions, useNavigate } from '@tanstack/react-router'
import { useMe } from '../data/me.ts'
import { type Overlay, showOverlay } from '../data/overlay.ts'
import { type Command, useCommands } from '../ui/shortcuts.ts'
import { chooseTheme } from '../ui/theme.ts'
import { undoLatest } from '../ui/toast.tsx'

type Place = [id: string, title: string, keys: string | undefined, to: NavigateOptions]

const places = (me: string): Place[] => [
  ['inbox', 'Inbox', 'g i', { to: '/inbox' }],
  ['mine', 'My issues', 'g m', { to: '/issues', search: { assignee: me } }],
  ['issues', 'All issues', 'g a', { to: '/issues' }],
  ['board', 'Board', 'g b', { to: '/issues', search: { layout: 'board' } }],
  ['projects', 'Projects', 'g p', { to: '/projects' }],
  ['agents', 'Agents', 'g d', { to: '/agents' }],
  ['reviews', 'Reviews', 'g r', { to: '/reviews' }],
  ['triage', 'Triage', 'g t', { to: '/triage' }],
  ['insights', 'Insights', 'g n', { to: '/insights' }],
  ['settings', 'Settings', 'g s', { to: '/settings' }],
]
const settings: Place[] = [
  ['account', 'Account', undefined, { to: '/settings/account' }],
  ['agent-apps', 'Agent apps', 'g x', { to: '/settings/agent-apps' }],
  ['members', 'Members', undefined, { to: '/settings/members' }],
  ['teams', 'Teams', undefined, { to: '/settings/teams' }],
  ['labels', 'Label settings', undefined, { to: '/settings/labels' }],
  ['automations', 'Automations', 'g u', { to: '/settings/automations' }],
  ['templates', 'Template settings', undefined, { to: '/settings/templates' }],
  ['cycles', 'Cycle settings', undefined, { to: '/settings/cycles' }],
  ['api', 'API reference', undefined, { to: '/settings/api' }],
]
const managing: Place[] = [
  ['git', 'Git connections', undefined, { to: '/settings/git' }],
  ['import', 'Import', undefined, { to: '/settings/import' }],
  ['export', 'Export and delete', undefined, { to: '/settings/export' }],
  ['storage', 'Storage', undefined, { to: '/settings/storage' }],
  ['webhooks', 'Webhooks', 'g w', { to: '/settings/webhooks' }],
  ['workspace', 'Workspace settings', undefined, { to: '/settings/workspace' }],
  ['audit-log', 'Audit log', undefined, { to: '/settings/audit-log' }],
]

const create = (id: string, title: string, keys: string, overlay: Overlay): Command => ({
  id: `create.${id}`,
  title,
  section: 'Create',
  keys,
  run: () => showOverlay(overlay),
})

const openPalette = { section: 'Help', hidden: true, run: () => showOverlay({ name: 'palette' }) } as const

const globalCommands: Command[] = [
  { ...openPalette, id: 'palette', title: 'Search and commands', keys: 'mod+k', evenWhileTyping: true },
  { ...openPalette, id: 'search', title: 'Search', keys: '/' },
  { id: 'help', title: 'Keyboard shortcuts', section: 'Help', keys: '?', run: () => showOverlay({ name: 'help' }) },
  { id: 'docs', title: 'Documentation', section: 'Help', run: () => location.assign('/docs') },
  { id: 'undo', title: 'Undo last change', section: 'Help', keys: 'mod+z', hidden: true, run: undoLatest },
  create('issue', 'Create issue', 'c', { name: 'create-issue' }),
  create('project', 'Create project', 'n p', { name: 'create-project' }),
  create('agent', 'Create personal agent', 'n a', { name: 'personal-agent' }),
]
const themes: Command[] = [
  { id: 'theme.light', title: 'Light theme', section: 'Settings', run: () => chooseTheme('light') },
  { id: 'theme.dark', title: 'Dark theme', section: 'Settings', run: () => chooseTheme('dark') },
  { id: 'theme.system', title: 'System theme', section: 'Settings', run: () => chooseTheme('system') },
]

/** Commands that are available on every screen. */
export function GlobalCommands({ closeDrawer }: { closeDrawer: (() => void) | undefined }) {
  const navigate = useNavigate()
  const { user, isManager } = useMe()
  const goTo =
    (section: Command['section']) =>
    ([id, title, keys, to]: Place): Command => ({
      id: `go.${id}`,
      title,
      section,
      ...(keys && { keys }),
      run: () => void navigate(to),
    })
  useCommands([
    ...globalCommands,
    ...places(user.id).map(goTo('Go to')),
    ...[...settings, ...(isManager ? managing : [])].map(goTo('Settings')),
    ...themes,
  ])
  useCommands(
    closeDrawer
      ? [
          {
            id: 'drawer.close',
            title: 'Close menu',
            section: 'View',
            keys: 'escape',
            hidden: true,
            run: closeDrawer,
          },
        ]
      : [],
  )
  return null
}
