import { randomBytes } from 'node:crypto'
import { addAbortSignal, Readable } from 'node:stream'
import { recordAudit } from '../audit/record.ts'
import { minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { insertRows, json, Sql, sql } from '../db/sql.ts'
import { TypeDetector } from '../files/media-type.ts'
import { cleanName } from '../files/name.ts'
import { ApiError } from '../http/errors.ts'
import type { Storage } from '../storage/storage.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { insertWorkspace, openRestored } from '../workspaces/workspaces.ts'
import { ArchiveCheck, type CheckedArchive } from './check-archive.ts'
import type { Row, Table } from './columns.ts'
import { discardWorkspace } from './discard.ts'
import { IdMapping } from './id-mapping.ts'
import type { Manifest } from './manifest.ts'
import { type ArchiveHandler, ArchiveProblem, readArchive } from './read-archive.ts'

/** A restore that this worker has claimed. */
export interface ClaimedRestore {
  id: string
  user_id: string
  claim_id: string
}

/** Adds the built-in agent of a new workspace, with this id if it is given. */
export type CreateAgent = (unit: UnitOfWork, workspaceId: string, id?: string) => Promise<string>

export const claimMs = minutes(2)

/** The claim has expired, and another worker has the restore. */
export class ClaimLost extends Error {}

/**
 * Turns an archive into a workspace. It is read twice: to check all of it, then to write it in one transaction for each
 * part. Until the last transaction the workspace has no member, so that no one can see it; after a failure it is
 * deleted. Throws `ArchiveProblem` if the archive is at fault.
 */
export async function restoreArchive(
  ctx: Context,
  storage: Storage,
  restore: ClaimedRestore,
  createAgent: CreateAgent,
  signal: AbortSignal,
) {
  const { db, config } = ctx
  await discardBuilding(ctx, storage, restore)
  const read = async (handler: ArchiveHandler) =>
    readArchive(addAbortSignal(signal, await storage.read(`restores/${restore.id}`)), handler)
  const check = new ArchiveCheck(db, await verifiedEmail(ctx, restore.user_id), config.workspaceBytes)
  await read(check)
  const archive = check.result()
  await fence(ctx, restore, db)
  const attempt = async (salt: Buffer | null) => {
    const writer = new ArchiveWriting(ctx, storage, restore, createAgent, archive, salt, signal)
    try {
      await read(writer)
      await writer.publish()
    } catch (error) {
      // A worker that stops leaves this to the next one.
      if (!(error instanceof ClaimLost) && !signal.aborted) await discardBuilding(ctx, storage, restore)
      throw error
    }
  }
  try {
    await attempt(archive.idsTaken ? randomBytes(16) : null)
  } catch (error) {
    // Another restore took an id since the check. The derived ids collide with a probability of one in a thousand
    // millions for each row.
    if (!isTaken(error)) throw asProblem(error)
    await attempt(randomBytes(16)).catch((again) => {
      throw asProblem(again)
    })
  }
}

const sqlState = (error: unknown) => String((error as { code?: unknown } | null)?.code)

const isTaken = (error: unknown) =>
  sqlState(error) === '23505' && String((error as { constraint?: unknown }).constraint).endsWith('_pkey')

/** Rows that the database refuses, such as two issues with one code. */
function asProblem(error: unknown): unknown {
  if (error instanceof ApiError) return new ArchiveProblem(error.message)
  if (!/^2[23]/.test(sqlState(error))) return error
  const { constraint } = error as { constraint?: string }
  return new ArchiveProblem(`The database does not accept a row of the archive${constraint ? ` (${constraint})` : ''}.`)
}

const verifiedEmail = async ({ db }: Context, userId: string) =>
  (
    await db.row<{ email: string }>(sql`
      select lower(email) as email from users where id = ${userId} and email_verified_at is not null`)
  )?.email ?? null

/** Holds the claim for longer. Fails if another worker has it. */
async function fence({ clock }: Context, { id, claim_id }: ClaimedRestore, tx: Pick<Tx, 'run'>) {
  const held = await tx.run(sql`
    update restores set state = 'running', claimed_until = ${plus(clock.now(), claimMs)}
    where id = ${id} and claim_id = ${claim_id}`)
  if (held === 0) throw new ClaimLost()
}

/** Deletes what was written. Only a workspace that this restore has created: its id may be another one's. */
export async function discardBuilding({ db }: Context, storage: Storage, { id, claim_id }: ClaimedRestore) {
  const row = await db.row<{ building_id: string | null }>(sql`
    select building_id from restores where id = ${id} and claim_id = ${claim_id}`)
  if (!row?.building_id) return
  await discardWorkspace(db, storage, row.building_id)
  await db.run(sql`update restores set building_id = null where id = ${id} and claim_id = ${claim_id}`)
}

const files = new Sql('files', [])
const quoted = (columns: string[]) => new Sql(columns.map((column) => `"${column}"`).join(', '), [])

class ArchiveWriting implements ArchiveHandler {
  readonly #ctx: Context
  readonly #storage: Storage
  readonly #restore: ClaimedRestore
  readonly #createAgent: CreateAgent
  readonly #archive: CheckedArchive
  readonly #fixed = new Map<string, string>()
  readonly #ids: IdMapping
  readonly #workspaceId: string
  readonly #signal: AbortSignal
  #watchers: Row[] = []

  constructor(
    ctx: Context,
    storage: Storage,
    restore: ClaimedRestore,
    createAgent: CreateAgent,
    archive: CheckedArchive,
    salt: Buffer | null,
    signal: AbortSignal,
  ) {
    this.#signal = signal
    this.#ctx = ctx
    this.#storage = storage
    this.#restore = restore
    this.#createAgent = createAgent
    this.#archive = archive
    const { workspace } = archive.manifest
    if (archive.personId) this.#fixed.set(archive.personId, restore.user_id)
    this.#ids = new IdMapping(archive.ids, workspace.id, this.#fixed, salt)
    this.#workspaceId = this.#ids.of(workspace.id)
  }

  async manifest({ workspace }: Manifest) {
    const { user_id } = this.#restore
    await this.#write(async (unit) => {
      const times = { created_at: workspace.created_at, updated_at: workspace.updated_at }
      await insertWorkspace(unit.tx, user_id, {
        id: this.#workspaceId,
        name: workspace.name,
        guidance: this.#ids.text(workspace.guidance),
        last_issue_number: workspace.last_issue_number,
        ...times,
      })
      const { builtInAgentId } = this.#archive
      await this.#createAgent(unit, this.#workspaceId, builtInAgentId ? this.#ids.of(builtInAgentId) : undefined)
      await unit.tx.run(sql`update restores set building_id = ${this.#workspaceId} where id = ${this.#restore.id}`)
    })
  }

  async rows(table: Table, rows: Row[]) {
    const mapped = rows.map((row) => this.#ids.row(table, row))
    const { restored } = table
    if (restored.as === 'no') return
    if (table.name === 'issue_watchers') {
      this.#watchers.push(...mapped.filter(({ user_id }) => user_id === this.#restore.user_id))
      return
    }
    await this.#write(async ({ tx, now }) => {
      if (restored.as === 'update') await this.#update(tx, table, mapped)
      else await this.#insert(tx, table.name, this.#prepared(table, mapped, now.toISOString()))
    })
  }

  async file(id: string, bytes: number, content: AsyncIterable<Buffer>) {
    const { db } = this.#ctx
    await fence(this.#ctx, this.#restore, db)
    const newId = this.#ids.of(id)
    const type = new TypeDetector()
    const passing = async function* () {
      for await (const chunk of content) {
        type.push(chunk)
        yield chunk
      }
    }
    const body = Readable.from(passing(), { objectMode: false })
    const { sha256 } = await this.#storage.put(`files/${newId}`, body, bytes)
    const { media_type, inline, width, height } = type.result()
    await db.run(sql`
      update ${files} set state = 'ready', sha256 = ${sha256}, media_type = ${media_type}, inline = ${inline}, width = ${width},
        height = ${height}
      where id = ${newId}`)
  }

  /** Makes the workspace visible: the person becomes its owner, and a member of each team. */
  async publish() {
    const { user_id, id } = this.#restore
    const workspaceId = this.#workspaceId
    await this.#write(async (unit) => {
      const { tx, now } = unit
      await this.#mustHaveCodes(tx)
      await tx.run(sql`delete from ${files} where workspace_id = ${workspaceId} and state <> 'ready'`)
      await tx.run(sql`
        update ${files} f set unlinked_at = ${now} where workspace_id = ${workspaceId} and not exists (
          select from file_links l where l.file_id = f.id)`)
      await openRestored(unit, workspaceId, user_id)
      for (let from = 0; from < this.#watchers.length; from += 1000) {
        await this.#insert(tx, 'issue_watchers', this.#watchers.slice(from, from + 1000))
      }
      await recordAudit(
        { ...unit, caller: { id: user_id, workspaceId } },
        {
          action: 'workspace.restored',
          subjectId: workspaceId,
          details: { exported_at: this.#archive.manifest.created_at },
        },
      )
      const missing = this.#archive.manifest.missing_files
      const problems =
        missing > 0 ? [{ path: null, line: null, message: `${missing} files are not in the archive.` }] : []
      await tx.run(sql`
        update restores set state = 'done', workspace_id = ${workspaceId}, building_id = null, claimed_until = null,
          problems = ${json(problems)}, updated_at = ${now}
        where id = ${id}`)
    })
  }

  /** One transaction, while the claim holds. */
  async #write(work: (unit: UnitOfWork) => Promise<void>) {
    this.#signal.throwIfAborted()
    await transact(this.#ctx, null, async (unit) => {
      await fence(this.#ctx, this.#restore, unit.tx)
      await work(unit)
    })
  }

  async #insert(tx: Tx, table: string, rows: Row[]) {
    const [first] = rows
    if (!first) return
    const complete = rows.map((row) => ({ ...row, ...(table === 'users' ? {} : { workspace_id: this.#workspaceId }) }))
    await tx.run(insertRows(new Sql(table, []), quoted(Object.keys(complete[0] as Row)), complete))
  }

  async #update(tx: Tx, { stored, columns }: Table, rows: Row[]) {
    const [key, column] = Object.keys(columns) as [string, string]
    await tx.run(sql`
      update ${new Sql(stored as string, [])} set ${quoted([column])} = r.above
      from jsonb_to_recordset(${json(rows.map((row) => ({ id: row[key], above: row[column] })))}) as r (id text, above text)
      where ${new Sql(stored as string, [])}.id = r.id and workspace_id = ${this.#workspaceId}`)
  }

  #prepared({ name, restored }: Table, rows: Row[], now: string): Row[] {
    switch (name) {
      case 'users':
        return rows.filter(({ id }) => !this.#exists(id as string)).map((row) => this.#placeholder(row))
      case 'agent_sessions':
        return rows.map((row) => ({
          ...row,
          ...(row.ended_at === null && { state: 'complete', end_reason: 'uninstalled', ended_at: now }),
          quiet_since: row.updated_at,
        }))
      case 'files':
        // The type follows from the content. Until that is stored, no one can read the file.
        return rows.map((row) => ({
          ...row,
          name: cleanName(row.name as string),
          media_type: 'application/octet-stream',
          inline: false,
          state: 'restoring',
        }))
      default:
        return rows.map((row) => ({ ...row, ...(restored.as === 'insert' && restored.with) }))
    }
  }

  /** The person who restores, and the built-in agent of the new workspace. */
  #exists(id: string) {
    const { builtInAgentId } = this.#archive
    return id === this.#restore.user_id || (builtInAgentId !== null && id === this.#ids.of(builtInAgentId))
  }

  /** export.restore-adds-no-members: a name without a login. */
  #placeholder(row: Row): Row {
    return {
      ...row,
      agent_kind: row.agent_kind === 'deployment' ? 'app' : row.agent_kind,
      email: row.user_kind === 'human' ? `${row.id}@placeholder.invalid` : null,
      placeholder_in: this.#workspaceId,
    }
  }

  async #mustHaveCodes(tx: Tx) {
    const without = await tx.row<{ code: string }>(sql`
      select code from issues i where workspace_id = ${this.#workspaceId} and not exists (
        select from issue_codes c where c.workspace_id = i.workspace_id and c.code = i.code and c.issue_id = i.id) limit 1`)
    if (without) throw new ArchiveProblem(`The code ${without.code} of an issue is not in issue_codes.`)
  }
}
