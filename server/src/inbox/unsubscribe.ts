import type { InboxKind } from '@baton/protocol'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import type { Keyring } from '../crypto.ts'
import { notFound } from '../http/errors.ts'
import { refusePendingDeletion } from '../workspaces/workspaces.ts'
import { muteKinds } from './settings.ts'

const purpose = 'unsubscribe'
const macBytes = 16

/** Letters, so that an address with all kinds stays short. Mails keep theirs forever: do not reuse one. */
const letters: Record<InboxKind, string> = {
  mention: 'm',
  assignment: 'a',
  comment: 'c',
  status: 'd',
  agent_needs_you: 'q',
  agent_finished: 'f',
  webhook_failing: 'w',
  webhook_struggling: 's',
  install_request: 'i',
  budget_reached: 'b',
  automation_notice: 'n',
  automation_paused: 'p',
  review_requested: 'r',
  suggestions_ready: 'g',
}

interface Subscription {
  userId: string
  workspaceId: string
  kinds: readonly InboxKind[]
}

/** The address that stops mails of these kinds to the user, without a login. */
export function unsubscribeUrl({ rootUrl }: Config, keys: Keyring, { userId, workspaceId, kinds }: Subscription) {
  const codes = [...new Set(kinds.map((kind) => letters[kind]))].sort().join('')
  const text = `${userId.slice('usr_'.length)}.${workspaceId.slice('wsp_'.length)}.${codes}`
  const mac = keys.mac(purpose, text).subarray(0, macBytes).toString('base64url')
  return `${rootUrl}/mail/unsubscribe/${text}.${mac}`
}

export async function unsubscribe(ctx: Context, token: string): Promise<void> {
  const [, text = '', userId, workspaceId, codes = '', mac = ''] =
    /^((\w{26})\.(\w{26})\.([a-z]+))\.([\w-]{22})$/.exec(token) ?? []
  const sent = Buffer.from(mac, 'base64url')
  // Decoding is lenient: without the comparison a changed last character could pass.
  const isOurs = sent.length === macBytes && sent.toString('base64url') === mac && ctx.keys.hasMac(purpose, text, sent)
  if (!isOurs) throw notFound()
  const kinds = (Object.keys(letters) as InboxKind[]).filter((kind) => codes.includes(letters[kind]))
  await refusePendingDeletion(ctx.db, `wsp_${workspaceId}`)
  await muteKinds(ctx, { workspaceId: `wsp_${workspaceId}`, id: `usr_${userId}` }, kinds)
}
