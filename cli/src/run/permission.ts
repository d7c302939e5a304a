import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { codeBlock, firstCharacters, plainText, visibleText } from './text.ts'
import { actionName, longestPath, mostPaths, type ToolCall } from './updates.ts'

export interface PermissionOption {
  optionId: string
  name: string
  kind: string
}

export interface Policy {
  allow: readonly string[]
  refuse: readonly string[]
}

export const toolKinds = [
  'read',
  'search',
  'think',
  'edit',
  'delete',
  'move',
  'execute',
  'fetch',
  'switch_mode',
  'other',
]
export const allowedByDefault = ['read', 'search', 'think', 'edit', 'delete', 'move']
/** These change files, so a request that names none cannot be checked. */
const mustNamePath = ['edit', 'delete', 'move']

export type Decision = 'allow' | 'refuse' | 'ask'

/** Decides without a person where the policy allows it. */
export async function decide(call: ToolCall, policy: Policy, worktree: string): Promise<Decision> {
  if (policy.refuse.includes(call.kind)) return 'refuse'
  if (!policy.allow.includes(call.kind)) return 'ask'
  if (mustNamePath.includes(call.kind) && call.paths.length === 0) return 'ask'
  if (call.paths.length > mostPaths || call.paths.some(isUnclear)) return 'ask'
  const root = await realpath(worktree)
  const inside = await Promise.all(call.paths.map((path) => isInside(root, resolve(worktree, path))))
  return inside.every(Boolean) ? 'allow' : 'ask'
}

/** An agent may read it as something other than a path in its directory. */
const isUnclear = (path: string) => /^~|^[a-z][a-z0-9+.-]+:/i.test(path) || path.length > longestPath

/** Whether a path is below `root` after links are resolved, and no part of it is `.git`. */
async function isInside(root: string, path: string): Promise<boolean> {
  const inside = relative(root, await resolved(path))
  if (isAbsolute(inside) || inside === '..' || inside.startsWith(`..${sep}`)) return false
  return !inside.split(sep).some((part) => part.toLowerCase() === '.git')
}

/** With the links of the part that exists resolved. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(await resolved(parent), basename(path))
  }
}

/** A question for a person: its text and its options in order, with what each answers to the agent. */
export interface Question {
  body: string
  options: { value: string; label: string; optionId: string; remember: boolean; allows: boolean }[]
}

export const forSession = 'Allow this for the session'

/** The agent's "always" options are left out: some agents keep them for good. */
export function questionFor(
  call: ToolCall,
  options: readonly PermissionOption[],
  shown: (path: string) => string,
): Question {
  const of = (kind: string) => options.filter((option) => option.kind === kind)
  const label = (name: string, fallback: string) =>
    firstCharacters(visibleText(plainText(name)).trim() || fallback, 200)
  const once = [
    ...of('allow_once').map(({ optionId, name }) => ({
      label: label(name, 'Allow'),
      optionId,
      remember: false,
      allows: true,
    })),
    ...of('reject_once').map(({ optionId, name }) => ({
      label: label(name, 'Refuse'),
      optionId,
      remember: false,
      allows: false,
    })),
  ].slice(0, 20)
  const [allow] = of('allow_once')
  const session = allow ? [{ label: forSession, optionId: allow.optionId, remember: true, allows: true }] : []
  return {
    body: questionText(call, shown),
    options: [...once, ...session].map((option, n) => ({ ...option, value: `option-${n + 1}` })),
  }
}

const oneLine = (path: string) => firstCharacters(plainText(path).replaceAll('\n', ' '), 400)

function questionText(call: ToolCall, shown: (path: string) => string): string {
  const { kind, command, title, paths } = call
  const what = command || title || call.name
  const where = paths.map(shown).filter((path) => path !== what && path !== '.')
  const lines = [
    `Allow \`${actionName(call).replaceAll('`', "'")}\`?`,
    ...(what ? [codeBlock(visibleText(what))] : []),
    ...(where.length > 0
      ? [`${kind === 'execute' ? 'In' : 'Paths'}:`, codeBlock(visibleText(where.slice(0, 50).map(oneLine).join('\n')))]
      : []),
    ...(where.length > 50 ? [`and ${where.length - 50} more`] : []),
  ]
  return lines.join('\n')
}

/** The option that an answer chooses by value, label or number; null for any other text. */
export function chosen(question: Question, answer: { text: string; selected: readonly string[] }) {
  const [value] = answer.selected
  if (value !== undefined) return question.options.find((option) => option.value === value) ?? null
  const text = answer.text.trim()
  const byLabel = question.options.find(({ label }) => label.toLowerCase() === text.toLowerCase())
  return byLabel ?? (/^\d{1,2}$/.test(text) ? (question.options[Number(text) - 1] ?? null) : null)
}

/** The agent's option that refuses, or null: then the request is cancelled. */
export const rejecting = (options: readonly PermissionOption[]) =>
  options.find(({ kind }) => kind === 'reject_once')?.optionId ?? null

export const allowing = (options: readonly PermissionOption[]) =>
  options.find(({ kind }) => kind === 'allow_once')?.optionId ?? null
