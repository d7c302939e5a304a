import { fork } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Db } from '../db/database.ts'
import { compiledDir } from '../paths.ts'
import { copyRunning } from './copy-running.ts'
import type { Description } from './write.ts'

/** What the child process gets. */
export interface Job {
  dir: string
  madeAt: string
  /** In base64. */
  key: string | null
  files: Description['files']
}

export type Outcome = { ok: true } | { ok: false; message: string }

export interface EmbeddedSource extends Description {
  db: Db
  dataDir: string
  signal?: AbortSignal
  /** For tests. */
  freeBytes?: (dir: string) => Promise<number>
}

/** Passes a backup of a running embedded database to `use`. */
export async function withEmbeddedBackup(source: EmbeddedSource, use: (backup: Readable) => Promise<void>) {
  const { db, dataDir, key, madeAt, files, signal, freeBytes } = source
  const copy = join(dataDir, 'db.backup-copy')
  try {
    const options = { ...(signal ? { signal } : {}), ...(freeBytes ? { freeBytes } : {}) }
    await copyRunning(db, join(dataDir, 'db'), copy, options)
    // It is read once from start to end, so the 128 MB of buffers that a service needs would only add to its memory.
    await appendFile(join(copy, 'postgresql.auto.conf'), "shared_buffers = '8MB'\n")
    const job: Job = { dir: copy, madeAt: madeAt.toISOString(), key: key?.toString('base64') ?? null, files }
    await inChild(job, use, signal)
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

async function inChild(job: Job, use: (backup: Readable) => Promise<void>, signal: AbortSignal | undefined) {
  const child = fork(new URL('backup/child.js', compiledDir), {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    execArgv: ['--max-semi-space-size=2'],
    ...(signal ? { signal, killSignal: 'SIGKILL' as const } : {}),
  })
  let outcome: Outcome | undefined
  child.on('message', (message: Outcome) => {
    outcome = message
  })
  // An abort ends it with an error, which `throwIfAborted` below reports.
  child.on('error', () => {})
  const ended = once(child, 'close')
  ended.catch(() => {})
  try {
    child.send(job)
    await use(child.stdout as Readable)
    await ended
    signal?.throwIfAborted()
    if (!outcome) throw new Error('the process that writes the backup ended early')
    if (!outcome.ok) throw new Error(outcome.message)
  } finally {
    child.kill('SIGKILL')
  }
}
