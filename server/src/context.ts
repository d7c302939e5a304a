import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Keyring } from './crypto.ts'
import type { Db } from './db/database.ts'
import type { Logger } from './log.ts'
import type { GuardedClient } from './outbound/client.ts'
import type { Relay } from './relay/relay.ts'

/** What every verb is given. */
export interface Context {
  config: Config
  clock: Clock
  keys: Keyring
  log: Logger
  db: Db
  /** To addresses that strangers chose: receivers and icons. */
  outbound: GuardedClient
  /** To those who listen in place of a receiver. */
  relay: Relay
}
