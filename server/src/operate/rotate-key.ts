import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import type { Context } from '../context.ts'
import { swapKeyFiles } from '../db/key-file.ts'
import { checkSecretKey, countSealed, resealAll } from '../key-check.ts'
import { type Answer, type Command, exitCodes, Refusal } from './command.ts'

export const rotateKey: Command = {
  name: 'rotate-key',
  usage: '[--check]',
  summary:
    'Makes a new key for the embedded database and seals every secret again. --check only prints how many values each key seals, also with PostgreSQL; it exits 1 while a previous key is needed.',
  parameters: { check: { kind: 'flag' } },
  needs: 'database',
  async run({ arguments: args, ctx, progress }) {
    if (args.has('check')) return check(ctx)
    const { config, db, keys, log } = ctx
    if (config.database.kind === 'postgres' || config.secretKey) {
      throw new Refusal(
        'The key is in BATON_SECRET_KEY: set a new one, and the old one in BATON_SECRET_KEY_PREVIOUS, and restart (docs/guides/running.md).',
      )
    }
    // What an earlier rotation left is sealed with the current key first, because only one previous key is kept.
    await resealAll(db, keys)
    const key = randomBytes(32)
    swapKeyFiles(resolve(config.database.dataDir), key, progress)
    keys.rotate(key)
    progress('Sealing all secrets again …')
    await checkSecretKey(db, keys)
    await resealAll(db, keys)
    const [id] = keys.keyIds
    log.info({ key_id: id }, 'operator rotated the secret key')
    return {
      json: { key_id: id },
      text: [
        `All secrets are sealed with the new key ${id}`,
        'The next start removes secret.key.previous. Make a new backup: older ones contain the old key.',
      ],
    }
  },
}

/** safety.rotate-key-check */
async function check({ db, keys }: Context): Promise<Answer> {
  const counts = await countSealed(db)
  const [current, ...previous] = keys.keyIds
  const roleOf = (id: string) => (id === current ? 'current' : previous.includes(id) ? 'previous' : 'unknown')
  const ids = new Set([...keys.keyIds, ...counts.keys()])
  const listed = [...ids].map((id) => ({ id, key: roleOf(id), values: counts.get(id) ?? 0 }))
  const isNeeded = listed.some(({ key, values }) => key !== 'current' && values > 0)
  return {
    exit: isNeeded ? exitCodes.failed : exitCodes.done,
    json: { keys: listed },
    text: [
      ...listed.map(({ id, key, values }) => `${id}  ${key} key: ${values} values`),
      isNeeded ? 'Another key than the current one is still needed' : 'Only the current key is needed',
    ],
  }
}
