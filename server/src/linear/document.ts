import { limits } from '@baton/protocol'
import { GraphQLError } from 'graphql/error/index.js'
import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type OperationDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  type ValueNode,
} from 'graphql/language/index.js'
import { ApiError } from '../http/errors.ts'
import type { Args, Field, ObjectType } from './type.ts'

/** One field to resolve, with its arguments. */
export interface Step {
  /** The key in the answer. */
  key: string
  name: string
  /** Undefined for `__typename`. */
  field: Field | undefined
  args: Args
  /** Only for objects with this `__typename`. */
  on: string | undefined
  type: ObjectType | undefined
  steps: Step[]
}

export interface Plan {
  kind: 'query' | 'mutation'
  /** Undefined fields of a root step are unknown. */
  roots: Step[]
  /** Arguments that no field takes. */
  ignored: Set<string>
}

interface Source {
  document: DocumentNode
  operation: OperationDefinitionNode
  fragments: Map<string, FragmentDefinitionNode>
  variables: Record<string, unknown>
}

/** A request that is not GraphQL, or is over a limit. Nothing was run. */
export const refuse = (message: string) => new ApiError('INVALID_REQUEST', {}, { message })

/** Parses the request, checks it against the limits, and plans it. Unknown nested fields are left out. */
export function planOf(body: unknown, roots: { query: ObjectType; mutation: ObjectType }): Plan {
  const source = readSource(body)
  checkLimits(source)
  const kind = source.operation.operation as 'query' | 'mutation'
  const planner = new Planner(source)
  const plan = { kind, roots: planner.root(roots[kind]), ignored: planner.ignored }
  checkCost(plan.roots)
  return plan
}

function readSource(body: unknown): Source {
  if (Array.isArray(body)) throw refuse('Batches are not supported. Send one operation per request.')
  if (body === null || typeof body !== 'object') throw refuse('The body must be an object with query and variables.')
  const { query, variables = null, operationName = null, ...more } = body as Record<string, unknown>
  const [unknown] = Object.keys(more)
  if (unknown !== undefined) throw refuse(`The body has an unknown key: ${unknown.slice(0, 50)}.`)
  if (typeof query !== 'string') throw refuse('query must be a string.')
  if (variables !== null && (typeof variables !== 'object' || Array.isArray(variables))) {
    throw refuse('variables must be an object.')
  }
  if (operationName !== null && typeof operationName !== 'string') throw refuse('operationName must be a string.')
  if (Buffer.byteLength(query) > limits.linearQueryBytes) {
    throw refuse(`The query is larger than ${limits.linearQueryBytes / 1024} KB.`)
  }
  const document = parsed(query)
  const operation = operationOf(document, operationName)
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of document.definitions) {
    if (definition.kind === 'FragmentDefinition') fragments.set(definition.name.value, definition)
    else if (definition.kind !== 'OperationDefinition')
      throw refuse('The document may contain operations and fragments only.')
  }
  return { document, operation, fragments, variables: withDefaults(operation, (variables ?? {}) as Args) }
}

function parsed(query: string): DocumentNode {
  try {
    return parse(query, { noLocation: true, maxTokens: limits.linearTokens })
  } catch (error) {
    if (error instanceof GraphQLError) throw refuse(error.message)
    // The parser is recursive: the document is nested too deep for the stack.
    if (error instanceof RangeError) throw refuse('The document is nested too deep.')
    throw error
  }
}

function operationOf({ definitions }: DocumentNode, name: string | null): OperationDefinitionNode {
  const operations = definitions.filter((definition) => definition.kind === 'OperationDefinition')
  const chosen = name === null ? operations : operations.filter((one) => one.name?.value === name)
  const [operation] = chosen
  if (!operation || chosen.length > 1) {
    throw refuse(name === null ? 'The document must contain one operation.' : 'operationName must name one operation.')
  }
  if (operation.operation === 'subscription') throw refuse('Subscriptions are not supported.')
  return operation
}

