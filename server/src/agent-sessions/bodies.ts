import { type Answer, activityBodies, appActivityTypes, type NewActivity } from '@baton/protocol'
import { ApiError, invalid } from '../http/errors.ts'
import { bodyCheck } from '../http/validate.ts'

const checks = Object.fromEntries(
  Object.entries(activityBodies).map(([name, schema]) => [name, bodyCheck(schema)]),
) as Record<keyof typeof activityBodies, (body: unknown) => void>

const typesOf = { app: appActivityTypes as string[], person: ['prompt'] }

/** Validates the body against the schema of its activity type. */
export function checkedBody(kind: 'app' | 'person', body: unknown): NewActivity {
  const type = (body as Partial<NewActivity> | null)?.content?.type
  if (kind === 'app' && type === 'prompt') throw new ApiError('PROMPT_IS_HUMAN_ONLY')
  if (typeof type !== 'string' || !typesOf[kind].includes(type)) {
    // Report all other errors first, together, instead of one per request.
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

export function refuseRepeated<Key extends string>(field: string, key: Key, items: { [K in Key]: string }[]) {
  const values = items.map((item) => item[key])
  const repeated = values.findIndex((value, index) => values.indexOf(value) < index)
  if (repeated >= 0) throw invalid({ [`${field}.${repeated}.${key}`]: 'must be unique in the list' })
}

/** activity.person-select-answer */
export function checkAnswer(
  answer: Answer,
  offered: { options: { value: string }[]; allow_multiple?: boolean } | null,
) {
  if (!offered)
    throw invalid({
      'signal_metadata.in_reply_to': 'must be the id of an elicitation with the signal select in this session',
    })
  const values = offered.options.map(({ value }) => value)
  if (!answer.selected.every((value) => values.includes(value))) {
    throw invalid({ 'signal_metadata.selected': 'must contain only values of the offered options' })
  }
  if (answer.selected.length > 1 && !offered.allow_multiple) {
    throw invalid({ 'signal_metadata.selected': 'must contain exactly one value' })
  }
}
