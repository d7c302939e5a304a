import type { InboxEntry, InboxKind, NotificationWay, Role } from '@baton/protocol'
import { mentionPattern } from '@baton/protocol/mentions'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { Composed, Composers, MailToCompose } from '../mail/compose.ts'
import { readEntries } from './entries.ts'
import { waysOf } from './settings.ts'
import { isPutAway } from './threads.ts'
import { unsubscribeUrl } from './unsubscribe.ts'

const excerptLength = 300

export const notificationMails: Composers = { notification: composeNotification }

interface NotificationData {
  way: NotificationWay
  entry_ids: string[]
  /** Entries that the mail counts but does not list. */
  more: number
}

interface Recipient {
  role: Role
  kinds: Partial<Record<InboxKind, NotificationWay>> | null
  workspace: string
}

/** Everything is read again at each attempt: access, entries that were read, and settings may have changed. */
async function composeNotification(
  { db, config, clock, keys }: Context,
  mail: MailToCompose,
): Promise<Composed | null> {
  const { userId, workspaceId } = mail
  const { way, entry_ids, more } = mail.data as unknown as NotificationData
  const recipient = userId && workspaceId ? await findRecipient(db, userId, workspaceId) : undefined
  if (!userId || !workspaceId || !recipient) return null
  const ways = waysOf(recipient.kinds)
  const reader = { id: userId, workspaceId, role: recipient.role }
  const read = await readEntries(
    db,
    config,
    reader,
    sql`and e.id = any(${entry_ids}) and e.read_at is null and not ${isPutAway(clock.now())} order by e.id desc`,
  )
  const entries = read.filter(({ kind }) => ways[kind] !== 'never')
  if (entries.length === 0) return null

  const kinds = [...new Set(entries.map(({ kind }) => kind))]
  const unsubscribe = unsubscribeUrl(config, keys, { userId, workspaceId, kinds })
  const count = entries.length + more
  const footer = [
    `Change what is mailed to you: ${config.appUrl}/settings/notifications`,
    `Stop mails like this one: ${unsubscribe}`,
  ]
  const action = { label: 'Open inbox', url: `${config.appUrl}/inbox` }
  if (config.mail?.content === 'minimal') {
    const told = count === 1 ? 'You have 1 new notification.' : `You have ${count} new notifications.`
    return { subject: told.slice(0, -1), paragraphs: [told], action, footer, unsubscribe }
  }
  const items = await itemsOf(db, config, entries)
  const [only] = items
  const subject =
    way === 'daily'
      ? `${recipient.workspace}: daily summary with ${counted(count)}`
      : count === 1 && only
        ? only.subject
        : `${recipient.workspace}: ${counted(count)}`
  return {
    subject,
    paragraphs: [`${counted(count)} in ${recipient.workspace}${more > 0 ? `, the newest ${entries.length}` : ''}:`],
    items: items.map(({ title, text, url }) => ({ title, url, ...(text && { text }) })),
    action,
    footer,
    unsubscribe,
  }
}

const counted = (count: number) => (count === 1 ? '1 notification' : `${count} notifications`)

/** Undefined if the user is no longer a member, has paused notifications, or has no verified address. */
const findRecipient = (db: Queryable, userId: string, workspaceId: string) =>
  db.row<Recipient>(sql`
    select m.role, s.kinds, w.name as workspace
    from memberships m
    join users u on u.id = m.user_id
    join workspaces w on w.id = m.workspace_id
    left join notification_settings s on s.workspace_id = m.workspace_id and s.user_id = m.user_id
    where m.user_id = ${userId} and m.workspace_id = ${workspaceId} and not coalesce(s.paused, false)
      and u.email_verified_at is not null and u.mail_problem is null and u.disabled_at is null`)

interface More {
  id: string
  code: string | null
  /** The state of the entry's session. */
  state: string | null
  /** The comment, or the agent's last question or answer. */
  text: string | null
}

async function itemsOf(db: Queryable, { appUrl }: Config, entries: InboxEntry[]) {
  const ids = entries.map(({ id }) => id)
  const more = await db.rows<More>(sql`
    select e.id, i.code, s.state, coalesce(c.text, said.body) as text
    from inbox_entries e
    left join issues i on i.id = e.issue_id
    left join comments c on c.id = e.comment_id
    left join agent_sessions s on s.id = e.session_id
    left join lateral (
      select a.content ->> 'body' as body from agent_activities a
      where a.session_id = e.session_id and a.type in ('elicitation', 'response', 'error')
        and e.kind in ('agent_needs_you', 'agent_finished', 'review_requested')
      order by a.seq desc limit 1
    ) said on true
    where e.id = any(${ids})`)
  const byId = new Map(more.map((one) => [one.id, one]))
  const names = await mentionedNames(db, more)
  return entries.map((entry) => {
    const { code = null, state = null, text = null } = byId.get(entry.id) ?? {}
    // A rule for pull requests changes the status without an actor.
    const isByRule = entry.kind === 'status' && !entry.actor
    const said = isByRule
      ? 'Status changed'
      : sentences[entry.kind](entry.actor?.name ?? 'A former member', state === 'error')
    const title = [code, entry.title].filter(Boolean).join(' ')
    // Questions and answers of an agent are on the page of its session.
    const url = entry.subject_id.startsWith('sess_') ? `${appUrl}/agent-session/${entry.subject_id}` : entry.url
    return { subject: `${said}: ${title}`, title: `${said}: ${title}`, url, text: text && excerpt(text, names) }
  })
}

const sentences: Record<InboxKind, (actor: string, failed: boolean) => string> = {
  mention: (actor) => `${actor} mentioned you`,
  assignment: (actor) => `${actor} assigned an issue to you`,
  comment: (actor) => `${actor} commented`,
  status: (actor) => `${actor} changed the status`,
  agent_needs_you: (actor) => `${actor} needs your answer`,
  agent_finished: (actor, failed) => `${actor} ${failed ? 'failed' : 'finished'}`,
  webhook_failing: () => 'Webhook disabled after repeated failures',
  webhook_struggling: () => 'Webhook attempts keep failing',
  install_request: (actor) => `${actor} requested an app installation`,
  budget_reached: (actor) => `${actor} reached its budget`,
  automation_notice: () => 'Notice of an automation',
  automation_paused: () => 'Automation paused',
  review_requested: (actor) => `${actor} asks for your review`,
  suggestions_ready: (actor) => `${actor} suggested changes to issues of a team`,
}

/** The current names of mentioned users: those in a text can be forged. */
async function mentionedNames(db: Queryable, more: More[]) {
  const ids = more.flatMap(({ text }) => [...(text ?? '').matchAll(mentionPattern)].map((match) => match[2] as string))
  if (ids.length === 0) return new Map<string, string>()
  const users = await db.rows<{ id: string; name: string }>(sql`
    select id, display_name as name from users where id = any(${ids})`)
  return new Map(users.map(({ id, name }) => [id, name]))
}

/** The beginning of a text, on one line. */
function excerpt(text: string, names: Map<string, string>): string {
  const line = text
    .replace(mentionPattern, (_, __, id: string) => `@${names.get(id) ?? 'former member'}`)
    .replace(/\s+/g, ' ')
    .trim()
  const characters = [...line]
  return characters.length > excerptLength ? `${characters.slice(0, excerptLength).join('')}…` : line
}
