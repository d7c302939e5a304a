// Checks that no source outside tests uses the vague words below.
import { join } from 'node:path'
import { root } from './setup.mjs'
import { runIfMain, sourceFiles } from './sources.mjs'

const folders = ['protocol/src', 'server/src', 'sdk/src', 'cli/src', 'web/src']
const forbidden = /\b(?:somebody|nobody|whoever|by and by)\b/gi

export const wordProblems = () =>
  folders.flatMap((folder) =>
    sourceFiles(join(root, folder)).flatMap(({ path, text }) => problemsOfText(`${folder}/${path}`, text)),
  )

export const problemsOfText = (path, text) =>
  text
    .split('\n')
    .flatMap((line, index) =>
      [...line.matchAll(forbidden)].map(
        ([word]) => `${path}:${index + 1} has "${word}"; name the user, member or caller`,
      ),
    )

runIfMain(import.meta.url, wordProblems)
