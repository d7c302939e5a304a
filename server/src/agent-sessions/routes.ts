import { api } from '@baton/protocol'
import { Reply, route } from '../http/route.ts'
import { listActivities } from './activities.ts'
import { getChanges, setChanges } from './changes.ts'
import { previewGuidance } from './context/preview.ts'
import { openForApp } from './open.ts'
import { postActivity } from './post.ts'
import { getSession, listSessions } from './read.ts'
import { stopSession } from './stop.ts'
import { updateSession } from './update.ts'

export const agentSessionRoutes = [
  route(api.listAgentSessions, ({ ctx, caller, query }) => listSessions(ctx, caller, query)),
  route(api.getAgentSession, ({ ctx, caller, params }) => getSession(ctx, caller, params.session_id)),
  route(api.openAgentSession, async ({ ctx, caller, body }) => {
    const { session, isNew } = await openForApp(ctx, caller, body)
    return new Reply(session, {}, isNew ? 201 : 200)
  }),
  route(api.updateAgentSession, ({ ctx, caller, params, body }) => updateSession(ctx, caller, params.session_id, body)),
  route(api.getSessionChanges, ({ ctx, caller, params }) => getChanges(ctx, caller, params.session_id)),
  route(api.setSessionChanges, ({ ctx, caller, params, body }) => setChanges(ctx, caller, params.session_id, body)),
  route(api.stopAgentSession, ({ ctx, caller, params }) => stopSession(ctx, caller, params.session_id)),
  route(api.listActivities, ({ ctx, caller, params, query }) => listActivities(ctx, caller, params.session_id, query)),
  route(api.postActivity, ({ ctx, caller, params, body, headers }) =>
    postActivity(ctx, caller, params.session_id, { body, key: headers['idempotency-key'] }),
  ),
  route(api.previewGuidance, ({ ctx, caller, params, body }) => previewGuidance(ctx, caller, params.team_id, body)),
]
