import fc, { type Arbitrary } from 'fast-check'
import { hostileKeys, hostileTexts, hostileValues } from './hostile.ts'
import { Ref } from './known-ids.ts'

/** The subset of JSON Schema that the OpenAPI document uses. */
export interface Schema {
  $ref?: string
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  minItems?: number
  maxItems?: number
  uniqueItems?: boolean
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  pattern?: string
  format?: string
}

/** The kind of id that a field or parameter contains. */
const kinds: Record<string, string> = {
  team_id: 'team',
  team_ids: 'team',
  project_id: 'prj',
  file_id: 'fil',
  milestone_id: 'mil',
  cycle_id: 'cyc',
  issue_id: 'iss',
  parent_id: 'iss',
  blocks_ids: 'iss',
  blocked_by_ids: 'iss',
  target_id: 'iss',
  user_id: 'usr',
  assignee_id: 'usr',
  delegate_id: 'usr',
  owner_id: 'usr',
  lead_id: 'usr',
  member_ids: 'usr',
  agent_id: 'usr',
  label_id: 'lbl',
  label_ids: 'lbl',
  into_label_id: 'lbl',
  initiative_id: 'ini',
  comment_id: 'cmt',
  parent_comment_id: 'cmt',
  view_id: 'view',
  template_id: 'tpl',
  export_id: 'exp',
  restore_id: 'rst',
  duplicate_id: 'iss',
  entry_id: 'inb',
  subject_id: 'iss',
  token_id: 'pat',
  webhook_id: 'whk',
  connection_id: 'gcn',
  import_id: 'imp',
  placeholder_id: 'usr',
  pull_request_id: 'pr',
  app_id: 'app',
  installation_id: 'ins',
  session_id: 'sess',
  automation_id: 'aut',
  replay_id: 'rpl',
  review_id: 'rev',
  accept: 'sug',
  decline: 'sug',
  agent_session_id: 'sess',
  in_reply_to: 'act',
  request_id: 'con',
  program_id: 'grt',
  identity_id: 'idn',
  passkey_id: 'psk',
  login_id: 'lgn',
  delivery_id: 'dlv',
  attempt_id: 'att',
  invitation_id: 'inv',
  workspace_id: 'wsp',
  token: 'invitation',
}

export const ref = (kind: string): Arbitrary<Ref> =>
  fc
    .tuple(
      fc.oneof(
        { weight: 15, arbitrary: fc.constant('own' as const) },
        { weight: 3, arbitrary: fc.constant('guarded' as const) },
        { weight: 1, arbitrary: fc.constant('invented' as const) },
        { weight: 1, arbitrary: fc.constant('other kind' as const) },
      ),
      fc.nat(100_000),
    )
    .map(([from, index]) => new Ref(kind, from, index))

export const sometimes = <T>(percent: number, arbitrary: Arbitrary<T>, otherwise: T): Arbitrary<T> =>
  fc.oneof({ weight: 100 - percent, arbitrary: fc.constant(otherwise) }, { weight: percent, arbitrary })

/** Parameters that are names and not ids. */
const names: Record<string, readonly string[]> = {
  page: ['api', 'errors', 'reference', 'webhooks.md', 'nothing'],
  picture: ['board.png', 'nothing.png'],
  file: ['sdk.tgz', 'cli.tgz', 'nothing.tgz'],
  noun: ['issues', 'agent-sessions.md', 'nothing'],
  name: ['heart', 'rocket', 'nothing'],
}

export function pathValue(name: string): Arbitrary<unknown> {
  const known = names[name]
  if (known) return fc.constantFrom(...known)
  if (name === 'issue_id') return fc.oneof({ weight: 3, arbitrary: ref('iss') }, { weight: 1, arbitrary: ref('code') })
  return ref(kinds[name] ?? name)
}

/** Generates values that match a schema, and values that nearly do. */
export class Values {
  readonly #components: Record<string, Schema>
  readonly #hookUrl: string
  readonly #cache = new Map<string, Arbitrary<unknown>>()

  constructor(components: Record<string, Schema>, hookUrl: string) {
    this.#components = components
    this.#hookUrl = hookUrl
  }

  fitting(schema: Schema, name = ''): Arbitrary<unknown> {
    const key = `${name} ${JSON.stringify(schema)}`
    let made = this.#cache.get(key)
    if (!made) {
      made = this.#make(schema, name)
      this.#cache.set(key, made)
    }
    return made
  }

  /** A value with one error. */
  nearlyFitting(schema: Schema): Arbitrary<unknown> {
    return fc
      .tuple(
        this.fitting(schema),
        fc.nat(1000),
        fc.constantFrom(...hostileValues),
        fc.constantFrom(...hostileKeys),
        fc.nat(2),
      )
      .map(([value, place, bad, key, how]) => spoil(value, place, bad, key, how))
  }

