import { limits } from '@baton/protocol'
import { forgetRequestsWith } from '../a2a/conversation.ts'
import { removeItemsOf } from '../agents/leaving.ts'
import { deleteAgentsOf } from '../agents/personal.ts'
import { recordAudit } from '../audit/record.ts'
import { days, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { rewriteTexts, type TextColumn, textColumns } from '../db/rewrite.ts'
import { type Sql, sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { ApiError } from '../http/errors.ts'
import { deleteInboxOf } from '../inbox/erase.ts'
import { deletePersonalIssues } from '../issues/leaving.ts'
import { eraseAccount, erasedEmail, erasedName } from '../login/erase.ts'
import { deleteMailsOf } from '../mail/queue.ts'
import { deleteRequestsOf } from '../oauth/sweep.ts'
import { deleteChallengesOf } from '../passkeys/challenges.ts'
import { deletePersonalProjects } from '../projects/projects.ts'
import { transact } from '../unit-of-work.ts'
import { releaseViews } from '../views/views.ts'
import { deleteInvitationsOf } from '../workspaces/invitations.ts'
import { onlyOwnedBy, removeMember, replaceOnlyOwner } from '../workspaces/members.ts'
import { listErasures, listedErasures, readErasures, recordErasure } from './erasures.ts'

export interface Erased {
  user_id: string
  /** How many rows of each kind are gone or changed. */
  counts: Record<string, number>
  /** Events and deliveries that contain the name are deleted by then. */
  events_until: string
}

interface Options {
  /** A person erases themselves, the operator does it, or a restore repeats it. */
  by: 'self' | 'operator' | 'restore'
}

/**
 * Removes the personal data of a person and keeps their work under `Deleted person`. Each step can be repeated, and the
 * address is freed by the last one: a run that was interrupted is finished by the next (safety.erase-person).
 */
export async function erasePerson(ctx: Context, userId: string, { by }: Options): Promise<Erased> {
  const { db, clock, config, log } = ctx
  const person = await db.row<{ name: string; email: string }>(sql`
    select display_name as name, email from users where id = ${userId}`)
  if (!person) throw new ApiError('RESOURCE_NOT_FOUND')
  const alone = await onlyOwnedBy(db, userId)
  if (by === 'restore') for (const { id } of alone) await replaceOnlyOwner(ctx, id, userId)
  else if (alone.length > 0) {
    const names = alone.map(({ name, id }) => `${name} (${id})`).join(', ')
    const message = `${person.email} is the only owner of ${names}. Make another member owner, or delete it, first.`
    throw new ApiError('LAST_OWNER', { workspaces: alone }, { message })
  }

  const memberships = await leaveWorkspaces(ctx, userId, person, by)
  const { email } = person
  const counts = await transact(ctx, null, async ({ tx }) => ({
    memberships,
    personal_agents: await deleteAgentsOf(tx, userId),
    personal_issues: await deletePersonalIssues(tx, userId),
    personal_projects: await deletePersonalProjects(tx, userId),
    private_views: await releaseViews(tx, null, userId),
    inbox_entries: await deleteInboxOf(tx, userId),
    invitations: await deleteInvitationsOf(tx, userId, email),
    mails: await deleteMailsOf(tx, userId, email),
    challenges: await deleteChallengesOf(tx, userId),
    consents: await deleteRequestsOf(tx, userId),
    agent_messages: await forgetRequestsWith(tx, [email, person.name, userId]),
  }))
  const mentions = await replaceMentions(ctx, userId, person.name)
  const copies = await replaceCopies(ctx, userId, person)
  // Before the last step, which frees the address: until then the command can be repeated with it.
  if (config.backup.dir) await listErasures(config.backup.dir, [{ id: userId, erased_at: clock.now().toISOString() }])
  await transact(ctx, null, async ({ tx, now }) => {
    await eraseAccount(tx, now, userId)
    await recordErasure(tx, userId, now)
  })
  log.info({ user_id: userId, by }, 'erased a person')
  return {
    user_id: userId,
    counts: { ...counts, mentions, copies },
    events_until: plus(clock.now(), days(limits.deliveryDays)).toISOString(),
  }
}

async function leaveWorkspaces(
  ctx: Context,
  userId: string,
  { name, email }: { name: string; email: string },
  by: Options['by'],
): Promise<number> {
  const places = await ctx.db.rows<{ id: string; role: Member['role'] }>(sql`
    select workspace_id as id, role from memberships where user_id = ${userId} order by workspace_id`)
  for (const { id, role } of places) {
    if (by !== 'self') {
      await transact(ctx, { id: null, workspaceId: id }, (unit) =>
        recordAudit(unit, { action: 'operator.person_erased', subjectId: userId }),
      )
    }
    const asPerson: Member = {
      kind: 'person',
      id: userId,
      name,
      email,
      tokenHash: Buffer.alloc(0),
      scopes: null,
      workspaceId: id,
      role,
      loginMethod: null,
      recent: false,
      // They may also leave a workspace that is about to be deleted.
      pendingDeletion: true,
    }
    await removeMember(ctx, asPerson, userId, removeItemsOf(userId))
  }
  return places.length
}

/** Events and deliveries are deleted after 30 days; copies of them are in receivers anyway. */
const keptTables = ['events', 'deliveries', 'attempts']

/** A mention names the person by its id, so the name in it can be replaced wherever it is. */
async function replaceMentions({ db }: Context, userId: string, name: string) {
  const columns = (await textColumns(db)).filter(({ table }) => !keptTables.includes(table))
  const erased = `@[${erasedName}](${userId})`
  // With the current name, as text and within JSON; a name may contain brackets.
  const [plain, quoted] = [name, quotedText(name).slice(1, -1)].map((text) => `@[${text}](${userId})`)
  // With an older name. Another mention may come before it in the same line.
  const older = `@\\[((?!\\]\\(usr_|@\\[)[^\\n])+\\]\\(${userId}\\)`
  return rewriteTexts(db, columns, {
    matches: (text) => sql`strpos(${text}, ${`](${userId})`}) > 0`,
    rewritten: (text) => sql`regexp_replace(
      replace(replace(${text}, ${plain}, ${erased}), ${quoted}, ${erased}), ${older}, ${erased}, 'g')`,
  })
}

const quotedText = (text: string) => JSON.stringify(text)

/** Values that the service copied, and which no person typed as a text. */
const copied: TextColumn[] = [
  { table: 'mails', column: 'data', type: 'jsonb' },
  { table: 'imports', column: 'mapping', type: 'jsonb' },
  { table: 'imports', column: 'needs', type: 'jsonb' },
  { table: 'imports', column: 'position', type: 'jsonb' },
]
const details: TextColumn[] = [{ table: 'audit_entries', column: 'details', type: 'jsonb' }]
const importedValues: TextColumn[] = [
  { table: 'external_refs', column: 'external_id', type: 'text' },
  { table: 'import_problems', column: 'value', type: 'text' },
]

/** The address is unique. The name is not, so it is replaced only beside the id of the person. */
async function replaceCopies({ db }: Context, userId: string, { name, email }: { name: string; email: string }) {
  const replaced = (from: string, to: string, besides: (text: Sql) => Sql) => ({
    matches: (text: Sql) => sql`(strpos(${text}, ${quotedText(from)}) > 0 and ${besides(text)})`,
    rewritten: (text: Sql) =>
      sql`case when ${besides(text)} then replace(${text}, ${quotedText(from)}, ${quotedText(to)}) else ${text} end`,
  })
  const anywhere = () => sql`true`
  const besideId = (text: Sql) => sql`strpos(${text}, ${userId}) > 0`
  const aboutPerson = (text: Sql) => sql`(subject_id = ${userId} or ${besideId(text)})`
  const newEmail = erasedEmail(userId)
  return (
    (await rewriteTexts(db, copied, replaced(name, erasedName, besideId))) +
    (await rewriteTexts(db, details, replaced(name, erasedName, aboutPerson))) +
    (await rewriteTexts(db, [...copied, ...details], replaced(email, newEmail, anywhere))) +
    (await rewriteTexts(db, importedValues, {
      matches: (text) => sql`lower(${text}) = ${email}`,
      rewritten: (text) => sql`case when lower(${text}) = ${email} then ${newEmail} else ${text} end`,
    }))
  )
}

/**
 * Erases the people whom the list beside the backups names, in a database that was restored from an older backup. Call it
 * before the service can start. Returns the ids of those that it erased (safety.erase-after-restore).
 */
export async function eraseListed(ctx: Context, dir: string): Promise<string[]> {
  const done = new Set((await readErasures(ctx.db)).map(({ id }) => id))
  const erased: string[] = []
  for (const { id } of await listedErasures(dir)) {
    if (done.has(id)) continue
    if (await ctx.db.row(sql`select 1 from users where id = ${id}`)) {
      await erasePerson(ctx, id, { by: 'restore' })
      erased.push(id)
    } else await ctx.db.tx((tx) => recordErasure(tx, id, ctx.clock.now()))
  }
  return erased
}
