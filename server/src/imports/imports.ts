import {
  type Import,
  type ImportChange,
  type ImportMappingChange,
  type ImportProblem,
  type NewImport,
  programLimits,
} from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { isDuplicate, type Queryable } from '../db/database.ts'
import { json, none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import type { Upload } from '../http/route.ts'
import { newId } from '../ids.ts'
import { judgeUrl } from '../outbound/target.ts'
import type { Storage } from '../storage/storage.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { confirmRole, lockWorkspace, transactAs } from '../workspaces/members.ts'
import { changeMapping } from './mapping.ts'
import {
  type Connection,
  clearProblems,
  columns,
  mappingOf,
  nextStart,
  noCounts,
  type StoredFile,
  type StoredImport,
  sendImportHint,
  shown,
} from './state.ts'
import { importWakeup } from './worker.ts'

const busy = ['reading', 'running']

export const listImports = ({ db, keys }: Context, { workspaceId }: Member, query: PageQuery) =>
  page<Import>(
    keys,
    'imports',
    query,
    ({ id }) => [id],
    async (after, count) => {
      const rows = await db.rows<StoredImport>(sql`
        select ${columns} from imports
        where workspace_id = ${workspaceId} ${after ? sql`and id < ${after[0]}` : none}
        order by id desc limit ${count}`)
      return rows.map(shown)
    },
  )

const find = async (db: Queryable, workspaceId: string, id: string, lock = none) =>
  found(
    await db.row<StoredImport>(sql`
      select ${columns} from imports where workspace_id = ${workspaceId} and id = ${id} ${lock}`),
  )

export const readImport = async ({ db }: Context, { workspaceId }: Member, id: string) =>
  shown(await find(db, workspaceId, id))

export const createImport = (ctx: Context, admitted: Member, wanted: NewImport) =>
  transact(ctx, admitted, async (admission) => {
    // Concurrent creates are counted one after the other.
    await lockWorkspace(admission.tx, admitted.workspaceId)
    const { tx, now, caller } = await confirmRole(admission, 'manager')
    const connection = connectionOf(ctx, wanted)
    storageOf(ctx)
    const kept = await tx.row<{ count: number }>(sql`
      select count(*)::int as count from imports
      where workspace_id = ${caller.workspaceId} and jsonb_array_length(files) > 0 or workspace_id = ${caller.workspaceId} and state in ('uploading', 'reading')`)
    if (kept && kept.count >= programLimits.importsKept)
      throw invalid({
        source: `the workspace has ${programLimits.importsKept} imports with data, the maximum; delete one`,
      })
    const id = newId('imp')
    const key = wanted.key ? ctx.keys.seal(wanted.key, `${id} key`) : null
    const row = await tx.row<StoredImport>(sql`
      insert into imports (id, workspace_id, creator_id, source, state, connection, key, created_at, updated_at)
      values (${id}, ${caller.workspaceId}, ${caller.id}, ${wanted.source}, 'uploading',
        ${connection ? json(connection) : null}, ${key}, ${now}, ${now})
      returning ${columns}`)
    sendImportHint(tx, caller.workspaceId, id, 'update')
    return shown(found(row))
  })

const publicApis = { linear: 'https://api.linear.app/graphql', github: 'https://api.github.com' }

function connectionOf({ config }: Context, { source, key, repository, url }: NewImport): Connection | null {
  if (source !== 'linear' && source !== 'github') {
    if (key || repository || url) throw invalid({ key: `must be left out for ${source}, which has only files` })
    return null
  }
  if (!key) {
    if (repository || url) throw invalid({ key: 'is required with repository or url' })
    return null
  }
  if (source === 'github' && !repository) throw invalid({ repository: 'is required with a key' })
  if (source === 'linear' && repository) throw invalid({ repository: 'must be left out for linear' })
  const address = url ?? publicApis[source]
  const judged = judgeUrl(address, config.webhookAllow)
  if ('refused' in judged) throw invalid({ url: judged.refused })
  return source === 'linear'
    ? { kind: 'linear', url: address }
    : { kind: 'github', url: address, repository: repository as string }
}

function storageOf({ storage }: Context): Storage {
  if (storage === null) throw new ApiError('FILES_NOT_CONFIGURED')
  return storage
}

/** Runs `work` with the manager's role confirmed and the import locked. */
const changing = <T>(
  ctx: Context,
  admitted: Member,
  id: string,
  work: (unit: UnitOfWork<Member>, one: StoredImport) => Promise<T>,
) =>
  transactAs(ctx, admitted, 'manager', async (unit) => {
    const one = await find(unit.tx, admitted.workspaceId, id, sql`for update`)
    return work(unit, one)
  })

function refuseBusy({ state }: StoredImport) {
  if (busy.includes(state)) throw new ApiError('IMPORT_RUNNING')
}

export const updateImport = (ctx: Context, admitted: Member, id: string, { mapping }: ImportChange) =>
  changing(ctx, admitted, id, async ({ tx, now, caller }, one) => {
    refuseBusy(one)
    await checkMapping(tx, caller.workspaceId, one, mapping)
    // Before the first reading only what was chosen: the proposal fills the rest.
    const after = changeMapping<ImportMappingChange>(one.mapping, mapping)
    const row = await tx.row<StoredImport>(sql`
      update imports set mapping = ${json(after)}, updated_at = ${now} where id = ${id} returning ${columns}`)
    sendImportHint(tx, caller.workspaceId, id, 'update')
    return shown(found(row))
  })

/** Ids of the mapping belong to the workspace. */
async function checkMapping(tx: Queryable, workspaceId: string, one: StoredImport, mapping: ImportMappingChange) {
  const bad: Record<string, string> = {}
  const teams = Object.entries(mapping.teams ?? {}).filter(([, value]) => value !== 'create' && value !== 'skip')
  const users = Object.entries(mapping.users ?? {}).filter(([, value]) => value !== null)
  const wanted = [...teams.map(([, id]) => id), ...(mapping.default_team_id ? [mapping.default_team_id] : [])]
  const knownTeams = await tx.rows<{ id: string }>(sql`
    select id from teams where workspace_id = ${workspaceId} and id = any(${wanted})`)
  const knownUsers = await tx.rows<{ id: string }>(sql`
    select user_id as id from memberships where workspace_id = ${workspaceId} and user_id = any(${users.map(([, id]) => id)})`)
  const isTeam = (id: string) => knownTeams.some((team) => team.id === id)
  for (const [name, id] of teams)
    if (!isTeam(id)) bad[`mapping.teams.${name}`] = 'must be a team of this workspace, create or skip'
  if (mapping.default_team_id && !isTeam(mapping.default_team_id))
    bad['mapping.default_team_id'] = 'is not a team of this workspace'
  for (const [name, id] of users)
    if (!knownUsers.some((user) => user.id === id)) bad[`mapping.users.${name}`] = 'is not a member of this workspace'
  for (const [field, position] of Object.entries(mapping.columns ?? {}))
    if (position !== null && position !== undefined && one.columns.length > 0 && position >= one.columns.length)
      bad[`mapping.columns.${field}`] = `must be below ${one.columns.length}, the number of columns`
  if (Object.keys(bad).length > 0) throw invalid(bad)
}

/** The bytes are stored before the import names them. */
export async function addFile(
  ctx: Context,
  admitted: Member,
  id: string,
  name: string,
  upload: Upload,
): Promise<Import> {
  const storage = storageOf(ctx)
  mustAcceptFiles(await find(ctx.db, admitted.workspaceId, id))
  const key = `imports/${id}/${newId('fil')}`
  await storage.put(key, upload.body, upload.bytes)
  try {
    await upload.confirm()
    return await changing(ctx, admitted, id, async ({ tx, now, caller }, one) => {
      mustAcceptFiles(one)
      const files: StoredFile[] = [...one.files, { name, bytes: upload.bytes, key }]
      const row = await tx.row<StoredImport>(sql`
        update imports set files = ${json(files)}, updated_at = ${now} where id = ${id} returning ${columns}`)
      sendImportHint(tx, caller.workspaceId, id, 'update')
      return shown(found(row))
    })
  } catch (error) {
    await storage.remove(key)
    throw error
  }
}

function mustAcceptFiles(one: StoredImport) {
  refuseBusy(one)
  if (one.connection) throw invalid({ name: 'cannot be added: the import reads from an API' })
  if (one.state !== 'uploading') throw invalid({ name: 'cannot be added after reading; create another import' })
  if (one.files.length >= programLimits.importFiles)
    throw invalid({ name: `is too many: an import has at most ${programLimits.importFiles} files` })
}

/** Reads the data, or previews it again with a changed mapping. */
export const startReading = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async ({ tx, now, caller }, one) => {
    storageOf(ctx)
    refuseBusy(one)
    if (one.files.length === 0 && !(one.connection && one.key))
      throw invalid({
        files: one.connection ? 'must be fetched again: create another import' : 'must contain at least one file',
      })
    await clearProblems(tx, id)
    const row = await tx.row<StoredImport>(sql`
      update imports set state = 'reading', phase = 'reading', done = 0, total = 0, counts = ${json(noCounts())},
        problem_count = 0, attempts = 0, cancel = false, claim = null, claimed_until = null, updated_at = ${now}
      where id = ${id} returning ${columns}`)
    sendImportHint(tx, caller.workspaceId, id, 'update')
    tx.afterCommit('work', [importWakeup])
    return shown(found(row))
  })

