import { isAbsolute, relative, sep } from 'node:path'
import type { PlanItem } from '@baton/sdk'
import { countLines, firstCharacters, lastCharacters, plainText, withoutMiddle } from './text.ts'

/** What an agent's updates become. Texts are not yet redacted. */
export type Said =
  | { kind: 'thinking'; body: string }
  | { kind: 'thought'; body: string }
  | { kind: 'action'; action: ActionContent }
  | { kind: 'plan'; items: PlanItem[] }
  | { kind: 'cost'; amount: number; currency: string }

export interface ActionContent {
  action: string
  parameter: string
  result: string
}

/** A tool call as far as the agent described it. Nothing in it is trusted to have the declared type. */
export interface ToolCall {
  id: string
  kind: string
  title: string
  name: string
  status: string
  paths: string[]
  command: string
  diffs: { path: string; added: number; removed: number }[]
  output: string
  startedAt: number
  done: boolean
}

const longestThinking = 2000
const longestText = 32_000
const longestParameter = 500
const longestResult = 4000
const planItems = 50
const planContent = 500
/** An agent that opens calls and never ends them must not fill the memory. */
const mostOpenCalls = 1000

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const text = (value: unknown) => (typeof value === 'string' ? value : '')
const records = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : [])

/** Turns the updates of one turn into what is said in the session. */
export class Transcript {
  readonly #worktree: readonly string[]
  #thinking = ''
  #message = ''
  readonly #calls = new Map<string, ToolCall>()

  /** `worktree` is the directory by all its names, for example with links resolved. */
  constructor(worktree: readonly string[]) {
    this.#worktree = worktree
  }

  /** The text after the last tool call. */
  get message() {
    return this.#message
  }

  call = (id: string): ToolCall | undefined => this.#calls.get(id)

