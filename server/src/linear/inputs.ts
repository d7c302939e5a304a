import { type ExternalUrl, type Issue, limits } from '@baton/protocol'
import { invalid } from '../http/errors.ts'
import { statusOf } from '../linear-shape/ids.ts'
import { priorityOf, snakeCased, truncated } from '../linear-shape/names.ts'
import { findComment, idFor, idsFor, issueIdFor } from './find.ts'
import type { Args, Run } from './type.ts'

// Inputs of Linear's mutations as bodies of our operations. A value of a wrong type is passed on, so that the operation
// refuses it; a key without a counterpart is ignored and named in the answer.

type Ignored = Set<string>

const ignoreOthers = (input: Args, known: readonly string[], ignored: Ignored) => {
  for (const key of Object.keys(input)) if (!known.includes(key)) ignored.add(key)
}

/** The given fields only. */
const present = (fields: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const isObject = (value: unknown): value is Args => value !== null && typeof value === 'object' && !Array.isArray(value)

// Maps, because clients may send any text as a type or signal, such as `constructor`.
const contentKeys = new Map([
  ['action', ['type', 'action', 'parameter', 'result']],
  ['error', ['type', 'body', 'reasonCode']],
])

const metadataKeys = new Map<unknown, string[]>([
  ['auth', ['url', 'provider_name', 'user_id']],
  ['select', ['options', 'allow_multiple']],
])

/** The body of postActivity. */
export function activityOf(input: Args, ignored: Ignored) {
  const { content, ephemeral, signal, signalMetadata } = input
  ignoreOthers(input, ['id', 'agentSessionId', 'content', 'ephemeral', 'signal', 'signalMetadata'], ignored)
  const metadata = metadataOf(signal, signalMetadata)
  if (signalMetadata !== undefined && metadata === undefined) ignored.add('signalMetadata')
  return present({ content: contentOf(content, ignored), ephemeral, signal, signal_metadata: metadata })
}

function contentOf(content: unknown, ignored: Ignored) {
  if (!isObject(content)) return content ?? {}
  const type = String(content.type)
  ignoreOthers(content, contentKeys.get(type) ?? ['type', 'body'], ignored)
  const { body, action, parameter = '', result, reasonCode } = content
  if (type === 'action') return present({ type, action, parameter, result })
  // A client that streams its answer may have nothing left to say at the end.
  if (type === 'response') return { type, body: body === undefined || body === '' ? 'Done.' : body }
  return present({ type: content.type, body, ...(type === 'error' ? { reason_code: reasonCode } : {}) })
}

function metadataOf(signal: unknown, metadata: unknown): unknown {
  const known = metadataKeys.get(signal)
  if (!known || !isObject(metadata)) return undefined
  const kept = pick(snakeCased(metadata) as Args, known)
  if (signal === 'auth') return present({ ...kept, user_id: idFor('usr', kept.user_id) })
  const { options } = kept
  return { ...kept, ...(Array.isArray(options) ? { options: options.map(optionOf) } : {}) }
}

const optionOf = (option: unknown) => (isObject(option) ? pick(option, ['value', 'label', 'description']) : option)

const pick = (from: Args, keys: readonly string[]): Args =>
  Object.fromEntries(Object.entries(from).filter(([key]) => keys.includes(key)))

/** The body of updateAgentSession. */
export function sessionChangeOf(input: Args, ignored: Ignored, alsoKnown: readonly string[] = []) {
  const { plan, externalUrls, addedExternalUrls, removedExternalUrls, externalLink } = input
  const known = ['plan', 'externalUrls', 'addedExternalUrls', 'removedExternalUrls', 'externalLink', ...alsoKnown]
  ignoreOthers(input, known, ignored)
  const session = externalLink === undefined ? [] : [{ label: 'Session', url: externalLink }]
  const links = linksOf(externalUrls)
  const added = linksOf(addedExternalUrls)
  return present({
    plan: Array.isArray(plan) ? plan.map(stepOf) : plan,
    external_urls: Array.isArray(links) ? [...links, ...session] : links,
    added_external_urls:
      links === undefined && (added !== undefined || session.length > 0)
        ? Array.isArray(added ?? [])
          ? [...((added as unknown[]) ?? []), ...session]
          : added
        : added,
    removed_external_urls: removedExternalUrls,
  })
}

const stepOf = (step: unknown) =>
  isObject(step) && typeof step.content === 'string'
    ? { ...pick(step, ['content', 'status']), content: truncated(step.content, limits.planItemContent) }
    : step

const linksOf = (links: unknown) =>
  Array.isArray(links) ? links.map((link) => (isObject(link) ? linkOf(link.label, link.url) : link)) : links

/** A link without a label is shown with its host. */
const linkOf = (label: unknown, url: unknown) => {
  const text = typeof label === 'string' && label !== '' ? label : hostOf(url)
  return { label: typeof text === 'string' ? truncated(text, limits.externalUrlLabel) : text, url }
}

const hostOf = (url: unknown) => (typeof url === 'string' && URL.canParse(url) ? new URL(url).host : 'Link')

export function attachmentOf(input: Args, ignored: Ignored): ExternalUrl {
  ignoreOthers(input, ['issueId', 'title', 'url'], ignored)
  return linkOf(input.title, input.url) as ExternalUrl
}

const issueKeys = [
  'teamId',
  'title',
  'description',
  'priority',
  'stateId',
  'assigneeId',
  'delegateId',
  'parentId',
  'projectId',
  'labelIds',
  'dueDate',
  'estimate',
]

/** The fields that creating and changing an issue share. */
async function issueFields(input: Args, run: Run) {
  const { title, description, estimate } = input
  return present({
    title,
    description,
    time_estimate: estimate,
    team_id: idFor('team', input.teamId),
    status: statusField(input),
    priority: priorityField(input),
    assignee_id: idFor('usr', input.assigneeId),
    parent_id: await issueIdFor(run, input.parentId),
    project_id: idFor('prj', input.projectId),
    label_ids: idsFor('lbl', input.labelIds),
    due_date: typeof input.dueDate === 'string' ? timeOfDay(input.dueDate) : input.dueDate,
  })
}

const timeOfDay = (date: string) => (/^\d{4}-\d\d-\d\d$/.test(date) ? `${date}T00:00:00Z` : date)

function statusField({ stateId }: Args) {
  if (stateId === undefined) return undefined
  const status = typeof stateId === 'string' ? statusOf(stateId) : undefined
  if (!status) throw invalid({ stateId: 'is not a state; see workflowStates' })
  return status
}

function priorityField({ priority }: Args) {
  if (priority === undefined) return undefined
  const name = priorityOf(priority)
  if (!name) throw invalid({ priority: 'must be a whole number from 0 to 4' })
  return name
}

/** The body of createIssue. */
export async function issueOf(input: Args, run: Run) {
  ignoreOthers(input, ['id', ...issueKeys], run.ignored)
  return { ...(await issueFields(input, run)), ...present({ delegate_id: idFor('usr', input.delegateId) }) }
}

/** The body of updateIssue. The present delegate may be repeated; the operation refuses any other. */
export async function issueChangeOf(input: Args, issue: Issue, run: Run) {
  ignoreOthers(input, [...issueKeys, 'addedLabelIds', 'removedLabelIds'], run.ignored)
  const delegateId = idFor('usr', input.delegateId)
  const fields = await issueFields(input, run)
  const [added, removed] = [idsFor('lbl', input.addedLabelIds), idsFor('lbl', input.removedLabelIds)]
  const labels =
    added === undefined && removed === undefined ? {} : { label_ids: mergedLabels(issue, fields, added, removed) }
  const delegate = delegateId === undefined || delegateId === issue.delegate_id ? {} : { delegate_id: delegateId }
  return { ...fields, ...labels, ...delegate }
}

function mergedLabels({ label_ids }: Issue, fields: Args, added: unknown, removed: unknown) {
  const current = Array.isArray(fields.label_ids) ? fields.label_ids : label_ids
  const [more, less] = [Array.isArray(added) ? added : [], Array.isArray(removed) ? removed : []]
  return [...new Set([...current, ...more])].filter((id) => !less.includes(id))
}

/** The body of createComment: on an issue, on a project, or in the thread of another comment. */
export async function commentOf(input: Args, run: Run) {
  const { body: text, issueId, projectId, parentId } = input
  ignoreOthers(input, ['id', 'body', 'issueId', 'projectId', 'parentId'], run.ignored)
  const parent = typeof parentId === 'string' ? await findComment(run, parentId) : undefined
  return present({ ...(await targetOf()), text, parent_comment_id: parent?.id })

  async function targetOf() {
    if (issueId !== undefined) return { target_type: 'issue', target_id: await issueIdFor(run, issueId) }
    if (projectId !== undefined) return { target_type: 'project', target_id: idFor('prj', projectId) }
    if (parent) return { target_type: parent.target_type, target_id: parent.target_id }
    throw invalid({ issueId: 'is required' })
  }
}

/** The body of createLabel. */
export function labelOf(input: Args, ignored: Ignored) {
  const { name, color } = input
  ignoreOthers(input, ['name', 'color'], ignored)
  return present({ name, color: typeof color === 'string' ? color.toLowerCase() : color })
}
