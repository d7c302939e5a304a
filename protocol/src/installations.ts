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
    /** Empty if `all_teams` is true. */
    team_ids: Type.Array(id('team')),
    /** Current scopes of its tokens. */
    scopes: Scopes,
    installed_by: nullable(id('usr')),
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { ...closed, title: 'Installation' },
)
export type Installation = Static<typeof Installation>

/** Exactly one of the two (installation.coverage-exactly-one); checked by the verb. */
export const Coverage = Type.Object(
  {
    all_teams: Type.Optional(
      Type.Literal(true, { 'x-message': 'must be true; omit it to choose teams with team_ids' }),
    ),
    team_ids: Type.Optional(Refs),
  },
  closed,
)
export type Coverage = Static<typeof Coverage>

export const installations = {
  listInstallations: operation(routes.listInstallations, {
    summary: 'List installed agent apps, newest first',
    query: Page,
    returns: { 200: list(Installation) },
  }),
  getInstallation: operation(routes.getInstallation, {
    summary: 'Get an installation',
    returns: { 200: Installation },
  }),
  updateInstallation: operation(routes.updateInstallation, {
    summary: 'Change the teams that an installed app can access',
    body: Coverage,
    returns: { 200: Installation },
  }),
  deleteInstallation: operation(routes.deleteInstallation, {
    summary: 'Uninstall an app and revoke its tokens',
    returns: { 204: null },
  }),
}
