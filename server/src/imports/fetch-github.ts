import { parseUrl } from '../outbound/target.ts'
import { ApiClient, FetchFailed, jsonOf, LineWriter, type RequestContext, type Sink } from './requests.ts'

const name = 'GitHub'
const perPage = 100
/** GitHub has at most 100,000 issues of an import in 1,000 pages; comments are more. */
const maxPages = 20_000

/** Fetches the issues and comments of a repository, `owner/name`. Throws FetchFailed. */
export async function fetchGithub(
  ctx: RequestContext,
  { url, repository }: { url: string; repository: string },
  key: string,
  sink: Sink,
  signal: AbortSignal,
): Promise<void> {
  if (!/^[\w.-]{1,100}\/[\w.-]{1,100}$/.test(repository) || /(?:^|\/)\.{1,2}(?:\/|$)/.test(repository))
    throw new FetchFailed('The repository must be written as owner/name.')
  const client = new ApiClient(ctx, { url, name }, key, signal)
  const writer = new LineWriter(sink)
  const base = `${url.replace(/\/+$/, '')}/repos/${repository}`
  const sort = 'sort=created&direction=asc'
  await fetchPages(client, `${base}/issues?state=all&${sort}&per_page=${perPage}`, (items) =>
    writer.write('issues', items),
  )
  await fetchPages(client, `${base}/issues/comments?${sort}&per_page=${perPage}`, (items) =>
    writer.write('comments', items),
  )
}

async function fetchPages(client: ApiClient, first: string, write: (items: unknown[]) => Promise<void>) {
  const headers = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }
  const visited = new Set<string>()
  for (let next: string | null = first; next !== null; ) {
    if (visited.has(next) || visited.size >= maxPages) throw new FetchFailed(`${name} repeats its pages.`)
    visited.add(next)
    const answer = await client.request({ method: 'GET', url: next, headers })
    const items = jsonOf(answer, name)
    if (!Array.isArray(items)) throw new FetchFailed(`${name} did not answer a list. Check the address.`)
    await write(items)
    next = nextPage(answer.header('link'), next)
  }
}

/** The address with `rel="next"` in a Link header (RFC 8288). */
export function nextPage(link: string | null, current: string): string | null {
  for (const [, target = '', parameters = ''] of (link ?? '').matchAll(/<([^<>]{1,2000})>([^<>]{0,500})/g)) {
    if (!/;\s*rel="?next"?\s*(?:[;,]|$)/i.test(parameters)) continue
    if (!parseUrl(target, current)) throw new FetchFailed(`${name} does not say where the next page is.`)
    return new URL(target, current).href
  }
  return null
}
