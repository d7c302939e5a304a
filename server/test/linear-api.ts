import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'

// biome-ignore lint/suspicious/noExplicitAny: nodes of any type
type Node = any

/** Linear's GraphQL API for tests: its lists with pages, over data that a test gives. Fields without data are null. */
export class LinearApi {
  readonly requests: { headers: IncomingHttpHeaders; list: string; after: string | null }[] = []
  /** Fields that were asked for, by type. */
  readonly asked = new Map<string, Set<string>>()
  /** Answers before the others. */
  readonly answersFirst: { status: number; headers?: Record<string, string>; body?: unknown }[] = []
  /** Of each list, whatever `first` says. */
  pageSize = 2
  readonly #data: Record<string, Node[]>
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { query, variables } = JSON.parse(Buffer.concat(chunks).toString())
    const document = parse(query)
    const operation = document.definitions.find(
      (one) => one.kind === Kind.OPERATION_DEFINITION,
    ) as OperationDefinitionNode
    const root = operation.selectionSet.selections[0] as FieldNode
    const after = argumentsOf(root, variables).after ?? null
    this.requests.push({ headers: request.headers, list: root.name.value, after })
    const early = this.answersFirst.shift()
    if (early) {
      response.writeHead(early.status, early.headers).end(JSON.stringify(early.body ?? { errors: [{ message: 'no' }] }))
      return
    }
    const fragments = document.definitions.filter((one) => one.kind === Kind.FRAGMENT_DEFINITION)
    const scope = { fragments: new Map(fragments.map((one) => [one.name.value, one])), variables: variables ?? {} }
    const data = { [root.name.value]: this.#complete(this.#rootValue(root, scope.variables), root.selectionSet, scope) }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ data }))
  })

  private constructor(data: Record<string, Node[]>) {
    this.#data = data
  }

  /** `data` has the nodes of each list by its name. */
  static async start(data: Record<string, Node[]>) {
    const api = new LinearApi(data)
    api.#server.listen(0, 'localhost')
    await once(api.#server, 'listening')
    return api
  }

  get url() {
    return `http://localhost:${(this.#server.address() as AddressInfo).port}/graphql`
  }

  async stop() {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #rootValue(field: FieldNode, variables: Record<string, unknown>): Node {
    const { after, id } = argumentsOf(field, variables)
    const name = field.name.value
    const nodes = this.#data[name]
    if (!nodes) return this.#data[`${name}s`]?.find((node) => node.id === id) ?? null
    const from = after ? nodes.findIndex((node) => node.id === after) + 1 : 0
    const page = nodes.slice(from, from + this.pageSize)
    const pageInfo = {
      __typename: 'PageInfo',
      hasNextPage: from + this.pageSize < nodes.length,
      hasPreviousPage: from > 0,
      startCursor: page[0]?.id ?? null,
      endCursor: page.at(-1)?.id ?? null,
    }
    return { __typename: `${page[0]?.__typename}Connection`, nodes: page, pageInfo }
  }

  #complete(value: Node, selections: SelectionSetNode | undefined, scope: Scope): Node {
    if (Array.isArray(value)) return value.map((one) => this.#complete(one, selections, scope))
    if (value === null || value === undefined || !selections) return value ?? null
    const type = value.__typename as string
    const result: Record<string, Node> = {}
    for (const field of fieldsOf(selections, scope)) {
      const name = field.name.value
      if (name !== '__typename') this.asked.set(type, (this.asked.get(type) ?? new Set()).add(name))
      result[field.alias?.value ?? name] = this.#complete(value[name], field.selectionSet, scope)
    }
    return result
  }
}

interface Scope {
  fragments: Map<string, FragmentDefinitionNode>
  variables: Record<string, unknown>
}

function* fieldsOf(selections: SelectionSetNode, scope: Scope): Generator<FieldNode> {
  for (const one of selections.selections) {
    if (one.kind === Kind.FIELD) yield one
    else if (one.kind === Kind.INLINE_FRAGMENT) yield* fieldsOf(one.selectionSet, scope)
    else yield* fieldsOf((scope.fragments.get(one.name.value) as FragmentDefinitionNode).selectionSet, scope)
  }
}

const argumentsOf = (field: FieldNode, variables: Record<string, unknown> = {}) =>
  Object.fromEntries(
    (field.arguments ?? []).map(({ name, value }) => [name.value, valueFromASTUntyped(value, variables)]),
  ) as {
    after?: string | null
    id?: string
  }

