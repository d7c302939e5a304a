import { createHash } from 'node:crypto'
import { type AgentSession, api, type Comment, type ExternalUrl, type Issue, type Label } from '@baton/protocol'
import { ApiError, invalid } from '../http/errors.ts'
import type { Alias } from '../http/route.ts'
import { findAlias, isTaken, storeAlias } from '../linear-shape/aliases.ts'
import { inputId, isUuid, uuidOf } from '../linear-shape/ids.ts'
import { withoutTransaction } from '../unit-of-work.ts'
import { findComment, findIssue, textArg } from './find.ts'
import {
  activityOf,
  attachmentOf as attachmentInput,
  commentOf,
  issueChangeOf,
  issueOf,
  labelOf,
  sessionChangeOf,
} from './inputs.ts'
import type { PlacedActivity } from './loaders.ts'
import { root } from './queries.ts'
import { type Args, type Field, type ObjectType, object, type Run, value } from './type.ts'
import {
  type Attachment,
  activityType,
  attachmentOf,
  attachmentType,
  commentType,
  issueType,
  labelType,
  sessionType,
} from './types.ts'

/** The answer of a mutation: the item under its name. */
const payload = (name: string, field: string, type: () => ObjectType): ObjectType => ({
  name,
  fields: {
    success: value(() => true),
    // The client's cache would start from here; there is no such log.
    lastSyncId: value(() => 0),
    entityId: value(({ item }: { item: { id: string } }) => uuidOf(item.id)),
    [field]: object(type, ({ item }: { item: unknown }) => item),
  },
})

const activityPayload = payload('AgentActivityPayload', 'agentActivity', () => activityType)
const sessionPayload = payload('AgentSessionPayload', 'agentSession', () => sessionType)
const issuePayload = payload('IssuePayload', 'issue', () => issueType)
const commentPayload = payload('CommentPayload', 'comment', () => commentType)
const labelPayload = payload('IssueLabelPayload', 'issueLabel', () => labelType)
const deletePayload = payload('DeletePayload', 'entity', () => ({ name: 'Entity', fields: {} }))
const attachmentPayload: ObjectType = {
  ...payload('AttachmentPayload', 'attachment', () => attachmentType),
  fields: {
    success: value(() => true),
    lastSyncId: value(() => 0),
    attachment: object(
      () => attachmentType,
      ({ item }: { item: Attachment }) => item,
    ),
  },
}

const mutation = (
  type: ObjectType,
  args: readonly string[],
  change: (args: Args, run: Run) => Promise<unknown>,
): Field =>
  root(
    () => type,
    args,
    async (given, run) => ({ item: await change(given, run) }),
    8,
  )

function inputOf({ input }: Args): Args {
  if (input === null || typeof input !== 'object' || Array.isArray(input)) throw invalid({ input: 'is required' })
  return input as Args
}

const sessionIdOf = (input: unknown, name: string) => inputId('sess', textArg({ [name]: input }, name))

/** The id that the client chose for a new item. */
function aliasOf(field: string, input: Args): Alias | undefined {
  if (input.id === undefined) return undefined
  const clientId = textArg(input, 'id').toLowerCase()
  if (!isUuid(clientId)) throw invalid({ id: 'must be a UUID' })
  return {
    clientId,
    requestHash: createHash('sha256')
      .update(`${field} ${canonical(input)}`)
      .digest(),
  }
}

const canonical = (value: unknown) =>
  JSON.stringify(value, (_key, item) =>
    item !== null && typeof item === 'object' && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )

/** The id of the item that an earlier request with this alias made. Another input is refused. */
async function madeBefore({ ctx, caller }: Run, { clientId, requestHash }: Alias): Promise<string | undefined> {
  const known = await findAlias(ctx.db, caller, clientId)
  if (!known) return undefined
  if (known.requestHash.equals(requestHash)) return known.itemId
  throw new ApiError('IDEMPOTENCY_KEY_REUSED', {}, { message: 'This id was already used with another input.' })
}

/** Makes an item once, however often the client repeats the request with the same id. */
async function once<Item>(
  run: Run,
  alias: Alias | undefined,
  make: (alias: { alias: Alias } | undefined) => Promise<Item>,
  read: (id: string) => Promise<Item>,
): Promise<Item> {
  if (!alias) return make(undefined)
  const before = await madeBefore(run, alias)
  if (before) return read(before)
  try {
    return await make({ alias })
  } catch (error) {
    // The same request at the same time was first.
    const id = isTaken(error) ? await madeBefore(run, alias) : undefined
    if (!id) throw error
    return read(id)
  }
}

async function createActivity(args: Args, run: Run): Promise<PlacedActivity> {
  const input = inputOf(args)
  const alias = aliasOf('agentActivityCreate', input)
  const body = activityOf(input, run.ignored)
  const session_id = sessionIdOf(input.agentSessionId, 'agentSessionId')
  if (alias) await madeBefore(run, alias)
  const headers = alias ? { 'idempotency-key': `linear:${alias.clientId}` } : {}
  const activity = await run.operations.call(api.postActivity, { params: { session_id }, body, headers })
  // The key made the post idempotent; the alias only finds the activity.
  if (alias) await storeAlias(withoutTransaction(run.ctx, run.caller), alias, activity.id).catch(ignoreTaken)
  return { ...activity, sessionId: session_id }
}

function ignoreTaken(error: unknown) {
  if (!isTaken(error)) throw error
}