/** Variables are JSON, whatever type they are declared with: the documents name many types that we do not have. */
function withDefaults({ variableDefinitions = [] }: OperationDefinitionNode, sent: Args): Args {
  const values: Args = Object.create(null)
  for (const { variable, defaultValue, type } of variableDefinitions) {
    const name = variable.name.value
    const given = Object.hasOwn(sent, name) ? sent[name] : undefined
    const found = given ?? (defaultValue ? constant(defaultValue, Object.create(null)) : undefined)
    if (found === undefined && type.kind === 'NonNullType') throw refuse(`The variable $${name} is required.`)
    // Once for the request, not for each field that uses it.
    values[name] = withoutNulls(found)
  }
  return values
}

/** Without nulls, and nested no deeper than JSON may be, as the variables. */
function constant(node: ValueNode, variables: Args, depth = 0): unknown {
  if (depth > limits.bodyDepth) throw refuse(`A value is nested deeper than ${limits.bodyDepth} levels.`)
  switch (node.kind) {
    case 'Variable':
      return variables[node.name.value]
    case 'NullValue':
      return undefined
    case 'IntValue':
    case 'FloatValue':
      return Number(node.value)
    case 'ListValue':
      return node.values.map((item) => constant(item, variables, depth + 1)).filter((item) => item !== undefined)
    case 'ObjectValue':
      return Object.fromEntries(
        node.fields
          .map(({ name, value }) => [name.value, constant(value, variables, depth + 1)] as const)
          .filter(([, value]) => value !== undefined),
      )
    default:
      return node.value
  }
}

/** Null counts as absent, at every level. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((item) => item != null).map(withoutNulls)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (item == null ? [] : [[key, withoutNulls(item)]])),
  )
}

/** Expands all fragments, also those of types that do not fit, and counts. Stops at the first limit. */
function checkLimits({ operation, fragments, document }: Source) {
  let fields = 0
  const roots = new Set<string>()
  const within = new Set<string>()
  const visit = ({ selections }: SelectionSetNode, depth: number) => {
    for (const selection of selections) {
      if (selection.kind === 'Field') {
        if (++fields > limits.linearFields)
          throw refuse(`The document selects more than ${limits.linearFields} fields.`)
        if (depth > limits.linearDepth) throw refuse(`The document is nested deeper than ${limits.linearDepth} fields.`)
        if (depth === 1) roots.add((selection.alias ?? selection.name).value)
        if (selection.selectionSet) visit(selection.selectionSet, depth + 1)
      } else if (selection.kind === 'InlineFragment') visit(selection.selectionSet, depth)
      else {
        const name = selection.name.value
        const inner = fragmentOf(fragments, name, within)
        within.add(name)
        visit(inner, depth)
        within.delete(name)
      }
    }
  }
  refuseIntrospection(document)
  visit(operation.selectionSet, 1)
  if (roots.size > limits.linearRootFields) {
    throw refuse(`The document has more than ${limits.linearRootFields} fields at its first level.`)
  }
}

function fragmentOf(fragments: Source['fragments'], name: string, within: Set<string>): SelectionSetNode {
  if (within.has(name)) throw refuse('A fragment contains itself.')
  const fragment = fragments.get(name)
  if (!fragment) throw refuse('A fragment that the document uses is not defined.')
  return fragment.selectionSet
}

/** Every selection set occurs once in the document, so this is linear in its size. */
function refuseIntrospection({ definitions }: DocumentNode) {
  const sets = definitions.flatMap((one) => ('selectionSet' in one && one.selectionSet ? [one.selectionSet] : []))
  for (let set = sets.pop(); set; set = sets.pop()) {
    for (const selection of set.selections) {
      if (selection.kind === 'Field' && ['__schema', '__type'].includes(selection.name.value)) {
        throw refuse('Introspection is not supported.')
      }
      if (selection.kind !== 'FragmentSpread' && selection.selectionSet) sets.push(selection.selectionSet)
    }
  }
}

/** Each known object costs 1, times the page sizes around it. */
function checkCost(roots: Step[]) {
  let cost = 0
  const visit = (steps: Step[], times: number) => {
    for (const { field, type, args, steps: inner } of steps) {
      if (!field || !type) continue
      cost += times
      if (cost > limits.linearCost)
        throw refuse(`The document costs more than ${limits.linearCost}: select less, or use smaller pages.`)
      visit(inner, times * (field.pageSize?.(args) ?? 1))
    }
  }
  visit(roots, 1)
}

