import { useNavigate } from '@tanstack/react-router'
import { useMe } from '../login/me.ts'
import { type Command, useCommands } from '../shortcuts.ts'
import { chooseTheme } from '../theme.ts'
import { latestAction } from '../ui/toast.tsx'
import { showOverlay } from './overlay.ts'

/** What can be done everywhere. */
export function GlobalCommands({ closeDrawer }: { closeDrawer: (() => void) | undefined }) {
  const navigate = useNavigate()
  const { user, isManager } = useMe()
  const settings: Command[] = [
    {
      id: 'go.account',
      title: 'Your account',
      section: 'Settings',
      run: () => void navigate({ to: '/settings/account' }),
    },
    {
      id: 'go.agent-apps',
      title: 'Agent apps',
      section: 'Settings',
      keys: 'g x',
      run: () => void navigate({ to: '/settings/agent-apps' }),
    },
    { id: 'go.members', title: 'Members', section: 'Settings', run: () => void navigate({ to: '/settings/members' }) },
    { id: 'go.teams', title: 'Teams', section: 'Settings', run: () => void navigate({ to: '/settings/teams' }) },
    { id: 'go.api', title: 'API reference', section: 'Settings', run: () => void navigate({ to: '/settings/api' }) },
  ]
  const managing: Command[] = [
    {
      id: 'go.webhooks',
      title: 'Webhooks',
      section: 'Settings',
      keys: 'g w',
      run: () => void navigate({ to: '/settings/webhooks' }),
    },
    {
      id: 'go.workspace',
      title: 'Workspace settings',
      section: 'Settings',
      run: () => void navigate({ to: '/settings/workspace' }),
    },
    {
      id: 'go.audit-log',
      title: 'Audit log',
      section: 'Settings',
      run: () => void navigate({ to: '/settings/audit-log' }),
    },
  ]
  useCommands([
    {
      id: 'palette',
      title: 'Search and commands',
      section: 'Help',
      keys: 'mod+k',
      evenWhileTyping: true,
      hidden: true,
      run: () => showOverlay({ name: 'palette' }),
    },
    {
      id: 'search',
      title: 'Search',
      section: 'Help',
      keys: '/',
      hidden: true,
      run: () => showOverlay({ name: 'palette' }),
    },
    { id: 'help', title: 'Keyboard shortcuts', section: 'Help', keys: '?', run: () => showOverlay({ name: 'help' }) },
    { id: 'docs', title: 'Documentation', section: 'Help', run: () => location.assign('/docs') },
    {
      id: 'undo',
      title: 'Undo the last change',
      section: 'Help',
      keys: 'mod+z',
      hidden: true,
      run: () => latestAction()?.run(),
    },
    {
      id: 'create.issue',
      title: 'Create issue',
      section: 'Create',
      keys: 'c',
      run: () => showOverlay({ name: 'create-issue' }),
    },
    {
      id: 'create.project',
      title: 'Create project',
      section: 'Create',
      keys: 'n p',
      run: () => showOverlay({ name: 'create-project' }),
    },
    {
      id: 'create.agent',
      title: 'Create personal agent',
      section: 'Create',
      keys: 'n a',
      run: () => showOverlay({ name: 'personal-agent' }),
    },
    { id: 'go.inbox', title: 'Inbox', section: 'Go to', keys: 'g i', run: () => void navigate({ to: '/inbox' }) },
    {
      id: 'go.mine',
      title: 'My issues',
      section: 'Go to',
      keys: 'g m',
      run: () => void navigate({ to: '/issues', search: { assignee: user.id } }),
    },
    {
      id: 'go.issues',
      title: 'All issues',
      section: 'Go to',
      keys: 'g a',
      run: () => void navigate({ to: '/issues' }),
    },
    {
      id: 'go.board',
      title: 'Board',
      section: 'Go to',
      keys: 'g b',
      run: () => void navigate({ to: '/issues', search: { layout: 'board' } }),
    },
    {
      id: 'go.projects',
      title: 'Projects',
      section: 'Go to',
      keys: 'g p',
      run: () => void navigate({ to: '/projects' }),
    },
    { id: 'go.agents', title: 'Agents', section: 'Go to', keys: 'g d', run: () => void navigate({ to: '/agents' }) },
    {
      id: 'go.settings',
      title: 'Settings',
      section: 'Go to',
      keys: 'g s',
      run: () => void navigate({ to: '/settings' }),
    },
    { id: 'theme.light', title: 'Light theme', section: 'View', run: () => chooseTheme('light') },
    { id: 'theme.dark', title: 'Dark theme', section: 'View', run: () => chooseTheme('dark') },
    { id: 'theme.system', title: 'Theme of the system', section: 'View', run: () => chooseTheme('system') },
    ...settings,
    ...(isManager ? managing : []),
    ...(closeDrawer
      ? [
          {
            id: 'drawer.close',
            title: 'Close the menu',
            section: 'View' as const,
            keys: 'escape',
            hidden: true,
            run: closeDrawer,
          },
        ]
      : []),
  ])
  return null
}
