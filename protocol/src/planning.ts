import { type Static, Type } from 'typebox'
import { closed, id, list, Name, nullable, paging, Timestamp } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Description, Moment, Ref } from './tracker.ts'

// Labels, milestones of projects, cycles of teams, and initiatives.

const Color = nullable(Type.String({ pattern: '^#[0-9a-f]{6}$', 'x-message': 'must be a colour such as #1f6feb' }))
const times = { created_at: Timestamp, updated_at: Timestamp }

export const Label = Type.Object(
  { id: id('lbl'), name: Type.String(), color: Color, ...times },
  { ...closed, title: 'Label' },
)
export type Label = Static<typeof Label>
const labelFields = { name: Name, color: Color }

export const Milestone = Type.Object(
  { id: id('mil'), project_id: id('prj'), name: Type.String(), target_date: nullable(Timestamp), ...times },
  { ...closed, title: 'Milestone' },
)
export type Milestone = Static<typeof Milestone>
const milestoneFields = { name: Name, target_date: Moment }

export const Cycle = Type.Object(
  {
    id: id('cyc'),
    team_id: id('team'),
    name: Type.String(),
    starts_at: nullable(Timestamp),
    ends_at: nullable(Timestamp),
    ...times,
  },
  { ...closed, title: 'Cycle' },
)
export type Cycle = Static<typeof Cycle>
const cycleFields = { name: Name, starts_at: Moment, ends_at: Moment }

export const Initiative = Type.Object(
  { id: id('ini'), name: Type.String(), description: Type.String(), ...times },
  { ...closed, title: 'Initiative' },
)
export type Initiative = Static<typeof Initiative>
const initiativeFields = { name: Name, description: Description }

export const LabelChange = Type.Partial(Type.Object(labelFields), closed)
export type LabelChange = Static<typeof LabelChange>
export const NewLabel = Type.Object({ name: Name, color: Type.Optional(Color) }, closed)
export type NewLabel = Static<typeof NewLabel>

export const MilestoneChange = Type.Partial(Type.Object(milestoneFields), closed)
export type MilestoneChange = Static<typeof MilestoneChange>
export const NewMilestone = Type.Object({ project_id: Ref, name: Name, target_date: Type.Optional(Moment) }, closed)
export type NewMilestone = Static<typeof NewMilestone>

export const CycleChange = Type.Partial(Type.Object(cycleFields), closed)
export type CycleChange = Static<typeof CycleChange>
export const NewCycle = Type.Object(
  { team_id: Ref, name: Name, starts_at: Type.Optional(Moment), ends_at: Type.Optional(Moment) },
  closed,
)
export type NewCycle = Static<typeof NewCycle>

export const InitiativeChange = Type.Partial(Type.Object(initiativeFields), closed)
export type InitiativeChange = Static<typeof InitiativeChange>
export const NewInitiative = Type.Object({ name: Name, description: Type.Optional(Description) }, closed)
export type NewInitiative = Static<typeof NewInitiative>

export const planning = {
  listLabels: operation(routes.listLabels, {
    summary: 'List labels, newest first',
    query: Type.Object(paging, closed),
    returns: { 200: list(Label) },
  }),
  createLabel: operation(routes.createLabel, { summary: 'Create a label', body: NewLabel, returns: { 201: Label } }),
  getLabel: operation(routes.getLabel, { summary: 'Get a label', returns: { 200: Label } }),
  updateLabel: operation(routes.updateLabel, { summary: 'Change a label', body: LabelChange, returns: { 200: Label } }),
  deleteLabel: operation(routes.deleteLabel, {
    summary: 'Delete a label and remove it from issues and projects',
    returns: { 204: null },
  }),
  mergeLabel: operation(routes.mergeLabel, {
    summary: 'Replace a label by another on all issues and projects, and delete it',
    body: Type.Object({ into_label_id: Ref }, closed),
    returns: { 200: Label },
  }),

  listMilestones: operation(routes.listMilestones, {
    summary: 'List milestones, newest first; filter with project_id',
    query: Type.Object({ ...paging, project_id: Type.Optional(Ref) }, closed),
    returns: { 200: list(Milestone) },
  }),
  createMilestone: operation(routes.createMilestone, {
    summary: 'Create a milestone of a project',
    body: NewMilestone,
    returns: { 201: Milestone },
  }),
  getMilestone: operation(routes.getMilestone, { summary: 'Get a milestone', returns: { 200: Milestone } }),
  updateMilestone: operation(routes.updateMilestone, {
    summary: 'Change a milestone',
    body: MilestoneChange,
    returns: { 200: Milestone },
  }),
  deleteMilestone: operation(routes.deleteMilestone, {
    summary: 'Delete a milestone and remove it from its issues',
    returns: { 204: null },
  }),

  listCycles: operation(routes.listCycles, {
    summary: 'List cycles, newest first; filter with team_id',
    query: Type.Object({ ...paging, team_id: Type.Optional(Ref) }, closed),
    returns: { 200: list(Cycle) },
  }),
  createCycle: operation(routes.createCycle, {
    summary: 'Create a cycle of a team',
    body: NewCycle,
    returns: { 201: Cycle },
  }),
  getCycle: operation(routes.getCycle, { summary: 'Get a cycle', returns: { 200: Cycle } }),
  updateCycle: operation(routes.updateCycle, { summary: 'Change a cycle', body: CycleChange, returns: { 200: Cycle } }),
  deleteCycle: operation(routes.deleteCycle, {
    summary: 'Delete a cycle and remove it from its issues',
    returns: { 204: null },
  }),

  listInitiatives: operation(routes.listInitiatives, {
    summary: 'List initiatives, newest first',
    query: Type.Object(paging, closed),
    returns: { 200: list(Initiative) },
  }),
  createInitiative: operation(routes.createInitiative, {
    summary: 'Create an initiative',
    body: NewInitiative,
    returns: { 201: Initiative },
  }),
  getInitiative: operation(routes.getInitiative, { summary: 'Get an initiative', returns: { 200: Initiative } }),
  updateInitiative: operation(routes.updateInitiative, {
    summary: 'Change an initiative',
    body: InitiativeChange,
    returns: { 200: Initiative },
  }),
  deleteInitiative: operation(routes.deleteInitiative, {
    summary: 'Delete an initiative and remove it from its projects',
    returns: { 204: null },
  }),
}
