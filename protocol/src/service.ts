import { type Static, Type } from 'typebox'
import { closed, nullable } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

const Status = Type.Object({ status: Type.String() }, closed)

export const Instance = Type.Object(
  {
    name: Type.Literal('Baton'),
    version: Type.String(),
    /** Whether somebody without an invitation can sign up at the moment. */
    sign_up: Type.Boolean(),
    /** A login that everybody may use: only while the demo company is here and its password has not been changed. */
    demo: nullable(Type.Object({ email: Type.String(), password: Type.String() }, closed)),
    /** Whether agents inside the service have a language model; without one, personal agents cannot work. */
    has_model: Type.Boolean(),
  },
  { ...closed, title: 'Instance' },
)
export type Instance = Static<typeof Instance>

export const service = {
  getHome: operation(routes.getHome, {
    summary: 'A page for people who open the address in a browser',
    returns: { 200: Type.String() },
    produces: 'text/html',
  }),
  getHealth: operation(routes.getHealth, {
    summary: 'Whether the process is alive',
    returns: { 200: Status },
  }),
  getReadiness: operation(routes.getReadiness, {
    summary: 'Whether the service can take requests: started, not stopping, database reachable',
    returns: { 200: Status },
    errors: ['NOT_READY'],
  }),
  getMetrics: operation(routes.getMetrics, {
    summary: 'Figures for Prometheus',
    returns: { 200: Type.String() },
    produces: 'text/plain',
  }),
  getOpenApi: operation(routes.getOpenApi, {
    summary: 'This description of the API',
    returns: { 200: Type.Object({ openapi: Type.String() }) },
  }),
  getInstance: operation(routes.getInstance, {
    summary: 'What a person meets who comes here for the first time: which version, and how to get in',
    returns: { 200: Instance },
  }),
}
