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
 * What an agent would be told if an issue of the team were delegated to it now, with drafts in place of what is stored.
 * Made by what makes the real thing, so that it is true. Nothing is written.
 */
export const previewGuidance = (ctx: Context, caller: Member, teamId: string, draft: GuidanceDraft) =>
  transact(ctx, caller, async (unit): Promise<GuidancePreview> => {
    const { tx, config } = unit
    const { workspaceId } = caller
    const team = await readTeam(tx, caller, teamId)
    const issueId = await newestIssue(tx, teamId)
    const source = issueId
      ? await readSource(tx, config, { issueId, projectId: null, installationId: null, workspaceId }, null)
      : await invented(unit, team)
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

/** Held, so that it is still there when it is read. What is of a team is not personal. */
const newestIssue = async (tx: Tx, teamId: string) =>
  (
    await tx.row<{ id: string }>(sql`
      select id from issues where team_id = ${teamId} order by id desc limit 1 for key share`)
  )?.id

/** A team without issues sees its guidance too. */
async function invented({ tx, config, caller }: UnitOfWork<Member>, team: Team): Promise<ContextSource> {
  const { id, key, name } = team
  return {
    subject: {
      kind: 'issue',
      identifier: `${key}-1`,
      url: issueUrl(config, `${key}-1`),
      title: 'An example',
      description: 'What has to be done stands here.',
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
