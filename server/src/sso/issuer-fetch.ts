import type { Clock } from '../clock.ts'
import { isLoopback } from '../config.ts'

const deadlineMs = 5000
const maxBytes = 1024 * 1024

/** The issuer did not answer as expected: too late, too much, with a redirect, or not at all. */
export class IssuerUnreachable extends Error {}

/** What both openid-client and jose pass. */
interface Options {
  method?: string
  headers?: Headers | Record<string, string>
  // biome-ignore lint/suspicious/noExplicitAny: the libraries differ in the types of a body
  body?: any
}

/**
 * A fetch for addresses of a configured issuer. It may be in any network, but its metadata names other addresses: these
 * are not followed to plain http outside this machine, and redirects are not followed at all.
 */
export const issuerFetch =
  (clock: Clock) =>
  async (url: string, { method, headers, body }: Options = {}): Promise<Response> => {
    refusePlain(url)
    const late = new AbortController()
    const cancel = clock.after(deadlineMs, () => late.abort())
    try {
      const response = await fetch(url, {
        ...(method ? { method } : {}),
        ...(headers ? { headers } : {}),
        ...(body ? { body } : {}),
        redirect: 'manual',
        signal: late.signal,
      })
      if (response.status >= 300 && response.status < 400) {
        await response.body?.cancel()
        throw new IssuerUnreachable('the issuer answered with a redirect')
      }
      // Read here, so that the deadline and the size apply to the whole answer.
      const text = await readUpTo(response)
      const { status } = response
      return new Response(status === 204 ? null : new Uint8Array(text), { status, headers: response.headers })
    } catch (error) {
      if (error instanceof IssuerUnreachable) throw error
      throw new IssuerUnreachable(late.signal.aborted ? 'the issuer did not answer in 5 seconds' : reasonOf(error))
    } finally {
      cancel()
    }
  }

export function refusePlain(url: string) {
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !(protocol === 'http:' && isLoopback(hostname))) {
    throw new IssuerUnreachable('the issuer names an address that is not https')
  }
}

async function readUpTo({ body }: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) throw new IssuerUnreachable('the answer of the issuer is larger than 1 MB')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

function reasonOf(error: unknown) {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  return `the issuer cannot be reached: ${cause?.code ?? message}`
}
