import type { FastifyRequest } from 'fastify'

/** What of a request leads to a page or file of the web app. */
export interface PageRequest {
  method: string
  /** As it was sent, without its query. */
  path: string
  accept: string
  acceptEncoding: string | undefined
}

export interface Page {
  body: Buffer
  headers: Record<string, string>
}

/** What is answered where no operation is. */
export type FindPage = (request: PageRequest) => Page | undefined

export const pageRequest = ({ method, url, headers }: FastifyRequest): PageRequest => ({
  method,
  path: url.split('?')[0] as string,
  accept: headers.accept ?? '',
  acceptEncoding: headers['accept-encoding']?.toString(),
})
