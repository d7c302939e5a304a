import type { Export, Restore } from '@baton/protocol'
import { queryOptions } from '@tanstack/react-query'
import { api, queries, readAll } from './api.ts'
import { repeatAfterConfirming } from './reauth.ts'

/** The live stream does not report the state of exports. */
const whileRunningMs = 2000

export const exportsQuery = queryOptions({
  queryKey: ['exports'],
  queryFn: () => readAll('listExports'),
  refetchInterval: ({ state }) => (state.data?.some(isRunning) ? whileRunningMs : false),
})

export const isRunning = ({ state }: Export) => state === 'running'

export const rereadExports = () => queries.invalidateQueries({ queryKey: ['exports'] })

export const restoreQuery = (id: string) =>
  queryOptions({
    queryKey: ['restores', id],
    queryFn: () => api.getRestore({ restore_id: id }),
    refetchInterval: ({ state }) => (state.data && isSettled(state.data) ? false : whileRunningMs),
  })

export const isSettled = ({ state }: Restore) => state === 'done' || state === 'failed'

/** Sends an archive. Unlike `fetch`, it reports how much of it was sent, from 0 to 1. */
export async function sendArchive(archive: File, onProgress: (share: number) => void): Promise<Restore> {
  const send = () => upload(archive, onProgress)
  const first = await send()
  const response = first.status === 403 ? await repeatAfterConfirming(first, send) : first
  const body = await response.json()
  if (!response.ok) throw new Error(body.message)
  return body
}

const upload = (archive: File, onProgress: (share: number) => void) =>
  new Promise<Response>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', '/api/v1/restores')
    request.setRequestHeader('content-type', 'application/gzip')
    request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total)
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }))
    request.onerror = () => reject(new Error('The connection was lost. Try again.'))
    request.send(archive)
  })
