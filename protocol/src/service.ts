import { Type } from 'typebox'
import { closed } from './common.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

const Status = Type.Object({ status: Type.String() }, closed)

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
}
