import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { operation } from './operation.ts'
import { appScopes, routes } from './routes.ts'
import { Refs } from './tracker.ts'

const Scopes = Type.Array(Type.Enum([...appScopes]))

export const Installation = Type.Object(
  {
    id: id('ins'),
    workspace_id: id('wsp'),
    app_id: id('app'),
    app_user_id: id('usr'),
    app: Type.Object({ id: id('app'), name: Type.String() }, closed),
    app_user: Type.Object({ id: id('usr'), display_name: Type.String() }, closed),
    all_teams: Type.Boolean(),
    /** Empty when `all_teams` is true. */
    team_ids: Type.Array(id('team')),
    /** What its tokens may do now. */
    scopes: Scopes,
    installed_by: nullable(id('usr')),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'Installation' },
)
export type Installation = Static<typeof Installation>

/** decisions 4: exactly one of the two; a verb says which is missing. */
export const Coverage = Type.Object(
  {
    all_teams: Type.Optional(Type.Literal(true, { 'x-message': 'must be true, or left out for chosen teams' })),
    team_ids: Type.Optional(Refs),
  },
  closed,
)
export type Coverage = Static<typeof Coverage>

export const installations = {
  listInstallations: operation(routes.listInstallations, {
    summary: 'Installed agent apps, newest first',
    query: Page,
    returns: { 200: list(Installation) },
  }),
  getInstallation: operation(routes.getInstallation, {
    summary: 'Read an installation',
    returns: { 200: Installation },
  }),
  updateInstallation: operation(routes.updateInstallation, {
    summary: 'Choose the teams that an installed app reaches',
    body: Coverage,
    returns: { 200: Installation },
  }),
  deleteInstallation: operation(routes.deleteInstallation, {
    summary: 'Uninstall an app; its tokens stop at once',
    returns: { 204: null },
  }),
}
