import { api } from '@baton/protocol'
import type { Config } from '../config.ts'
import { found } from '../http/errors.ts'
import { Reply, route } from '../http/route.ts'
import { openLibrary } from './library.ts'

/** Cached only for minutes, because an upgrade changes the pages. */
const typed = (type: string, body: string) =>
  new Reply(body, { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' })

/** Replaces the default address in the guides by this instance's, so that commands can be copied. */
const withAddress = (text: string, { rootUrl }: Config) => text.replaceAll('http://localhost:3000', rootUrl)

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
