import type { TSchema } from 'typebox'
import { AgentActivity, AgentSession } from '../agent-sessions.ts'
import { RelayedAttempt } from '../listening.ts'
import { LiveChange } from '../live.ts'
import { type Noun, nounOf } from '../nouns.ts'
import type { Operation } from '../operation.ts'
import { agents } from './agents.ts'
import { automations } from './automations.ts'
import { common } from './common.ts'
import { deliveries } from './deliveries.ts'
import { exampleId, exampleTime, type FieldWords, type SectionWords } from './examples.ts'
import { exports } from './exports.ts'
import { files } from './files.ts'
import { git } from './git.ts'
import { imports } from './imports.ts'
import { insights } from './insights.ts'
import { people } from './people.ts'
import { reviews } from './reviews.ts'
import { tracker } from './tracker.ts'

export { exampleId, exampleIds, exampleOtherId } from './examples.ts'

/**
 * Describes every field of every schema, with an example. The words are not in the schemas, because a field has the
 * same meaning in a request, a response, a filter and an event, which are separate schemas. A section is named after a
 * schema's title or an operation.
 */
export const fieldWords: Readonly<Record<string, SectionWords>> = {
  ...people,
  ...tracker,
  ...automations,
  ...agents,
  ...reviews,
  ...deliveries,
  ...exports,
  ...git,
  ...imports,
  ...insights,
  ...files,
}

/** Schemas with the fields of another. */
const extended: Readonly<Record<string, string>> = {
  NewAutomation: 'Automation',
  AutomationChange: 'Automation',
  AutomationTrial: 'Automation',
  CreatedWebhook: 'Webhook',
  ReviewDetail: 'Review',
  CreatedGitConnection: 'GitConnection',
  GitSecret: 'GitConnection',
  WebhookSecret: 'Webhook',
  DeliveryDetail: 'Delivery',
  RegisteredApp: 'AgentApp',
  InspectedCard: 'A2aCard',
  NewAgentActivity: 'AgentActivity',
  NewSessionChanges: 'SessionChanges',
  TeamChoice: 'Team',
  MemberToken: 'PersonalToken',
  FoundComment: 'Comment',
}

/** JSON Schema with a description and an example for each field. */
export interface Described {
  title?: string
  description?: string
  examples?: unknown[]
  type?: string
  const?: unknown
  enum?: readonly unknown[]
  anyOf?: Described[]
  items?: Described
  properties?: Record<string, Described>
  patternProperties?: Record<string, Described>
  required?: readonly string[]
  [key: string]: unknown
}

/** The sections for the fields of an operation that are in no titled schema. */
export const sectionsOf = (name: string, { route }: Operation) => [name, ...withExtended(nounOf(route).schema)]

const withExtended = (title: Noun['schema']): string[] =>
  title === null ? [] : [title, ...(extended[title] ? [extended[title]] : [])]

/** The data of the events of each stream, by operation and event. */
export const streamed: Readonly<Record<string, Readonly<Record<string, TSchema>>>> = {
  watchAgentSession: { session: AgentSession, activity: AgentActivity },
  listenToApp: { attempt: RelayedAttempt },
  listenAsApp: { attempt: RelayedAttempt },
  watchWorkspace: { change: LiveChange },
}

/** Adds description and example to every field of a schema. */
export function described(schema: TSchema, sections: readonly string[]): Described {
  return describe(schema as Described, sections, '')
}

function describe(schema: Described, outer: readonly string[], outerPath: string): Described {
  const [sections, path] = schema.title ? [withExtended(schema.title), ''] : [outer, outerPath]
  const result: Described = { ...schema }
  if (schema.items) result.items = describe(schema.items, sections, path)
  if (schema.anyOf) result.anyOf = schema.anyOf.map((one) => describe(one, sections, path))
  if (schema.properties) {
    result.properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => {
        const fieldPath = path ? `${path}.${name}` : name
        return [name, withWords(describe(field, sections, fieldPath), wordsFor(sections, fieldPath))]
      }),
    )
  }
  return result
}

function withWords(field: Described, words: FieldWords | undefined): Described {
  const [description, ...example] = typeof words === 'string' ? [words] : (words ?? [undefined])
  const result = { ...field }
  // What a titled schema says about itself is not about the field.
  if (description !== undefined && (field.title || !field.description)) result.description = description
  if (example.length > 0) result.examples = example
  return result
}

function wordsFor(sections: readonly string[], path: string): FieldWords | undefined {
  for (const section of sections) {
    const words = fieldWords[section]?.[path]
    if (words !== undefined) return words
  }
  return common[path.slice(path.lastIndexOf('.') + 1)]
}

/** Words for a parameter in the path or a header. */
export function parameterWords(name: string): { description: string; example: string } {
  const [description, example] = common[name] as readonly [string, string]
  return { description, example }
}

/** The example of a field, or one that follows from the schema; undefined if there is none. */
export function exampleOf(schema: Described): unknown {
  if (schema.examples) return schema.examples[0]
  if ('const' in schema) return schema.const
  if (schema.enum) return schema.enum[0]
  if (schema.anyOf) return exampleOf(schema.anyOf[0] as Described)
  if (schema.type === 'null') return null
  if (schema.type === 'boolean') return false
  if (schema.type === 'array') {
    const item = schema.items && exampleOf(schema.items)
    return item === undefined ? undefined : [item]
  }
  if (schema.type === 'object' && schema.properties) {
    return Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, exampleOf(field)]))
  }
  if (schema.type === 'string') return exampleText(schema)
  return undefined
}

function exampleText({ format, pattern }: Described): string | undefined {
  const [, prefix] = /^\^([a-z]+)_\[0-9a-hjkmnp-tv-z\]\{26\}\$$/.exec(String(pattern)) ?? []
  if (prefix) return exampleId(prefix)
  return format === 'date-time' ? exampleTime : undefined
}
