import type { File as StoredFile } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { fileAccess } from '../ui/file-access.ts'
import { api, currentWorkspaceId, queries } from './api.ts'
import { instanceQuery } from './instance.ts'

/** A page cannot send our header with a picture, so the address names the workspace. */
export const contentUrl = (id: string) =>
  `/api/v1/files/${id}/content?${new URLSearchParams({ workspace_id: currentWorkspaceId() ?? '' })}`

const lost = 'The connection was interrupted.'

/** By XMLHttpRequest, because fetch does not report the progress of a body. */
const upload = (file: File, onProgress: (share: number) => void, aborted: AbortSignal): Promise<StoredFile> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const query = new URLSearchParams({ name: file.name.slice(0, 200) || 'file' })
    request.open('POST', `/api/v1/files?${query}`)
    request.setRequestHeader('x-workspace-id', currentWorkspaceId() ?? '')
    request.responseType = 'json'
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () => {
      const { status, response } = request
      if (status === 201) resolve(response)
      else reject(new Error(response?.message ?? lost))
    }
    request.onerror = () => reject(new Error(lost))
    request.onabort = () => reject(new Error('Canceled.'))
    aborted.addEventListener('abort', () => request.abort(), { once: true })
    request.send(file)
  })

// Screens with texts import this file, so that the list of issues need not load it.
fileAccess.set({ url: contentUrl, maxBytes: null, upload })
void queries
  .ensureQueryData(instanceQuery)
  .then(({ files }) => fileAccess.set({ url: contentUrl, maxBytes: files?.max_bytes ?? null, upload }))
  // Texts can be read and written without files.
  .catch(() => {})

export const projectFilesQuery = (projectId: string) =>
  queryOptions({
    queryKey: ['project-files', projectId],
    queryFn: async () => (await api.listProjectFiles({ project_id: projectId })).data,
  })

export const storageQuery = queryOptions({ queryKey: ['storage'], queryFn: () => api.getStorage() })
