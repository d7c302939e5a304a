import { ApiClient, FetchFailed, jsonOf, LineWriter, type RequestContext, type Sink } from './requests.ts'

const name = 'Linear'

/**
 * The lists of Linear's API in the order in which `formats/linear-api.ts` needs them, with their fields and page sizes:
 * Linear counts each object of a page, up to 10,000 points a request.
 */
const lists: { list: string; fields: string; first: number; options?: string }[] = [
  { list: 'teams', fields: 'id key name', first: 100 },
  { list: 'users', fields: 'id name displayName email', first: 100, options: 'includeDisabled: true' },
  { list: 'issueLabels', fields: 'id name color isGroup', first: 100 },
  { list: 'projects', fields: 'id name description content', first: 50 },
  { list: 'projectMilestones', fields: 'id name targetDate project { id }', first: 100 },
  { list: 'cycles', fields: 'id number name startsAt endsAt team { id }', first: 100 },
  { list: 'issueRelations', fields: 'id type issue { id } relatedIssue { id }', first: 100 },
  {
    list: 'issues',
    fields: `id identifier title description priorityLabel estimate url labelIds trashed dueDate
      createdAt updatedAt completedAt canceledAt archivedAt
      state { name type } team { id } project { id } projectMilestone { id } cycle { id } parent { id }
      creator { id } assignee { id }`,
    first: 100,
  },
  { list: 'comments', fields: 'id body createdAt updatedAt editedAt issueId user { id }', first: 100 },
  { list: 'attachments', fields: 'id title url createdAt issue { id }', first: 100 },
]

const queryOf = ({ list, fields, first, options }: (typeof lists)[number]) => `query ${list}($after: String) {
  ${list}(first: ${first}, after: $after, includeArchived: true${options ? `, ${options}` : ''}) {
    nodes { ${fields} }
    pageInfo { hasNextPage endCursor }
  }
}`

/** Of one list; a server that repeats a cursor would be asked forever. */
const maxPages = 20_000
/** Addresses of uploaded files are signed for this time, so that they need no key later. */
const signedSeconds = 7 * 86_400

interface Page {
  nodes: unknown[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
}

/** Fetches all data that the key can read. Throws FetchFailed. */
export async function fetchLinear(
  ctx: RequestContext,
  url: string,
  key: string,
  sink: Sink,
  signal: AbortSignal,
): Promise<void> {
  const client = new ApiClient(ctx, { url, name }, key, signal)
  const writer = new LineWriter(sink)
  for (const list of lists) {
    let after: string | null = null
    for (let pages = 0; ; pages++) {
      if (pages >= maxPages) throw new FetchFailed(`${name} has more than ${maxPages} pages of ${list.list}.`)
      const page: Page = await fetchPage(client, url, list, after)
      await writer.write(list.list, page.nodes)
      if (!page.pageInfo.hasNextPage) break
      if (!page.pageInfo.endCursor || page.pageInfo.endCursor === after)
        throw new FetchFailed(`${name} does not say where the next page of ${list.list} begins.`)
      after = page.pageInfo.endCursor
    }
  }
}

async function fetchPage(client: ApiClient, url: string, list: (typeof lists)[number], after: string | null) {
  const answer = await client.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', 'public-file-urls-expire-in': String(signedSeconds) },
    body: JSON.stringify({ query: queryOf(list), variables: { after } }),
  })
  const body = jsonOf(answer, name) as { data?: Record<string, Page | undefined> | null; errors?: unknown[] }
  const page = body?.data?.[list.list]
  if (!page || !Array.isArray(page.nodes) || typeof page.pageInfo !== 'object' || Array.isArray(body.errors))
    throw new FetchFailed(`${name} did not answer the list of ${list.list}. Check the key and what it may read.`)
  return page
}
