import {
  type AutomationAction,
  type AutomationFilter,
  type AutomationTrigger,
  automationBodies,
  type NewAutomation,
} from '@baton/protocol'
import { sql } from '../db/sql.ts'
import type { Member } from '../http/caller.ts'
import { invalid } from '../http/errors.ts'
import { bodyProblems } from '../http/validate.ts'
import { findAgents, ownerOf } from '../installations/agents.ts'
import { References } from '../planning/references.ts'
import type { UnitOfWork } from '../unit-of-work.ts'
import { scheduleProblems } from './cron.ts'
import { placeholders, unknownPlaceholder } from './template.ts'

type Fields = Record<string, string>
export type Rules = Pick<NewAutomation, 'trigger' | 'actions'> & {
  filter: AutomationFilter
  preset: NewAutomation['preset'] | null
}

const problemsOf = (schemas: Record<string, Parameters<typeof bodyProblems>[0]>) =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, bodyProblems(schema)]))
const bodies = problemsOf({
  create: automationBodies.create,
  change: automationBodies.change,
  trial: automationBodies.trial,
})
const triggers = problemsOf(automationBodies.triggers)
const actions = problemsOf(automationBodies.actions)

/** Checks the shape of a body: first the whole, then trigger and actions by the schema of their type. */
export function checkBody(kind: 'create' | 'change' | 'trial', body: unknown) {
  const fields = new Map(bodies[kind]?.(body))
  if (fields.size === 0) {
    const draft = body as Partial<NewAutomation>
    const add = (prefix: string, found: Map<string, string> | undefined) => {
      for (const [field, message] of found ?? []) fields.set(`${prefix}.${field}`, message)
    }
    if (draft.trigger) add('trigger', triggers[draft.trigger.type]?.(draft.trigger))
    for (const [index, action] of (draft.actions ?? []).entries())
      add(`actions.${index}`, actions[action.type]?.(action))
  }
  if (fields.size > 0) throw invalid(Object.fromEntries(fields))
}

/** What the schemas do not say. Pure. */
export function ruleProblems({ trigger, filter, actions, preset }: Rules, now: Date): Fields {
  const bad: Fields = {}
  if (trigger.type === 'schedule') {
    for (const [field, message] of Object.entries(scheduleProblems(trigger, now))) bad[`trigger.${field}`] = message
    for (const key of Object.keys(filter)) bad[`filter.${key}`] = 'a schedule has no filter'
    if (!['create_issue', 'notify'].includes(actions[0]?.type ?? '')) {
      bad['actions.0.type'] = 'must be create_issue or notify for a schedule'
    }
  }
  if (trigger.type === 'issue' && filter.agent_id) bad['filter.agent_id'] = 'is only for agent sessions'
  let hasIssue = trigger.type !== 'schedule'
  for (const [index, action] of actions.entries()) {
    for (const [field, message] of Object.entries(actionProblems(action, hasIssue)))
      bad[`actions.${index}.${field}`] ??= message
    if (action.type === 'create_issue') hasIssue = true
  }
  const problem = presetProblem(preset ?? null, trigger, actions)
  if (problem) bad.preset = problem
  return bad
}

function actionProblems(action: AutomationAction, hasIssue: boolean): Fields {
  const bad: Fields = {}
  for (const field of ['title', 'description', 'text'] as const) {
    const unknown = unknownPlaceholder((action as Partial<Record<string, string>>)[field] ?? '')
    if (unknown) bad[field] = `contains ${unknown.slice(0, 60)}, which does not exist; use ${placeholders.join(' ')}`
  }
  if (action.type === 'create_issue' && !action.title && !action.template_id) bad.title = 'give a title or a template'
  if (action.type === 'set_fields' && Object.keys(action).length === 1) bad.type = 'set at least one field'
  if (action.type === 'notify') {
    if (Boolean(action.user_ids) === Boolean(action.who)) bad.user_ids = 'send either user_ids or who'
    else if (!hasIssue && needsIssue(action)) bad.who = 'needs an issue; create one first'
  } else if (!hasIssue && needsIssue(action)) bad.type = 'needs an issue; create one first'
  return bad
}

