import { type Static, Type } from 'typebox'
import { closed } from './common.ts'
import { type InboxKind, inboxKinds } from './inbox.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const NotificationWay = Type.Enum(['immediately', 'daily', 'never'], {
  'x-message': 'must be immediately, daily or never',
})
export type NotificationWay = Static<typeof NotificationWay>

const ways = Object.fromEntries(inboxKinds.map((kind) => [kind, NotificationWay])) as Record<
  InboxKind,
  typeof NotificationWay
>

const digestHour = Type.Integer({ minimum: 0, maximum: 23, 'x-message': 'must be a whole number from 0 to 23' })

export const NotificationSettings = Type.Object(
  { kinds: Type.Object(ways, closed), digest_hour: digestHour, paused: Type.Boolean() },
  { ...closed, title: 'NotificationSettings' },
)
export type NotificationSettings = Static<typeof NotificationSettings>

/** Kinds that are left out get their default. */
export const NewNotificationSettings = Type.Object(
  { kinds: Type.Partial(Type.Object(ways), closed), digest_hour: digestHour, paused: Type.Boolean() },
  closed,
)
export type NewNotificationSettings = Static<typeof NewNotificationSettings>

export const notifications = {
  getNotificationSettings: operation(routes.getNotificationSettings, {
    summary: 'Read which inbox entries of this workspace are mailed to the caller, and when',
    returns: { 200: NotificationSettings },
  }),
  setNotificationSettings: operation(routes.setNotificationSettings, {
    summary: 'Set which inbox entries are mailed, and when',
    body: NewNotificationSettings,
    returns: { 200: NotificationSettings },
  }),
  setPresence: operation(routes.setPresence, {
    summary: 'Say that the caller is active; no notification is mailed for five minutes',
    returns: { 204: null },
  }),
  unsubscribe: operation(routes.unsubscribe, {
    summary: 'Stop mailing the kinds of notification that the link in a mail names (RFC 8058)',
    ignoresBody: true,
    returns: { 204: null },
    errors: ['WORKSPACE_PENDING_DELETION'],
  }),
}
