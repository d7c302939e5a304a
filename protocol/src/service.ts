import { type Static, Type } from 'typebox'
import { closed, nullable } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

const Status = Type.Object({ status: Type.String() }, closed)

export const Instance = Type.Object(
  {
    name: Type.Literal('Baton'),
    version: Type.String(),
    /** Whether sign-up without an invitation is open. */
    sign_up: Type.Boolean(),
    /** Whether no account exists yet: the next one is the first. */
    needs_first_account: Type.Boolean(),
    /** A public login, while the demo company exists and its password has not been changed. */
    demo: nullable(Type.Object({ email: Type.String(), password: Type.String() }, closed)),
    /** Whether a language model is configured; personal agents need one. */
    has_model: Type.Boolean(),
    /** Whether people can sign in with a passkey. */
    passkeys: Type.Boolean(),
    sso: Type.Object(
      {
        /** Whether single sign-on is the only way to sign in. */
        only: Type.Boolean(),
        providers: Type.Array(
          Type.Object(
            {
              id: Type.String(),
              name: Type.String(),
              /** Null until it is known, or if the provider has none. */
              sign_out_url: nullable(Type.String()),
            },
            closed,
          ),
        ),
      },
      closed,
    ),
    /** Whether the instance sends mail. */
    mail: Type.Boolean(),
    /** The largest file that can be uploaded; null if the instance has no place for files. */
    files: nullable(Type.Object({ max_bytes: Type.Integer() }, closed)),
  },
  { ...closed, title: 'Instance' },
)
export type Instance = Static<typeof Instance>

export const service = {
  getHome: operation(routes.getHome, {
    summary: 'Get the page for browsers that open the root URL',
    returns: { 200: Type.String() },
    produces: 'text/html',
  }),
  getHealth: operation(routes.getHealth, {
    summary: 'Check whether the process is alive',
    returns: { 200: Status },
  }),
  getReadiness: operation(routes.getReadiness, {
    summary: 'Check whether the service accepts requests: started, not stopping, database reachable',
    returns: { 200: Status },
    errors: ['NOT_READY'],
  }),
  getMetrics: operation(routes.getMetrics, {
    summary: 'Get metrics for Prometheus',
    returns: { 200: Type.String() },
    produces: 'text/plain',
  }),
  getOpenApi: operation(routes.getOpenApi, {
    summary: 'Get the OpenAPI description',
    returns: { 200: Type.Object({ openapi: Type.String() }) },
  }),
  getInstance: operation(routes.getInstance, {
    summary: 'Get the version of the instance, whether sign-up is open, and the demo login',
    returns: { 200: Instance },
  }),
  getPackage: operation(routes.getPackage, {
    summary: 'Get a package for npm: `sdk.tgz`, or `cli.tgz` with the command `baton`',
    produces: 'application/gzip',
    returns: { 200: Type.Unknown(), 304: null },
  }),
}
