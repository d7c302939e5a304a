import { api } from '@baton/protocol'
import type { Context } from './context.ts'
import { filesOf } from './files/files.ts'
import { pullRequestsOf } from './git/read.ts'
import type { Actor } from './http/caller.ts'
import { route } from './http/route.ts'
import { sourcesOf } from './imports/sources.ts'
import { findIssueId } from './issues/read.ts'
import { readRelated } from './issues/related.ts'

/** Data of an issue that is not in its body, from every feature that has some. */
async function getRelated({ db }: Context, caller: Actor, key: string) {
  const id = await findIssueId(db, caller, key)
  const [issues, git, files, sources] = await Promise.all([
    readRelated(db, caller, id),
    pullRequestsOf(db, caller, id),
    filesOf(db, { type: 'issue', id }),
    sourcesOf(db, caller.workspaceId, id),
  ])
  return { ...issues, ...git, files, ...sources }
}

export const relatedRoutes = [
  route(api.getRelated, ({ ctx, caller, params }) => getRelated(ctx, caller, params.issue_id)),
]