/** Interfaces that every object has. */
const interfaces = ['Node', 'Entity']

interface Collected {
  /** A fragment that is used often has the same nodes again. */
  nodes: Set<FieldNode>
  on: string | undefined
}

/** Turns selections into steps, with the fields of the types that we have. */
class Planner {
  readonly #source: Source
  readonly ignored = new Set<string>()
  #statements = 0

  constructor(source: Source) {
    this.#source = source
  }

  root(type: ObjectType): Step[] {
    return this.#steps(type, [this.#source.operation.selectionSet], true)
  }

  #steps(type: ObjectType, sets: SelectionSetNode[], isRoot = false): Step[] {
    const collected = new Map<string, Collected>()
    for (const set of sets) this.#collect(type, set, undefined, collected)
    return [...collected].flatMap(([, { nodes, on }]) => {
      const [node, ...others] = nodes
      if (!node) return []
      const name = node.name.value
      const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined
      if (!field && name !== '__typename' && !isRoot) return []
      return [this.#step(node, others, on, field)]
    })
  }

  #step(node: FieldNode, others: FieldNode[], on: string | undefined, field: Field | undefined): Step {
    const name = node.name.value
    const text = others.length > 0 ? argumentsText(node) : ''
    if (others.some((other) => other.name.value !== name || argumentsText(other) !== text)) {
      throw refuse('Two fields with the same key differ. Give one of them an alias.')
    }
    this.#countStatements(field)
    const type = field?.type?.()
    const sets = [node, ...others].flatMap(({ selectionSet }) => selectionSet ?? [])
    if (type && sets.length === 0) throw refuse(`Select at least one field of ${name}.`)
    return {
      key: (node.alias ?? node.name).value,
      name,
      field,
      args: field ? this.#argumentsOf(node, field) : {},
      on,
      type,
      steps: type ? this.#steps(type, sets) : [],
    }
  }

  /** Before the arguments are read: a list of conditions may be large, and is prepared for each field that uses it. */
  #countStatements(field: Field | undefined) {
    this.#statements += field?.statements ?? 0
    if (this.#statements > limits.linearStatements) {
      throw refuse(`The document needs more than ${limits.linearStatements} database statements: select fewer objects.`)
    }
  }

  #argumentsOf({ arguments: nodes = [] }: FieldNode, { args = [], prepare }: Field): Args {
    const values: Args = Object.create(null)
    for (const { name, value } of nodes) {
      const given = constant(value, this.#source.variables)
      if (given === undefined) continue
      if (args.includes(name.value)) values[name.value] = given
      else this.ignored.add(name.value)
    }
    return prepare ? prepare(values) : values
  }

  #collect(type: ObjectType, { selections }: SelectionSetNode, on: string | undefined, into: Map<string, Collected>) {
    for (const selection of selections) {
      if (!this.#isIncluded(selection.directives)) continue
      if (selection.kind === 'Field') {
        const key = `${on ?? ''} ${(selection.alias ?? selection.name).value}`
        const known = into.get(key)
        if (known) known.nodes.add(selection)
        else into.set(key, { nodes: new Set([selection]), on })
        continue
      }
      const fragment =
        selection.kind === 'InlineFragment' ? selection : this.#source.fragments.get(selection.name.value)
      if (!fragment) continue
      const condition = fragment.typeCondition?.name.value
      const isGeneral = condition === undefined || condition === type.name || interfaces.includes(condition)
      if (isGeneral) this.#collect(type, fragment.selectionSet, on, into)
      else if (type.union) this.#collect(type, fragment.selectionSet, condition, into)
    }
  }

  #isIncluded(directives: readonly DirectiveNode[] = []) {
    return directives.every(({ name, arguments: [condition] = [] }) => {
      if (name.value !== 'skip' && name.value !== 'include') return true
      const isTrue = condition ? constant(condition.value, this.#source.variables) === true : false
      return name.value === 'include' ? isTrue : !isTrue
    })
  }
}

const argumentsText = ({ arguments: nodes = [] }: FieldNode) =>
  nodes
    .map((node) => print(node))
    .sort()
    .join()
