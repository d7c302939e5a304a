import type { Keyring } from '../crypto.ts'
import { queueMail } from '../mail/queue.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { createLink } from './links.ts'

/** Mails the link that verifies the address of the account. Nothing happens on an instance without mail. */
export async function queueVerification(
  unit: Pick<UnitOfWork, 'tx' | 'now' | 'config'>,
  keys: Keyring,
  userId: string,
  email: string,
) {
  if (!unit.config.mail) return
  const { token, expiresAt } = await createLink(unit, { userId, kind: 'verify', email })
  await queueMail(unit, keys, { kind: 'verify', userId, address: email, secret: token, expiresAt })
}
