import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { readTeamReview, setTeamReview } from '../workspaces/team-review.ts'
import { acceptReview, sendBackReview } from './decide.ts'
import { getReview, listReviews } from './read.ts'

export const reviewRoutes = [
  route(api.listReviews, ({ ctx, caller, query }) => listReviews(ctx, caller, query)),
  route(api.getReview, ({ ctx, caller, params }) => getReview(ctx, caller, params.review_id)),
  route(api.acceptReview, ({ ctx, caller, params, body }) =>
    acceptReview(ctx, caller, params.review_id, body.comment ?? null),
  ),
  route(api.sendBackReview, ({ ctx, caller, params, body }) =>
    sendBackReview(ctx, caller, params.review_id, body.reason),
  ),
  route(api.getTeamReview, ({ ctx, caller, params }) => readTeamReview(ctx, caller, params.team_id)),
  route(api.setTeamReview, ({ ctx, caller, params, body }) => setTeamReview(ctx, caller, params.team_id, body)),
]
