import { api } from '@baton/protocol'
import type { Config } from '../config.ts'
import { found } from '../http/errors.ts'
import { Reply, route } from '../http/route.ts'
import { openLibrary } from './library.ts'

/** Changes with the version that runs, so browsers ask again after a while. */
const typed = (type: string, body: string) =>
  new Reply(body, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' })

/** Commands can be copied as they stand: guides name the address that one has after a first start. */
const withAddress = (text: string, { rootUrl }: Config) => text.replaceAll('http://localhost:3000', rootUrl)

/** How to use this instance, in its own words. */
export const docsRoutes = [
  route(api.getDocs, () => typed('text/html', openLibrary().index)),

  route(api.getDocsStyle, () => typed('text/css', openLibrary().style)),

  route(api.getDocsPage, ({ ctx, params: { page: asked } }) => {
    const { pages } = openLibrary()
    const isSource = asked.endsWith('.md')
    const page = found(pages.get(isSource ? asked.slice(0, -3) : asked))
    return isSource
      ? typed('text/markdown', withAddress(page.markdown, ctx.config))
      : typed('text/html', withAddress(page.html, ctx.config))
  }),

  route(api.getLlmsText, () => typed('text/plain', openLibrary().llms)),
]
