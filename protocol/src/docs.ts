import { Type } from 'typebox'
import { limits } from './limits.ts'
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
  getDocsScript: operation(routes.getDocsScript, {
    summary: 'Get the script of the documentation: search while typing, copy buttons, the theme of the web app',
    returns: { 200: Type.String() },
    produces: 'text/javascript',
  }),
  searchDocs: operation(routes.searchDocs, {
    summary: 'Search guides and reference; returns a page with the best results',
    query: Type.Object({ q: Type.Optional(Type.String({ maxLength: limits.query })) }),
    // A page: a longer or repeated text is shortened, not refused.
    anyQuery: true,
    returns: { 200: Type.String() },
    produces: 'text/html',
  }),
  getDocsPage: operation(routes.getDocsPage, {
    summary: 'Get a page of the documentation: a guide, `reference`, `events` or `errors`; append `.md` for Markdown',
    returns: { 200: Type.String() },
    produces: 'text/*',
  }),
  getDocsPicture: operation(routes.getDocsPicture, {
    summary: 'Get a picture of a guide',
    returns: { 200: Type.Unknown() },
    produces: 'image/png',
  }),
  getReferencePage: operation(routes.getReferencePage, {
    summary: 'Get the page of one noun in the reference, such as `issues`; append `.md` for Markdown',
    returns: { 200: Type.String() },
    produces: 'text/*',
  }),
  getLlmsText: operation(routes.getLlmsText, {
    summary: 'List all pages of the documentation with a summary, for language models',
    returns: { 200: Type.String() },
    produces: 'text/plain',
  }),
}
