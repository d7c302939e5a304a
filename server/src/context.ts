import type { Clock } from './clock.ts'
import type { Config } from './config.ts'
import type { Keyring } from './crypto.ts'
import type { Db } from './db/database.ts'
import type { Chain, Hooks } from './hooks.ts'
import type { Logger } from './log.ts'
import type { GuardedClient } from './outbound/client.ts'
import type { Relay } from './relay/relay.ts'
import type { Storage } from './storage/storage.ts'
import type { Cause } from './trace.ts'

/** The dependencies that verbs get. */
export interface Context {
  config: Config
  clock: Clock
  keys: Keyring
  log: Logger
  db: Db
  /** For addresses from users and apps: receivers and icons. */
  outbound: GuardedClient
  /** For attempts that a connected listener receives in place of the URL. */
  relay: Relay
  /** The bytes of files, imports and exports; null where the operator configured no place for them. */
  storage: Storage | null
  /** Set by `createApp`. */
  hooks?: Hooks | undefined
  /** The automation that acts, if any. */
  chain?: Chain | undefined
  /** The request that is being handled. Absent where the service acts by itself. */
  cause?: Cause | undefined
}
