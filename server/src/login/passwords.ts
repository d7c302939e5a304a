import { hash, verify } from '@node-rs/argon2'

// Argon2id at OWASP's minimum. A hash takes tens of milliseconds on libuv's threads, off the event loop.
const options = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export const hashPassword = (password: string) => hash(password, options)

// Somebody who is not registered costs the same work, so that time does not tell who is.
const nobodys = hashPassword('nobody has this password')

export async function passwordMatches(storedHash: string | null | undefined, password: string): Promise<boolean> {
  const matches = await verify(storedHash ?? (await nobodys), password)
  return matches && storedHash != null
}
