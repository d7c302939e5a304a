import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Description, Ids, Moment, OptionalId, OptionalRef, Priority, Refs, Title } from './tracker.ts'

export const ProjectStatus = Type.Enum([
  'idea',
  'discovery',
  'proposal',
  'accepted',
  'ready',
  'in_progress',
  'paused',
  'maintenance',
  'completed',
  'canceled',
])
export type ProjectStatus = Static<typeof ProjectStatus>

export const HealthStatus = nullable(Type.Enum(['on_track', 'at_risk', 'off_track']))
export type HealthStatus = Static<typeof HealthStatus>

/** The fields in events. */
const projectData = {
  id: id('prj'),
  title: Type.String(),
  description: Type.String(),
  status: ProjectStatus,
  priority: Priority,
  health_status: HealthStatus,
  owner_id: OptionalId,
  lead_id: OptionalId,
  initiative_id: OptionalId,
  member_ids: Ids,
  team_ids: Ids,
  label_ids: Ids,
  start_date: nullable(Timestamp),
  target_date: nullable(Timestamp),
  completed_at: nullable(Timestamp),
  progress: nullable(Type.Number({ minimum: 0, maximum: 100 })),
  created_at: Timestamp,
  updated_at: Timestamp,
}

export const ProjectData = Type.Object(projectData, closed)
export type ProjectData = Static<typeof ProjectData>
export const projectFields = Object.keys(projectData) as (keyof ProjectData)[]

export const Project = Type.Object(
  { ...projectData, url: Type.String(), personal: Type.Boolean() },
  { ...closed, title: 'Project' },
)
export type Project = Static<typeof Project>

const writable = {
  title: Title,
  description: Description,
  status: ProjectStatus,
  priority: Priority,
  health_status: HealthStatus,
  owner_id: OptionalRef,
  lead_id: OptionalRef,
  initiative_id: OptionalRef,
  member_ids: Refs,
  team_ids: Refs,
  label_ids: Refs,
  start_date: Moment,
  target_date: Moment,
  personal: Type.Boolean(),
}

export const ProjectChange = Type.Partial(Type.Object(writable), closed)
export type ProjectChange = Static<typeof ProjectChange>

const { title, ...optional } = writable
export const NewProject = Type.Object({ title, ...Type.Partial(Type.Object(optional)).properties }, closed)
export type NewProject = Static<typeof NewProject>

export const projects = {
  listProjects: operation(routes.listProjects, {
    summary: 'List projects that the caller can see, newest first',
    query: Page,
    returns: { 200: list(Project) },
  }),
  createProject: operation(routes.createProject, {
    summary: 'Create a project; the caller is its owner unless owner_id is given',
    body: NewProject,
    returns: { 201: Project },
  }),
  getProject: operation(routes.getProject, {
    summary: 'Get a project',
    returns: { 200: Project },
  }),
  updateProject: operation(routes.updateProject, {
    summary: 'Change the given fields of a project',
    body: ProjectChange,
    returns: { 200: Project },
    errors: ['FORBIDDEN'],
  }),
  deleteProject: operation(routes.deleteProject, {
    summary: 'Delete a project and its comments; its issues stay',
    returns: { 204: null },
  }),
}