function presetProblem(preset: Rules['preset'], trigger: AutomationTrigger, actions: AutomationAction[]) {
  if (preset === 'triage' && !(trigger.type === 'issue' && actions[0]?.type === 'ask_agent')) {
    return 'triage asks an agent about issues'
  }
  if (preset === 'recurring' && !(trigger.type === 'schedule' && actions[0]?.type === 'create_issue')) {
    return 'recurring creates issues on a schedule'
  }
  return undefined
}

type Kind = 'person' | 'project' | 'label' | 'agent' | 'template'
const kindOfField: Record<string, Kind> = {
  project_id: 'project',
  assignee_id: 'person',
  user_ids: 'person',
  delegate_id: 'agent',
  agent_id: 'agent',
  label_ids: 'label',
  add_label_ids: 'label',
  remove_label_ids: 'label',
  template_id: 'template',
}
const words: Record<Kind, string> = {
  person: 'a person',
  project: 'a project',
  label: 'a label',
  agent: 'an agent',
  template: 'a template',
}

interface Named {
  field: string
  kind: Kind
  id: string
}

/** The ids in filter and actions, each with its dotted path. */
function namedIn({ filter, actions }: Pick<Rules, 'filter' | 'actions'>): Named[] {
  const of = (prefix: string, fields: object) =>
    Object.entries(fields).flatMap(([key, value]) => {
      const kind = kindOfField[key]
      if (!kind) return []
      const ids = (Array.isArray(value) ? value : [value]).filter((id): id is string => typeof id === 'string')
      return ids.map((id) => ({ field: `${prefix}.${key}`, kind, id }))
    })
  return [...of('filter', filter), ...actions.flatMap((action, index) => of(`actions.${index}`, action))]
}

export const agentIdsIn = (rules: Pick<Rules, 'filter' | 'actions'>) => [
  ...new Set(namedIn(rules).flatMap(({ kind, id }) => (kind === 'agent' ? [id] : []))),
]

/** automation.references-checked: one message for each field with an id that does not exist here. */
export async function referenceProblems(unit: UnitOfWork<Member>, teamId: string, rules: Rules): Promise<Fields> {
  const { tx, caller } = unit
  const named = namedIn(rules)
  const ids = (kind: Kind) => named.flatMap((one) => (one.kind === kind ? [one.id] : []))
  const references = await References.find(tx, caller, {
    person: ids('person'),
    project: ids('project'),
    label: ids('label'),
  })
  const agents = await findAgents(unit, ids('agent'))
  const usable = agents.filter((agent) => agent.access && [null, caller.id].includes(ownerOf(agent)))
  const templateIds = ids('template')
  const templates =
    templateIds.length === 0
      ? []
      : await tx.rows<{ id: string }>(sql`
          select id from issue_templates where workspace_id = ${caller.workspaceId} and id = any(${templateIds})
            and (team_id is null or team_id = ${teamId})`)
  const exists = ({ kind, id }: Named) => {
    if (kind === 'agent') return usable.some((agent) => agent.id === id)
    if (kind === 'template') return templates.some((template) => template.id === id)
    return references.get(kind, id)?.personalOf === null
  }
  return Object.fromEntries(
    named
      .filter((one) => !exists(one))
      .map(({ field, kind }) => [
        field,
        `is not ${words[kind]} of this ${kind === 'template' ? 'team or workspace' : 'workspace'}`,
      ]),
  )
}

/** Whether the action works on an issue that is there before it. */
export const needsIssue = (action: AutomationAction) =>
  action.type === 'notify' ? action.who === 'assignee' || action.who === 'reporter' : action.type !== 'create_issue'
