import type { Keyring } from '../crypto.ts'
import { queueMail } from '../mail/queue.ts'
import type { UnitOfWork } from '../unit-of-work.ts'

/** Changes of an account that its owner should know about, in case another person made them. */
export type SecurityEvent =
  | 'password_changed'
  | 'email_changed'
  | 'email_restored'
  | 'passkey_added'
  | 'identity_added'
  | 'token_added'
  | 'method_removed'
  | 'break_glass'

export interface SecurityDetails {
  /** Where to send it, if not to the user's stored address. */
  address?: string
  workspaceId?: string
  /** The name of the passkey, token or provider, or the method that was removed. */
  name?: string
  /** Other small values for the text. */
  [more: string]: string | undefined
}

/** Queues a mail about the change, in its transaction. Nothing happens on an instance without mail. */
export async function tellOwner(
  unit: Pick<UnitOfWork, 'tx' | 'now' | 'config'>,
  keys: Keyring,
  userId: string,
  event: SecurityEvent,
  { address, workspaceId, ...more }: SecurityDetails = {},
) {
  await queueMail(unit, keys, {
    kind: 'security',
    userId,
    address: address ?? null,
    workspaceId: workspaceId ?? null,
    data: { event, ...more },
  })
}
