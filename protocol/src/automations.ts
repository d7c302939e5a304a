import { type Static, type TObject, Type } from 'typebox'
import { closed, id, list, Name, nullable, paging, Timestamp } from './common.ts'
import { IssueStatus, IssueType } from './issues.ts'
import { automationLimits, limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Description, OptionalRef, Priority, Ref, Refs, Title } from './tracker.ts'
import { IssueEventFilters } from './webhook-filters.ts'

const Schedule = Type.Object(
  {
    type: Type.Literal('schedule'),
    /** Minute, hour, day, month and day of the week. */
    cron: Type.String({ minLength: 1, maxLength: 100 }),
    time_zone: Type.String({ minLength: 1, maxLength: limits.timeZone }),
  },
  closed,
)

export const sessionOutcomes = ['finished', 'failed', 'asked', 'stopped', 'stale'] as const
const triggers = {
  schedule: Schedule,
  issue: Type.Object({ type: Type.Literal('issue'), on: Type.Enum(['created', 'changed', 'both']) }, closed),
  session: Type.Object(
    {
      type: Type.Literal('session'),
      outcomes: Type.Array(Type.Enum(sessionOutcomes), { minItems: 1, maxItems: 5, uniqueItems: true }),
    },
    closed,
  ),
}
const Trigger = Type.Union([triggers.schedule, triggers.issue, triggers.session], { title: 'AutomationTrigger' })
export type AutomationTrigger = Static<typeof Trigger>

const { status, priority, type, project_id, assignee_id, delegate_id, label_ids } = IssueEventFilters.properties
/** The keys of webhook filters that describe an issue, and three of its own. All of them have to match. */
export const AutomationFilter = Type.Object(
  {
    status,
    priority,
    type,
    project_id,
    assignee_id,
    delegate_id,
    label_ids,
    /** Whether a person or an agent created the issue. */
    reporter: Type.Optional(Type.Enum(['human', 'application'])),
    /** In the title, in any letter case. */
    text: Type.Optional(Type.String({ minLength: 1, maxLength: limits.query })),
    /** The agents of sessions. */
    agent_id: Type.Optional(Type.Array(Ref, { minItems: 1, maxItems: limits.filterValues, uniqueItems: true })),
  },
  { ...closed, title: 'AutomationFilter' },
)
export type AutomationFilter = Static<typeof AutomationFilter>

const Text = Type.String({ minLength: 1, maxLength: limits.comment, pattern: '\\S' })
const dueInDays = Type.Integer({ minimum: 0, maximum: automationLimits.dueInDays })
const placed = {
  status: IssueStatus,
  priority: Priority,
  /** Not `type`, which is that of the action. */
  issue_type: IssueType,
  assignee_id: OptionalRef,
  project_id: OptionalRef,
  current_cycle: Type.Boolean(),
  due_in_days: nullable(dueInDays),
}

const actionTypes = {
  create_issue: Type.Object(
    {
      type: Type.Literal('create_issue'),
      ...Type.Partial(
        Type.Object({
          template_id: Ref,
          title: Title,
          description: Description,
          ...placed,
          label_ids: Refs,
          delegate_id: Ref,
          skip_if_open: Type.Boolean(),
        }),
      ).properties,
    },
    closed,
  ),
  set_fields: Type.Object(
    {
      type: Type.Literal('set_fields'),
      ...Type.Partial(Type.Object({ ...placed, add_label_ids: Refs, remove_label_ids: Refs })).properties,
    },
    closed,
  ),
  delegate: Type.Object({ type: Type.Literal('delegate'), agent_id: Ref, assignee_id: Type.Optional(Ref) }, closed),
  ask_agent: Type.Object({ type: Type.Literal('ask_agent'), agent_id: Ref, text: Text }, closed),
  comment: Type.Object({ type: Type.Literal('comment'), text: Text }, closed),
  notify: Type.Object(
    {
      type: Type.Literal('notify'),
      user_ids: Type.Optional(Type.Array(Ref, { minItems: 1, maxItems: automationLimits.notified, uniqueItems: true })),
      who: Type.Optional(Type.Enum(['assignee', 'reporter', 'team'])),
    },
    closed,
  ),
}
const { create_issue, set_fields, delegate, ask_agent, comment, notify } = actionTypes
const Action = Type.Union([create_issue, set_fields, delegate, ask_agent, comment, notify], {
  title: 'AutomationAction',
})
export type AutomationAction = Static<typeof Action>

