import { randomInt } from 'node:crypto'
import fc, { type Arbitrary } from 'fast-check'
import { expect } from 'vitest'
import { mutationType } from '../server/src/linear/mutations.ts'
import { queryType } from '../server/src/linear/queries.ts'
import { test } from '../server/test/harness.ts'
import { installedLinearApp } from '../server/test/linear.ts'
import { hostileTexts } from './hostile.ts'

const seed = Number(process.env.BATON_ABUSE_SEED ?? randomInt(2 ** 31))

const name = fc.constantFrom(
  ...['id', 'nodes', 'edges', 'node', 'issue', 'parent', 'children', 'comments', 'labels', 'team', 'states', 'user'],
  ...['activities', 'content', 'pageInfo', 'agentSession', '__typename', '__proto__', 'constructor', 'toString', 'x'],
)
const argument = fc.constantFrom(
  'id',
  'first',
  'last',
  'after',
  'before',
  'filter',
  'orderBy',
  'input',
  'term',
  'labelId',
)

const literal: Arbitrary<string> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('null', 'true', '0', '-1', '1e400', '9007199254740993', 'enumValue', '$v', '$missing', '""'),
    fc.constantFrom(...hostileTexts).map((text) => JSON.stringify(text)),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(' ')}]`),
    fc
      .array(fc.tuple(fc.oneof(name, fc.constantFrom('eq', 'in', 'null', 'and', 'or', 'contains')), tie('value')), {
        maxLength: 3,
      })
      .map((entries) => `{${entries.map(([key, value]) => `${key}:${value}`).join(' ')}}`),
  ),
})).value as Arbitrary<string>

const args = fc
  .array(fc.tuple(argument, literal), { maxLength: 3 })
  .map((pairs) => (pairs.length > 0 ? `(${pairs.map(([key, value]) => `${key}:${value}`).join(' ')})` : ''))

const alias = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: name.map((one) => `${one}:`) },
)

const selection: Arbitrary<string> = fc.letrec((tie) => ({
  set: fc
    .array(
      fc.oneof(
        { depthSize: 'medium' },
        fc.tuple(alias, name, args).map((parts) => parts.join('')),
        fc.tuple(alias, name, args, tie('set')).map((parts) => parts.join('')),
        fc
          .tuple(fc.constantFrom('User', 'Issue', 'Node', 'X', 'AgentActivityThoughtContent'), tie('set'))
          .map(([type, set]) => `...on ${type}${set}`),
        fc.constantFrom('...A', '...B', '...Missing', 'id @skip(if:true)', 'id @include(if:$v)', 'id @x'),
      ),
      { minLength: 1, maxLength: 4 },
    )
    .map((items) => `{${items.join(' ')}}`),
})).set as Arbitrary<string>

const rootOf = (fields: object) =>
  fc
    .tuple(
      alias,
      fc.constantFrom(...Object.keys(fields), 'unknown', '__schema'),
      args,
      fc.oneof(selection, fc.constant('')),
    )
    .map((parts) => parts.join(''))

const documents: Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(fc.array(rootOf(queryType.fields), { minLength: 1, maxLength: 12 }), selection, selection)
      .map(([roots, a, b]) => `query($v:X=1){${roots.join(' ')}} fragment A on User${a} fragment B on Issue${b}`),
  },
  {
    weight: 3,
    arbitrary: fc
      .array(rootOf(mutationType.fields), { minLength: 1, maxLength: 3 })
      .map((roots) => `mutation($v:X){${roots.join(' ')}}`),
  },
  { weight: 1, arbitrary: fc.oneof(fc.string(), fc.constantFrom(...hostileTexts)) },
  { weight: 1, arbitrary: fc.nat(3000).map((depth) => `{${'a{'.repeat(depth)}a${'}'.repeat(depth)}}`) },
)

test(`generated documents from seed ${seed} cause no internal error, and the process goes on`, async ({ startApp }) => {
  const app = await startApp({
    BATON_API_RATE: '1000000',
    BATON_INSTALLATION_RATE: '1000000',
    BATON_SESSION_RATE: '1000000',
  })
  const { owner } = await app.workspace()
  const team = (await owner.post('/teams', { name: 'Engineering', key: 'ENG' })).body
  await owner.post('/issues', { title: 'One', team_id: team.id })
  const robot = await installedLinearApp(app, owner)
  const send = (body: unknown) => robot.linear.postRoot('/linear/graphql', body)
  await fc.assert(
    fc.asyncProperty(
      documents,
      fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom('v', 'x', '__proto__'), fc.jsonValue())),
      async (query, variables) => {
        const { status } = await send({ query, variables })
        expect([200, 400]).toContain(status)
      },
    ),
    { seed, numRuns: Number(process.env.BATON_ABUSE_COUNT ?? 1000) / 4 },
  )
  for (const variables of [
    { v: 'x'.repeat(900_000) },
    { v: Array(19_000).fill(1) },
    { v: { eq: 'x'.repeat(500_000) } },
  ]) {
    expect((await send({ query: 'query($v:X){issues(filter:{title:{eq:$v}}){nodes{id}}}', variables })).status).toBe(
      200,
    )
  }
  expect((await send({ query: '{viewer{id}}' })).body.data.viewer.id).toBe(robot.viewerId)
  expect(({} as { x?: unknown }).x).toBeUndefined()
})
