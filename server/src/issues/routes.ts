import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { createIssue, importIssues } from './create.ts'
import { listHistory, listIssues, readIssue } from './read.ts'
import { deleteIssue, updateIssue } from './update.ts'

export const issueRoutes = [
  route(api.listIssues, ({ ctx, caller, query }) => listIssues(ctx, caller, query)),
  route(api.createIssue, ({ ctx, caller, body, alias }) => createIssue(ctx, caller, body, alias)),
  route(api.importIssues, ({ ctx, caller, body }) => importIssues(ctx, caller, body.issues)),
  route(api.getIssue, ({ ctx, caller, params }) => readIssue(ctx, caller, params.issue_id)),
  route(api.updateIssue, ({ ctx, caller, params, body }) => updateIssue(ctx, caller, params.issue_id, body)),
  route(api.deleteIssue, ({ ctx, caller, params }) => deleteIssue(ctx, caller, params.issue_id)),
  route(api.listIssueHistory, ({ ctx, caller, params, query }) => listHistory(ctx, caller, params.issue_id, query)),
]
