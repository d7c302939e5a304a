import { type Answer, activityBodies, appActivityTypes, type NewActivity } from '@baton/protocol'
import { ApiError, invalid } from '../http/errors.ts'
import { bodyCheck } from '../http/validate.ts'

const checks = Object.fromEntries(
  Object.entries(activityBodies).map(([name, schema]) => [name, bodyCheck(schema)]),
) as Record<keyof typeof activityBodies, (body: unknown) => void>

const typesOf = { app: appActivityTypes as string[], person: ['prompt'] }

/** What a caller wants to say, held against the shape that its type has (2.7, decisions 6). */
export function checkedBody(kind: 'app' | 'person', body: unknown): NewActivity {
  const type = (body as Partial<NewActivity> | null)?.content?.type
  if (kind === 'app' && type === 'prompt') throw new ApiError('PROMPT_IS_HUMAN_ONLY')
  if (typeof type !== 'string' || !typesOf[kind].includes(type)) {
    // Whatever else is wrong with it is said first, so that nobody mends one field at a time.
    checks[kind === 'app' ? 'thought' : 'prompt'](withType(body, kind === 'app' ? 'thought' : 'prompt'))
    throw invalid({ 'content.type': `must be one of: ${typesOf[kind].join(', ')}` })
  }
  checks[shapeOf(type as NewActivity['content']['type'], body as NewActivity)](body)
  const checked = body as NewActivity
  if (checked.signal === 'select') refuseRepeatedValues(checked)
  return checked
}

function withType(body: unknown, type: string): unknown {
  const content = (body as { content?: unknown } | null)?.content
  return content !== null && typeof content === 'object' && !Array.isArray(content)
    ? { ...(body as object), content: { ...content, type } }
    : body
}

function shapeOf(type: NewActivity['content']['type'], { signal }: NewActivity): keyof typeof activityBodies {
  if (type !== 'elicitation' || signal === undefined) return type
  if (signal === 'auth' || signal === 'select') return `elicitation_${signal}`
  throw invalid({ signal: 'must be one of: auth, select' })
}

function refuseRepeatedValues({ signal_metadata }: NewActivity) {
  const { options } = signal_metadata as { options: { value: string }[] }
  refuseRepeated('signal_metadata.options', 'value', options)
}

/** Of these items, no two have the same under the key. */
export function refuseRepeated<Key extends string>(field: string, key: Key, items: { [K in Key]: string }[]) {
  const values = items.map((item) => item[key])
  const repeated = values.findIndex((value, index) => values.indexOf(value) < index)
  if (repeated >= 0) throw invalid({ [`${field}.${repeated}.${key}`]: 'must differ from the others' })
}

/** Whether a person chose among what was offered. */
export function checkAnswer(
  answer: Answer,
  offered: { options: { value: string }[]; allow_multiple?: boolean } | null,
) {
  if (!offered)
    throw invalid({ 'signal_metadata.in_reply_to': 'is not a choice that the agent offers in this session' })
  const values = offered.options.map(({ value }) => value)
  if (!answer.selected.every((value) => values.includes(value))) {
    throw invalid({ 'signal_metadata.selected': 'must hold values of the options' })
  }
  if (answer.selected.length > 1 && !offered.allow_multiple) {
    throw invalid({ 'signal_metadata.selected': 'must hold one value: the choice is not for several' })
  }
}
