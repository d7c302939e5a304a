import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { createIssue, createIssues, importIssues } from './create.ts'
import { exportIssues } from './csv.ts'
import { markDuplicate, unmarkDuplicate } from './duplicates.ts'
import { listHistory, listIssues, readIssue } from './read.ts'
import { deleteIssue, updateIssue } from './update.ts'
import { unwatchIssue, watchIssue } from './watchers.ts'

export const issueRoutes = [
  route(api.listIssues, ({ ctx, caller, query }) => listIssues(ctx, caller, query)),
  route(api.createIssue, ({ ctx, caller, body, alias }) => createIssue(ctx, caller, body, alias)),
  route(api.importIssues, ({ ctx, caller, body }) => importIssues(ctx, caller, body.issues)),
  route(api.createIssues, ({ ctx, caller, body }) => createIssues(ctx, caller, body.issues)),
  route(api.exportIssues, ({ ctx, caller, query }) => exportIssues(ctx, caller, query)),
  route(api.getIssue, ({ ctx, caller, params }) => readIssue(ctx, caller, params.issue_id)),
  route(api.updateIssue, ({ ctx, caller, params, body }) => updateIssue(ctx, caller, params.issue_id, body)),
  route(api.deleteIssue, ({ ctx, caller, params }) => deleteIssue(ctx, caller, params.issue_id)),
  route(api.listIssueHistory, ({ ctx, caller, params, query }) => listHistory(ctx, caller, params.issue_id, query)),
  route(api.markDuplicate, ({ ctx, caller, params, body }) =>
    markDuplicate(ctx, caller, params.duplicate_id, body.issue_id),
  ),
  route(api.unmarkDuplicate, ({ ctx, caller, params }) => unmarkDuplicate(ctx, caller, params.duplicate_id)),
  route(api.watchIssue, ({ ctx, caller, params, body }) =>
    watchIssue(ctx, caller, params.issue_id, body.muted ?? false),
  ),
  route(api.unwatchIssue, ({ ctx, caller, params }) => unwatchIssue(ctx, caller, params.issue_id)),
]
