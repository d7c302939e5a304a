import { api } from '@baton/protocol'
import { route, uncached } from '../http/route.ts'
import { readAutomation, setAutomation } from './automation.ts'
import {
  createConnection,
  deleteConnection,
  listConnections,
  listDeliveries,
  readConnection,
  rotateSecret,
  updateConnection,
} from './connections.ts'
import { linkPullRequest, listPullRequests, unlinkPullRequest } from './read.ts'
import { receive } from './receive.ts'

export const gitRoutes = [
  route(api.listGitConnections, ({ ctx, caller, query }) => listConnections(ctx, caller, query)),
  route(api.createGitConnection, async ({ ctx, caller, body }) => uncached(await createConnection(ctx, caller, body))),
  route(api.getGitConnection, ({ ctx, caller, params }) =>
    readConnection(ctx.db, caller.workspaceId, params.connection_id),
  ),
  route(api.updateGitConnection, ({ ctx, caller, params, body }) =>
    updateConnection(ctx, caller, params.connection_id, body),
  ),
  route(api.deleteGitConnection, ({ ctx, caller, params }) => deleteConnection(ctx, caller, params.connection_id)),
  route(api.rotateGitSecret, async ({ ctx, caller, params }) =>
    uncached(await rotateSecret(ctx, caller, params.connection_id)),
  ),
  route(api.listGitDeliveries, ({ ctx, caller, params, query }) =>
    listDeliveries(ctx, caller, params.connection_id, query),
  ),
  route(api.receiveGitHook, async ({ ctx, params, headers, body }) => ({
    outcome: await receive(ctx, params.connection_id, headers, body as Buffer),
  })),
  route(api.listPullRequests, ({ ctx, caller, query }) => listPullRequests(ctx, caller, query)),
  route(api.linkPullRequest, ({ ctx, caller, params, body }) =>
    linkPullRequest(ctx, caller, params.issue_id, params.pull_request_id, body.closes ?? true),
  ),
  route(api.unlinkPullRequest, ({ ctx, caller, params }) =>
    unlinkPullRequest(ctx, caller, params.issue_id, params.pull_request_id),
  ),
  route(api.getGitAutomation, ({ ctx, caller, params }) => readAutomation(ctx, caller, params.team_id)),
  route(api.setGitAutomation, ({ ctx, caller, params, body }) => setAutomation(ctx, caller, params.team_id, body)),
]
