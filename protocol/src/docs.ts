import { Type } from 'typebox'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

export const docs = {
  getDocs: operation(routes.getDocs, {
    summary: 'List all pages of the documentation',
    returns: { 200: Type.String() },
    produces: 'text/html',
  }),
  getDocsStyle: operation(routes.getDocsStyle, {
    summary: 'Get the style sheet of the documentation',
    returns: { 200: Type.String() },
    produces: 'text/css',
  }),
  getDocsPage: operation(routes.getDocsPage, {
    summary: 'Get a page of the documentation: a guide, `reference` or `errors`; append `.md` for Markdown',
    returns: { 200: Type.String() },
    produces: 'text/*',
  }),
  getLlmsText: operation(routes.getLlmsText, {
    summary: 'List all pages of the documentation with a summary, for language models',
    returns: { 200: Type.String() },
    produces: 'text/plain',
  }),
}
