import { type Static, Type } from 'typebox'
import { closed, Guidance, id, list, Name, nullable, Page, Timestamp, text } from './common.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref } from './tracker.ts'

/** A repository of the team; the source of `<repository-hint>` in an agent's context. */
export const Repository = Type.Object(
  {
    repository: text(1, limits.repository),
    url: Type.Optional(
      Type.String({
        maxLength: limits.url,
        pattern: '^https?://[^\\s/]',
        format: 'uri',
        'x-message': 'must be an http or https URL',
      }),
    ),
  },
  closed,
)
export type Repository = Static<typeof Repository>

export const Team = Type.Object(
  {
    id: id('team'),
    name: Type.String(),
    key: Type.String(),
    guidance: Type.String(),
    repositories: Type.Array(Repository),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'Team' },
)
export type Team = Static<typeof Team>

/** A team to choose from. */
export const TeamChoice = Type.Object(
  { id: id('team'), key: Type.String(), name: Type.String() },
  { ...closed, title: 'TeamChoice' },
)
export type TeamChoice = Static<typeof TeamChoice>

export const NewTeam = Type.Object(
  {
    name: Name,
    key: Type.String({
      pattern: '^[A-Z][A-Z0-9]{1,5}$',
      'x-message': 'must have 2 to 6 capital letters or digits and start with a letter',
    }),
  },
  closed,
)
export type NewTeam = Static<typeof NewTeam>

const Repositories = Type.Array(Repository, { maxItems: limits.repositoriesPerTeam })

export const TeamChange = Type.Partial(
  Type.Object({
    name: Name,
    guidance: Guidance,
    repositories: Repositories,
  }),
  closed,
)
export type TeamChange = Static<typeof TeamChange>

export const TeamMember = Type.Object(
  { id: id('usr'), display_name: Type.String(), email: nullable(Type.String()), joined_at: Timestamp },
  { ...closed, title: 'TeamMember' },
)
export type TeamMember = Static<typeof TeamMember>

/** Unsaved changes to preview. Omitted fields have their stored values. */
export const GuidanceDraft = Type.Partial(
  Type.Object({ workspace_guidance: Guidance, team_guidance: Guidance, repositories: Repositories }),
  closed,
)
export type GuidanceDraft = Static<typeof GuidanceDraft>

export const GuidancePreview = Type.Object(
  {
    /** As in the `created` event of an agent session. */
    guidance: Type.Array(
      Type.Union([
        Type.Object({ origin: Type.Literal('workspace'), body: Type.String() }, closed),
        Type.Object({ origin: Type.Literal('team'), team_id: id('team'), body: Type.String() }, closed),
      ]),
    ),
    prompt_context: Type.String(),
    /** The issue of the preview; null if the team has none and a fictitious one was used. */
    example: nullable(Type.Object({ identifier: Type.String(), title: Type.String() }, closed)),
  },
  { ...closed, title: 'GuidancePreview' },
)
export type GuidancePreview = Static<typeof GuidancePreview>

const userOfTeam = (prefix: string) =>
  Type.Array(Type.Object({ id: id(prefix), name: Type.String(), only_team: Type.Boolean() }, closed))

/** What a deletion of the team takes with it, and what it is refused for. */
export const TeamUsage = Type.Object(
  {
    issues: Type.Integer(),
    cycles: Type.Integer(),
    /** Saved views that show only this team. */
    views: Type.Integer(),
    /** That chose the team; those of all teams are not listed. */
    installations: userOfTeam('ins'),
    webhooks: userOfTeam('whk'),
  },
  { ...closed, title: 'TeamUsage' },
)
export type TeamUsage = Static<typeof TeamUsage>

export const teams = {
  listTeams: operation(routes.listTeams, {
    summary: 'List teams that the caller can see, newest first',
    query: Page,
    returns: { 200: list(Team) },
  }),
  selectTeams: operation(routes.selectTeams, {
    summary: 'List teams to choose from, newest first; for an app those it is installed for',
    query: Page,
    returns: { 200: list(TeamChoice) },
  }),
  createTeam: operation(routes.createTeam, {
    summary: 'Create a team; the caller becomes a member',
    body: NewTeam,
    returns: { 201: Team },
  }),
  getTeam: operation(routes.getTeam, {
    summary: 'Get a team',
    returns: { 200: Team },
  }),
  updateTeam: operation(routes.updateTeam, {
    summary: 'Change the name, the guidance for agents or the repositories of a team',
    body: TeamChange,
    returns: { 200: Team },
  }),
  getTeamUsage: operation(routes.getTeamUsage, {
    summary: 'Count what belongs to a team, before it is deleted',
    returns: { 200: TeamUsage },
  }),
  deleteTeam: operation(routes.deleteTeam, {
    summary: 'Delete a team; move its issues to another team or delete them',
    query: Type.Object(
      { move_issues_to: Type.Optional(Ref), delete_issues: Type.Optional(Type.Literal('true')) },
      closed,
    ),
    returns: { 204: null },
    errors: ['TEAM_IN_USE'],
  }),
  previewGuidance: operation(routes.previewGuidance, {
    summary: "Preview the context that an agent would get for the team's newest issue; stores nothing",
    body: GuidanceDraft,
    returns: { 200: GuidancePreview },
  }),
  listTeamMembers: operation(routes.listTeamMembers, {
    summary: 'List members of a team and the apps installed for it, newest first',
    query: Page,
    returns: { 200: list(TeamMember) },
  }),
  addTeamMember: operation(routes.addTeamMember, {
    summary: 'Add a member of the workspace to the team',
    returns: { 200: TeamMember },
  }),
  removeTeamMember: operation(routes.removeTeamMember, {
    summary: 'Remove a member from the team (managers), or leave it',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
}
