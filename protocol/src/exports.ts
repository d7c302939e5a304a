import { type Static, Type } from 'typebox'
import { closed, id, list, nullable, Page, Timestamp } from './common.ts'
import { programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'

/** An archive of everything that a workspace shares. */
export const Export = Type.Object(
  {
    id: id('exp'),
    state: Type.Enum(['running', 'ready', 'failed']),
    /** Null until it is ready. */
    bytes: nullable(Type.Integer({ minimum: 0 })),
    created_at: Timestamp,
  },
  { ...closed, title: 'Export' },
)
export type Export = Static<typeof Export>

export const ExportLink = Type.Object({ url: Type.String(), expires_at: Timestamp }, { ...closed, title: 'ExportLink' })
export type ExportLink = Static<typeof ExportLink>

/** An archive that becomes a new workspace. */
export const Restore = Type.Object(
  {
    id: id('rst'),
    state: Type.Enum(['reading', 'running', 'done', 'failed']),
    /** Null until it is done. */
    workspace_id: nullable(id('wsp')),
    problems: Type.Array(
      Type.Object(
        {
          /** In the archive; null for the archive as a whole. */
          path: nullable(Type.String()),
          line: nullable(Type.Integer({ minimum: 1 })),
          message: Type.String(),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: 'Restore' },
)
export type Restore = Static<typeof Restore>

export const exports = {
  listExports: operation(routes.listExports, {
    summary: 'List the exports of the workspace, newest first; owners only',
    query: Page,
    returns: { 200: list(Export) },
  }),
  createExport: operation(routes.createExport, {
    summary: `Export everything that the workspace shares; owners only, ${programLimits.exportsPerDay} times a day. While one is running it is returned`,
    returns: { 201: Export },
    errors: ['FILES_NOT_CONFIGURED', 'RATE_LIMIT_EXCEEDED'],
  }),
  getExport: operation(routes.getExport, { summary: 'Get an export; owners only', returns: { 200: Export } }),
  deleteExport: operation(routes.deleteExport, {
    summary: 'Delete an export and its archive; owners only',
    returns: { 204: null },
  }),
  createExportLink: operation(routes.createExportLink, {
    summary: 'Create the link with which an archive can be downloaded; owners only, and only while they are owners',
    returns: { 200: ExportLink },
    errors: ['RESOURCE_NOT_FOUND'],
  }),
  downloadExport: operation(routes.downloadExport, {
    summary: 'Download an archive with its link',
    produces: 'application/gzip',
    returns: { 200: Type.Unknown() },
  }),
  createRestore: operation(routes.createRestore, {
    summary: 'Restore an archive as a new workspace of which you are the only member; one at a time',
    bodyBytes: programLimits.archiveBytes,
    arrivesWithinMinutes: programLimits.archiveMinutes,
    returns: { 201: Restore },
    errors: ['FILES_NOT_CONFIGURED', 'WORKSPACE_LIMIT_REACHED', 'RATE_LIMIT_EXCEEDED'],
  }),
  getRestore: operation(routes.getRestore, { summary: 'Get a restore that you started', returns: { 200: Restore } }),
}
