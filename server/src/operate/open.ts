import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { systemClock } from '../clock.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Context } from '../context.ts'
import { Keyring } from '../crypto.ts'
import { DataDir } from '../db/data-dir.ts'
import type { Db } from '../db/database.ts'
import { differingMigrations } from '../db/migrate.ts'
import { openPostgres } from '../db/open-postgres.ts'
import { keyIsRight } from '../key-check.ts'
import { createLog } from '../log.ts'
import { GuardedClient } from '../outbound/client.ts'
import { Relay } from '../relay/relay.ts'
import type { Storage } from '../storage/storage.ts'
import { openStorage } from '../storage-check.ts'
import { Refusal } from './command.ts'

export interface Opened {
  ctx: Context
  close(): Promise<void>
}

/** Opens the database for a command in its own process: PostgreSQL, or the directory of a stopped embedded service. */
export async function openContext(config: Config, { unchecked = false } = {}): Promise<Opened> {
  const { db, secretKeys, close } = await openDatabase(config)
  try {
    const [current, ...previous] = secretKeys
    const keys = new Keyring(current as Buffer, [...previous, ...config.previousSecretKeys])
    if (!unchecked) await refuseUnlessRight(db, keys)
    const { ctx, close: closeContext } = contextOn(db, config, keys, unchecked ? null : await openStorage(config, db))
    return {
      ctx,
      async close() {
        await closeContext()
        await close()
      },
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** For a command that opened the database itself. `close` leaves the database open. */
export function contextOn(db: Db, config: Config, keys: Keyring, storage: Storage | null): Opened {
  // stdout is for the answer.
  const log = createLog(process.stderr.isTTY ? 'warn' : 'info', 2)
  const clock = systemClock
  const outbound = new GuardedClient({ allow: config.webhookAllow, clock })
  const relay = new Relay(db, clock, log)
  return {
    ctx: { config, clock, keys, log, db, outbound, relay, storage },
    async close() {
      await relay.stop()
      await outbound.close()
    },
  }
}

/** admin.migrations-differ */
async function refuseUnlessRight(db: Db, keys: Keyring) {
  const { missing, unknown } = await differingMigrations(db)
  if (missing.length > 0) {
    throw new Refusal(`The database lacks migrations of this version (${missing.join(', ')}): start this version once.`)
  }
  if (unknown.length > 0) {
    throw new Refusal(
      `The database has migrations that this version does not know (${unknown.join(', ')}): use the version that applied them.`,
    )
  }
  if (!(await keyIsRight(db, keys))) {
    throw new Refusal('BATON_SECRET_KEY is not the key of this database: run this with the settings of the service.')
  }
}

async function openDatabase(config: Config): Promise<{ db: Db; secretKeys: Buffer[]; close: () => Promise<void> }> {
  const { database, secretKey } = config
  if (database.kind === 'postgres') {
    const db = await openPostgres(database.url, () => {}, console.error)
    return { db, secretKeys: [secretKey as Buffer], close: () => db.close() }
  }
  const dir = resolve(database.dataDir)
  const noDatabase = () =>
    new ConfigError(`BATON_DATA_DIR ${dir} has no database: run this with the settings of the service.`)
  if (!existsSync(dir)) throw noDatabase()
  const dataDir = await DataDir.open(dir)
  try {
    if (!dataDir.hasDatabase) throw noDatabase()
    const db = await dataDir.openDatabase(console.error, ({ message }) => console.error(message))
    const close = async () => {
      await db.close()
      dataDir.close()
    }
    return { db, secretKeys: secretKey ? [secretKey] : dataDir.secretKeys(), close }
  } catch (error) {
    dataDir.close()
    throw error
  }
}
