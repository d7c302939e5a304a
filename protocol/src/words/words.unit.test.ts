import { Check } from 'typebox/value'
import { expect, test } from 'vitest'
import { api, type Operation, pathParams } from '../index.ts'
import { common } from './common.ts'
import { type Described, described, exampleOf, fieldWords, parameterWords, sectionsOf, streamed } from './index.ts'

const operations = Object.entries<Operation>(api)

/** All schemas of the operation, each with a name for messages. */
const schemasOf = ([name, { query, body, returns }]: [string, Operation]) =>
  [
    ['query', query] as const,
    ['body', body] as const,
    ...Object.entries(returns).map(([status, schema]) => [status, schema ?? undefined] as const),
    ...Object.entries(streamed[name] ?? {}),
  ].flatMap(([part, schema]) => (schema ? [{ part: `${name} ${part}`, schema }] : []))

/** Every field at any depth, with the path of titles and names that leads to it. */
function* fieldsOf(schema: Described, path: string): Generator<{ path: string; field: Described }> {
  const here = schema.title ?? path
  for (const [name, field] of Object.entries(schema.properties ?? {})) {
    yield { path: `${here}.${name}`, field }
    yield* fieldsOf(field, `${here}.${name}`)
  }
  if (schema.items) yield* fieldsOf(schema.items, here)
  for (const one of schema.anyOf ?? []) yield* fieldsOf(one, here)
}

/** A problem of one field, as a line that says where to add what. */
function problemOf(path: string, field: Described): string | null {
  if (!field.description) return `${path}: no description`
  const example = exampleOf(field)
  if (example === undefined) return `${path}: no example`
  return Check(field as never, example) ? null : `${path}: the example ${JSON.stringify(example)} does not fit`
}

test('every field of every operation has a description and an example that fits', () => {
  const problems = new Set<string>()
  for (const named of operations) {
    for (const { part, schema } of schemasOf(named)) {
      for (const { path, field } of fieldsOf(described(schema, sectionsOf(...named)), part)) {
        const problem = problemOf(path, field)
        if (problem) problems.add(problem)
      }
    }
  }
  // Add words for these in protocol/src/words, in the section of the schema's title or of the operation.
  expect([...problems]).toEqual([])
})

test('the examples of all fields together fit the schema', () => {
  for (const named of operations) {
    for (const { part, schema } of schemasOf(named)) {
      if (!(schema as Described).properties) continue
      const example = exampleOf(described(schema, sectionsOf(...named)))
      expect({ part, example, fits: Check(schema, example) }).toMatchObject({ fits: true })
    }
  }
})

test('every path parameter has a description and an example', () => {
  for (const [name, { route }] of operations) {
    for (const param of [...pathParams(route.path), 'X-Workspace-ID', 'Idempotency-Key']) {
      expect({ name, param, words: common[param] }).toMatchObject({ words: [expect.any(String), expect.any(String)] })
      expect(parameterWords(param).description).not.toBe('')
    }
  }
})

test('every section is named after a schema or an operation', () => {
  const titles = new Set<string>(Object.keys(api))
  const collect = (schema: Described) => {
    if (schema.title) titles.add(schema.title)
    for (const one of [...Object.values(schema.properties ?? {}), ...(schema.anyOf ?? [])]) collect(one)
    if (schema.items) collect(schema.items)
  }
  for (const named of operations) for (const { schema } of schemasOf(named)) collect(schema as Described)
  expect(Object.keys(fieldWords).filter((section) => !titles.has(section))).toEqual([])
})
