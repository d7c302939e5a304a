import { hash, verify } from '@node-rs/argon2'

// Argon2id at OWASP's minimum. A hash takes tens of milliseconds on libuv's threads, off the event loop.
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Over NFC: keyboards differ in whether they send "é" as one character or as two. */
export const hashPassword = (password: string) => hash(password.normalize('NFC'), options)

// Verified for unknown e-mails too, so that the time does not reveal who is registered.
const dummyHash = hashPassword('a password that no account has')

export async function passwordMatches(storedHash: string | null | undefined, password: string): Promise<boolean> {
  const compared = storedHash ?? (await dummyHash)
  for (const form of formsOf(password)) {
    if (await verify(compared, form)) return storedHash != null
  }
  return false
}

/** Hashes of earlier versions were made over the password as sent, so they can be of any form. Mostly all are equal. */
const formsOf = (password: string) => new Set([password.normalize('NFC'), password, password.normalize('NFD')])
