import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, paging, Timestamp } from './common.ts'
import { IssueType } from './issues.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Description, Ids, OptionalRef, Priority, Ref, Refs } from './tracker.ts'

/** Values that prefill the form of a new issue. */
export const IssueTemplate = Type.Object(
  {
    id: id('tpl'),
    /** Null for a template of the whole workspace. */
    team_id: nullable(id('team')),
    name: Type.String(),
    title: Type.String(),
    description: Type.String(),
    priority: Priority,
    type: IssueType,
    label_ids: Ids,
    default: Type.Boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'IssueTemplate' },
)
export type IssueTemplate = Static<typeof IssueTemplate>

const changeable = {
  name: Name,
  /** May be empty: people complete it in the form. */
  title: Type.String({ maxLength: limits.title }),
  description: Description,
  priority: Priority,
  type: IssueType,
  label_ids: Refs,
  default: Type.Boolean(),
}

const { name, ...optional } = changeable
export const NewTemplate = Type.Object(
  { name, ...Type.Partial(Type.Object({ team_id: OptionalRef, ...optional })).properties },
  closed,
)
export type NewTemplate = Static<typeof NewTemplate>
export const TemplateChange = Type.Partial(Type.Object(changeable), closed)
export type TemplateChange = Static<typeof TemplateChange>

export const templates = {
  listTemplates: operation(routes.listTemplates, {
    summary: 'List templates for issues, newest first; apps get those of the teams they cover',
    query: Type.Object({ ...paging, team_id: Type.Optional(Ref) }, closed),
    returns: { 200: list(IssueTemplate) },
  }),
  createTemplate: operation(routes.createTemplate, {
    summary: `Create a template of a team or the workspace; each has at most ${limits.templatesPerTeam}, one of them the default`,
    body: NewTemplate,
    returns: { 201: IssueTemplate },
  }),
  updateTemplate: operation(routes.updateTemplate, {
    summary: 'Change the given fields of a template',
    body: TemplateChange,
    returns: { 200: IssueTemplate },
  }),
  deleteTemplate: operation(routes.deleteTemplate, {
    summary: 'Delete a template',
    returns: { 204: null },
  }),
}
