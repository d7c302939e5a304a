import { type Static, Type } from 'typebox'
import { closed, id, nullable, Timestamp } from './common.ts'
import { programLimits } from './limits.ts'
import { operation } from './operation.ts'
import { routes } from './routes.ts'
import { OptionalId, Ref } from './tracker.ts'

/** Uploaded bytes, linked to the items that show them. */
export const File = Type.Object(
  {
    id: id('fil'),
    name: Type.String(),
    bytes: Type.Integer(),
    media_type: Type.String(),
    inline: Type.Boolean(),
    width: nullable(Type.Integer()),
    height: nullable(Type.Integer()),
    uploader_id: OptionalId,
    created_at: Timestamp,
  },
  { ...closed, title: 'File' },
)
export type File = Static<typeof File>

const FileName = Type.String({
  minLength: 1,
  maxLength: programLimits.fileName,
  'x-message': `must have 1 to ${programLimits.fileName} characters`,
})

export const NewFile = Type.Object(
  {
    name: FileName,
    target_type: Type.Optional(Type.Enum(['issue', 'project'], { 'x-message': 'must be issue or project' })),
    target_id: Type.Optional(Ref),
  },
  closed,
)
export type NewFile = Static<typeof NewFile>

export const WorkspaceStorage = Type.Object(
  {
    used: Type.Integer(),
    limit: Type.Integer(),
    files: Type.Integer(),
    largest: Type.Array(File, { maxItems: programLimits.largestFiles }),
  },
  { ...closed, title: 'WorkspaceStorage' },
)
export type WorkspaceStorage = Static<typeof WorkspaceStorage>

const contentTypes = 'image/*, video/*, text/plain, application/pdf, application/octet-stream'

export const files = {
  uploadFile: operation(routes.uploadFile, {
    summary: 'Upload a file: its bytes are the body. Without a target, only you see it until a saved text shows it',
    query: NewFile,
    bodyBytes: 'file',
    returns: { 201: File },
    errors: ['RESOURCE_NOT_FOUND', 'FILES_NOT_CONFIGURED', 'STORAGE_LIMIT_REACHED'],
  }),
  uploadSessionFile: operation(routes.uploadSessionFile, {
    summary: "Upload a file into the app's own agent session: its bytes are the body",
    query: Type.Object({ name: FileName }, closed),
    bodyBytes: 'file',
    returns: { 201: File },
    errors: ['FILES_NOT_CONFIGURED', 'STORAGE_LIMIT_REACHED'],
  }),
  getFile: operation(routes.getFile, {
    summary: 'Get name, size and type of a file',
    returns: { 200: File },
  }),
  getFileContent: operation(routes.getFileContent, {
    summary: 'Get the bytes of a file; accepts a single Range and If-None-Match',
    query: Type.Object({ workspace_id: Type.Optional(Type.String()) }, closed),
    produces: contentTypes,
    returns: { 200: Type.Unknown(), 206: Type.Unknown(), 304: null, 416: null },
  }),
  createFileLink: operation(routes.createFileLink, {
    summary: 'Create a link that works without a login for 5 minutes, as long as you have access to the file',
    returns: { 201: Type.Object({ url: Type.String(), expires_at: Timestamp }, { ...closed, title: 'FileLink' }) },
  }),
  openFileLink: operation(routes.openFileLink, {
    summary: 'Get the bytes of a file by a link',
    produces: contentTypes,
    returns: { 200: Type.Unknown(), 206: Type.Unknown(), 304: null, 416: null },
  }),
  deleteFile: operation(routes.deleteFile, {
    summary: 'Delete a file; its uploader and managers can',
    returns: { 204: null },
    errors: ['FORBIDDEN'],
  }),
  listProjectFiles: operation(routes.listProjectFiles, {
    summary: 'List the files of a project, newest first',
    returns: {
      200: Type.Object({ data: Type.Array(File, { maxItems: programLimits.filesPerItem }) }, closed),
    },
  }),
  getStorage: operation(routes.getStorage, {
    summary: 'Get how much of its storage the workspace uses, and its largest files',
    returns: { 200: WorkspaceStorage },
  }),
}
