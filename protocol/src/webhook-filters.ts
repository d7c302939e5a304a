import { type Static, type TSchema, Type } from 'typebox'
import { closed, nullable } from './common.ts'
import { IssueStatus, IssueType, issueFields } from './issues.ts'
import { limits } from './limits.ts'
import { HealthStatus, ProjectStatus, projectFields } from './projects.ts'
import { Priority, Ref } from './tracker.ts'

/** Values of which one has to match. */
const oneOf = <Item extends TSchema>(item: Item) =>
  Type.Optional(Type.Array(item, { minItems: 1, maxItems: limits.filterValues, uniqueItems: true }))

const ofEvent = {
  actions: oneOf(Type.Enum(['create', 'update', 'remove'])),
  /** Who caused the event. */
  actor_types: oneOf(Type.Enum(['user', 'application', 'system'])),
}

export const IssueEventFilters = Type.Object(
  {
    ...ofEvent,
    /** Only for updates: at least one of these fields changed. */
    changed: oneOf(Type.Enum(issueFields)),
    status: oneOf(IssueStatus),
    priority: oneOf(Priority),
    type: oneOf(IssueType),
    project_id: oneOf(nullable(Ref)),
    assignee_id: oneOf(nullable(Ref)),
    delegate_id: oneOf(nullable(Ref)),
    label_ids: oneOf(Ref),
  },
  { ...closed, title: 'IssueEventFilters' },
)

const ProjectFilters = Type.Object(
  {
    ...ofEvent,
    changed: oneOf(Type.Enum(projectFields)),
    status: oneOf(ProjectStatus),
    priority: oneOf(Priority),
    health_status: oneOf(HealthStatus),
    lead_id: oneOf(nullable(Ref)),
    label_ids: oneOf(Ref),
  },
  { ...closed, title: 'ProjectEventFilters' },
)

const CommentFilters = Type.Object(
  { ...ofEvent, target_type: oneOf(Type.Enum(['issue', 'project'])), mentioned_user_ids: oneOf(Ref) },
  { ...closed, title: 'CommentEventFilters' },
)

/** By type of event. All keys of a type have to match; a type without an entry is not filtered. */
export const WebhookFilters = Type.Object(
  {
    Issue: Type.Optional(IssueEventFilters),
    Project: Type.Optional(ProjectFilters),
    Comment: Type.Optional(CommentFilters),
  },
  { ...closed, title: 'WebhookFilters' },
)
export type WebhookFilters = Static<typeof WebhookFilters>
