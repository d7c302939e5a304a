import type { InboxEntry, InboxKind } from '@baton/protocol'
import { AtSign, Bot, CircleUser, type LucideIcon, PackagePlus, Webhook } from 'lucide-react'
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
}

export const iconOf = ({ kind }: InboxEntry): Pick<Kind, 'icon' | 'color'> => kinds[kind]

export const sentenceOf = (entry: InboxEntry) =>
  kinds[entry.kind].sentence(isolated(entry.actor?.name ?? 'A former member'))

/**
 * The page to open: an agent session for entries about one, the install dialog for a request, otherwise the path of the
 * entry's URL.
 */
export function linkOf({ kind, url, subject_id }: InboxEntry): {
  to: string
  hash?: string
  search?: (current: object) => object
} {
  if (kind === 'install_request') return { to: '/inbox', search: (current) => ({ ...current, install: subject_id }) }
  if (kind === 'agent_needs_you' || kind === 'agent_finished') return { to: `/agent-session/${subject_id}` }
  if (!URL.canParse(url)) return { to: '/inbox' }
  const { pathname, hash } = new URL(url)
  return hash ? { to: pathname, hash: hash.slice(1) } : { to: pathname }
}
