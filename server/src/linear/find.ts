import { api, type Comment, type Issue, type Team } from '@baton/protocol'
import { sql } from '../db/sql.ts'
import { ApiError, found, invalid } from '../http/errors.ts'
import { textProblem } from '../http/validate.ts'
import type { IdPrefix } from '../ids.ts'
import { findAlias } from '../linear-shape/aliases.ts'
import { inputId, isId, isUuid } from '../linear-shape/ids.ts'
import type { PlacedActivity } from './loaders.ts'
import type { Args, Run } from './type.ts'
import { commentOfActivity, type LinearComment } from './types.ts'

// Single items by the id that a client sent: a UUID, an id of ours, an issue's code or a team's key, or an id that this
// app chose itself. Each is read through the door.

export function textArg(args: Args, name: string): string {
  const text = args[name]
  if (text === undefined) throw invalid({ [name]: 'is required' })
  if (typeof text !== 'string') throw invalid({ [name]: 'must be text' })
  const problem = textProblem(text)
  if (problem) throw invalid({ [name]: problem })
  return text
}

const isMissing = (error: unknown) => error instanceof ApiError && error.code === 'RESOURCE_NOT_FOUND'

/** Reads by the real id first, then by an id that the app chose (linear.client-id-comment-issue). */
async function byIdOrAlias<Item>(run: Run, prefix: IdPrefix, input: string, read: (id: string) => Promise<Item>) {
  try {
    return await read(inputId(prefix, input))
  } catch (error) {
    const itemId = isMissing(error) && (await chosenId(run, prefix, input))
    if (!itemId) throw error
    return read(itemId)
  }
}

async function chosenId({ ctx, caller }: Run, prefix: IdPrefix, input: string): Promise<string | undefined> {
  if (!isUuid(input)) return undefined
  const alias = await findAlias(ctx.db, caller, input.toLowerCase())
  return alias && isId(prefix, alias.itemId) ? alias.itemId : undefined
}

export const findIssue = (run: Run, input: string): Promise<Issue> =>
  byIdOrAlias(run, 'iss', input, (issue_id) => run.operations.call(api.getIssue, { params: { issue_id } }))

export const findComment = (run: Run, input: string): Promise<Comment> =>
  byIdOrAlias(run, 'cmt', input, (comment_id) => run.operations.call(api.getComment, { params: { comment_id } }))

/** A comment, or the one that stands for an activity. */
export async function findCommentOrActivity(run: Run, input: string): Promise<LinearComment> {
  try {
    return await findComment(run, input)
  } catch (error) {
    if (!isMissing(error)) throw error
    const activity = await findActivity(run, input).catch(() => {
      throw error
    })
    return commentOfActivity(activity, (await run.load.sessions([activity.sessionId])).get(activity.sessionId))
  }
}

export const findActivity = (run: Run, input: string): Promise<PlacedActivity> =>
  byIdOrAlias(run, 'act', input, async (id) => {
    const { sessionId, seq } = found(
      await run.ctx.db.row<{ sessionId: string; seq: number }>(sql`
        select session_id as "sessionId", seq from agent_activities where id = ${id}`),
    )
    const query = { after_seq: seq - 1, limit: 1 }
    const { data } = await run.operations.call(api.listActivities, { params: { session_id: sessionId }, query })
    return { ...found(data[0]), sessionId }
  })

export async function findTeam(run: Run, input: string): Promise<Team> {
  const id = inputId('team', input)
  const { ctx, caller } = run
  const byKey = isId('team', id)
    ? undefined
    : await ctx.db.row<{ id: string }>(sql`
        select id from teams where workspace_id = ${caller.workspaceId} and key = ${input.toUpperCase()}`)
  return run.operations.call(api.getTeam, { params: { team_id: byKey?.id ?? id } })
}

/** The id of an issue for a field of a request, from its id, code or alias; text that means none is refused by the verb. */
export async function issueIdFor(run: Run, input: unknown): Promise<unknown> {
  if (typeof input !== 'string') return input
  const id = inputId('iss', input)
  if (!isUuid(input) && isId('iss', id)) return id
  return findIssue(run, input).then(
    (issue) => issue.id,
    (error) => {
      if (isMissing(error)) return id
      throw error
    },
  )
}

export const idFor = (prefix: IdPrefix, input: unknown) => (typeof input === 'string' ? inputId(prefix, input) : input)

export const idsFor = (prefix: IdPrefix, input: unknown) =>
  Array.isArray(input) ? input.map((one) => idFor(prefix, one)) : input
