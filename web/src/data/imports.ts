import type { ImportMappingChange } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { api, currentWorkspaceId, queries, readAll } from './api.ts'

export const importsQuery = queryOptions({ queryKey: ['imports'], queryFn: () => readAll('listImports') })

export const importQuery = (id: string) =>
  queryOptions({ queryKey: ['import', id], queryFn: () => api.getImport({ import_id: id }) })

export const importProblemsQuery = (id: string, version: string) =>
  queryOptions({
    queryKey: ['import', id, 'problems', version],
    queryFn: () => readAll('listImportProblems', { import_id: id }),
  })

export const placeholdersQuery = queryOptions({
  queryKey: ['workspace', 'placeholders'],
  queryFn: () => readAll('listPlaceholders'),
})

export const refreshImports = () =>
  Promise.all([
    queries.invalidateQueries({ queryKey: ['imports'] }),
    queries.invalidateQueries({ queryKey: ['import'] }),
  ])

/** Uploads a file to an import; `onProgress` gets the share that has arrived. */
export const uploadImportFile = (id: string, file: File, onProgress: (share: number) => void) =>
  new Promise<void>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', `/api/v1/imports/${id}/files?name=${encodeURIComponent(file.name.slice(0, 200) || 'file')}`)
    request.setRequestHeader('x-workspace-id', currentWorkspaceId() ?? '')
    request.responseType = 'json'
    request.upload.onprogress = ({ loaded, total }) => onProgress(total > 0 ? loaded / total : 0)
    request.onload = () =>
      request.status === 201
        ? resolve()
        : reject(new Error(request.response?.message ?? 'The connection was interrupted.'))
    request.onerror = () => reject(new Error('The connection was interrupted.'))
    request.send(file)
  })

export async function changeImportMapping(id: string, mapping: ImportMappingChange) {
  queries.setQueryData(importQuery(id).queryKey, await api.updateImport({ import_id: id, mapping }))
}
