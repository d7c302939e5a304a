import { once } from 'node:events'
import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { days, minutes, plus } from '../clock.ts'
import type { Context } from '../context.ts'
import { sha256 } from '../crypto.ts'
import { sql } from '../db/sql.ts'
import { endLogin, startLogin } from '../login/logins.ts'
import { type Check, fail, ok, warn } from './finding.ts'

const answerWithinMs = 5000
const firstEventWithinMs = 2000
const expiresSoonMs = days(14)

/** The address that browsers and agents use, with the proxy in front of this instance. */
export const checkRootUrl: Check = async ({ config: { rootUrl }, clock }) => {
  const response = await get(`${rootUrl}/readyz`, {}, answerWithinMs).catch((error: Error) => error)
  if (response instanceof Error) {
    return fail(
      `${rootUrl} does not answer (${response.message}): start Baton, or correct BATON_ROOT_URL or its proxy.`,
    )
  }
  const expires = certificateEnd(response)
  response.destroy()
  if (response.statusCode !== 200) {
    return fail(`${rootUrl}/readyz answers ${response.statusCode}: see why in the log, or correct the proxy.`)
  }
  if (expires && expires < plus(clock.now(), expiresSoonMs)) {
    return warn(`The certificate of ${rootUrl} expires at ${expires.toISOString()}: renew it.`)
  }
  return ok(`${rootUrl} answers`)
}

/** Whether the proxy passes events on at once. */
export const checkEventStream: Check = async (ctx) => {
  const login = await temporaryLogin(ctx)
  if (!login) return warn('Not checked: no workspace has an owner yet.')
  try {
    const received = await firstEvent(`${ctx.config.baseUrl}/live`, {
      authorization: `Bearer ${login.token}`,
      'x-workspace-id': login.workspaceId,
    })
    // With single sign-on only, this login is refused.
    if (received === 401) return warn('Not checked: only logins of a provider are accepted.')
    return received === 'prompt'
      ? ok('The first event arrives within 2 s')
      : fail('The first event of a stream does not arrive within 2 s: turn off response buffering in the proxy.')
  } finally {
    await endLogin(ctx.db, sha256(login.token))
  }
}

/** A stream needs a login. This one lasts a minute, cannot be used for anything that needs a recent login, and is ended. */
async function temporaryLogin({ db, clock }: Context) {
  const owner = await db.row<{ userId: string; workspaceId: string }>(sql`
    select m.user_id as "userId", m.workspace_id as "workspaceId"
    from memberships m join users u on u.id = m.user_id join workspaces w on w.id = m.workspace_id
    where m.role = 'owner' and u.disabled_at is null and w.purged_since is null order by m.workspace_id, m.user_id limit 1`)
  if (!owner) return undefined
  const now = clock.now()
  const login = { userId: owner.userId, method: 'cli' as const, from: null, expiresAt: plus(now, minutes(1)) }
  const token = await startLogin(db, login, now)
  return token ? { token, workspaceId: owner.workspaceId } : undefined
}

/** Within 2 s, or the status of a refusal. */
async function firstEvent(url: string, headers: Record<string, string>): Promise<'prompt' | 'late' | number> {
  const signal = AbortSignal.timeout(firstEventWithinMs)
  const response = await get(url, headers, firstEventWithinMs).catch(() => undefined)
  if (!response) return 'late'
  try {
    if (response.statusCode !== 200) return response.statusCode ?? 'late'
    const [chunk] = (await once(response, 'data', { signal })) as [Buffer]
    return chunk.includes('event:') ? 'prompt' : 'late'
  } catch {
    return 'late'
  } finally {
    response.destroy()
  }
}

async function get(url: string, headers: Record<string, string>, withinMs: number): Promise<IncomingMessage> {
  const send = url.startsWith('https:') ? tlsRequest : plainRequest
  const sent = send(url, { headers, agent: false, timeout: withinMs })
  sent.on('timeout', () => sent.destroy(new Error(`no answer within ${withinMs / 1000} s`)))
  sent.end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // The rest of the answer may be cut off.
  response.on('error', () => {})
  return response
}

const certificateEnd = ({ socket }: IncomingMessage) => {
  const end = (socket as TLSSocket).getPeerCertificate?.()?.valid_to
  return end ? new Date(end) : undefined
}