export async function startRun(ctx: Context, admitted: Member, id: string): Promise<Import> {
  try {
    return await changing(ctx, admitted, id, async (unit, one) => {
      const { tx, now, caller } = unit
      storageOf(ctx)
      refuseBusy(one)
      if (one.state === 'uploading' || one.columns === null || one.files.length === 0)
        throw invalid({ state: 'must be ready: read the import first' })
      checkNeeds(one)
      const startedAt = await nextStart(tx, caller.workspaceId, now)
      await clearProblems(tx, id)
      const row = await tx.row<StoredImport>(sql`
        update imports set state = 'running', phase = 'teams', done = 0, total = 0, counts = ${json(noCounts())},
          problem_count = 0, position = null, started_at = ${startedAt}, attempts = 0, cancel = false, claim = null,
          claimed_until = null, updated_at = ${now}
        where id = ${id} returning ${columns}`)
      await recordAudit(unit, { action: 'import.started', subjectId: id, details: { source: one.source } })
      sendImportHint(tx, caller.workspaceId, id, 'update')
      tx.afterCommit('work', [importWakeup])
      return shown(found(row))
    })
  } catch (error) {
    if (isDuplicate(error, 'imports_running')) throw new ApiError('IMPORT_RUNNING')
    throw error
  }
}

