import type { Import, ImportCounts, ImportKind, ImportMapping, ImportSource, ImportState } from '@baton/protocol'
import { importKinds, programLimits } from '@baton/protocol'
import { laterThan } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Keyring } from '../crypto.ts'
import type { Db, Queryable, Tx } from '../db/database.ts'
import { insertRows, json, sql } from '../db/sql.ts'
import { refillInsights } from '../insights/rollup.ts'
import { type HintSender, sendHints } from '../live/hint.ts'
import type { Connection } from './fetch.ts'
import { emptyMapping } from './mapping.ts'
import type { PlannedBatch } from './phases/phase.ts'
import { cleanText, clip } from './plan.ts'
import type { Problem, Problems } from './survey.ts'

/** Problems that are stored; all are counted. */
const problemsKept = programLimits.importProblems
/** A worker that says nothing for this long has died; another one continues. */
export const leaseMs = 30_000

export interface StoredFile {
  name: string
  bytes: number
  key: string
}

export type { Connection } from './fetch.ts'

/** What the mapping must contain before a run. */
export interface Needs {
  title?: boolean
  date_order?: boolean
  default_team?: boolean
}

/** Where a run continues. */
export interface Position {
  phase: number
  /** Batches of the phase that are done. */
  batch: number
  /** Decided when the issues begin: by team, the number below the new ones, and whether codes are kept. */
  teams?: Record<string, { base: number; keep: boolean }>
}

export interface StoredImport {
  id: string
  workspace_id: string
  creator_id: string | null
  source: ImportSource
  state: ImportState
  phase: string | null
  done: number
  total: number
  counts: Partial<ImportCounts>
  columns: string[]
  mapping: Partial<ImportMapping>
  needs: Needs
  files: StoredFile[]
  connection: Connection | null
  key: string | null
  problem_count: number
  position: Position | null
  started_at: string | null
  attempts: number
  cancel: boolean
  created_at: string
}

export const columns = sql`
  id, workspace_id, creator_id, source, state, phase, done, total, counts, columns, mapping, needs, files, connection,
  key, problem_count, position, started_at, attempts, cancel, created_at`

export const noCounts = (): ImportCounts =>
  Object.fromEntries(
    importKinds.map((kind) => [kind, { created: 0, updated: 0, unchanged: 0, skipped: 0 }]),
  ) as ImportCounts

export const mappingOf = ({ mapping }: Pick<StoredImport, 'mapping'>): ImportMapping => ({
  ...emptyMapping,
  ...mapping,
})

/** As the API shows it. */
export const shown = (one: StoredImport): Import => ({
  id: one.id,
  source: one.source,
  state: one.state,
  phase: one.state === 'reading' || one.state === 'running' ? one.phase : null,
  done: one.done,
  total: one.total,
  counts: { ...noCounts(), ...one.counts },
  columns: one.columns,
  mapping: mappingOf(one),
  problem_count: one.problem_count,
})

/** When a run of the workspace starts. Runs are told apart by their start, so each is later than all before. */
export async function nextStart(db: Queryable, workspaceId: string, now: Date): Promise<Date> {
  const last = await db.row<{ at: string | null }>(sql`
    select max(started_at) as at from imports where workspace_id = ${workspaceId}`)
  return last?.at ? new Date(laterThan(last.at, now)) : now
}

export const sendImportHint = (
  sender: HintSender,
  workspaceId: string,
  id: string,
  action: 'create' | 'update' | 'remove',
) => sendHints(sender, [{ workspace_id: workspaceId, type: 'Import', id, action }])

/** Adds the counts of a batch. */
export function addCounts(counts: ImportCounts, kind: ImportKind, batch: PlannedBatch['counts']) {
  for (const [key, count] of Object.entries(batch)) counts[kind][key as keyof typeof batch] += count
}

/** Stores the problems that fit, after the `before` ones that were counted so far. */
export async function addProblems(tx: Queryable, one: StoredImport, before: number, problems: readonly Problem[]) {
  const kept = problems.slice(0, Math.max(0, problemsKept - before))
  if (kept.length === 0) return
  const rows = kept.map(({ row, field, value, message }, index) => ({
    import_id: one.id,
    workspace_id: one.workspace_id,
    position: before + index,
    row,
    field,
    value: value === null ? null : clip(cleanText(value), 500),
    message: clip(cleanText(message), 500),
  }))
  await tx.run(
    insertRows(sql`import_problems`, sql`import_id, workspace_id, position, row, field, value, message`, rows),
  )
}

export const clearProblems = (tx: Queryable, id: string) =>
  tx.run(sql`delete from import_problems where import_id = ${id}`)

/** The key of the API; it is erased after reading. */
export const openKey = ({ keys }: Context, { id, key }: Pick<StoredImport, 'id' | 'key'>) =>
  key === null ? null : keys.open(key, `${id} key`)

/** Another worker has the import, or it was deleted. */
export class LostClaim extends Error {}
export class Canceled extends Error {}
/** The process stops; another worker continues. */
export class Interrupted extends Error {}
/** The import cannot succeed; its message is for the manager. */
export class ImportFailed extends Error {}

/** The claim of one worker on one import. */
export class Claim {
  readonly #ctx: Context
  readonly id: string
  readonly #token: string
  /** Aborted with the reason why the work has to stop: one of the errors above. */
  readonly signal: AbortSignal
  readonly end: () => void
  readonly #stop = new AbortController()
  #beatAt: number

