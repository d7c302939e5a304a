import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, paging, Timestamp } from './common.ts'
import { limits, programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Description, Ids, Moment, OptionalId, OptionalRef, Priority, Ref, Refs, Time, Title } from './tracker.ts'

export const issueStatuses = ['backlog', 'todo', 'in_progress', 'qa', 'release', 'done'] as const
export const IssueStatus = Type.Enum(issueStatuses)
export type IssueStatus = Static<typeof IssueStatus>

export const IssueType = Type.Enum(['bug', 'feature', 'task', 'story'])
export type IssueType = Static<typeof IssueType>

/** The fields in events. */
const issueData = {
  id: id('iss'),
  code: Type.String(),
  title: Type.String(),
  description: Type.String(),
  status: IssueStatus,
  priority: Priority,
  type: IssueType,
  team_id: OptionalId,
  project_id: OptionalId,
  milestone_id: OptionalId,
  cycle_id: OptionalId,
  parent_id: OptionalId,
  reporter_id: OptionalId,
  assignee_id: OptionalId,
  delegate_id: OptionalId,
  delegation_revision: Type.Integer(),
  label_ids: Ids,
  blocks_ids: Ids,
  blocked_by_ids: Ids,
  time_estimate: nullable(Type.Number()),
  due_date: nullable(Timestamp),
  completed_at: nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const IssueData = Type.Object(issueData, closed)
export type IssueData = Static<typeof IssueData>
export const issueFields = Object.keys(issueData) as (keyof IssueData)[]

export const Issue = Type.Object(
  { ...issueData, url: Type.String(), personal: Type.Boolean(), sort_order: Type.Number() },
  { ...closed, title: 'Issue' },
)
export type Issue = Static<typeof Issue>

const writable = {
  title: Title,
  team_id: OptionalRef,
  description: Description,
  status: IssueStatus,
  priority: Priority,
  type: IssueType,
  assignee_id: OptionalRef,
  delegate_id: OptionalRef,
  project_id: OptionalRef,
  milestone_id: OptionalRef,
  cycle_id: OptionalRef,
  parent_id: OptionalRef,
  label_ids: Refs,
  blocks_ids: Refs,
  blocked_by_ids: Refs,
  time_estimate: nullable(Type.Number({ minimum: 0, maximum: 100_000 })),
  due_date: Moment,
  personal: Type.Boolean(),
  sort_order: Type.Number({ minimum: -1e15, maximum: 1e15 }),
}

export const IssueChange = Type.Partial(Type.Object(writable), closed)
export type IssueChange = Static<typeof IssueChange>

/** With `if_updated_at`, the change is refused if another user changed one of its fields since. */
export const IssueUpdate = Type.Object({ ...IssueChange.properties, if_updated_at: Type.Optional(Time) }, closed)
export type IssueUpdate = Static<typeof IssueUpdate>

const { title, ...optional } = writable
export const NewIssue = Type.Object({ title, ...Type.Partial(Type.Object(optional)).properties }, closed)
export type NewIssue = Static<typeof NewIssue>

/** One change of an issue, with each field before and after. */
export const IssueChangeRecord = Type.Object(
  {
    id: id('chg'),
    /** With `type` for a change by the service itself, whose id and name are empty. Null if the user was deleted. */
    actor: nullable(
      Type.Object({ id: Type.String(), type: Type.Optional(Type.Literal('system')), name: Type.String() }, closed),
    ),
    changes: Type.Record(Type.String(), Type.Object({ from: Type.Unknown(), to: Type.Unknown() }, closed)),
    /** Uninstalled apps among the values of `delegate_id`, which no list names any more. */
    former_agents: Type.Array(Type.Object({ id: id('usr'), name: Type.String() }, closed)),
    /** The automation that made the change for its actor. */
    automation_id: nullable(id('aut')),
    created_at: Timestamp,
  },
  { ...closed, title: 'IssueChange' },
)
export type IssueChangeRecord = Static<typeof IssueChangeRecord>

const filters = {
  team_id: Type.Optional(Ref),
  project_id: Type.Optional(Ref),
  /** Only sub-issues of this issue. */
  parent_id: Type.Optional(Ref),
  status: Type.Optional(IssueStatus),
  priority: Type.Optional(Priority),
  type: Type.Optional(IssueType),
  assignee_id: Type.Optional(Ref),
  delegate_id: Type.Optional(Ref),
  label_id: Type.Optional(Ref),
  query: Type.Optional(Type.String({ maxLength: limits.query })),
}

export const IssueFilter = Type.Object({ ...paging, ...filters }, closed)
export type IssueFilter = Static<typeof IssueFilter>

/** The filters of the list without its paging. */
export const IssueExport = Type.Object(filters, closed)
export type IssueExport = Static<typeof IssueExport>

export const issues = {
  listIssues: operation(routes.listIssues, {
    summary: 'List issues that the caller can see, newest first; query searches title, description and code',
    query: IssueFilter,
    returns: { 200: list(Issue) },
  }),
  createIssue: operation(routes.createIssue, {
    summary: 'Create an issue',
    body: NewIssue,
    notFromApps: { delegate_id: 'INVALID_DELEGATE' },
    returns: { 201: Issue },
    errors: ['INVALID_DELEGATE', 'APP_STATUS_FORBIDDEN', 'DELEGATE_UNAVAILABLE', 'DELEGATION_REQUIRES_ASSIGNEE'],
  }),
  importIssues: operation(routes.importIssues, {
    summary: 'Create up to 500 issues, all or none; sends no events',
    body: Type.Object(
      {
        issues: Type.Array(
          Type.Object(
            Type.Omit(NewIssue, ['personal', 'delegate_id', 'blocks_ids', 'blocked_by_ids']).properties,
            closed,
          ),
          {
            minItems: 1,
            maxItems: limits.importedIssues,
          },
        ),
      },
      closed,
    ),
    returns: { 201: Type.Object({ data: Type.Array(Issue) }, closed) },
  }),
  createIssues: operation(routes.createIssues, {
    summary: `Create up to ${limits.batchIssues} issues in order, all or none, each with its event`,
    body: Type.Object({ issues: Type.Array(NewIssue, { minItems: 1, maxItems: limits.batchIssues }) }, closed),
    returns: { 201: Type.Object({ data: Type.Array(Issue) }, closed) },
    errors: ['INVALID_DELEGATE', 'APP_STATUS_FORBIDDEN', 'DELEGATE_UNAVAILABLE', 'DELEGATION_REQUIRES_ASSIGNEE'],
  }),
  exportIssues: operation(routes.exportIssues, {
    summary: `Export the issues that GET /issues lists with the same filters as CSV, newest first, up to ${programLimits.csvRows.toLocaleString('en')}`,
    query: IssueExport,
    produces: 'text/csv',
    returns: { 200: Type.Unknown() },
  }),
  getIssue: operation(routes.getIssue, {
    summary: 'Get an issue by id or code, including former codes',
    returns: { 200: Issue },
  }),
  updateIssue: operation(routes.updateIssue, {
    summary: 'Change the given fields of an issue; with if_updated_at only if no other user changed them since',
    body: IssueUpdate,
    notFromApps: { delegate_id: 'INVALID_DELEGATE' },
    returns: { 200: Issue },
    errors: [
      'FORBIDDEN',
      'EDIT_CONFLICT',
      'INVALID_DELEGATE',
      'APP_STATUS_FORBIDDEN',
      'DELEGATE_UNAVAILABLE',
      'DELEGATION_REQUIRES_ASSIGNEE',
    ],
  }),
  deleteIssue: operation(routes.deleteIssue, {
    summary: 'Delete an issue and its comments',
    returns: { 204: null },
  }),
  listIssueHistory: operation(routes.listIssueHistory, {
    summary: 'List changes of an issue, newest first',
    query: Page,
    returns: { 200: list(IssueChangeRecord) },
  }),
}