/** What cannot be guessed has to be chosen before the run. */
function checkNeeds(one: StoredImport) {
  const mapping = mappingOf(one)
  const bad: Record<string, string> = {}
  if (one.needs.title && typeof mapping.columns.title !== 'number')
    bad['mapping.columns.title'] = 'must be the column of the title'
  if (one.needs.date_order && mapping.date_order === null)
    bad['mapping.date_order'] = 'must be chosen: the dates can be read in both orders'
  if (one.needs.default_team && mapping.default_team_id === null)
    bad['mapping.default_team_id'] = 'must be chosen: there are issues without a team'
  if (Object.keys(bad).length > 0) throw invalid(bad)
}

/** A worker stops after its batch; without one the import ends at once. */
export const cancelImport = (ctx: Context, admitted: Member, id: string) =>
  changing(ctx, admitted, id, async ({ tx, now, caller }, one) => {
    if (['done', 'failed', 'canceled'].includes(one.state)) return shown(one)
    const waits = busy.includes(one.state)
    const row = await tx.row<StoredImport>(sql`
      update imports set updated_at = ${now}, cancel = ${waits}, state = ${waits ? one.state : 'canceled'},
        key = ${waits ? sql`key` : null}
      where id = ${id} returning ${columns}`)
    sendImportHint(tx, caller.workspaceId, id, 'update')
    if (waits) tx.afterCommit('work', [importWakeup])
    return shown(found(row))
  })

export async function deleteImport(ctx: Context, admitted: Member, id: string) {
  await changing(ctx, admitted, id, async (unit, one) => {
    refuseBusy(one)
    await unit.tx.run(sql`delete from imports where id = ${id}`)
    await recordAudit(unit, { action: 'import.deleted', subjectId: id, details: { source: one.source } })
    sendImportHint(unit.tx, unit.caller.workspaceId, id, 'remove')
  })
  await removeBytes(ctx, id)
}

async function removeBytes({ storage }: Context, id: string) {
  if (storage === null) return
  for await (const { key } of storage.list(`imports/${id}/`)) await storage.remove(key)
}

export async function listProblems(ctx: Context, { workspaceId }: Member, id: string, query: PageQuery) {
  await find(ctx.db, workspaceId, id)
  const { data, next_cursor } = await page<ImportProblem & { position: number }>(
    ctx.keys,
    `problems of ${id}`,
    query,
    ({ position }) => [String(position)],
    (after, count) =>
      ctx.db.rows(sql`
        select row, field, value, message, position from import_problems
        where import_id = ${id} and workspace_id = ${workspaceId} ${after ? sql`and position > ${Number(after[0])}` : none}
        order by position limit ${count}`),
  )
  return { data: data.map(({ position: _, ...problem }) => problem), next_cursor }
}

/** Removes the data of old imports; what they imported stays, and their records too. */
export async function removeOldImportData(ctx: Context) {
  const { db, clock, storage } = ctx
  if (storage === null) return
  const before = plus(clock.now(), -days(programLimits.importFileDays))
  const old = await db.rows<{ id: string }>(sql`
    update imports set files = '[]', key = null, state = case when state in ('uploading', 'ready') then 'canceled' else state end
    where updated_at < ${before} and state not in ('reading', 'running')
      and (jsonb_array_length(files) > 0 or state in ('uploading', 'ready'))
    returning id`)
  for (const { id } of old) await removeBytes(ctx, id)
  // A crash between both steps, or a deleted workspace, leaves bytes without an import.
  for await (const { key, writtenAt } of storage.list('imports/')) {
    if (writtenAt > before) continue
    const [, id = ''] = key.split('/')
    if (!(await db.row(sql`select 1 from imports where id = ${id} and updated_at > ${before}`)))
      await storage.remove(key)
  }
}