export const automationPresets = ['recurring', 'triage'] as const
export const automationStates = ['on', 'off', 'paused'] as const
export const pausedReasons = ['owner_left', 'owner_not_allowed', 'agent_gone', 'failing', 'too_many_runs'] as const
export type PausedReason = (typeof pausedReasons)[number]

export const runStates = ['pending', 'done', 'skipped', 'failed'] as const
export const runReasons = [
  'off',
  'missed',
  'loop',
  'own_work',
  'rate_limited',
  'previous_open',
  'issue_gone',
  'owner_not_allowed',
  'refused',
  'gave_up',
] as const
export type RunReason = (typeof runReasons)[number]
const RunState = Type.Enum(runStates)
const RunReason = nullable(Type.Enum(runReasons))

export const ActionResult = Type.Object(
  {
    type: Type.Enum(Object.keys(actionTypes) as (keyof typeof actionTypes)[]),
    ok: Type.Boolean(),
    /** The issue or comment that the action made or changed. */
    subject_id: nullable(Type.String()),
    message: nullable(Type.String()),
  },
  { ...closed, title: 'ActionResult' },
)
export type ActionResult = Static<typeof ActionResult>

export const AutomationRun = Type.Object(
  {
    id: id('run'),
    version: Type.Integer(),
    /** The id of an event, a session and the number of its activity, an instant, or `manual`. */
    cause: Type.String(),
    issue: nullable(Type.Object({ id: id('iss'), code: Type.String(), title: Type.String() }, closed)),
    state: RunState,
    reason: RunReason,
    message: nullable(Type.String()),
    actions: Type.Array(ActionResult),
    depth: Type.Integer(),
    created_at: Timestamp,
    finished_at: nullable(Timestamp),
  },
  { ...closed, title: 'AutomationRun' },
)
export type AutomationRun = Static<typeof AutomationRun>

export const Automation = Type.Object(
  {
    id: id('aut'),
    team_id: id('team'),
    owner_id: id('usr'),
    name: Type.String(),
    preset: nullable(Type.Enum(automationPresets)),
    trigger: Trigger,
    filter: AutomationFilter,
    actions: Type.Array(Action),
    state: Type.Enum(automationStates),
    paused_reason: nullable(Type.Enum(pausedReasons)),
    next_at: nullable(Timestamp),
    last_run: nullable(
      Type.Object({ id: id('run'), state: RunState, reason: RunReason, created_at: Timestamp }, closed),
    ),
    version: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'Automation' },
)
export type Automation = Static<typeof Automation>

const draft = {
  name: Name,
  trigger: Trigger,
  filter: Type.Optional(AutomationFilter),
  actions: Type.Array(Action, { minItems: 1, maxItems: automationLimits.actions }),
}
const NewAutomation = Type.Object(
  { team_id: Ref, preset: Type.Optional(nullable(Type.Enum(automationPresets))), ...draft },
  { ...closed, title: 'NewAutomation' },
)
export type NewAutomation = Static<typeof NewAutomation>
const AutomationChange = Type.Partial(Type.Object(draft), { ...closed, title: 'AutomationChange' })
export type AutomationChange = Static<typeof AutomationChange>
const Trial = Type.Object(
  { ...NewAutomation.properties, issue_id: Type.Optional(Ref) },
  { ...closed, title: 'AutomationTrial' },
)
export type AutomationTrial = Static<typeof Trial>

