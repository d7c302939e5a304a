import { type Export, type ExportLink, programLimits } from '@baton/protocol'
import { recordAudit } from '../audit/record.ts'
import { days, minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sameBytes } from '../crypto.ts'
import { none, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError, found, notFound } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { rateLimited } from '../http/rate-limit.ts'
import { Reply, uncached } from '../http/route.ts'
import { newId } from '../ids.ts'
import { NoSuchKey, type Storage } from '../storage/storage.ts'
import { lockWorkspace, transactAs } from '../workspaces/members.ts'

const columns = sql`id, state, bytes, created_at`

export const archiveKey = (exportId: string) => `exports/${exportId}`

export function mustHaveStorage({ storage }: Context): Storage {
  if (!storage) throw new ApiError('FILES_NOT_CONFIGURED')
  return storage
}

/** export.owner-only: an archive contains what admins see, and more people can read it once it has left. */
function mustBeOwner({ role }: Member) {
  if (role !== 'owner') throw new ApiError('FORBIDDEN', {}, { message: 'Only owners can export a workspace.' })
}

export function listExports(ctx: Context, caller: Member, query: PageQuery) {
  mustBeOwner(caller)
  return page<Export>(
    ctx.keys,
    'exports',
    query,
    ({ id }) => [id],
    (after, count) =>
      ctx.db.rows(sql`
        select ${columns} from exports
        where workspace_id = ${caller.workspaceId} and deleted_at is null ${after ? sql`and id < ${after[0]}` : none}
        order by id desc limit ${count}`),
  )
}

export async function readExport(ctx: Context, caller: Member, id: string): Promise<Export> {
  mustBeOwner(caller)
  return found(
    await ctx.db.row<Export>(sql`
      select ${columns} from exports
      where id = ${id} and workspace_id = ${caller.workspaceId} and deleted_at is null`),
  )
}

/** A worker writes the archive. While one is written, it is returned in place of another. */
export function createExport(ctx: Context, caller: Member): Promise<Export> {
  mustBeOwner(caller)
  mustHaveStorage(ctx)
  return transactAs(ctx, caller, 'manager', async (unit) => {
    const { tx, now } = unit
    mustBeOwner(unit.caller)
    await lockWorkspace(tx, caller.workspaceId)
    const recent = await tx.rows<Export>(sql`
      select ${columns} from exports
      where workspace_id = ${caller.workspaceId} and (created_at > ${plus(now, -days(1))} or state = 'running')
      order by id limit ${programLimits.exportsPerDay + 1}`)
    const running = recent.find(({ state }) => state === 'running')
    if (running) return running
    if (recent.length >= programLimits.exportsPerDay) {
      const free = plus(new Date((recent.at(-programLimits.exportsPerDay) as Export).created_at), days(1))
      const message = `A workspace can be exported ${programLimits.exportsPerDay} times a day.`
      throw rateLimited('exports', free.getTime() - now.getTime(), { message })
    }
    const id = newId('exp')
    const created = await tx.row<Export>(sql`
      insert into exports (id, workspace_id, creator_id, state, created_at)
      values (${id}, ${caller.workspaceId}, ${caller.id}, 'running', ${now}) returning ${columns}`)
    await recordAudit(unit, { action: 'workspace.exported', subjectId: id, details: {} })
    return found(created)
  })
}

/** The row stays, because it counts among the exports of its day. */
export async function deleteExport(ctx: Context, caller: Member, id: string): Promise<void> {
  await readExport(ctx, caller, id)
  await ctx.db.run(sql`
    update exports set deleted_at = ${ctx.clock.now()}, state = case when state = 'running' then 'failed' else state end,
      claim_id = null
    where id = ${id} and workspace_id = ${caller.workspaceId}`)
  await ctx.storage?.remove(archiveKey(id))
}

export async function createExportLink(ctx: Context, caller: Member, id: string) {
  const { state } = await readExport(ctx, caller, id)
  if (state !== 'ready') throw notFound()
  const expires = plus(ctx.clock.now(), minutes(programLimits.exportLinkMinutes))
  const text = [id, caller.id, expires.getTime()].join('.')
  const link: ExportLink = {
    url: `${ctx.config.rootUrl}/exports/${text}.${macOf(ctx, text).toString('base64url')}`,
    expires_at: expires.toISOString(),
  }
  return uncached(link)
}

const macOf = ({ keys }: Context, text: string) => keys.mac('export link', text)

/** Each use checks that the link's creator is still an owner. */
export async function downloadExport(ctx: Context, token: string) {
  const [id = '', userId = '', expires = '', mac = ''] = token.split('.')
  const isOurs = sameBytes(macOf(ctx, [id, userId, expires].join('.')), Buffer.from(mac, 'base64url'))
  if (!isOurs || !ctx.storage || Number(expires) <= ctx.clock.now().getTime()) throw notFound()
  const row = found(
    await ctx.db.row<{ name: string; bytes: number; created_at: string }>(sql`
      select w.name, e.bytes, e.created_at
      from exports e join workspaces w on w.id = e.workspace_id
      join memberships m on m.workspace_id = w.id and m.user_id = ${userId} and m.role = 'owner'
      where e.id = ${id} and e.state = 'ready' and e.deleted_at is null`),
  )
  const body = await ctx.storage.read(archiveKey(id)).catch((error) => {
    throw error instanceof NoSuchKey ? notFound() : error
  })
  return new Reply(body, {
    'content-type': 'application/gzip',
    'content-length': String(row.bytes),
    'content-disposition': `attachment; filename="${fileName(row)}"`,
    'cache-control': 'no-store',
  })
}

/** Like acme-2026-03-02.tar.gz. */
const fileName = ({ name, created_at }: { name: string; created_at: string }) => {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60)
  return `${plain || 'workspace'}-${created_at.slice(0, 10)}.tar.gz`
}
