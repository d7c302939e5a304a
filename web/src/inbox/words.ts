import type { InboxEntry, InboxKind } from '@baton/protocol'
import { AtSign, Bot, CircleUser, type LucideIcon, PackagePlus, Webhook } from 'lucide-react'

interface Words {
  icon: LucideIcon
  color: string
  /** What happened, before the title of what it is about. */
  say: (actor: string) => string
}

const words: Record<InboxKind, Words> = {
  mention: { icon: AtSign, color: 'text-info-ink', say: (actor) => `${actor} mentioned you` },
  assignment: { icon: CircleUser, color: 'text-ink-2', say: (actor) => `${actor} assigned it to you` },
  agent_needs_you: { icon: Bot, color: 'text-accent-ink', say: (actor) => `${actor} needs your answer` },
  agent_finished: { icon: Bot, color: 'text-agent-ink', say: (actor) => `${actor} finished` },
  webhook_failing: { icon: Webhook, color: 'text-bad-ink', say: () => 'A webhook fails and was switched off' },
  install_request: { icon: PackagePlus, color: 'text-warn-ink', say: (actor) => `${actor} asks to install an app` },
}

export const wordsOf = ({ kind }: InboxEntry) => words[kind]

export const sentenceOf = (entry: InboxEntry) => words[entry.kind].say(entry.actor?.name ?? 'Somebody')

/** The code of the issue that it is about, if it is about one. */
export const codeOf = ({ url }: InboxEntry) => /\/issue\/([^/?#]+)/.exec(url)?.[1]

/** Where it leads inside the app; about an agent's session, to the session itself. */
export function placeOf({ kind, url, subject_id }: InboxEntry): { to: string; hash?: string } {
  if (kind === 'agent_needs_you' || kind === 'agent_finished') return { to: `/agent-session/${subject_id}` }
  if (!URL.canParse(url)) return { to: '/inbox' }
  const { pathname, hash } = new URL(url)
  return hash ? { to: pathname, hash: hash.slice(1) } : { to: pathname }
}
