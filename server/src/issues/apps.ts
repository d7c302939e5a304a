import type { Issue, IssueChange, IssueStatus, NewIssue } from '@baton/protocol'
import { ApiError, invalid } from '../http/errors.ts'

/** Restrictions for apps (issue.app-create-status-allowed, issue.app-status-forbidden-on-update). */

const statusesOnCreate: IssueStatus[] = ['backlog', 'todo', 'in_progress', 'qa']
const statusesOnUpdate: IssueStatus[] = ['in_progress', 'qa']

export function checkNewFromApp(body: NewIssue) {
  const bad = {
    ...(body.personal && { personal: 'must be false for an app' }),
    ...(!body.team_id && { team_id: 'is required from an app' }),
  }
  if (Object.keys(bad).length > 0) throw invalid(bad)
  checkStatus(body.status, statusesOnCreate)
}

export function checkChangeFromApp(change: IssueChange) {
  if (change.personal) throw invalid({ personal: 'must be false for an app' })
  checkStatus(change.status, statusesOnUpdate)
}

/** Removing a block changes both issues, so an app must be able to access the other issue too. */
export const droppedBlocks = (before: Issue, after: Issue) =>
  (['blocks_ids', 'blocked_by_ids'] as const).flatMap((field) =>
    before[field].filter((id) => !after[field].includes(id)).map((id) => ({ field, id })),
  )

function checkStatus(status: IssueStatus | undefined, allowed: IssueStatus[]) {
  if (status && !allowed.includes(status)) throw new ApiError('APP_STATUS_FORBIDDEN', { status, allowed })
}
