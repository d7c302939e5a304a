import { createHash } from 'node:crypto'
import type { Artifact, Message, Part, Task, TaskStatus } from '@a2a-js/sdk'
import { type A2aTask, limits, programLimits } from '@baton/protocol'
import { plainText, truncated } from './text.ts'

// How the updates of a task become activities. Pure.

export type TaskState = A2aTask['state']

/** By the number of the protocol's enum; the library is not loaded for its names. */
const states: Record<number, TaskState> = {
  1: 'submitted',
  2: 'working',
  3: 'completed',
  4: 'failed',
  5: 'canceled',
  6: 'input_required',
  7: 'rejected',
  8: 'auth_required',
}

export const stateOf = (status: TaskStatus | undefined): TaskState => states[status?.state ?? 0] ?? 'unknown'

/** The task has ended. */
export const isEnded = (state: TaskState) =>
  state === 'completed' || state === 'failed' || state === 'canceled' || state === 'rejected'

/** The task waits for a person, so messages go to it. */
export const needsInput = (state: TaskState) => state === 'input_required' || state === 'auth_required'

/** Messages are sent now, and do not wait for the task (a2a.message-waits). */
export const isResting = (state: TaskState) => isEnded(state) || needsInput(state)

/** The body of a post. The door checks it like any other. */
export interface NewActivity {
  content: { type: 'thought' | 'action' | 'elicitation' | 'response' | 'error' } & Record<string, string>
  ephemeral?: boolean
  signal?: 'auth'
  signal_metadata?: { url: string }
}

/** An activity to post, with the key under which it is posted once. */
export interface Posting {
  key: string
  body: NewActivity
  /** Only the newest is worth posting. */
  replaceable?: boolean
}

/** A key of at most 64 characters that depends on all parts (a2a.update-once). */
export const keyOf = (...parts: (string | undefined)[]) =>
  `a2a:${createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 40)}`

const workingEveryMs = 10 * 60_000

export interface TaskView {
  taskId: string
  artifacts: Artifact[]
  /** Baton asked the agent to cancel it. */
  cancelRequested: boolean
}

/** The activity for a status. `at` is the time now. */
export function postingOf(view: TaskView, status: TaskStatus | undefined, at: Date): Posting | null {
  const state = stateOf(status)
  const said = textOf(status?.message?.parts ?? [])
  // One end for each task, however it is learned of.
  const once = keyOf(view.taskId, state, status?.timestamp, status?.message?.messageId)
  const end = keyOf(view.taskId, 'end')
  switch (state) {
    case 'submitted':
      return { key: keyOf(view.taskId, state), body: thought('Accepted.'), replaceable: true }
    case 'unknown':
    case 'working': {
      const period = String(Math.floor(at.getTime() / workingEveryMs))
      return said
        ? { key: keyOf(once, said), body: thought(said), replaceable: true }
        : { key: keyOf(view.taskId, 'working', period), body: thought('Working.'), replaceable: true }
    }
    case 'input_required':
      return {
        key: once,
        body: { content: { type: 'elicitation', body: truncated(said || 'The agent needs your input.') } },
      }
    case 'auth_required':
      return { key: once, body: authBody(said, status?.message) }
    case 'completed':
      return { key: end, body: response(said || artifactTexts(view.artifacts) || 'Done.') }
    case 'canceled':
      if (view.cancelRequested) return { key: end, body: response('Stopped.') }
      return { key: end, body: failure('a2a_canceled', said || 'The agent canceled the task.') }
    case 'failed':
      return { key: end, body: failure('a2a_failed', said || 'The agent failed.') }
    case 'rejected':
      return { key: end, body: failure('a2a_rejected', said || 'The agent rejected the task.') }
  }
}

const thought = (text: string): NewActivity => ({
  content: { type: 'thought', body: truncated(text) },
  ephemeral: true,
})

export const response = (text: string): NewActivity => ({ content: { type: 'response', body: truncated(text) } })

export const failure = (reason_code: string, text: string): NewActivity => ({
  content: { type: 'error', body: truncated(text), reason_code },
})

function authBody(said: string, message: Message | undefined): NewActivity {
  const content = { type: 'elicitation', body: truncated(said || 'The agent needs you to sign in.') } as const
  const [url] = urlsOf(message?.parts ?? [])
  return url ? { content, signal: 'auth', signal_metadata: { url } } : { content }
}

/** The text of parts, one under the other. */
export const textOf = (parts: readonly Part[]) =>
  parts.flatMap(({ content }) => (content?.$case === 'text' && content.value ? [content.value] : [])).join('\n\n')

