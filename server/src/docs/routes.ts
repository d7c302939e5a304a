import { api, eventSchemas, limits } from '@baton/protocol'
import type { Config } from '../config.ts'
import { eventExamples } from '../events/examples.ts'
import { found } from '../http/errors.ts'
import { Reply, route } from '../http/route.ts'
import type { Page, PageRequest } from '../http/web-page.ts'
import { sampleUrl } from './samples.ts'

/** Few starts of the service are followed by a request for the documentation. */
const library = async () => (await import('./library.ts')).openLibrary()

/** Cached only for minutes, because an upgrade changes the pages. */
const typed = (type: string, body: string) =>
  new Reply(body, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' })

/** Replaces the default address in the guides by this instance's, so that commands can be copied. */
const withAddress = (text: string, { rootUrl }: Config) => text.replaceAll(sampleUrl, rootUrl)

const pageResponse = async (config: Config, asked: string) => {
  const { pages } = await library()
  const isSource = asked.endsWith('.md')
  const page = found(pages.get(isSource ? asked.slice(0, -3) : asked))
  return isSource
    ? typed('text/markdown', withAddress(page.markdown, config))
    : typed('text/html', withAddress(page.html, config))
}

/** The text to search for: the first, if it is sent several times, and not longer than a person types. */
function queryOf({ q = '' }: { q?: unknown }): string {
  const [text] = [q].flat()
  return typeof text === 'string' ? text.slice(0, limits.query) : ''
}

export const docsRoutes = [
  route(api.listEventTypes, ({ ctx }) => {
    const examples = eventExamples(ctx.config.rootUrl)
    return {
      data: eventSchemas.map(({ type, action, schema }) => {
        const { body } = found(examples.find((example) => example.type === type && example.action === action))
        return { type, action, schema: schema as unknown as Record<string, unknown>, example: body }
      }),
    }
  }),

  route(api.getDocs, async ({ ctx }) => typed('text/html', withAddress((await library()).index, ctx.config))),

  route(api.getDocsStyle, async () => typed('text/css', (await library()).style)),

  route(api.getDocsScript, async () => typed('text/javascript', (await library()).script)),

  route(api.searchDocs, async ({ ctx, query }) =>
    typed('text/html', withAddress((await library()).search(queryOf(query)), ctx.config)),
  ),

  route(api.getDocsPage, ({ ctx, params: { page } }) => pageResponse(ctx.config, page)),

  route(api.getDocsPicture, async ({ params: { picture } }) => {
    const bytes = found((await library()).picture(picture))
    return new Reply(bytes, { 'content-type': 'image/png', 'cache-control': 'public, max-age=300' })
  }),

  route(api.getReferencePage, ({ ctx, params: { noun } }) => pageResponse(ctx.config, `reference/${noun}`)),

  route(api.getLlmsText, async ({ ctx }) => typed('text/plain', withAddress((await library()).llms, ctx.config))),
]

/** The response to a browser for a page that does not exist. `/docs/` is another spelling of `/docs`. */
export async function missingPage({ method, path, accept }: PageRequest): Promise<Page | undefined> {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  if (path === '/docs/') return { status: 308, headers: { location: '/docs' }, body: Buffer.alloc(0) }
  if (!path.startsWith('/docs/') || !accept.includes('text/html')) return undefined
  const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', vary: 'accept' }
  return { status: 404, headers, body: Buffer.from((await library()).missing) }
}
