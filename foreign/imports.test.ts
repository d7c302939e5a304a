import { createRequire } from 'node:module'
import { LinearClient } from 'linear-sdk-98'
import { expect, onTestFinished } from 'vitest'
import { fetchSource } from '../server/src/imports/fetch.ts'
import { readSource } from '../server/src/imports/formats/index.ts'
import { fetching, serve } from '../server/test/fetching.ts'
import { test, verifies } from '../server/test/harness.ts'
import { LinearApi, linearWorkspace } from '../server/test/linear-api.ts'
import { recordsIn, sourceFile, unmapped } from '../server/test/source-files.ts'

interface Page<T> {
  nodes: T[]
  pageInfo: { hasNextPage: boolean }
  fetchNext: () => Promise<Page<T>>
}

/** The SDK adds each further page to the nodes of the first. */
async function all<T>(first: Promise<Page<T>>): Promise<T[]> {
  let page = await first
  while (page.pageInfo.hasNextPage) page = await page.fetchNext()
  return page.nodes
}

test("the fetcher reads from Linear's API what @linear/sdk reads", verifies('import.linear-api'), async () => {
  const api = await LinearApi.start(linearWorkspace())
  onTestFinished(() => api.stop())
  const sdk = new LinearClient({ apiKey: 'lin_api_secret', apiUrl: api.url })
  const [teams, users, labels, projects, milestones, cycles, relations, issues, comments, attachments] = [
    await all(sdk.teams({ first: 2 })),
    await all(sdk.users({ first: 2 })),
    await all(sdk.issueLabels({ first: 2 })),
    await all(sdk.projects({ first: 2 })),
    await all(sdk.projectMilestones({ first: 2 })),
    await all(sdk.cycles({ first: 2 })),
    await all(sdk.issueRelations({ first: 2 })),
    await all(sdk.issues({ first: 2 })),
    await all(sdk.comments({ first: 2 })),
    await all(sdk.attachments({ first: 2 })),
  ]
  const knownBySdk = new Map([...api.asked].map(([type, fields]) => [type, new Set(fields)]))
  api.asked.clear()
  const sdkRequests = api.requests.splice(0)

  const tools = fetching()
  await fetchSource(tools, { kind: 'linear', url: api.url }, 'lin_api_secret', tools.sink, tools.signal)
  const read = await recordsIn(readSource('linear', [sourceFile(tools.stored())], unmapped))
  expect(read.issues.map(({ id, key, title }) => [id, key, title])).toEqual(
    issues.map(({ id, identifier, title }) => [id, identifier, title]),
  )
  expect(new Set(read.issues.map(({ team }) => team))).toEqual(new Set([teams[0]?.name]))
  expect(read.users.map(({ id, email }) => [id, email])).toEqual(users.map(({ id, email }) => [id, email]))
  expect(read.labels.map(({ id }) => id)).toEqual(labels.filter(({ isGroup }) => !isGroup).map(({ id }) => id))
  expect(read.projects.map(({ id, name }) => [id, name])).toEqual(projects.map(({ id, name }) => [id, name]))
  expect(read.milestones.map(({ id }) => id)).toEqual(milestones.map(({ id }) => id))
  expect(read.cycles.map(({ id }) => id)).toEqual(cycles.map(({ id }) => id))
  const related = read.issues.flatMap(({ blocks, duplicateOf, related }) => [...blocks, duplicateOf ?? [], ...related])
  expect(related.flat().sort()).toEqual(relations.map(({ relatedIssueId }) => relatedIssueId).sort())
  expect(read.comments.map(({ id, text }) => [id, text])).toEqual(
    comments.filter(({ issueId }) => issueId).map(({ id, body }) => [id, body]),
  )
  expect(read.attachments.filter(({ isLink }) => isLink).map(({ id, url }) => [id, url])).toEqual(
    attachments.map(({ id, url }) => [id, url]),
  )
  // The double answers null for fields that Linear does not have; the SDK asks only for those that it has.
  for (const [type, fields] of api.asked) {
    const unknown = [...fields].filter((field) => !knownBySdk.get(type)?.has(field))
    expect({ type, unknown }).toEqual({ type, unknown: type === 'WorkflowState' ? ['name', 'type'] : [] })
  }
  expect(api.requests[0]?.headers.authorization).toBe(sdkRequests[0]?.headers.authorization)
})

interface Recorded {
  path: string
  status: number
  headers: Record<string, string>
  response: unknown
}

/** Not by the package's own function, which replaces Node's HTTP client. */
const recorded = (scenario: string): Recorded[] =>
  createRequire(import.meta.url)(`@octokit/fixtures/scenarios/api.github.com/${scenario}/normalized-fixture.json`)

test("recorded pages of GitHub's issues are followed to the last one", verifies('import.github-pages'), async () => {
  const pages = recorded('paginate-issues')
  const server = await serve((request, response) => {
    const { pathname, search } = new URL(request.url ?? '', server.url)
    if (pathname.endsWith('/comments')) return void response.end('[]')
    // The first request has parameters of its own; the others are those that the recorded links name.
    const found = search.includes('state=all') ? pages[0] : pages.find(({ path }) => path === pathname + search)
    if (!found) return void response.writeHead(404).end()
    const link = found.headers.link?.replaceAll('https://api.github.com', server.url) ?? ''
    response.writeHead(found.status, { 'content-type': 'application/json', link })
    response.end(JSON.stringify(found.response))
  })
  const tools = fetching()
  const connection = { kind: 'github' as const, url: server.url, repository: 'octokit-fixture-org/paginate-issues' }
  await fetchSource(tools, connection, 'token', tools.sink, tools.signal)
  const { issues, problems } = await recordsIn(readSource('github', [sourceFile(tools.stored())], unmapped))
  expect(issues.map(({ title }) => title)).toEqual(Array.from({ length: 13 }, (_, index) => `Test issue ${13 - index}`))
  expect(new Set(issues.map(({ team }) => team))).toEqual(new Set(['octokit-fixture-org/paginate-issues']))
  expect(issues[0]).toMatchObject({ creator: 'octokit-fixture-user-a', status: 'open' })
  expect(problems).toEqual([])
  expect(server.requests.length).toBe(6)
})

test("issues of GitHub's other recordings are read", verifies('import.github-json'), async () => {
  const found = recorded('search-issues').map(({ response }) => response)
  const { issues } = await recordsIn(readSource('github', [sourceFile(JSON.stringify(found))], unmapped))
  const web = 'https://github.com/octokit-fixture-org/search-issues/issues'
  expect(issues.map(({ title, url, team, creator }) => [title, url, team, creator])).toEqual([
    ['Sesame seeds split without a pop!', `${web}/2`, 'octokit-fixture-org/search-issues', 'octokit-fixture-user-b'],
    ['The doors don’t open', `${web}/1`, 'octokit-fixture-org/search-issues', 'octokit-fixture-user-a'],
  ])
})
