import { type IssueTemplate, limits, type NewTemplate, type TemplateChange } from '@baton/protocol'
import { laterThan } from '../clock.ts'
import type { Context } from '../context.ts'
import type { Tx } from '../db/database.ts'
import { insertRows, none, sql } from '../db/sql.ts'
import type { Actor, Member } from '../http/caller.ts'
import { found, invalid } from '../http/errors.ts'
import { type PageQuery, page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import { hintOfLists, sendHints } from '../live/hint.ts'
import { References } from '../planning/references.ts'
import { transact, type UnitOfWork } from '../unit-of-work.ts'
import { teamCovered } from '../workspaces/coverage.ts'

/** Deleted labels are left out, and merged ones replaced. */
const columns = sql`
  t.id, t.team_id, t.name, t.title, t.description, t.priority, t.type,
  array(select l.id from labels l where l.workspace_id = t.workspace_id
    and (l.id = any(t.label_ids) or l.merged_label_ids && t.label_ids) order by l.id) as label_ids,
  t."default", t.created_at, t.updated_at`

export const listTemplates = (ctx: Context, caller: Actor, query: PageQuery & { team_id?: string }) =>
  page<IssueTemplate>(
    ctx.keys,
    'templates',
    query,
    (template) => [template.id],
    (after, count) =>
      ctx.db.rows(sql`
      select ${columns} from issue_templates t
      where t.workspace_id = ${caller.workspaceId} and ${teamCovered(caller, sql`t.team_id`)}
        ${query.team_id ? sql`and t.team_id = ${query.team_id}` : none}
        ${after ? sql`and t.id < ${after[0]}` : none}
      order by t.id desc limit ${count}`),
  )

export const createTemplate = (ctx: Context, caller: Member, body: NewTemplate): Promise<IssueTemplate> =>
  transact(ctx, caller, async (unit) => {
    const { tx, now } = unit
    const template = {
      id: newId('tpl'),
      workspace_id: caller.workspaceId,
      team_id: null,
      title: '',
      description: '',
      priority: 'no_priority',
      type: 'task',
      label_ids: [],
      default: false,
      created_at: now,
      updated_at: now,
      ...body,
    }
    await lockTemplates(tx, caller)
    await checkReferences(unit, template)
    await mustBeBelowLimit(tx, caller, template.team_id)
    if (template.default) await clearDefault(tx, caller, template.team_id)
    const stored = sql`
      id, workspace_id, team_id, name, title, description, priority, type, label_ids, "default", created_at, updated_at`
    await tx.run(insertRows(sql`issue_templates`, stored, [template]))
    return finish(unit, template.id)
  })

export const updateTemplate = (ctx: Context, caller: Member, id: string, change: TemplateChange) =>
  transact(ctx, caller, async (unit): Promise<IssueTemplate> => {
    const { tx, now } = unit
    await lockTemplates(tx, caller)
    const before = await readTemplate(tx, caller, id)
    const after = { ...before, ...change }
    await checkReferences(unit, { team_id: null, label_ids: change.label_ids ?? [] })
    if (after.default && !before.default) await clearDefault(tx, caller, after.team_id)
    await tx.run(sql`
      update issue_templates set name = ${after.name}, title = ${after.title}, description = ${after.description},
        priority = ${after.priority}, type = ${after.type}, label_ids = ${after.label_ids}, "default" = ${after.default},
        updated_at = ${laterThan(before.updated_at, now)}
      where id = ${id}`)
    return finish(unit, id)
  })

export const deleteTemplate = (ctx: Context, caller: Member, id: string): Promise<void> =>
  transact(ctx, caller, async ({ tx }) => {
    const deleted = await tx.run(sql`
      delete from issue_templates where workspace_id = ${caller.workspaceId} and id = ${id}`)
    found(deleted > 0 ? true : undefined)
    sendHints(tx, [hintOfLists(caller.workspaceId, 'Workspace')])
  })

/** Concurrent changes could exceed the limit or set two defaults, so each workspace makes one at a time. */
const lockTemplates = (tx: Tx, { workspaceId }: Member) =>
  tx.rows(sql`select pg_advisory_xact_lock(hashtextextended(${`templates ${workspaceId}`}, 0))`)

const readTemplate = async (tx: Tx, { workspaceId }: Member, id: string) =>
  found(
    await tx.row<IssueTemplate>(sql`
      select ${columns} from issue_templates t where t.workspace_id = ${workspaceId} and t.id = ${id}`),
  )

async function finish({ tx, caller }: UnitOfWork<Member>, id: string) {
  sendHints(tx, [hintOfLists(caller.workspaceId, 'Workspace')])
  return readTemplate(tx, caller, id)
}

async function checkReferences(
  { tx, caller }: UnitOfWork<Member>,
  { team_id, label_ids }: { team_id: string | null; label_ids: string[] },
) {
  const references = await References.find(tx, caller, { team: team_id ? [team_id] : [], label: label_ids })
  const bad = {
    ...(team_id && !references.get('team', team_id) && { team_id: 'is not a team of this workspace' }),
    ...(label_ids.some((label) => !references.get('label', label)) && {
      label_ids: 'must contain only labels of this workspace',
    }),
  }
  if (Object.keys(bad).length > 0) throw invalid(bad)
}

/** Templates of the same team, or of the workspace. */
const ofTeam = ({ workspaceId }: Member, teamId: string | null) =>
  sql`workspace_id = ${workspaceId} and team_id is not distinct from ${teamId}`

async function mustBeBelowLimit(tx: Tx, caller: Member, teamId: string | null) {
  const kept = await tx.row<{ count: number }>(sql`
    select count(*)::int as count from issue_templates where ${ofTeam(caller, teamId)}`)
  if (found(kept).count < limits.templatesPerTeam) return
  throw invalid({ team_id: `already has ${limits.templatesPerTeam} templates, the maximum; delete one first` })
}

const clearDefault = (tx: Tx, caller: Member, teamId: string | null) =>
  tx.run(sql`update issue_templates set "default" = false where ${ofTeam(caller, teamId)} and "default"`)
