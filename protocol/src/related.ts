import { type Static, Type } from 'typebox'
import { closed, id, nullable } from './common.ts'
import { File } from './files.ts'
import { GitBranch, PullRequest } from './git.ts'
import { IssueSource } from './imports.ts'
import { Issue, IssueStatus } from './issues.ts'
import { programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { Ref } from './tracker.ts'

/** A person who is notified of comments on an issue and of its completion. */
export const Watcher = Type.Object({ user_id: id('usr'), muted: Type.Boolean() }, { ...closed, title: 'Watcher' })
export type Watcher = Static<typeof Watcher>

export const IssueSummary = Type.Object(
  { id: id('iss'), code: Type.String(), title: Type.String(), status: IssueStatus },
  { ...closed, title: 'IssueSummary' },
)
export type IssueSummary = Static<typeof IssueSummary>

/** Data of an issue that is not in its body. */
export const Related = Type.Object(
  {
    watchers: Type.Array(Watcher, { maxItems: programLimits.watchersListed }),
    duplicate_of: nullable(IssueSummary),
    duplicates: Type.Array(IssueSummary, { maxItems: programLimits.duplicatesListed }),
    pull_requests: Type.Array(PullRequest),
    branches: Type.Array(GitBranch),
    files: Type.Array(File, { maxItems: programLimits.filesPerItem }),
    sources: Type.Array(IssueSource, { maxItems: programLimits.sourcesListed }),
  },
  { ...closed, title: 'Related' },
)
export type Related = Static<typeof Related>

export const related = {
  getRelated: operation(routes.getRelated, {
    summary: 'Get watchers, duplicates, pull requests, branches, files and sources of an issue in one call',
    returns: { 200: Related },
  }),
  markDuplicate: operation(routes.markDuplicate, {
    summary: 'Mark an issue as a duplicate of another: sets done, removes the delegation, copies the watchers',
    body: Type.Object({ issue_id: Ref }, closed),
    returns: { 200: Issue },
  }),
  unmarkDuplicate: operation(routes.unmarkDuplicate, {
    summary: 'Remove the mark of a duplicate; its status stays',
    returns: { 204: null },
  }),
  watchIssue: operation(routes.watchIssue, {
    summary: 'Watch an issue, or mute it: comments and completion then add no inbox entry',
    body: Type.Object({ muted: Type.Optional(Type.Boolean()) }, closed),
    bodyOptional: true,
    returns: { 200: Watcher },
  }),
  unwatchIssue: operation(routes.unwatchIssue, {
    summary: 'Stop watching an issue, until you comment, are mentioned or get it assigned again',
    returns: { 204: null },
  }),
}
