import { api } from '@baton/protocol'
import { route } from '../http/route.ts'
import { findFile } from './access.ts'
import { contentOf } from './content.ts'
import { deleteFile, listProjectFiles, readFile, readStorage, uploadFile, uploadSessionFile } from './files.ts'
import { createLink, openLink } from './signed-link.ts'

export const fileRoutes = [
  route(api.uploadFile, ({ ctx, caller, query, upload }) => uploadFile(ctx, caller, query, upload)),
  route(api.uploadSessionFile, ({ ctx, caller, params, query, upload }) =>
    uploadSessionFile(ctx, caller, params.session_id, query.name, upload),
  ),
  route(api.getFile, ({ ctx, caller, params }) => readFile(ctx, caller, params.file_id)),
  route(api.getFileContent, async ({ ctx, caller, params, headers }) =>
    contentOf(ctx, await findFile(ctx.db, caller, params.file_id), headers),
  ),
  route(api.createFileLink, ({ ctx, caller, params }) => createLink(ctx, caller, params.file_id)),
  route(api.openFileLink, ({ ctx, params, headers }) => openLink(ctx, params.token, headers)),
  route(api.deleteFile, ({ ctx, caller, params }) => deleteFile(ctx, caller, params.file_id)),
  route(api.listProjectFiles, ({ ctx, caller, params }) => listProjectFiles(ctx, caller, params.project_id)),
  route(api.getStorage, ({ ctx, caller }) => readStorage(ctx, caller)),
]