/** A workspace with more than one page of each list. */
export function linearWorkspace() {
  const ref = (__typename: string, id: string) => ({ __typename, id })
  const times = { createdAt: '2026-01-02T03:04:05.000Z', updatedAt: '2026-01-03T03:04:05.000Z', archivedAt: null }
  const many = <T>(count: number, make: (n: number) => T) =>
    Array.from({ length: count }, (_, index) => make(index + 1))
  const states = ['Backlog', 'In Progress', 'Canceled']
  return {
    teams: [
      { __typename: 'Team', id: 'team-1', key: 'ENG', name: 'Engineering', ...times },
      { __typename: 'Team', id: 'team-2', key: 'OPS', name: 'Operations', ...times },
      { __typename: 'Team', id: 'team-3', key: 'DES', name: 'Design', ...times },
    ],
    users: many(3, (n) => ({
      __typename: 'User',
      id: `user-${n}`,
      name: `User ${n}`,
      displayName: `user${n}`,
      email: `user${n}@example.com`,
      ...times,
    })),
    issueLabels: [
      ...many(3, (n) => ({
        __typename: 'IssueLabel',
        id: `label-${n}`,
        name: `Label ${n}`,
        color: '#eb5757',
        isGroup: false,
        ...times,
      })),
      { __typename: 'IssueLabel', id: 'group', name: 'Group', color: '#000000', isGroup: true, ...times },
    ],
    projects: many(3, (n) => ({
      __typename: 'Project',
      id: `project-${n}`,
      name: `Project ${n}`,
      description: 'Short',
      content: n === 1 ? 'Long **text**' : null,
      labelIds: [],
      ...times,
    })),
    projectMilestones: many(3, (n) => ({
      __typename: 'ProjectMilestone',
      id: `milestone-${n}`,
      name: `Milestone ${n}`,
      targetDate: '2026-05-01',
      project: ref('Project', 'project-1'),
      ...times,
    })),
    cycles: many(3, (n) => ({
      __typename: 'Cycle',
      id: `cycle-${n}`,
      number: n,
      name: n === 1 ? 'First' : null,
      startsAt: '2026-01-05T00:00:00.000Z',
      endsAt: '2026-01-19T00:00:00.000Z',
      team: ref('Team', 'team-1'),
      ...times,
    })),
    issueRelations: [
      { type: 'blocks', from: 1, to: 2 },
      { type: 'duplicate', from: 3, to: 1 },
      { type: 'related', from: 1, to: 4 },
    ].map(({ type, from, to }, index) => ({
      __typename: 'IssueRelation',
      id: `relation-${index}`,
      type,
      issue: ref('Issue', `issue-${from}`),
      relatedIssue: ref('Issue', `issue-${to}`),
      ...times,
    })),
    issues: many(5, (n) => ({
      __typename: 'Issue',
      id: `issue-${n}`,
      identifier: `ENG-${n}`,
      number: n,
      title: `Issue ${n}`,
      description: n === 1 ? 'See ![shot.png](https://uploads.linear.app/a/b/c?signature=eyJh.b-c)' : null,
      priority: 2,
      priorityLabel: 'High',
      estimate: n,
      url: `https://linear.app/acme/issue/ENG-${n}`,
      labelIds: ['label-1', 'label-2'],
      trashed: null,
      dueDate: '2026-02-03',
      state: {
        ...ref('WorkflowState', `state-${n % 3}`),
        name: states[n % 3],
        type: ['backlog', 'started', 'canceled'][n % 3],
      },
      team: ref('Team', 'team-1'),
      project: ref('Project', 'project-1'),
      projectMilestone: ref('ProjectMilestone', 'milestone-1'),
      cycle: ref('Cycle', 'cycle-1'),
      parent: n === 2 ? ref('Issue', 'issue-1') : null,
      creator: ref('User', 'user-1'),
      assignee: ref('User', 'user-2'),
      completedAt: null,
      canceledAt: n % 3 === 2 ? '2026-01-04T00:00:00.000Z' : null,
      reactions: [],
      sharedAccess: { __typename: 'IssueSharedAccess', isShared: false, sharedWithUsers: [] },
      syncedWith: [],
      previousIdentifiers: [],
      ...times,
      archivedAt: n === 5 ? '2026-02-01T00:00:00.000Z' : null,
    })),
    comments: [
      ...many(3, (n) => ({
        __typename: 'Comment',
        id: `comment-${n}`,
        body: `Comment ${n}`,
        issueId: 'issue-1',
        issue: ref('Issue', 'issue-1'),
        user: ref('User', 'user-3'),
        editedAt: null,
        reactions: [],
        syncedWith: [],
        ...times,
      })),
      { __typename: 'Comment', id: 'on-a-project', body: 'x', issueId: null, reactions: [], syncedWith: [], ...times },
    ],
    attachments: many(3, (n) => ({
      __typename: 'Attachment',
      id: `attachment-${n}`,
      title: `Link ${n}`,
      url: `https://example.com/${n}`,
      issue: ref('Issue', 'issue-2'),
      metadata: {},
      ...times,
    })),
  }
}
