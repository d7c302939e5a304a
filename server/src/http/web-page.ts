import type { FastifyRequest } from 'fastify'

/** The parts of a request that decide which page or file of the web app it gets. */
export interface PageRequest {
  method: string
  /** As sent, without the query. */
  path: string
  accept: string
  acceptEncoding: string | undefined
}

export interface Page {
  /** 200 if omitted. */
  status?: number
  body: Buffer
  headers: Record<string, string>
}

/** The response for a path without an operation, or in place of a 404 of an operation. */
export type FindPage = (request: PageRequest) => Page | undefined

export const pageRequest = ({ method, url, headers }: FastifyRequest): PageRequest => ({
  method,
  path: url.split('?')[0] as string,
  accept: headers.accept ?? '',
  acceptEncoding: headers['accept-encoding']?.toString(),
})
