import {
  Archive,
  AtSign,
  Bookmark,
  Bot,
  CheckCheck,
  CirclePlus,
  CircleUser,
  Clock,
  Columns3,
  Command as CommandIcon,
  Download,
  FileText,
  FolderKanban,
  GitBranch,
  Group,
  Inbox,
  Keyboard,
  Layers,
  Link,
  ListChecks,
  ListFilter,
  type LucideIcon,
  MessageSquare,
  Monitor,
  Moon,
  MoveRight,
  Pencil,
  Plus,
  ScrollText,
  Search,
  Send,
  Settings,
  Square,
  Sun,
  Trash2,
  Upload,
  UserCog,
  Users,
  Webhook,
  X,
} from 'lucide-react'
import { fields } from '../issues/fields/fields.tsx'
import { projectFields } from '../projects/fields.tsx'
import type { Command } from '../ui/shortcuts.ts'

/** Sections in the order of the palette: those of the screen first, then those of every screen. */
const sections: Command['section'][] = [
  'Issue',
  'Project',
  'Agent session',
  'View',
  'Selection',
  'Create',
  'Go to',
  'Views',
  'Settings',
  'Help',
]

/**
 * The commands that the palette lists, by section. Of several commands with the same keys or title, the first is listed: it
 * is the one that the keys run.
 */
export function listedCommands(commands: readonly Command[]): Command[] {
  const seen = new Set<string>()
  const isNew = (name: string) => !seen.has(name) && seen.add(name)
  return commands
    .filter(({ hidden }) => !hidden)
    .filter(({ section, title, keys, hasFocus }) => {
      const hasNewKeys = !keys || hasFocus || isNew(keys)
      return isNew(`${section} ${title}`) && hasNewKeys
    })
    .toSorted((a, b) => sections.indexOf(a.section) - sections.indexOf(b.section))
}

const icons: Record<string, LucideIcon> = {
  'go.inbox': Inbox,
  'go.mine': CircleUser,
  'go.issues': Layers,
  'go.board': Columns3,
  'go.projects': FolderKanban,
  'go.agents': Bot,
  'go.account': UserCog,
  'go.agent-apps': Bot,
  'go.members': Users,
  'go.teams': Users,
  'go.git': GitBranch,
  'go.import': Download,
  'go.export': Upload,
  'go.webhooks': Webhook,
  'go.audit-log': ScrollText,
  'go.api': FileText,
  'create.project': FolderKanban,
  'create.agent': Bot,
  'theme.light': Sun,
  'theme.dark': Moon,
  'theme.system': Monitor,
  help: Keyboard,
  docs: FileText,
  'comment.new': MessageSquare,
  'issue.copy-link': Link,
  'project.copy-link': Link,
  'issue.copy-branch': GitBranch,
  'issue.sub-issue': CirclePlus,
  'issues.rename': Pencil,
  'issues.move': MoveRight,
  'issues.filter': ListFilter,
  'issues.clear-filters': X,
  'issues.find': Search,
  'issues.group': Group,
  'issues.select-all': ListChecks,
  'inbox.read-all': CheckCheck,
  'inbox.archive': Archive,
  'inbox.archive-read': Archive,
  'inbox.snooze': Clock,
  'session.send': Send,
}

const sectionIcons: Record<Command['section'], LucideIcon> = {
  Issue: Layers,
  Project: FolderKanban,
  'Agent session': Bot,
  View: Columns3,
  Selection: ListChecks,
  Create: Plus,
  'Go to': MoveRight,
  Views: Bookmark,
  Settings,
  Help: CommandIcon,
}

/** The icon of a command: its own, that of its field, or that of its section. */
export function commandIcon({ id, section }: Pick<Command, 'id' | 'section'>): LucideIcon {
  if (id.startsWith('session.stop.')) return Square
  if (id.startsWith('session.answer.')) return AtSign
  if (/\.delete$/.test(id)) return Trash2
  const [, of, field = ''] = /^(issues?|project)\.(\w+)$/.exec(id) ?? []
  const known: Record<string, { icon: LucideIcon }> = of === 'project' ? projectFields : fields
  return icons[id] ?? (of && Object.hasOwn(known, field) ? known[field]?.icon : undefined) ?? sectionIcons[section]
}
