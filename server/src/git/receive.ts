import { createHash } from 'node:crypto'
import { type GitKind, type GitOutcome, programLimits } from '@baton/protocol'
import { days, hours, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Db } from '../db/database.ts'
import { sql } from '../db/sql.ts'
import type { System } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { takeOne } from '../http/rate-limit.ts'
import type { Headers } from '../http/route.ts'
import { newId } from '../ids.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { readGitea } from './formats/gitea.ts'
import { readGithub } from './formats/github.ts'
import { readGitlab } from './formats/gitlab.ts'
import { Json, lengths, type ReadEvent, type Reading, timeOf } from './reading.ts'
import { headerOf, isSigned, newGitSecret } from './signatures.ts'
import { store } from './store.ts'

/** How far the clock of a git host may be ahead. Data with a later time would make everything after it stale. */
const maxAheadMs = hours(24)

const perMinute = { limit: programLimits.gitHooksPerMinute, periodMs: 60_000 }

const readers: Readonly<Record<GitKind, { read: ReadEvent; headers: string[] }>> = {
  github: { read: readGithub, headers: ['x-github-event'] },
  gitlab: { read: readGitlab, headers: ['x-gitlab-event'] },
  gitea: { read: readGitea, headers: ['x-gitea-event'] },
  forgejo: { read: readGitea, headers: ['x-forgejo-event', 'x-gitea-event'] },
}

interface Receiving {
  workspace_id: string
  kind: GitKind
  secret: string
  pending_deletion: boolean
}

/** Verifies a request of a git host, then stores what it says. Nothing is parsed or written before. */
export async function receive(ctx: Context, id: string, headers: Headers, body: Buffer): Promise<GitOutcome> {
  const connection = await ctx.db.row<Receiving>(sql`
    select c.workspace_id, c.kind, c.secret, w.deletion_at is not null as pending_deletion
    from git_connections c join workspaces w on w.id = c.workspace_id where c.id = ${id}`)
  const secret = connection ? ctx.keys.open(connection.secret, id) : newGitSecret()
  const now = ctx.clock.now()
  if (!isSigned(connection?.kind ?? 'github', headers, body, secret, now) || !connection) throw await refusal(ctx, id)
  await takeOne(ctx.db, `git ${id}`, perMinute, now)
  if (connection.pending_deletion) throw new ApiError('WORKSPACE_PENDING_DELETION')
  const { read, headers: names } = readers[connection.kind]
  const event = names.map((name) => headerOf(headers, name)).find((value) => value !== undefined) ?? ''
  const content = parsed(body)
  const reading = plausible(read(event, content), now)
  const repository = reading?.repository ?? repositoryIn(content)
  const number = reading?.type === 'pull_request' ? reading.number : null
  const hash = createHash('sha256').update(body).digest()

  const caller: System = { kind: 'system', id: null, workspaceId: connection.workspace_id }
  return transact(ctx, caller, async (unit) => {
    const locked = await lock(unit, id)
    const lists = (name: string | null) => locked.repositories.includes(name?.toLowerCase() ?? '')
    const decide = async () => {
      if (!reading) return { outcome: 'ignored_event' as const, pullRequestId: null }
      if (!lists(repository)) return { outcome: 'ignored_repository' as const, pullRequestId: null }
      if (await isRepeated(unit, id, hash)) return { outcome: 'duplicate' as const, pullRequestId: null }
      const scope = { id, workspaceId: caller.workspaceId, teamIds: locked.team_ids, hasToken: locked.has_token }
      return store(unit, scope, reading)
    }
    const { outcome, pullRequestId } = await decide()
    // A body without effect may come again: under its own event, or when the repository is listed.
    const hasEffect = !['ignored_event', 'ignored_repository', 'duplicate'].includes(outcome)
    await unit.tx.run(sql`
      insert into git_deliveries
        (id, workspace_id, connection_id, event, outcome, repository, number, pull_request_id, body_hash, received_at)
      values (${newId('gdl')}, ${caller.workspaceId}, ${id}, ${new Json(event).line(lengths.name) ?? ''}, ${outcome},
        ${repository}, ${number}, ${pullRequestId}, ${hasEffect ? hash : null}, ${unit.now})`)
    return outcome
  })
}

const unauthorized = 'The signature is invalid, or the connection does not exist.'

/**
 * The same for an unknown connection and an invalid signature. Both count in one of 256 allowances, by a hash of the
 * id, so that refusals neither reveal which connections exist nor use the allowance of the real ones.
 */
async function refusal({ db, clock }: Context, id: string) {
  const bucket = createHash('sha256').update(id).digest()[0]
  await takeOne(db, `git refused ${bucket}`, perMinute, clock.now())
  await db.run(sql`update git_connections set refused = refused + 1 where id = ${id}`)
  return new ApiError('UNAUTHORIZED', {}, { message: unauthorized })
}

function plausible(reading: Reading | null, now: Date): Reading | null {
  const time = reading && timeOf(reading)
  return time && time > plus(now, maxAheadMs) ? null : reading
}

function parsed(body: Buffer): Json {
  try {
    return new Json(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)))
  } catch {
    throw new ApiError('INVALID_JSON')
  }
}

/** For the list of deliveries: the repository of an event that Baton does not use. */
const repositoryIn = (body: Json) =>
  body.at('repository', 'full_name').line(lengths.repository) ??
  body.at('project', 'path_with_namespace').line(lengths.repository)

interface Locked {
  repositories: string[]
  team_ids: string[] | null
  has_token: boolean
}

/** Requests of one connection are stored one after the other. Its repositories are compared in lower case. */
async function lock({ tx, now }: UnitOfWork, id: string): Promise<Locked> {
  const locked = await tx.row<Locked>(sql`
    update git_connections set received_at = ${now} where id = ${id}
    returning repositories, team_ids, token is not null as has_token`)
  // It was deleted meanwhile.
  if (!locked) throw new ApiError('UNAUTHORIZED', {}, { message: unauthorized })
  return { ...locked, repositories: locked.repositories.map((name) => name.toLowerCase()) }
}

const isRepeated = async ({ tx, now }: UnitOfWork, id: string, hash: Buffer) =>
  (await tx.row(sql`
    select 1 from git_deliveries
    where connection_id = ${id} and body_hash = ${hash} and received_at > ${plus(now, -days(programLimits.gitDeliveryDays))}
    limit 1`)) !== undefined

export const sweepGitDeliveries = (db: Db, now: Date) =>
  db.run(sql`delete from git_deliveries where received_at <= ${plus(now, -days(programLimits.gitDeliveryDays))}`)
