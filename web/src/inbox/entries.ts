import type { InboxEntry, InboxKind } from '@baton/protocol'
import { AtSign, Bot, CircleUser, Gauge, type LucideIcon, PackagePlus, Webhook } from 'lucide-react'
import { issueCodeOf } from '../data/issue-code.ts'
import { isolated } from '../ui/isolated.ts'

interface Kind {
  icon: LucideIcon
  color: string
  sentence: (actor: string) => string
}

const kinds: Record<InboxKind, Kind> = {
  mention: { icon: AtSign, color: 'text-info-ink', sentence: (actor) => `${actor} mentioned you` },
  assignment: { icon: CircleUser, color: 'text-ink-2', sentence: (actor) => `${actor} assigned it to you` },
  agent_needs_you: { icon: Bot, color: 'text-accent-ink', sentence: (actor) => `${actor} needs your answer` },
  agent_finished: { icon: Bot, color: 'text-agent-ink', sentence: (actor) => `${actor} finished` },
  webhook_failing: { icon: Webhook, color: 'text-bad-ink', sentence: () => 'Webhook disabled after repeated failures' },
  install_request: {
    icon: PackagePlus,
    color: 'text-warn-ink',
    sentence: (actor) => `${actor} requested an app installation`,
  },
  budget_reached: { icon: Gauge, color: 'text-warn-ink', sentence: (actor) => `${actor} reached its budget` },
}

export const iconOf = ({ kind }: InboxEntry): Pick<Kind, 'icon' | 'color'> => kinds[kind]

export const sentenceOf = (entry: InboxEntry) =>
  kinds[entry.kind].sentence(isolated(entry.actor?.name ?? 'A former member'))

/** Unread entries about the same issue, newest first; any other entry alone. */
export type Group = [newest: InboxEntry, ...older: InboxEntry[]]

/** Groups unread entries about the same issue that follow each other. Read ones stay apart, each with its own link. */
export function groupsOf(entries: readonly InboxEntry[]): Group[] {
  const groups: Group[] = []
  for (const entry of entries) {
    const last = groups.at(-1)
    if (last && isUnreadOf(issueCodeOf(entry), last[0]) && !entry.read_at) last.push(entry)
    else groups.push([entry])
  }
  return groups
}

const isUnreadOf = (code: string | undefined, entry: InboxEntry) =>
  code !== undefined && !entry.read_at && issueCodeOf(entry) === code

interface Target {
  to: string
  hash?: string
  search?: (current: object) => object
}

/** The page that shows all entries of the group: the one they share, or their issue. */
export function linkOf(group: Group): Target {
  const [newest, ...older] = group
  const target = linkOfEntry(newest)
  return older.every((entry) => linkOfEntry(entry).to === target.to) ? target : pageAt(newest.url)
}

/** A session for entries about one, the budget of an app, the install dialog for a request, else the entry's URL. */
function linkOfEntry({ kind, url, subject_id }: InboxEntry): Target {
  if (kind === 'install_request') return { to: '/inbox', search: (current) => ({ ...current, install: subject_id }) }
  const isSession = kind === 'agent_needs_you' || kind === 'agent_finished'
  if (isSession || (kind === 'budget_reached' && subject_id.startsWith('sess_'))) {
    return { to: `/agent-session/${subject_id}` }
  }
  if (kind === 'budget_reached') return { ...pageAt(url), hash: 'budget' }
  return pageAt(url)
}

function pageAt(url: string): Target {
  if (!URL.canParse(url)) return { to: '/inbox' }
  const { pathname, hash } = new URL(url)
  return hash ? { to: pathname, hash: hash.slice(1) } : { to: pathname }
}
