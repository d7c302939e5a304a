import { hash, verify } from '@node-rs/argon2'

// Argon2id at OWASP's minimum. A hash takes tens of milliseconds on libuv's threads, off the event loop.
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string) => hash(password, options)

// Verified for unknown e-mails too, so that the time does not reveal who is registered.
const dummyHash = hashPassword('a password that no account has')

export async function passwordMatches(storedHash: string | null | undefined, password: string): Promise<boolean> {
  const matches = await verify(storedHash ?? (await dummyHash), password)
  return matches && storedHash != null
}
