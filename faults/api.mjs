// API client.
import { StepFailed } from '../scripts/setup.mjs'

const timeoutMs = 60_000

/** Throws on failure; the error's `status` is that of the response, if there was one. */
export async function send({ url }, method, path, body, headers) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const { ok, status } = response
  if (status >= 300 && status < 400) return { location: response.headers.get('location') }
  if (!ok) throw Object.assign(new StepFailed(`${method} ${path}: ${status} ${await response.text()}`), { status })
  return status === 204 ? undefined : response.json()
}

/** A short reason for a failed request. */
export const reasonOf = (error) => (error.status ? `answered ${error.status}` : (error.cause?.code ?? error.name))

/** Reads all pages of a list. */
export async function listAll(call, path) {
  const all = []
  const glue = path.includes('?') ? '&' : '?'
  for (let cursor = ''; cursor !== null; ) {
    const page = await call('GET', `${path}${glue}limit=100${cursor && `&cursor=${cursor}`}`)
    all.push(...page.data)
    cursor = page.next_cursor
  }
  return all
}
