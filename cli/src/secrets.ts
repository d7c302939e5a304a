import type { IncomingHttpHeaders } from 'node:http'
import { BatonClient, isBatonError, verifyWebhook } from '@baton/sdk'
import { type Call, text } from './command.ts'
import { readEnv } from './env-file.ts'
import { UsageError } from './failure.ts'
import { commandName } from './origin.ts'

type Which = 'client' | 'webhook'
type NamedApp = { id: string; name: string }

const settings: Record<Which, string> = { client: 'CLIENT_SECRET', webhook: 'WEBHOOK_SECRET' }

/** One line: which secret is wrong, where it is set, and what to do. */
export const wrongSecret = (which: Which, { id, name }: NamedApp, file = '.env') =>
  `${settings[which]} in ${file} is not the ${which} secret of ${name}. Run \`${commandName} apps rotate ${which} ${id} --env ${file}\` to get a new one.`

/** Whether the service accepts the client secret. Nothing is revoked: the token does not exist. */
export async function clientSecretWorks(baseUrl: string, client_id: string, client_secret: string) {
  try {
    // Without the login, which would count as credentials of the client.
    await new BatonClient({ baseUrl }).revokeToken({ token: 'none', client_id, client_secret })
    return true
  } catch (error) {
    if (isInvalidClient(error)) return false
    throw error
  }
}

const isInvalidClient = (error: unknown) =>
  isBatonError(error, 'OAUTH_ERROR') && error.details.error === 'invalid_client'

/** Whether the delivery was signed with this secret, whatever its age. */
export function isSignedWith(secret: string, headers: IncomingHttpHeaders, rawBody: Uint8Array): boolean {
  const verified = verifyWebhook({ rawBody, headers, secret })
  return verified.ok || verified.reason !== 'bad_signature'
}

export async function webhookSecret(call: Call): Promise<string> {
  const file = text(call, 'env') ?? '.env'
  const secret = text(call, 'secret') ?? process.env.WEBHOOK_SECRET ?? (await readEnv(file)).WEBHOOK_SECRET
  if (!secret) throw new UsageError(`The secret is missing. Give --secret, or set WEBHOOK_SECRET in ${file}.`)
  return secret
}
