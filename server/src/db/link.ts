import { setTimeout as sleep } from 'node:timers/promises'

/** TCP keepalive for every connection. Without it, a dead link is noticed only after two hours. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

const closeTimeoutMs = 2_000

/** Waits for connections to close, for a limited time: the server may no longer answer. */
export const waitForClose = async (closed: Promise<unknown> | undefined) => {
  await Promise.race([closed, sleep(closeTimeoutMs, undefined, { ref: false })])
}
