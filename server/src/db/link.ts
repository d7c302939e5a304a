import { setTimeout as sleep } from 'node:timers/promises'

/** For every connection: a dead link is noticed ten seconds after the delay. Without one, it would take two hours. */
export const keepAlive = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 }

const goodbyeMs = 2_000

/** Waits for a connection to end, but not for a server that answers no more. */
export const goodbye = async (ended: Promise<unknown> | undefined) => {
  await Promise.race([ended, sleep(goodbyeMs, undefined, { ref: false })])
}
