import { type Static, Type } from 'typebox'
import { closed, nullable, Timestamp, text } from './common.ts'
import { limits, programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** People copy refs and the URL into commands, so no shell may read a character of them (changes.ref-and-url-safe). */
const GitRef = Type.String({
  pattern: `^[A-Za-z0-9][A-Za-z0-9._/-]{0,${programLimits.gitRef - 1}}$`,
  'x-message': `must have 1 to ${programLimits.gitRef} characters of A-Z, a-z, 0-9, ".", "_", "/" and "-", and begin with a letter or digit`,
})
const RemoteUrl = Type.String({
  maxLength: limits.url,
  pattern: '^https://[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]{1,5})?(/[A-Za-z0-9._~%+@/-]*)?$',
  'x-message': 'must be an https URL without user, query or characters that a shell reads',
})
const Commit = Type.String({
  pattern: '^([0-9a-fA-F]{40}|[0-9a-fA-F]{64})$',
  'x-message': 'must be the id of a commit: 40 or 64 hex digits',
})
const Count = Type.Integer({
  minimum: 0,
  maximum: limits.reportedNumber,
  'x-message': 'must be a whole number, at least 0',
})
/** Whether it is absolute or leaves the repository is checked by the verb. */
const Path = text(1, programLimits.path)

export const OmittedReason = Type.Enum(['binary', 'too_large', 'encoding', 'redacted', 'submodule'])
export type OmittedReason = Static<typeof OmittedReason>

export const ChangedFile = Type.Object(
  {
    path: Path,
    old_path: nullable(Path),
    status: Type.Enum(['added', 'modified', 'deleted', 'renamed', 'type_changed']),
    additions: nullable(Count),
    deletions: nullable(Count),
    /** Git's diff of the file; null if it is omitted. */
    patch: nullable(Type.String({ maxLength: programLimits.patchBytes })),
    omitted: nullable(OmittedReason),
  },
  { ...closed, title: 'ChangedFile' },
)
export type ChangedFile = Static<typeof ChangedFile>

const fields = {
  repository: text(1, limits.repository),
  remote_url: nullable(RemoteUrl),
  base: Type.Object({ ref: nullable(GitRef), commit: Commit }, closed),
  head_commit: nullable(Commit),
  branch: nullable(GitRef),
  pushed: Type.Boolean(),
  /** All changed files, also those that are not in `files`. */
  files_total: Count,
  additions: Count,
  deletions: Count,
  files: Type.Array(ChangedFile, { maxItems: programLimits.changedFiles }),
}
export const NewChanges = Type.Object(fields, { ...closed, title: 'NewSessionChanges' })
export type NewChanges = Static<typeof NewChanges>

const stored = { version: Type.Integer({ minimum: 1 }), updated_at: Timestamp }

export const SessionChanges = Type.Object({ ...fields, ...stored }, { ...closed, title: 'SessionChanges' })
export type SessionChanges = Static<typeof SessionChanges>

/** What the session itself shows of its changes. */
export const ChangesSummary = Type.Object(
  { ...stored, files_total: Count, additions: Count, deletions: Count, branch: nullable(GitRef) },
  { ...closed, title: 'ChangesSummary' },
)
export type ChangesSummary = Static<typeof ChangesSummary>

export const sessionChanges = {
  getSessionChanges: operation(routes.getSessionChanges, {
    summary: 'Get the changes that the agent made in its repository, with a patch for each file',
    returns: { 200: SessionChanges },
  }),
  setSessionChanges: operation(routes.setSessionChanges, {
    summary: 'Replace the changes of a session; the same changes again have no effect',
    body: NewChanges,
    returns: { 200: SessionChanges },
    errors: ['SESSION_ENDED'],
  }),
}
