import type { InboxEntry, InboxKind, InboxThread } from '@baton/protocol'
import {
  AtSign,
  Bot,
  CircleCheck,
  CircleUser,
  Gauge,
  type LucideIcon,
  MessageSquare,
  PackagePlus,
  Webhook,
  Zap,
} from 'lucide-react'
import { isolated } from '../ui/isolated.ts'

interface Kind {
  icon: LucideIcon
  color: string
  sentence: (actor: string) => string
}

const kinds: Record<InboxKind, Kind> = {
  mention: { icon: AtSign, color: 'text-info-ink', sentence: (actor) => `${actor} mentioned you` },
  assignment: { icon: CircleUser, color: 'text-ink-2', sentence: (actor) => `${actor} assigned it to you` },
  comment: { icon: MessageSquare, color: 'text-ink-2', sentence: (actor) => `${actor} commented` },
  status: { icon: CircleCheck, color: 'text-ink-2', sentence: (actor) => `${actor} changed the status` },
  agent_needs_you: { icon: Bot, color: 'text-accent-ink', sentence: (actor) => `${actor} needs your answer` },
  agent_finished: { icon: Bot, color: 'text-agent-ink', sentence: (actor) => `${actor} finished` },
  webhook_failing: { icon: Webhook, color: 'text-bad-ink', sentence: () => 'Webhook disabled after repeated failures' },
  webhook_struggling: { icon: Webhook, color: 'text-warn-ink', sentence: () => 'Webhook attempts keep failing' },
  install_request: {
    icon: PackagePlus,
    color: 'text-warn-ink',
    sentence: (actor) => `${actor} requested an app installation`,
  },
  review_requested: { icon: Bot, color: 'text-accent-ink', sentence: (actor) => `${actor} asks for your review` },
  suggestions_ready: {
    icon: Bot,
    color: 'text-agent-ink',
    sentence: (actor) => `${actor} suggested changes to issues of this team`,
  },
  budget_reached: { icon: Gauge, color: 'text-warn-ink', sentence: (actor) => `${actor} reached its budget` },
  automation_notice: { icon: Zap, color: 'text-info-ink', sentence: () => 'Notice of an automation' },
  automation_paused: { icon: Zap, color: 'text-warn-ink', sentence: () => 'Automation paused' },
}

export const iconOf = ({ kind }: InboxEntry): Pick<Kind, 'icon' | 'color'> => kinds[kind]

/** A rule for pull requests changes the status without an actor. */
export const sentenceOf = ({ kind, actor }: InboxEntry) =>
  kind === 'status' && !actor ? 'Status changed' : kinds[kind].sentence(isolated(actor?.name ?? 'A former member'))

interface Target {
  to: string
  hash?: string
  search?: (current: object) => object
}

/** The page of the newest entry, unless there are other unread ones that only the page of the subject shows. */
export function linkOf({ latest, unread_count, kinds, url }: InboxThread): Target {
  const target = linkOfEntry(latest)
  const page = pageAt(url)
  const isOnOnePage = unread_count <= 1 || kinds.every(isOfSession) || kinds.length === 1
  return isOnOnePage || target.to === page.to ? target : page
}

const isOfSession = (kind: InboxKind) =>
  kind === 'agent_needs_you' || kind === 'agent_finished' || kind === 'review_requested'

/** A session for entries about one, the budget of an app, the install dialog for a request, else the entry's URL. */
function linkOfEntry({ kind, url, subject_id }: InboxEntry): Target {
  if (kind === 'install_request') return { to: '/inbox', search: (current) => ({ ...current, install: subject_id }) }
  if (isOfSession(kind) || (kind === 'budget_reached' && subject_id.startsWith('sess_'))) {
    return { to: `/agent-session/${subject_id}` }
  }
  if (kind === 'budget_reached') return { ...pageAt(url), hash: 'budget' }
  return pageAt(url)
}

function pageAt(url: string): Target {
  if (!URL.canParse(url)) return { to: '/inbox' }
  const { pathname, hash, searchParams } = new URL(url)
  if (searchParams.size > 0) return { to: pathname, search: () => Object.fromEntries(searchParams) }
  return hash ? { to: pathname, hash: hash.slice(1) } : { to: pathname }
}
