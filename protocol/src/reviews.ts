import { type Static, Type } from 'typebox'
import { ExternalUrl, PlanItem } from './agent-sessions.ts'
import { Comment } from './comments.ts'
import { closed, id, list, nullable, paging, Timestamp, text } from './common.ts'
import { IssueChangeRecord, IssueStatus } from './issues.ts'
import { limits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { ChangesSummary } from './session-changes.ts'
import { Ref } from './tracker.ts'

/** Whether people review what agents deliver in a team, and where an accepted issue goes. */
export const TeamReview = Type.Object(
  {
    mode: Type.Enum(['off', 'on'], { 'x-message': 'must be off or on' }),
    accept_status: nullable(Type.Enum(['qa', 'release', 'done'], { 'x-message': 'must be qa, release, done or null' })),
  },
  { ...closed, title: 'TeamReview' },
)
export type TeamReview = Static<typeof TeamReview>

export const WorkReviewState = Type.Enum(['waiting', 'accepted', 'sent_back', 'withdrawn'], {
  'x-message': 'must be waiting, accepted, sent_back or withdrawn',
})
export type WorkReviewState = Static<typeof WorkReviewState>

const review = {
  id: id('rev'),
  session_id: id('sess'),
  /** Null once the issue is deleted. */
  issue: nullable(
    Type.Object(
      {
        id: id('iss'),
        code: Type.String(),
        title: Type.String(),
        status: IssueStatus,
        team_id: nullable(id('team')),
        url: Type.String(),
      },
      closed,
    ),
  ),
  agent: Type.Object({ id: id('usr'), name: Type.String() }, closed),
  reviewer_id: nullable(id('usr')),
  round: Type.Integer({ minimum: 1 }),
  state: WorkReviewState,
  decided_by: nullable(id('usr')),
  decided_at: nullable(Timestamp),
  /** Why it was sent back, or the comment of the person who accepted it. */
  reason: nullable(Type.String()),
  created_at: Timestamp,
}

export const Review = Type.Object(review, { ...closed, title: 'Review' })
export type Review = Static<typeof Review>

export const ReviewDetail = Type.Object(
  {
    ...review,
    response: nullable(Type.String()),
    plan: Type.Array(PlanItem),
    /** Pull requests first. */
    links: Type.Array(ExternalUrl),
    /** By the agent, in this round. */
    issue_changes: Type.Array(IssueChangeRecord, { maxItems: limits.reviewItems }),
    comments: Type.Array(Comment, { maxItems: limits.reviewItems }),
    changes: nullable(ChangesSummary),
    /** Whether the caller may decide it now. */
    can_decide: Type.Boolean(),
    /** Not in an ended session; a personal agent takes messages only from its owner. */
    can_send_back: Type.Boolean(),
  },
  { ...closed, title: 'ReviewDetail' },
)
export type ReviewDetail = Static<typeof ReviewDetail>

export const ReviewFilter = Type.Object(
  {
    ...paging,
    /** Waiting, unless given. */
    state: Type.Optional(WorkReviewState),
    team_id: Type.Optional(Ref),
    issue_id: Type.Optional(Ref),
    session_id: Type.Optional(Ref),
  },
  closed,
)
export type ReviewFilter = Static<typeof ReviewFilter>

export const reviews = {
  listReviews: operation(routes.listReviews, {
    summary: 'List the reviews that wait, or those in another state, oldest first',
    query: ReviewFilter,
    returns: { 200: list(Review) },
  }),
  getReview: operation(routes.getReview, {
    summary: 'Get a review with what the agent delivered in its round',
    returns: { 200: ReviewDetail },
  }),
  acceptReview: operation(routes.acceptReview, {
    summary: "Accept the work: moves the issue to the team's accept_status, unless it is there or beyond",
    body: Type.Object({ comment: Type.Optional(text(1, limits.comment)) }, closed),
    bodyOptional: true,
    returns: { 200: Review },
    errors: ['FORBIDDEN', 'REVIEW_DECIDED'],
  }),
  sendBackReview: operation(routes.sendBackReview, {
    summary: 'Send the work back with a reason, which is your message in the agent session',
    body: Type.Object({ reason: text(1, limits.activityBody) }, closed),
    returns: { 200: Review },
    errors: ['FORBIDDEN', 'REVIEW_DECIDED', 'SESSION_ENDED', 'BUDGET_REACHED'],
  }),
  getTeamReview: operation(routes.getTeamReview, {
    summary: 'Read whether people review the work of agents in a team',
    returns: { 200: TeamReview },
  }),
  setTeamReview: operation(routes.setTeamReview, {
    summary: 'Set whether people review the work of agents in a team, and where an accepted issue goes',
    body: TeamReview,
    returns: { 200: TeamReview },
  }),
}
