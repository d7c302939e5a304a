import { Type } from 'typebox'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const docs = {
  getDocs: operation(routes.getDocs, {
    summary: 'The documentation of this instance: all pages',
    returns: { 200: Type.String() },
    produces: 'text/html',
  }),
  getDocsStyle: operation(routes.getDocsStyle, {
    summary: 'What the pages of the documentation look like',
    returns: { 200: Type.String() },
    produces: 'text/css',
  }),
  getDocsPage: operation(routes.getDocsPage, {
    summary: 'A page of the documentation, a guide or `reference` or `errors`; as Markdown with `.md` at the end',
    returns: { 200: Type.String() },
    produces: 'text/*',
  }),
  getLlmsText: operation(routes.getLlmsText, {
    summary: 'All pages of the documentation with a line each, for programs that read',
    returns: { 200: Type.String() },
    produces: 'text/plain',
  }),
}