export const messageText = (message: Message) => textOf(message.parts) || jsonTexts(message.parts) || 'Done.'

const jsonTexts = (parts: readonly Part[]) =>
  parts
    .flatMap(({ content }) => (content?.$case === 'data' ? [JSON.stringify(content.value, null, 2)] : []))
    .join('\n\n')

/** All texts of a task's artifacts (a2a.completed-response), at most 256 KB. */
const artifactTexts = (artifacts: readonly Artifact[]) =>
  artifacts
    .map(({ parts }) => textOf(parts))
    .filter((text) => text !== '')
    .join('\n\n')

/** The action that shows an artifact. A file is named with its type and size, and not stored. */
export function artifactPosting(taskId: string, artifact: Artifact): Posting {
  const lines = artifact.parts.map((part) => describe(part)).filter((line) => line !== '')
  return {
    key: keyOf(taskId, 'artifact', artifact.artifactId),
    body: {
      content: {
        type: 'action',
        action: 'Artifact',
        parameter: plainText(artifact.name || artifact.artifactId, limits.title) || 'Artifact',
        result: truncated(lines.join('\n\n')),
      },
    },
  }
}

function describe({ content, filename, mediaType }: Part): string {
  switch (content?.$case) {
    case 'text':
      return content.value
    case 'data':
      return JSON.stringify(content.value, null, 2) ?? ''
    case 'raw':
      return `File ${filename || 'without a name'} (${mediaType || 'unknown type'}, ${content.value.length} bytes)`
    case 'url':
      return `File ${filename || content.value} (${mediaType || 'unknown type'})`
    default:
      return ''
  }
}

/** The https URLs in parts, without repetitions. */
export function urlsOf(parts: readonly Part[]): string[] {
  const found = parts.flatMap(({ content }) => {
    if (content?.$case === 'url') return [content.value]
    return content?.$case === 'text' ? (content.value.match(/https:\/\/[^\s<>"'`()[\]{}]+/g) ?? []) : []
  })
  const urls = found.map((url) => url.replace(/[.,;:!?]+$/, ''))
  return [...new Set(urls)].filter(
    (url) => /^https:\/\/[^/?#@\s]+(?:[/?#]|$)/.test(url) && URL.canParse(url) && url.length <= limits.url,
  )
}

/** The artifacts of a task as far as they are known. Chunks are joined; their text is limited (a2a.limits). */
export class Artifacts {
  readonly #byId = new Map<string, Artifact>()
  readonly #posted = new Set<string>()
  #bytes = 0
  #isFull = false

  get all(): Artifact[] {
    return [...this.#byId.values()]
  }

  /** A whole task replaces what was known. */
  replace({ artifacts }: Task) {
    this.#byId.clear()
    this.#bytes = 0
    this.#isFull = false
    for (const artifact of artifacts) this.add(artifact, false)
  }

  add(artifact: Artifact, append: boolean) {
    const known = append ? this.#byId.get(artifact.artifactId) : undefined
    const parts = artifact.parts.flatMap((part) => this.#limited(part))
    if (known) known.parts = joined(known.parts, parts)
    else this.#byId.set(artifact.artifactId, { ...artifact, parts })
  }

  /** Those not taken yet: one that is complete, or all. */
  take(id?: string): Artifact[] {
    const taken = this.all.filter(
      ({ artifactId }) => (id ?? artifactId) === artifactId && !this.#posted.has(artifactId),
    )
    for (const { artifactId } of taken) this.#posted.add(artifactId)
    return taken
  }

  #limited(part: Part): Part[] {
    const { content } = part
    if (content?.$case !== 'text' && content?.$case !== 'data') return [part]
    if (this.#isFull) return []
    const value = content.$case === 'text' ? content.value : (JSON.stringify(content.value) ?? '')
    this.#bytes += Buffer.byteLength(value)
    if (this.#bytes <= programLimits.a2aArtifactBytes) return [part]
    this.#isFull = true
    const kept = Math.max(0, value.length - (this.#bytes - programLimits.a2aArtifactBytes))
    return [{ ...part, content: { $case: 'text', value: `${value.slice(0, kept)}\n\n[Truncated]` } }]
  }
}

/** Text that continues the last text belongs to the same paragraph. */
function joined(before: Part[], after: Part[]): Part[] {
  const [last, first] = [before.at(-1), after[0]]
  if (last?.content?.$case !== 'text' || first?.content?.$case !== 'text') return [...before, ...after]
  const value = last.content.value + first.content.value
  return [...before.slice(0, -1), { ...last, content: { $case: 'text', value } }, ...after.slice(1)]
}
