import { api } from '@baton/protocol'
import { found } from '../http/errors.ts'
import { Reply, route } from '../http/route.ts'
import { openLibrary } from './library.ts'

/** Changes with the version that runs, so browsers ask again after a while. */
const typed = (type: string, body: string) =>
  new Reply(body, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' })

/** How to use this instance, in its own words. */
export const docsRoutes = [
  route(api.getDocs, () => typed('text/html', openLibrary().index)),

  route(api.getDocsStyle, () => typed('text/css', openLibrary().style)),

  route(api.getDocsPage, ({ params: { page: asked } }) => {
    const { pages } = openLibrary()
    if (asked.endsWith('.md')) return typed('text/markdown', found(pages.get(asked.slice(0, -3))).markdown)
    return typed('text/html', found(pages.get(asked)).html)
  }),

  route(api.getLlmsText, () => typed('text/plain', openLibrary().llms)),
]