/**
 * The same bodies with any object as trigger and action of a known type: a body is checked with these first and then
 * with the schema of each type, so that an error names its field and not all alternatives.
 */
const typed = (schemas: Record<string, TObject>) =>
  Type.Object({ type: Type.Enum(Object.keys(schemas)) }, { additionalProperties: true })
const loose = {
  trigger: typed(triggers),
  actions: Type.Array(typed(actionTypes), {
    minItems: 1,
    maxItems: automationLimits.actions,
    'x-message': `must have 1 to ${automationLimits.actions} actions`,
  }),
}
const changeable = { ...draft, ...loose }
export const automationBodies = {
  create: Type.Object({ ...NewAutomation.properties, ...loose }, closed),
  change: Type.Partial(Type.Object(changeable), closed),
  trial: Type.Object({ ...Trial.properties, ...loose }, closed),
  triggers: triggers as Record<string, TObject>,
  actions: actionTypes as Record<string, TObject>,
}

export const automations = {
  listAutomations: operation(routes.listAutomations, {
    summary: 'List automations, newest first',
    query: Type.Object({ ...paging, team_id: Type.Optional(Ref) }, closed),
    returns: { 200: list(Automation) },
  }),
  createAutomation: operation(routes.createAutomation, {
    summary: `Create an automation of a team, which acts as you; a team has at most ${automationLimits.perTeam}`,
    body: NewAutomation,
    bodyCheckedByVerb: true,
    returns: { 201: Automation },
    errors: ['FORBIDDEN', 'AUTOMATION_LIMIT_REACHED', 'RESOURCE_NOT_FOUND'],
  }),
  getAutomation: operation(routes.getAutomation, {
    summary: 'Get an automation',
    returns: { 200: Automation },
  }),
  updateAutomation: operation(routes.updateAutomation, {
    summary: 'Change the given fields of an automation (owner only)',
    body: AutomationChange,
    bodyCheckedByVerb: true,
    returns: { 200: Automation },
    errors: ['FORBIDDEN'],
  }),
  deleteAutomation: operation(routes.deleteAutomation, {
    summary: 'Delete an automation and its runs (owner or manager)',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
  enableAutomation: operation(routes.enableAutomation, {
    summary: 'Turn an automation on (owner only)',
    returns: { 200: Automation },
    errors: ['FORBIDDEN'],
  }),
  disableAutomation: operation(routes.disableAutomation, {
    summary: 'Turn an automation off (owner or manager)',
    returns: { 200: Automation },
    errors: ['FORBIDDEN'],
  }),
  takeOverAutomation: operation(routes.takeOverAutomation, {
    summary: 'Become the owner of an automation, which is off until you turn it on',
    returns: { 200: Automation },
  }),
  runAutomation: operation(routes.runAutomation, {
    summary: 'Run an automation once, for an issue or, on a schedule, now (owner only)',
    body: Type.Object({ issue_id: Type.Optional(Ref) }, closed),
    bodyOptional: true,
    returns: { 202: AutomationRun },
    errors: ['FORBIDDEN'],
  }),
  tryAutomation: operation(routes.tryAutomation, {
    summary: 'Find out what an automation would do, without doing it',
    body: Trial,
    bodyCheckedByVerb: true,
    returns: {
      200: Type.Object(
        { looked_at: Type.Integer(), matched: Type.Integer(), would: Type.Array(ActionResult) },
        { ...closed, title: 'AutomationTry' },
      ),
    },
    errors: ['FORBIDDEN', 'RESOURCE_NOT_FOUND'],
  }),
  listAutomationRuns: operation(routes.listAutomationRuns, {
    summary: `List the runs of an automation, newest first; they are kept for ${automationLimits.runDays} days`,
    query: Type.Object({ ...paging, state: Type.Optional(RunState) }, closed),
    returns: { 200: list(AutomationRun) },
  }),
}
