import { exampleId, type SectionWords } from './examples.ts'

/** Exports and restores of workspaces. */
export const exports = {
  Export: {
    id: 'Id of the export',
    state: 'Whether the archive is being written, can be downloaded, or could not be written',
    bytes: ['Size of the archive; null until it is ready', 48_213],
    created_at: 'When it was started; the archive is deleted 7 days later',
  },
  ExportLink: {
    url: ['Where the archive can be downloaded, without a login', 'http://localhost:3000/exports/…'],
    expires_at: 'When the link expires; a download that has begun continues',
  },
  Restore: {
    id: 'Id of the restore',
    state: 'Whether the archive is being checked, is being written, became a workspace, or was refused',
    workspace_id: ['The new workspace; null until it is done', exampleId('wsp')],
    problems: 'Why the archive was refused, or what it does not contain',
    'problems.path': ['The entry of the archive; null for the archive as a whole', 'data/issues/000001.jsonl'],
    'problems.line': ['The line of the entry; null for all of it', 12],
    'problems.message': ['What is wrong', 'title must have at most 255 characters.'],
  },
} satisfies Record<string, SectionWords>
