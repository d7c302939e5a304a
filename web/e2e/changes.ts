import type { ChangedFile, NewChanges } from '@baton/protocol'
import { expect, type Page } from '@playwright/test'
import type { ScriptedAgent } from './agents.ts'
import type { Company } from './company.ts'

/** Git's diff of a file with one hunk; each line begins with a space, + or -. */
export function patchOf(path: string, lines: readonly string[], first = 1): string {
  const count = (other: string) => lines.filter((line) => line[0] !== other).length
  const hunk = `@@ -${first},${count('+')} +${first},${count('-')} @@`
  return [`diff --git a/${path} b/${path}`, `--- a/${path}`, `+++ b/${path}`, hunk, ...lines, ''].join('\n')
}

export const fileOf = (path: string, lines: readonly string[], change: Partial<ChangedFile> = {}): ChangedFile => ({
  path,
  old_path: null,
  status: 'modified',
  additions: lines.filter((line) => line.startsWith('+')).length,
  deletions: lines.filter((line) => line.startsWith('-')).length,
  patch: patchOf(path, lines),
  omitted: null,
  ...change,
})

/** A file whose patch is not shown. */
export const omittedFile = (path: string, omitted: NonNullable<ChangedFile['omitted']>): ChangedFile =>
  fileOf(path, [], { patch: null, omitted, additions: null, deletions: null })

export const changesOf = (files: ChangedFile[], change: Partial<NewChanges> = {}): NewChanges => ({
  repository: 'acme/door',
  remote_url: null,
  base: { ref: 'main', commit: 'a'.repeat(40) },
  head_commit: 'b'.repeat(40),
  branch: 'baton/eng-1-a1b2c3',
  pushed: false,
  files_total: files.length,
  additions: files.reduce((sum, { additions }) => sum + (additions ?? 0), 0),
  deletions: files.reduce((sum, { deletions }) => sum + (deletions ?? 0), 0),
  files,
  ...change,
})

/** A session of the first issue, with these changes. */
export async function changedSession(company: Company, robot: ScriptedAgent, changes: NewChanges) {
  const [door] = company.issues
  await company.owner.api.updateIssue({ issue_id: door.id, delegate_id: robot.userId })
  const session = await robot.session()
  await session.thought('Looking at the door.')
  const set = (next: NewChanges) => session.client.setSessionChanges({ session_id: session.id, ...next })
  await set(changes)
  return { session, door, set, path: `/agent-session/${session.id}/changes` }
}

/** The patches of the viewer, and the part of one file. */
export const viewer = (page: Page) => page.getByRole('region', { name: 'Changes', exact: true })
export const fileIn = (page: Page, path: string) => viewer(page).getByRole('region', { name: path, exact: true })

/** Expects this file at the top of the viewer. */
export const expectAtTop = (page: Page, path: string) =>
  expect
    .poll(async () => {
      const [outer, inner] = await Promise.all([viewer(page).boundingBox(), fileIn(page, path).boundingBox()])
      return Math.abs((inner?.y ?? 0) - (outer?.y ?? 0))
    })
    .toBeLessThan(3)
