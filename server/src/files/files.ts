import type { File, NewFile, WorkspaceStorage } from '@baton/protocol'
import { programLimits } from '@baton/protocol'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/database.ts'
import { none, sql } from '../db/sql.ts'
import { type Actor, type App, isManager, type Member } from '../http/caller.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { takeOneCall } from '../http/rate-window.ts'
import type { Upload } from '../http/route.ts'
import { issueInReach, projectInReach, reached } from '../installations/reach.ts'
import { fileColumns, fileInReach, findFile } from './access.ts'
import { type LinkTarget, linkFiles } from './links.ts'
import { markDeleted, maxPerItem, storageOf, storeFile, usedBytes } from './store.ts'

/** Everything that can be refused is refused before the body is read; access is checked again before the link. */
export async function uploadFile(ctx: Context, caller: Actor, query: NewFile, upload: Upload): Promise<File> {
  storageOf(ctx)
  const target = targetOf(query)
  if (target) await mustTakeFile(ctx.db, caller, target)
  return storeFor(ctx, caller, query.name, upload, target, (db, lock) =>
    mustTakeFile(db, caller, target as LinkTarget, lock),
  )
}

/** An app needs no scope for its own session (file.app-session-upload). */
export async function uploadSessionFile(ctx: Context, caller: App, sessionId: string, name: string, upload: Upload) {
  storageOf(ctx)
  const check = async (db: Queryable, lock = none) => {
    found(
      await db.row(sql`
        select 1 from agent_sessions s
        where s.id = ${sessionId} and s.workspace_id = ${caller.workspaceId} and s.agent_id = ${caller.id} ${lock}`),
    )
    await mustHaveRoom(db, { type: 'session', id: sessionId })
  }
  await check(ctx.db)
  return storeFor(ctx, caller, name, upload, { type: 'session', id: sessionId }, check)
}

async function storeFor(
  ctx: Context,
  caller: Actor,
  name: string,
  upload: Upload,
  target: LinkTarget | null,
  check: (db: Queryable, lock: typeof none) => Promise<void>,
) {
  await takeOneCall(ctx, { name: 'uploads', max: programLimits.uploadsPerMinute }, caller.id)
  const { workspaceId } = caller
  return storeFile(ctx, { workspaceId, uploaderId: caller.id, name }, upload, async (tx, id, now) => {
    if (!target) return
    await check(tx, sql`for no key update`)
    await linkFiles(tx, { workspaceId, now }, [[target, [id]]])
  })
}

function targetOf({ target_type, target_id }: NewFile): LinkTarget | null {
  if (target_type && target_id) return { type: target_type, id: target_id }
  if (target_type || target_id) throw invalid({ [target_type ? 'target_id' : 'target_type']: 'is required' })
  return null
}

async function mustTakeFile(db: Queryable, caller: Actor, target: LinkTarget, lock = none) {
  reached(
    caller,
    await db.row<{ reached: boolean }>(
      target.type === 'issue'
        ? sql`
          select ${issueInReach(caller)} as reached from issues i
          where i.workspace_id = ${caller.workspaceId} and i.id = ${target.id} ${lock}`
        : sql`
          select ${projectInReach(caller)} as reached from projects p
          where p.workspace_id = ${caller.workspaceId} and p.id = ${target.id} ${lock}`,
    ),
  )
  await mustHaveRoom(db, target)
}

async function mustHaveRoom(db: Queryable, { type, id }: LinkTarget) {
  const counted = await db.row<{ count: number }>(sql`
    select count(*)::int as count from file_links where target_id = ${id} and target_type = ${type}`)
  if ((counted?.count ?? 0) < maxPerItem) return
  throw invalid({
    [type === 'session' ? 'name' : 'target_id']: `has ${maxPerItem} files, the most that one ${type} can have`,
  })
}

export const readFile = async ({ db }: Context, caller: Actor, id: string) => (await findFile(db, caller, id)).file

export const deleteFile = (ctx: Context, caller: Actor, id: string): Promise<void> =>
  ctx.db.tx(async (tx) => {
    const { file } = await findFile(tx, caller, id, sql`for update of f`)
    if (file.uploader_id !== caller.id && !(caller.kind === 'person' && isManager(caller as Member))) {
      throw new ApiError('FORBIDDEN', {}, { message: 'Only its uploader or a manager can delete a file.' })
    }
    await markDeleted(tx, id, ctx.clock.now())
  })

/** The files of an item that the caller can access, newest first. */
export const filesOf = (db: Queryable, { type, id }: LinkTarget): Promise<File[]> =>
  db.rows<File>(sql`
    select ${fileColumns} from file_links l join files f on f.id = l.file_id
    where l.target_id = ${id} and l.target_type = ${type} and f.state = 'ready'
    order by f.id desc limit ${maxPerItem}`)

export async function listProjectFiles({ db }: Context, caller: Actor, id: string) {
  const project = await db.row<{ reached: boolean }>(sql`
    select ${projectInReach(caller)} as reached from projects p
    where p.workspace_id = ${caller.workspaceId} and p.id = ${id}`)
  reached(caller, project)
  return { data: await filesOf(db, { type: 'project', id }) }
}

export async function readStorage({ db, config }: Context, caller: Member): Promise<WorkspaceStorage> {
  const { workspaceId } = caller
  const counted = await db.row<{ files: number }>(sql`
    select count(*)::int as files from files where workspace_id = ${workspaceId} and state <> 'deleting'`)
  const largest = await db.rows<File>(sql`
    select ${fileColumns} from files f
    where f.workspace_id = ${workspaceId} and f.state <> 'deleting' and f.state = 'ready' and ${fileInReach(caller)}
    order by f.bytes desc limit ${programLimits.largestFiles}`)
  return { used: await usedBytes(db, workspaceId), limit: config.workspaceBytes, files: counted?.files ?? 0, largest }
}
