import { fetchGithub } from './fetch-github.ts'
import { fetchLinear } from './fetch-linear.ts'
import type { RequestContext, Sink } from './requests.ts'

export { type Fetched, type FileSink, fetchAttachment } from './fetch-attachment.ts'
export { FetchFailed, type Sink } from './requests.ts'

/** An API to fetch from. `url` is that of the API: https://api.linear.app/graphql, https://api.github.com. */
export type Connection = { kind: 'linear'; url: string } | { kind: 'github'; url: string; repository: string }

/**
 * Fetches the data of an API and writes it as lines that `readSource` reads. The sink is called for each page, one after
 * the other. Throws FetchFailed, the reason of `signal`, or an error of the sink.
 */
export const fetchSource = async (
  ctx: RequestContext,
  connection: Connection,
  key: string,
  sink: Sink,
  signal: AbortSignal,
): Promise<void> =>
  connection.kind === 'linear'
    ? fetchLinear(ctx, connection.url, key, sink, signal)
    : fetchGithub(ctx, connection, key, sink, signal)

/** The host whose requests may carry the key. */
export const hostOf = (connection: Connection) => new URL(connection.url).host