  /** `stopping` is that of the process. */
  constructor(ctx: Context, id: string, token: string, stopping: AbortSignal) {
    this.#ctx = ctx
    this.id = id
    this.#token = token
    this.signal = this.#stop.signal
    const interrupt = () => this.#stop.abort(new Interrupted())
    stopping.addEventListener('abort', interrupt, { once: true })
    this.end = () => stopping.removeEventListener('abort', interrupt)
    if (stopping.aborted) interrupt()
    this.#beatAt = ctx.clock.now().getTime()
  }

  /**
   * Locks the import for a batch and returns it. Throws if another worker has it or it was canceled, so that the batch
   * writes nothing.
   */
  async confirm(tx: Tx): Promise<StoredImport> {
    this.signal.throwIfAborted()
    const now = this.#ctx.clock.now()
    const row = await tx.row<StoredImport & { deletion: boolean }>(sql`
      update imports set claimed_until = ${new Date(now.getTime() + leaseMs)}, updated_at = ${now}
      where id = ${this.id} and claim = ${this.#token} and state in ('reading', 'running') returning ${columns}`)
    if (!row) throw new LostClaim()
    if (row.cancel) throw new Canceled()
    this.#beatAt = now.getTime()
    return row
  }

  /** Keeps the claim while the work waits. Stops the work if another worker has the import or it was canceled. */
  async renew() {
    const { db, clock } = this.#ctx
    const row = await db.row<{ cancel: boolean }>(sql`
      update imports set claimed_until = ${new Date(clock.now().getTime() + leaseMs)}
      where id = ${this.id} and claim = ${this.#token} and state in ('reading', 'running') returning cancel`)
    if (!row) this.#stop.abort(new LostClaim())
    else if (row.cancel) this.#stop.abort(new Canceled())
  }

  /** Shows the progress, at most every two seconds unless the phase is new, and keeps the claim. */
  async beat(phase: string, done: number, total: number, always = false) {
    if (!always && this.#ctx.clock.now().getTime() - this.#beatAt < 2000 && !this.signal.aborted) return
    await this.#ctx.db.tx(async (tx) => {
      const { workspace_id } = await this.confirm(tx)
      await tx.run(sql`update imports set phase = ${phase}, done = ${done}, total = ${total} where id = ${this.id}`)
      sendImportHint(tx, workspace_id, this.id, 'update')
    })
  }

  /** Ends the claim in this state. */
  async finish(state: ImportState, problem: string | null = null) {
    const { db, clock } = this.#ctx
    await db.tx(async (tx) => {
      const row = await tx.row<StoredImport>(sql`
        update imports set state = ${state}, phase = null, claim = null, claimed_until = null, cancel = false, attempts = 0,
          key = null, updated_at = ${clock.now()}, problem_count = problem_count + ${problem === null ? 0 : 1}
        where id = ${this.id} and claim = ${this.#token} returning ${columns}`)
      if (!row) return
      if (problem !== null) {
        // A failure is always shown, also after 1,000 problems.
        const position = Math.min(row.problem_count - 1, problemsKept)
        await tx.run(sql`
          insert into import_problems (import_id, workspace_id, position, message)
          values (${row.id}, ${row.workspace_id}, ${position}, ${clip(problem, 500)}) on conflict do nothing`)
      }
      // Whatever it wrote is of the past.
      if (state !== 'ready') await refillInsights(tx, row.workspace_id, clock.now())
      sendImportHint(tx, row.workspace_id, this.id, state === 'ready' ? 'update' : 'create')
    })
  }

  /** Leaves the import to another worker: at once, or after a failure, which counts as an attempt, when the lease ends. */
  async release(failed: boolean) {
    const { db } = this.#ctx
    await db.run(sql`
      update imports set claim = null, attempts = greatest(attempts - ${failed ? 0 : 1}, 0),
        claimed_until = ${failed ? sql`claimed_until` : null}
      where id = ${this.id} and claim = ${this.#token}`)
  }

  /** Writes what a preview found. */
  async store(values: {
    columns: string[]
    mapping: ImportMapping
    needs: Needs
    counts: ImportCounts
    problems: Problems
  }) {
    await this.#ctx.db.tx(async (tx) => {
      const one = await this.confirm(tx)
      const { columns, mapping, needs, counts, problems } = values
      await clearProblems(tx, this.id)
      await addProblems(tx, one, 0, problems.kept)
      await tx.run(sql`
        update imports set columns = ${json(columns)}, mapping = ${json(mapping)}, needs = ${json(needs)},
          counts = ${json(counts)}, problem_count = ${problems.count}
        where id = ${this.id}`)
    })
  }
}

/** Seals keys again with the current key, so that the previous key can be removed after one start. */
export async function resealImports(db: Db, keys: Keyring) {
  const rows = await db.rows<{ id: string; key: string }>(sql`
    select id, key from imports where key not like ${`${keys.currentPrefix}%`}`)
  for (const { id, key } of rows) {
    const owner = `${id} key`
    await db.run(sql`
      update imports set key = ${keys.seal(keys.open(key, owner), owner)} where id = ${id} and key = ${key}`)
  }
}