  #make(schema: Schema, name: string): Arbitrary<unknown> {
    if (schema.$ref) return this.fitting(this.#components[schema.$ref.split('/').at(-1) as string] as Schema, name)
    if (schema.const !== undefined) return fc.constant(schema.const)
    if (schema.enum) return fc.constantFrom(...schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices) return fc.oneof(...choices.map((choice) => this.fitting(choice, name)))
    if (schema.allOf) return this.fitting(Object.assign({}, ...schema.allOf), name)
    switch (schema.type) {
      case 'null':
        return fc.constant(null)
      case 'boolean':
        return fc.boolean()
      case 'integer':
      case 'number':
        return number(schema)
      case 'array':
        return this.#array(schema, name)
      case 'object':
        return this.#object(schema)
      case 'string':
        return this.#text(schema, name)
      default:
        return fc.constantFrom<unknown>(null, 1, 'x', {}, [])
    }
  }

  #array({ items = {}, minItems = 0, maxItems = 3, uniqueItems }: Schema, name: string) {
    const bounds = { minLength: minItems, maxLength: Math.max(minItems, Math.min(3, maxItems)) }
    const item = this.fitting(items, name)
    return uniqueItems ? fc.uniqueArray(item, { ...bounds, selector: identity }) : fc.array(item, bounds)
  }

  #object({ properties = {}, required = [] }: Schema) {
    const entries = Object.entries(properties).map(([name, property]) => {
      const value = this.fitting(property, name)
      if (required.includes(name)) return value
      // Each optional field can make a request fail, especially a reference.
      return fc.oneof({ weight: kinds[name] ? 15 : 5, arbitrary: absent }, { weight: 1, arbitrary: value })
    })
    return fc
      .tuple(...entries)
      .map((values) =>
        Object.fromEntries(
          Object.keys(properties).flatMap((name, index) =>
            values[index] === undefined ? [] : [[name, values[index]]],
          ),
        ),
      )
  }

  #text({ minLength = 0, maxLength = 1000, pattern = '', format }: Schema, name: string): Arbitrary<unknown> {
    const kind = kinds[name]
    if (kind) return name === 'target_id' ? fc.oneof(ref('iss'), ref('prj')) : ref(kind)
    if (name === 'email') return fc.nat(1_000_000).map((n) => `user-${n}@example.com`)
    if (format === 'date-time')
      return fc.constantFrom('2026-03-02T09:00:00Z', '1900-01-01T00:00:00.000Z', '2999-12-31T23:59:59.999999999+14:00')
    if (pattern.startsWith('^#')) return fc.constantFrom('#000000', '#ffffff')
    if (pattern.startsWith('^[A-Z]')) return fc.stringMatching(/^[A-Z][A-Z0-9]{3,5}$/)
    if (name === 'redirect_uris') return fc.constant('https://robots.example.com/callback')
    // The only allowed destination.
    if (name === 'url' || name.endsWith('_url')) {
      return pattern.startsWith('^http')
        ? fc.nat(20).map((n) => `https://code.example.com/${n}`)
        : fc.constantFrom(`${this.#hookUrl}/free`, 'https://listen.invalid/')
    }
    if (pattern.startsWith('^http') || format === 'uri') return fc.constant('https://code.example.com/x')
    if (name === 'cursor') return ref('cursor')
    if (name === 'query') return fc.constantFrom('canary', 'bug', '', '%', "'", 'status=todo&group=assignee')
    return text(minLength, maxLength)
  }
}

const identity = (value: unknown) =>
  value instanceof Ref ? `${value.kind} ${value.from} ${value.index}` : JSON.stringify(value)
const absent = fc.constant(undefined)

const number = ({ minimum = 0, maximum = 1000 }: Schema) =>
  fc.oneof(
    fc.constantFrom(minimum, maximum),
    fc.integer({ min: Math.ceil(minimum), max: Math.floor(Math.min(maximum, 2 ** 31 - 1)) }),
  )

/** Lengths are in Unicode characters, like the limits. */
function text(min: number, max: number): Arbitrary<string> {
  const cut = (value: string) => [...value.padEnd(min, 'x')].slice(0, max).join('')
  return fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...hostileTexts).map(cut) },
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map(cut) },
    { weight: 1, arbitrary: fc.constant(max).map((length) => 'ü'.repeat(Math.min(length, 20_000))) },
    {
      weight: 1,
      arbitrary: fc.string({ unit: 'binary', maxLength: 20 }).map((value) => cut(value.replaceAll('\0', ''))),
    },
  )
}

/** Replaces a value by a bad one, removes a key, or adds one. */
function spoil(value: unknown, place: number, bad: unknown, key: string, how: number): unknown {
  if (value === null || typeof value !== 'object' || value instanceof Ref) return bad
  const copy: unknown[] | Record<string, unknown> = Array.isArray(value) ? [...value] : { ...value }
  const names = Object.keys(copy)
  const name = names[place % (names.length + 1)]
  if (name === undefined) {
    if (Array.isArray(copy)) copy.push(bad)
    // defineProperty, so that __proto__ is an ordinary key.
    else Object.defineProperty(copy, key, { value: bad, enumerable: true, configurable: true, writable: true })
    return copy
  }
  const at = copy as Record<string, unknown>
  if (how === 0 && !Array.isArray(copy)) delete at[name]
  else at[name] = how === 1 ? spoil(at[name], place >> 2, bad, key, place % 3) : bad
  return copy
}
