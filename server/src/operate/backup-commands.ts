import { existsSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { nameOf } from '../backup/backup-dir.ts'
import { filesBeside } from '../backup/files.ts'
import { LoadRefused } from '../backup/load.ts'
import { backUp, type Made, writeBackupFile } from '../backup/make.ts'
import { move, placeOf } from '../backup/move.ts'
import { restore } from '../backup/restore.ts'
import { type Summary, verifyBackup, verifyFiles } from '../backup/verify.ts'
import { verifyDeeply } from '../backup/verify-deep.ts'
import { systemClock } from '../clock.ts'
import { type Config, ConfigError } from '../config.ts'
import { Keyring } from '../crypto.ts'
import type { Db } from '../db/database.ts'
import { keyFileIn } from '../db/key-file.ts'
import { keyIsRight } from '../key-check.ts'
import { type Command, exitCodes, Refusal, UsageError } from './command.ts'
import { eraseListed } from './erase.ts'
import { contextOn } from './open.ts'

const file = { kind: 'path', positional: true, required: true } as const

export const backup: Command = {
  name: 'backup',
  usage: '[--output DIRECTORY|FILE.backup|-] [--without-key]',
  summary:
    'Writes a backup of the database, and copies of uploaded files beside it, while the service goes on. Without --output into BATON_BACKUP_DIR.',
  parameters: { output: { kind: 'path' }, 'without-key': { kind: 'flag' } },
  needs: 'database',
  async run({ arguments: args, config, ctx, write, signal }) {
    const options = { withoutKey: args.has('without-key'), signal }
    const output = args.optional('output') ?? config.backup.dir
    if (output === null) throw new UsageError('Name a directory with --output, or set BATON_BACKUP_DIR.')
    if (output === '-') {
      let bytes = 0
      const writeAll = async (backup: AsyncIterable<Buffer>) => {
        for await (const chunk of backup) {
          await write(chunk)
          bytes += chunk.length
        }
      }
      const { hasKey } = await backUp(ctx, writeAll, options)
      return {
        json: { bytes, has_key: hasKey },
        text: [`Wrote ${bytes} bytes. Uploaded files are listed in them, not contained.`, keyAdvice(hasKey)],
      }
    }
    const isFile = output.endsWith('.backup') && !(existsSync(output) && statSync(output).isDirectory())
    const path = resolve(isFile ? output : join(output, nameOf(ctx.clock.now())))
    return written(await writeBackupFile(ctx, path, options))
  },
}

const keyAdvice = (hasKey: boolean) =>
  hasKey
    ? 'It contains the secret key: keep it as you keep that.'
    : 'It does not contain the secret key: keep that elsewhere.'

function written({ file, bytes, files, ...summary }: Made) {
  const missing = files?.missing ?? []
  return {
    exit: missing.length === 0 ? exitCodes.done : exitCodes.failed,
    json: { file, bytes, files, ...summary },
    text: [
      `Wrote ${file}: ${bytes} bytes, ${rowsIn(summary)}.`,
      files
        ? `Uploaded files: ${files.listed} listed, ${files.copied} new ones copied to ${filesBeside(dirname(file))}.`
        : 'Uploaded files are not in a directory; they are listed, not copied.',
      keyAdvice(summary.header.hasKey),
      ...(missing.length > 0
        ? [`${missing.length} uploaded files are missing in the storage: run files-check. The backup has all the rest.`]
        : []),
    ],
  }
}

const rowsIn = ({ tables, rows }: Pick<Summary, 'tables' | 'rows'>) => `${rows} rows in ${tables} tables`

export const verifyBackupCommand: Command = {
  name: 'verify-backup',
  usage: 'FILE|- [--deep] [--files DIRECTORY]',
  summary:
    'Compares every sum of a backup and of the uploaded files beside it. --deep also restores it into a temporary database.',
  parameters: { file, deep: { kind: 'flag' }, files: { kind: 'path' } },
  needs: 'configuration',
  async run({ arguments: args, progress }) {
    const path = args.text('file')
    if (path === '-' && args.has('deep')) throw new UsageError('--deep needs a file.')
    const summary = args.has('deep')
      ? await verifyDeeply(path, progress)
      : await verifyBackup(path === '-' ? process.stdin : path)
    const filesDir = args.optional('files') ?? (path === '-' ? null : filesBeside(dirname(path)))
    const damaged =
      path !== '-' && filesDir && summary.header.files === 'copied' ? await verifyFiles(path, filesDir) : []
    return {
      exit: damaged.length === 0 ? exitCodes.done : exitCodes.failed,
      json: { ...summary, damaged_files: damaged },
      text: [
        ...damaged.map((hash) => `${join(filesDir ?? '', hash)} is missing or damaged`),
        damaged.length === 0
          ? `The backup is complete: ${rowsIn(summary)}, of ${summary.header.made_at}.`
          : `The database in the backup is complete, but ${damaged.length} uploaded files are not.`,
      ],
    }
  },
}

export const restoreCommand: Command = {
  name: 'restore',
  usage: 'FILE|- [--hold-deliveries] [--files DIRECTORY] [--without-files]',
  summary:
    'Fills an empty BATON_DATA_DIR, or the empty database of DATABASE_URL, from a backup. Run it again if it was interrupted. --hold-deliveries disables every endpoint.',
  parameters: {
    file,
    'hold-deliveries': { kind: 'flag' },
    files: { kind: 'path' },
    'without-files': { kind: 'flag' },
  },
  needs: 'stopped',
  run: ({ arguments: args, config, dataDir, progress }) =>
    refusing(async () => {
      const path = args.text('file')
      const { header, missingFiles, ...counts } = await restore({
        backup: path === '-' ? process.stdin : path,
        filesDir: args.optional('files') ?? null,
        withoutFiles: args.has('without-files'),
        holdDeliveries: args.has('hold-deliveries'),
        dataDir,
        config,
        progress,
        checkKey: (db, key) => checkKey(db, new Keyring(key, config.previousSecretKeys)),
        eraseListed: (db, key, dir) => eraseAgain(db, key, dir ?? config.backup.dir, config),
      })
      return {
        exit: missingFiles.length === 0 ? exitCodes.done : exitCodes.failed,
        json: { ...counts, made_at: header.made_at, missing_files: missingFiles },
        text: [
          ...missingFiles.map((id) => `The uploaded file ${id} could not be brought back`),
          `Restored ${rowsIn(counts)}, of ${header.made_at}. Start the service with these settings.`,
          ...(args.has('hold-deliveries') ? ['Every endpoint is disabled: enable those that may receive events.'] : []),
        ],
      }
    }),
}

async function checkKey(db: Db, keys: Keyring) {
  if (await keyIsRight(db, keys)) return
  throw new ConfigError('BATON_SECRET_KEY is not the key of this backup: set the right one and run the command again.')
}

/** Erases again the people whom `erasures.json` beside the backup names. */
async function eraseAgain(db: Db, key: Buffer, dir: string | null, config: Config) {
  if (dir === null) return
  const { ctx, close } = contextOn(db, config, new Keyring(key, config.previousSecretKeys), null)
  try {
    await eraseListed(ctx, dir)
  } finally {
    await close()
  }
}

export const moveCommand: Command = {
  name: 'move',
  usage: '--to URL',
  summary:
    'Copies a stopped embedded service to an empty PostgreSQL database and prints the settings to use. Run it again if it was interrupted.',
  parameters: { to: { kind: 'text', required: true } },
  needs: 'stopped',
  run: (call) =>
    refusing(async () => {
      const { arguments: args, config, dataDir, progress, signal } = call
      const url = args.text('to')
      if (!/^postgres(ql)?:\/\//.test(url)) throw new UsageError('--to must be a postgres:// URL.')
      if (!dataDir) throw new Refusal('DATABASE_URL is set: this service is on PostgreSQL already.')
      const { tables, movedAt } = await move({ dataDir, url, clock: systemClock, progress, signal })
      const rows = Object.values(tables).reduce((sum, table) => sum + table.rows, 0)
      const settings = settingsAfter(config, url, dataDir.path)
      return {
        json: { moved_at: movedAt, tables, settings },
        text: [
          `Moved ${rowsIn({ tables: Object.keys(tables).length, rows })} to ${placeOf(url)}; counts and sums are equal.`,
          `Nothing in ${dataDir.path} was deleted, but no service starts there any more. Start it with:`,
          ...Object.entries(settings).map(([name, value]) => `export ${name}=${value}`),
        ],
      }
    }),
}

/** For a shell. A password is left out: it was typed by the operator, and logs must not have it. */
function settingsAfter({ secretKey, files }: Config, url: string, dataDir: string): Record<string, string> {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return {
    DATABASE_URL: quoted(url.replace(/^([^:]+:\/\/[^:/@]+):[^@/]*@/, '$1:PASSWORD@')),
    ...(secretKey ? {} : { BATON_SECRET_KEY: `"$(cat ${quoted(keyFileIn(dataDir))})"` }),
    ...(files?.kind === 'directory' ? { BATON_FILES_DIR: quoted(resolve(files.path)) } : {}),
  }
}

/** Nothing was changed: exit code 3. */
async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw error instanceof LoadRefused ? new Refusal(error.message) : error
  }
}

export const backupCommands: readonly Command[] = [backup, verifyBackupCommand, restoreCommand, moveCommand]
