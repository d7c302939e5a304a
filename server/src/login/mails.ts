import { accountLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Compose, Composed, Composers, MailToCompose } from '../mail/compose.ts'
import { findLink, type LinkKind, linkUrl } from './links.ts'
import { methodsOf } from './methods.ts'
import type { SecurityEvent } from './security-mails.ts'

/** The account pages of the web app. */
const accountUrl = ({ config }: Context) => `${config.rootUrl}/account`

const ignore = 'If you did not ask for this, ignore this mail. Nothing changes.'

/** Canceled when a newer link replaced the one in the mail, or it was used. */
const withLink =
  (kind: LinkKind, label: string, text: Omit<Composed, 'action'>): Compose =>
  async (ctx, { secret }) => {
    const valid = secret && (await findLink(ctx.db, secret, [kind], ctx.clock.now()))
    return valid ? { ...text, action: { label, url: linkUrl(ctx.config, kind, secret) } } : null
  }

const resetLink = withLink('reset', 'Set a new password', {
  subject: 'Set a new password',
  paragraphs: [
    'You can set a new password for your account with this link. It works once, within one hour.',
    'A new password signs you out everywhere, and ends your connected programs and personal tokens.',
  ],
  footer: [ignore],
})

/** An account without a password is told how it signs in (reset.without-password). */
async function howToSignIn(ctx: Context, userId: string): Promise<Composed | null> {
  const { password, passkeys, identities } = await methodsOf(ctx.db, userId)
  if (password) return null
  const ways = [
    ...new Set(identities.map(({ provider_id }) => providerName(ctx, provider_id))),
    ...(passkeys > 0 ? ['a passkey'] : []),
  ]
  if (ways.length === 0) return null
  return {
    subject: 'How to sign in',
    paragraphs: [
      `Your account has no password, so there is none to reset. You sign in with ${ways.join(' or with ')}.`,
      'Once you are signed in, you can set a password under Account.',
    ],
    action: { label: 'Sign in', url: `${ctx.config.rootUrl}/sign-in` },
    footer: [ignore],
  }
}

/** The provider may have been removed from the configuration. */
function providerName({ config }: Context, id: string): string {
  const { sso } = config as { sso?: { providers: readonly { id: string; name: string }[] } }
  return sso?.providers.find((provider) => provider.id === id)?.name ?? id
}

const resetBlocked = (): Composed => ({
  subject: 'Password reset is blocked',
  paragraphs: [
    `A change of your e-mail address was undone, so your password cannot be reset for ${accountLimits.resetBlockedHours} hours.`,
    'Try again later, or ask the operator of this instance for a reset link.',
  ],
  footer: [ignore],
})

const composeReset: Compose = async (ctx, mail) => {
  if (mail.data.instead === 'blocked') return resetBlocked()
  if (mail.data.instead === 'methods') return mail.userId === null ? null : howToSignIn(ctx, mail.userId)
  return resetLink(ctx, mail)
}

const composeTaken: Compose = async (ctx) => ({
  subject: 'Your address was entered for another account',
  paragraphs: [
    'A user of this instance tried to change the e-mail address of another account to yours. It was refused, and nothing has changed.',
    'If that was you, sign in to this account, or choose another address for the other one.',
  ],
  action: { label: 'Sign in', url: `${ctx.config.rootUrl}/sign-in` },
})

type Details = Record<string, unknown>

/** What happened, in a subject and a sentence. */
const events: Record<SecurityEvent, (details: Details) => { subject: string; text: string }> = {
  password_changed: () => ({
    subject: 'Your password was changed',
    text: 'The password of your account was changed. Other logins, connected programs and personal tokens have ended.',
  }),
  email_changed: () => ({
    subject: 'Your e-mail address is being changed',
    text: `A change of the e-mail address of your account was requested. If it was not you, undo it within ${accountLimits.undoDays} days: this address is restored and all logins end.`,
  }),
  email_restored: () => ({
    subject: 'A change of e-mail address was undone',
    text: 'An account was to have this e-mail address. The owner of its earlier address undid the change.',
  }),
  passkey_added: ({ name }) => ({
    subject: 'A passkey was added',
    text: `The passkey ${quoted(name)} was added to your account. It can be used to sign in.`,
  }),
  identity_added: ({ name }) => ({
    subject: 'A sign-in with a provider was added',
    text: `Your account can now be used with ${quoted(name)}.`,
  }),
  token_added: ({ name }) => ({
    subject: 'A personal token was created',
    text: `The personal token ${quoted(name)} was created. It acts as you in one workspace.`,
  }),
  method_removed: ({ name }) => ({
    subject: 'A sign-in method was removed',
    text: `A sign-in method of your account was removed: ${quoted(name)}.`,
  }),
  break_glass: ({ name }) => ({
    subject: 'The break-glass account was used',
    text: `The break-glass account ${quoted(name)} signed in with its password.`,
  }),
}

const quoted = (name: unknown) => (typeof name === 'string' && name ? `“${name}”` : 'without a name')

const composeSecurity: Compose = async (ctx, mail) => {
  const describe = events[mail.data.event as SecurityEvent]
  if (!describe) return null
  const { subject, text } = describe(mail.data)
  const when = `Time: ${new Date(mail.createdAt).toISOString().replace('T', ' ').slice(0, 16)} UTC`
  return { subject, paragraphs: [text, when], ...(await reaction(ctx, mail)) }
}

/** What the owner can do, if another person did it. */
async function reaction(ctx: Context, { data, secret }: MailToCompose): Promise<Partial<Composed>> {
  if (data.event === 'email_restored' || data.event === 'break_glass') return {}
  if (data.event === 'email_changed') {
    const valid = secret && (await findLink(ctx.db, secret, ['undo'], ctx.clock.now()))
    return valid ? { action: { label: 'Undo the change', url: linkUrl(ctx.config, 'undo', secret) } } : {}
  }
  return {
    action: { label: 'Open your account', url: accountUrl(ctx) },
    footer: ['If it was not you, set a new password and remove what you do not know.'],
  }
}

export const loginMails: Composers = {
  reset: composeReset,
  verify: withLink('verify', 'Verify this address', {
    subject: 'Verify your e-mail address',
    paragraphs: ['Confirm that this is the e-mail address of your account. The link works for 24 hours.'],
    footer: [ignore],
  }),
  email_change: withLink('change', 'Confirm this address', {
    subject: 'Confirm your new e-mail address',
    paragraphs: [
      'Confirm that your account should have this e-mail address. The link works for 24 hours, while you are signed in to that account.',
    ],
    footer: [ignore],
  }),
  email_taken: composeTaken,
  security: composeSecurity,
}
