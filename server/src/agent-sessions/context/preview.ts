import type { GuidanceDraft, GuidancePreview, Team } from '@baton/protocol'
import { issueUrl } from '../../addresses.ts'
import type { Context } from '../../context.ts'
import type { Tx } from '../../db/database.ts'
import { sql } from '../../db/sql.ts'
import type { Member } from '../../http/caller.ts'
import { transact, type UnitOfWork } from '../../unit-of-work.ts'
import { readTeam } from '../../workspaces/teams.ts'
import { readWorkspace } from '../../workspaces/workspaces.ts'
import { type ContextSource, contextOf } from './prompt-context.ts'
import { readSource } from './read-context.ts'

/**
 * The guidance and prompt context that an agent would get if an issue of the team were delegated to it now, with the
 * drafts in place of the stored texts. Uses the same code as a delegation. Writes nothing.
 */
export const previewGuidance = (ctx: Context, caller: Member, teamId: string, draft: GuidanceDraft) =>
  transact(ctx, caller, async (unit): Promise<GuidancePreview> => {
    const { tx, config } = unit
    const { workspaceId } = caller
    const team = await readTeam(tx, caller, teamId)
    const issueId = await newestIssue(tx, teamId)
    const source = issueId
      ? await readSource(tx, config, { issueId, projectId: null, installationId: null, workspaceId }, null)
      : await exampleSource(unit, team)
    const { guidance, prompt_context } = contextOf({
      ...source,
      workspaceGuidance: draft.workspace_guidance ?? source.workspaceGuidance,
      teamGuidance: [{ teamId, teamKey: team.key, body: draft.team_guidance ?? team.guidance }],
      repositories: draft.repositories ?? team.repositories,
    })
    const { subject } = source
    const example =
      issueId && subject.kind === 'issue' ? { identifier: subject.identifier, title: subject.title } : null
    return { guidance, prompt_context, example }
  })

/** Locked, so that it still exists when it is read. An issue of a team is never personal. */
const newestIssue = async (tx: Tx, teamId: string) =>
  (
    await tx.row<{ id: string }>(sql`
      select id from issues where team_id = ${teamId} order by id desc limit 1 for key share`)
  )?.id

/** For a team without issues. */
async function exampleSource({ tx, config, caller }: UnitOfWork<Member>, team: Team): Promise<ContextSource> {
  const { id, key, name } = team
  return {
    subject: {
      kind: 'issue',
      identifier: `${key}-1`,
      url: issueUrl(config, `${key}-1`),
      title: 'Example issue',
      description: 'The description of the issue.',
      team: { id, key, name },
      labels: [],
      project: null,
      parent: null,
    },
    comments: [],
    triggerId: null,
    workspaceGuidance: (await readWorkspace(tx, caller.workspaceId)).guidance,
    teamGuidance: [],
    repositories: [],
  }
}
