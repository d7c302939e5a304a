import type { Issue, IssueChange, IssueStatus, NewIssue } from '@baton/protocol'
import { ApiError, invalid } from '../http/errors.ts'

/** What an app may not do with an issue that a person may (4.4, 7). */

const statusesOfNew: IssueStatus[] = ['backlog', 'todo', 'in_progress', 'qa']
const statusesToMoveTo: IssueStatus[] = ['in_progress', 'qa']

export function checkNewFromApp(body: NewIssue) {
  const bad = {
    ...(body.personal && { personal: 'must be false for an app' }),
    ...(!body.team_id && { team_id: 'is required from an app' }),
  }
  if (Object.keys(bad).length > 0) throw invalid(bad)
  checkStatus(body.status, statusesOfNew)
}

export function checkChangeFromApp(change: IssueChange) {
  if (change.personal) throw invalid({ personal: 'must be false for an app' })
  checkStatus(change.status, statusesToMoveTo)
}

/** 5.7: a block is written on both sides, so an app takes away none with an issue that it does not reach. */
export const droppedBlocks = (before: Issue, after: Issue) =>
  (['blocks_ids', 'blocked_by_ids'] as const).flatMap((field) =>
    before[field].filter((id) => !after[field].includes(id)).map((id) => ({ field, id })),
  )

function checkStatus(status: IssueStatus | undefined, allowed: IssueStatus[]) {
  if (status && !allowed.includes(status)) throw new ApiError('APP_STATUS_FORBIDDEN', { status, allowed })
}
