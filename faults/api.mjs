// Calls of the API, as those who use the service make them.
import { StepFailed } from '../scripts/setup.mjs'

const givenUpAfterMs = 60_000

/** Throws what was not answered with success; its `status` is the answer's, if there was one. */
export async function send({ url }, method, path, body, headers) {
  const response = await fetch(`${url}/api/v1${path}`, {
    method,
    headers: { ...(body ? { 'content-type': 'application/json' } : {}), ...headers },
    redirect: 'manual',
    signal: AbortSignal.timeout(givenUpAfterMs),
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const { ok, status } = response
  if (status >= 300 && status < 400) return { location: response.headers.get('location') }
  if (!ok) throw Object.assign(new StepFailed(`${method} ${path}: ${status} ${await response.text()}`), { status })
  return status === 204 ? undefined : response.json()
}

/** In a word, why something was not answered. */
export const reasonOf = (error) => (error.status ? `answered ${error.status}` : (error.cause?.code ?? error.name))

/** A list from its first page to its last. */
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