  /** Calls that have not ended. */
  open = (): ToolCall[] => [...this.#calls.values()].filter(({ done }) => !done)

  /** Unknown and malformed updates are ignored. */
  add(update: unknown, now: number): Said[] {
    if (!isRecord(update)) return []
    switch (update.sessionUpdate) {
      case 'agent_thought_chunk':
        this.#thinking = (this.#thinking + chunkText(update)).slice(-4 * longestThinking)
        return this.#thinking.trim() === '' ? [] : [{ kind: 'thinking', body: this.#thinking }]
      case 'agent_message_chunk':
        this.#message = (this.#message + chunkText(update)).slice(-4 * longestText)
        return []
      case 'tool_call':
      case 'tool_call_update':
        return this.#toolCall(update, now)
      case 'plan':
        return planOf(update.entries)
      case 'usage_update':
        return costOf(update.cost)
    }
    return []
  }

  #toolCall(update: Record<string, unknown>, now: number): Said[] {
    const id = text(update.toolCallId)
    if (id === '') return []
    const said: Said[] = []
    const known = this.#calls.get(id)
    if (!known && this.#calls.size >= mostOpenCalls) this.#forget()
    const call = known ?? newCall(id, now)
    if (!known) {
      this.#calls.set(id, call)
      if (this.#message.trim() !== '') said.push({ kind: 'thought', body: lastCharacters(this.#message, longestText) })
      this.#message = ''
      this.#thinking = ''
    }
    describe(call, update)
    if (isRecord(update.rawInput) && 'todos' in update.rawInput) said.push(...planOf(update.rawInput.todos))
    if (!call.done && (call.status === 'completed' || call.status === 'failed')) {
      call.done = true
      said.push({ kind: 'action', action: this.action(call) })
      call.output = ''
    }
    return said
  }

  /** Drops a call that has ended, else the oldest. */
  #forget() {
    const [oldest] = this.#calls
    const ended = [...this.#calls].find(([, { done }]) => done)
    this.#calls.delete((ended ?? oldest)?.[0] ?? '')
  }

  /** The call as an action; `result` replaces its output. */
  action(call: ToolCall, result = this.#result(call)): ActionContent {
    return {
      action: actionName(call),
      parameter: firstCharacters(plainText(this.#parameter(call)), longestParameter),
      result: withoutMiddle(plainText(result), longestResult),
    }
  }

  #parameter({ kind, command, paths, title }: ToolCall): string {
    if (kind === 'execute') return command || title
    const [path] = paths
    return path === undefined ? command || title : this.shown(path)
  }

  /** A path in the worktree relative to it. */
  shown(path: string): string {
    if (!isAbsolute(path)) return path
    for (const directory of this.#worktree) {
      const inside = relative(directory, path)
      if (inside === '') return '.'
      if (!inside.startsWith('..') && !isAbsolute(inside)) return inside.split(sep).join('/')
    }
    return path
  }

  #result({ status, diffs, output }: ToolCall): string {
    const changed = diffs.map(({ path, added, removed }) => {
      const counts = `+${added} -${removed}`
      return diffs.length === 1 ? counts : `${this.shown(path)} ${counts}`
    })
    const result = changed.length > 0 ? changed.join('\n') : output
    if (status !== 'failed') return result
    return result.trim() === '' ? 'Failed.' : `Failed: ${result}`
  }
}

export const newCall = (id: string, startedAt: number): ToolCall => ({
  id,
  kind: 'other',
  title: '',
  name: '',
  status: 'pending',
  paths: [],
  command: '',
  diffs: [],
  output: '',
  startedAt,
  done: false,
})

const kinds = ['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other']
const pathKeys = [
  ...['path', 'file', 'file_path', 'filePath', 'filename', 'fileName', 'abs_path', 'absolute_path', 'notebook_path'],
  ...[
    'old_path',
    'oldPath',
    'new_path',
    'newPath',
    'from',
    'to',
    'source',
    'destination',
    'directory',
    'dir',
    'cwd',
    'workdir',
  ],
]
/** A call with more paths is asked for, because not all are checked. */
export const mostPaths = 1000

/** Adds to a call what an update or a permission request says about it. */
export function describe(call: ToolCall, update: Record<string, unknown>): ToolCall {
  const { rawInput, rawOutput } = update
  if (kinds.includes(text(update.kind))) call.kind = text(update.kind)
  call.title = firstCharacters(text(update.title), 1000) || call.title
  call.name = firstCharacters(text(update.name), 200) || call.name
  call.status = text(update.status) || call.status
  const content = records(update.content)
  const given = [
    ...records(update.locations).map(({ path }) => text(path)),
    ...content.map(({ type, path }) => (type === 'diff' ? text(path) : '')),
    ...(isRecord(rawInput) ? pathKeys.map((key) => text(rawInput[key])) : []),
    ...(isRecord(rawInput) && isRecord(rawInput.changes) ? Object.keys(rawInput.changes) : []),
  ]
  call.paths = [...new Set([...call.paths, ...given.filter((path) => path !== '')])].slice(0, mostPaths + 1)
  if (isRecord(rawInput)) {
    const { command, cmd } = rawInput
    call.command = commandText(command) || commandText(cmd) || call.command
  }
  if (Array.isArray(update.content)) {
    call.diffs = content
      .filter(({ type, newText }) => type === 'diff' && typeof newText === 'string')
      .map(({ path, oldText, newText }) => ({ path: text(path), ...countLines(text(oldText), text(newText)) }))
    call.output = firstAndLast(content.map(contentText).filter(Boolean).join('\n')) || call.output
  }
  if (call.output === '') call.output = firstAndLast(outputText(rawOutput))
  return call
}

/** Enough for the result, so that long outputs are not kept. */
const firstAndLast = (output: string) =>
  output.length > 200_000 ? `${output.slice(0, 100_000)}\n…\n${output.slice(-100_000)}` : output

const commandText = (command: unknown) =>
  Array.isArray(command) && command.every((word) => typeof word === 'string')
    ? firstCharacters(command.join(' '), 4000)
    : firstCharacters(text(command), 4000)

function contentText({ type, content }: Record<string, unknown>): string {
  return type === 'content' && isRecord(content) && content.type === 'text' ? text(content.text) : ''
}

function outputText(output: unknown): string {
  if (typeof output === 'string') return output
  if (!isRecord(output)) return ''
  return text(output.output) || text(output.stdout) || text(output.text) || text(output.error)
}

const chunkText = ({ content }: Record<string, unknown>) =>
  isRecord(content) && content.type === 'text' ? text(content.text) : ''

/** `execute` is `run`, `other` the tool's name. */
export function actionName({ kind, name, title }: ToolCall): string {
  if (kind === 'execute') return 'run'
  if (kind === 'switch_mode') return 'switch mode'
  return kind === 'other'
    ? plainText(name || title || 'tool')
        .trim()
        .slice(0, 80) || 'tool'
    : kind
}

const planStatuses: Record<string, PlanItem['status']> = {
  pending: 'pending',
  in_progress: 'inProgress',
  completed: 'completed',
  cancelled: 'canceled',
  canceled: 'canceled',
}

function planOf(entries: unknown): Said[] {
  if (!Array.isArray(entries)) return []
  const items = records(entries).flatMap(({ content, status }): PlanItem[] => {
    const words = plainText(text(content)).trim()
    return words === ''
      ? []
      : [{ content: firstCharacters(words, planContent), status: planStatuses[text(status)] ?? 'pending' }]
  })
  return [{ kind: 'plan', items: items.slice(0, planItems) }]
}

function costOf(cost: unknown): Said[] {
  if (!isRecord(cost)) return []
  const { amount, currency } = cost
  if (typeof amount !== 'number' || !(amount >= 0) || !/^[A-Za-z]{1,16}$/.test(text(currency))) return []
  return [{ kind: 'cost', amount, currency: text(currency) }]
}

/** The tokens of a turn, where the agent names them in its answer to the prompt. */
export function tokensOf(answer: unknown): { input: number; output: number } | null {
  const usage = isRecord(answer) && isRecord(answer.usage) ? answer.usage : null
  const count = (value: unknown) =>
    typeof value === 'number' && value >= 0 && Number.isFinite(value) ? Math.round(value) : null
  const [input, output] = [count(usage?.inputTokens), count(usage?.outputTokens)]
  return input === null && output === null ? null : { input: input ?? 0, output: output ?? 0 }
}
