import { isAbsolute, relative, sep } from 'node:path'
import type { PlanItem } from '@baton/sdk'
import { countLines, firstCharacters, lastCharacters, plainText, visibleText, withoutMiddle } from './text.ts'

/** What an agent's updates become. `thinking` goes on and is not yet without secrets. */
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
const failed = 'Failed: '
const planItems = 50
const planContent = 500
/** An agent that opens calls and never ends them must not fill the memory. */
const mostOpenCalls = 1000
const longestId = 1000

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
const text = (value: unknown) => (typeof value === 'string' ? value : '')
const records = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : [])

/** Makes a text fit to be shown. Before it is cut: a part of a secret cannot be found. */
export type Clean = (text: string) => string

/** Turns the updates of one turn into what is said in the session. */
export class Transcript {
  readonly #worktree: readonly string[]
  readonly #clean: Clean
  #thinking = ''
  #message = ''
  readonly #calls = new Map<string, ToolCall>()

  /** `worktree` is the directory by all its names, for example with links resolved. */
  constructor(worktree: readonly string[], clean: Clean = plainText) {
    this.#worktree = worktree
    this.#clean = clean
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
        this.#thinking = latest(this.#thinking + chunkText(update), longestThinking, this.#clean)
        return this.#thinking.trim() === '' ? [] : [{ kind: 'thinking', body: this.#thinking }]
      case 'agent_message_chunk':
        this.#message = latest(this.#message + chunkText(update), longestText, this.#clean)
        return []
      case 'tool_call':
      case 'tool_call_update':
        return this.#toolCall(update, now)
      case 'plan':
        return planOf(update.entries, this.#clean)
      case 'usage_update':
        return costOf(update.cost)
    }
    return []
  }

  #toolCall(update: Record<string, unknown>, now: number): Said[] {
    const id = text(update.toolCallId)
    if (id === '' || id.length > longestId) return []
    const said: Said[] = []
    const known = this.#calls.get(id)
    if (!known && this.#calls.size >= mostOpenCalls) this.#forget()
    const call = known ?? newCall(id, now)
    if (!known) {
      this.#calls.set(id, call)
      const message = this.#clean(this.#message)
      if (message.trim() !== '') said.push({ kind: 'thought', body: lastCharacters(message, longestText) })
      this.#message = ''
      this.#thinking = ''
    }
    describe(call, update, this.#clean)
    if (isRecord(update.rawInput) && 'todos' in update.rawInput)
      said.push(...planOf(update.rawInput.todos, this.#clean))
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
      parameter: firstCharacters(visibleText(this.#clean(this.#parameter(call))), longestParameter),
      result: withoutMiddle(result, longestResult),
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
    const result = changed.length > 0 ? this.#clean(changed.join('\n')) : output
    if (status !== 'failed') return result
    return result.trim() === '' ? 'Failed.' : `${failed}${result}`
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
/** In lower case and without `_`. */
const pathKeys = [
  ...['path', 'file', 'filepath', 'filename', 'abspath', 'absolutepath', 'notebookpath', 'uri'],
  ...['paths', 'files', 'filepaths', 'filenames', 'oldpath', 'newpath', 'from', 'to', 'source', 'destination'],
  ...['directory', 'dir', 'cwd', 'workdir', 'workingdirectory'],
]
/** No system takes a longer one. */
export const longestPath = 4096
/** A call with more paths is asked for, because not all are checked. */
export const mostPaths = 1000

/** Adds to a call what an update or a permission request says about it. Only its paths stay as they came. */
export function describe(call: ToolCall, update: Record<string, unknown>, clean: Clean = plainText): ToolCall {
  const { rawInput, rawOutput } = update
  if (kinds.includes(text(update.kind))) call.kind = text(update.kind)
  const shortened = (value: unknown, most: number) => firstCharacters(clean(text(value).slice(0, longestCleaned)), most)
  call.title = shortened(update.title, 1000) || call.title
  call.name = shortened(update.name, 200) || call.name
  call.status = text(update.status).slice(0, 100) || call.status
  const content = records(update.content)
  const given = [
    ...records(update.locations).map(({ path }) => text(path)),
    ...content.map(({ type, path }) => (type === 'diff' ? text(path) : '')),
    ...pathsIn(rawInput),
    ...(isRecord(rawInput) && isRecord(rawInput.changes) ? Object.keys(rawInput.changes) : []),
  ].map((path) => path.slice(0, longestPath + 1))
  call.paths = [...new Set([...call.paths, ...given.filter((path) => path !== '')])].slice(0, mostPaths + 1)
  if (isRecord(rawInput)) {
    const { command, cmd } = rawInput
    call.command = shortened(commandText(command) || commandText(cmd), 4000) || call.command
  }
  if (Array.isArray(update.content)) {
    call.diffs = content
      .filter(({ type, newText }) => type === 'diff' && typeof newText === 'string')
      .map(({ path, oldText, newText }) => ({ path: text(path), ...countLines(text(oldText), text(newText)) }))
    call.output = outputOf(content.map(contentText).filter(Boolean).join('\n'), clean) || call.output
  }
  if (call.output === '') call.output = outputOf(outputText(rawOutput), clean)
  return call
}

/** Longer texts take too long to clean; nothing so far from their ends is shown. */
const longestCleaned = 1_000_000

/** Only what is shown, so that many long outputs do not fill the memory. */
function outputOf(output: string, clean: Clean): string {
  const [first, last] = [
    output.slice(0, longestCleaned / 2),
    output.slice(longestCleaned / 2).slice(-longestCleaned / 2),
  ]
  return withoutMiddle(clean(`${first}${last}`), longestResult - failed.length)
}

/** The latest part of a text that goes on. */
const latest = (text: string, most: number, clean: Clean) =>
  text.length > 4 * most ? clean(text).slice(-2 * most) : text

/** Paths in a tool's input, also in lists, as of a tool that edits several files. */
function pathsIn(input: unknown, depth = 0): string[] {
  if (!isRecord(input) || depth > 4) return []
  if (Array.isArray(input)) return input.slice(0, mostPaths + 1).flatMap((one) => pathsIn(one, depth + 1))
  return Object.entries(input).flatMap(([key, value]) => {
    if (!pathKeys.includes(key.toLowerCase().replaceAll('_', ''))) return pathsIn(value, depth + 1)
    return (Array.isArray(value) ? value.slice(0, mostPaths + 1) : [value]).map(text)
  })
}

const commandText = (command: unknown) =>
  Array.isArray(command) && command.every((word) => typeof word === 'string') ? command.join(' ') : text(command)

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

function planOf(entries: unknown, clean: Clean): Said[] {
  if (!Array.isArray(entries)) return []
  const items = records(entries.slice(0, 10 * planItems)).flatMap(({ content, status }): PlanItem[] => {
    const words = clean(text(content).slice(0, longestCleaned)).trim()
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