async function openSession(run: Run, input: Args, body: Record<string, unknown>): Promise<AgentSession> {
  const change = sessionChangeOf(
    input,
    run.ignored,
    Object.keys(input).filter((key) => key === 'issueId' || key === 'commentId'),
  )
  const session = await run.operations.call(api.openAgentSession, { body })
  return Object.keys(change).length > 0 ? updateSession(run, session.id, change) : session
}

const updateSession = (run: Run, session_id: string, body: object): Promise<AgentSession> =>
  run.operations.call(api.updateAgentSession, { params: { session_id }, body })

/** Adds the link to the newest open session of the app on the issue. */
async function attach(run: Run, issueInput: unknown, link: ExternalUrl): Promise<Attachment> {
  const issue = await findIssue(run, textArg({ issueId: issueInput }, 'issueId'))
  const query = { issue_id: issue.id, open: true, limit: 1 }
  const { data } = await run.operations.call(api.listAgentSessions, { query })
  const [newest] = data
  if (!newest) throw invalid({ issueId: 'has no open agent session of this app to add the link to' })
  const session = await updateSession(run, newest.id, { added_external_urls: [link] })
  return attachmentOf(session, link)
}

const updateIssue = (run: Run, issue_id: string, body: object): Promise<Issue> =>
  run.operations.call(api.updateIssue, { params: { issue_id }, body })

async function changeLabels(
  args: Args,
  run: Run,
  changed: (ids: string[], labelId: string) => string[],
): Promise<Issue> {
  const issue = await findIssue(run, textArg(args, 'id'))
  return updateIssue(run, issue.id, { label_ids: changed(issue.label_ids, inputId('lbl', textArg(args, 'labelId'))) })
}

export const mutationType: ObjectType = {
  name: 'Mutation',
  fields: {
    agentActivityCreate: mutation(activityPayload, ['input'], createActivity),
    agentSessionCreateOnIssue: mutation(sessionPayload, ['input'], async (args, run) => {
      const input = inputOf(args)
      const { id: issue_id } = await findIssue(run, textArg(input, 'issueId'))
      return openSession(run, input, { issue_id })
    }),
    agentSessionCreateOnComment: mutation(sessionPayload, ['input'], async (args, run) => {
      const input = inputOf(args)
      const { id: comment_id } = await findComment(run, textArg(input, 'commentId'))
      return openSession(run, input, { comment_id })
    }),
    agentSessionUpdate: mutation(sessionPayload, ['id', 'input'], (args, run) =>
      updateSession(run, sessionIdOf(args.id, 'id'), sessionChangeOf(inputOf(args), run.ignored)),
    ),
    agentSessionUpdateExternalUrl: mutation(sessionPayload, ['id', 'input'], (args, run) =>
      updateSession(run, sessionIdOf(args.id, 'id'), sessionChangeOf(inputOf(args), run.ignored)),
    ),
    attachmentCreate: mutation(attachmentPayload, ['input'], (args, run) => {
      const input = inputOf(args)
      return attach(run, input.issueId, attachmentInput(input, run.ignored))
    }),
    attachmentLinkURL: mutation(attachmentPayload, ['issueId', 'url', 'title', 'id'], (args, run) =>
      attach(run, args.issueId, attachmentInput(args, run.ignored)),
    ),

    issueCreate: mutation(issuePayload, ['input'], async (args, run) => {
      const input = inputOf(args)
      const alias = aliasOf('issueCreate', input)
      const body = await issueOf(input, run)
      return once(
        run,
        alias,
        (more) => run.operations.call(api.createIssue, { body, ...more }),
        (id) => findIssue(run, id),
      )
    }),
    issueUpdate: mutation(issuePayload, ['id', 'input'], async (args, run) => {
      const issue = await findIssue(run, textArg(args, 'id'))
      return updateIssue(run, issue.id, await issueChangeOf(inputOf(args), issue, run))
    }),
    issueAddLabel: mutation(issuePayload, ['id', 'labelId'], (args, run) =>
      changeLabels(args, run, (ids, label) => [...new Set([...ids, label])]),
    ),
    issueRemoveLabel: mutation(issuePayload, ['id', 'labelId'], (args, run) =>
      changeLabels(args, run, (ids, label) => ids.filter((id) => id !== label)),
    ),

    commentCreate: mutation(commentPayload, ['input'], async (args, run): Promise<Comment> => {
      const input = inputOf(args)
      const alias = aliasOf('commentCreate', input)
      const body = await commentOf(input, run)
      return once(
        run,
        alias,
        (more) => run.operations.call(api.createComment, { body, ...more }),
        (id) => findComment(run, id),
      )
    }),
    commentUpdate: mutation(commentPayload, ['id', 'input', 'skipEditedAt'], async (args, run) => {
      const { body: text, ...rest } = inputOf(args)
      for (const key of Object.keys(rest)) run.ignored.add(key)
      const { id: comment_id } = await findComment(run, textArg(args, 'id'))
      const body = text === undefined ? {} : { text }
      return run.operations.call(api.updateComment, { params: { comment_id }, body })
    }),
    commentDelete: mutation(deletePayload, ['id'], async (args, run) => {
      const comment = await findComment(run, textArg(args, 'id'))
      await run.operations.call(api.deleteComment, { params: { comment_id: comment.id } })
      return comment
    }),
    issueLabelCreate: mutation(
      labelPayload,
      ['input', 'replaceTeamLabels'],
      (args, run): Promise<Label> =>
        run.operations.call(api.createLabel, { body: labelOf(inputOf(args), run.ignored) }),
    ),
  },
}
